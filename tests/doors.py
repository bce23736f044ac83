"""Every address of the service by every method, as the running application has them, and what to try them on."""

from typing import Any

from sqlalchemy import func, select

from groundtransport import db
from groundtransport.accounts import users
from groundtransport.accounts.models import AdminUser
from groundtransport.audit.models import AdminActivity
from groundtransport.security import Role
from tests.site import PASSWORD, Client, Site

METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH")
FORM = "application/x-www-form-urlencoded"


class Examples:
    """What stands for the braces of an address; each is made when it is first asked for."""

    def __init__(self, site: Site) -> None:
        self._site, self._made, self._people = site, dict[str, str](), 0

    def fill(self, address: str) -> str:
        """Return the address with an example for each pair of braces; raise KeyError for a name unknown here."""
        kind = address.split("/")[2] if address.startswith("/admin/") else ""
        names = {"{id}": self._live, "{deleted}": self._deleted, "{code}": lambda _: "JFK", "{name}": self._person}
        for part in address.split("/"):
            if part.startswith("{"):
                address = address.replace(part, names[part](kind))
        return address

    def _live(self, kind: str) -> str:
        found = self._made.get(kind)
        if found is None or self._site.row(kind, int(found))["deleted_at"] is not None:
            found = self._made[kind] = str(self._site.client().create(kind, company_name="Alpha"))
        return found

    def _deleted(self, kind: str) -> str:
        client = self._site.client()
        record_id = client.create(kind, company_name="Gone")
        client.delete(f"/admin/{kind}/{record_id}")
        return str(record_id)

    def _person(self, kind: str) -> str:
        """Somebody else, made for the occasion."""
        self._people += 1
        name = f"pat-{self._people}"
        with db.transaction(self._site.engine) as dbsession:
            users.add(dbsession, name, Role.VIEWER, PASSWORD, one_time=False)
        return name


def facts(site: Site) -> tuple[Any, ...]:
    """Return what a refused request leaves alone: how many records, their versions and deletions, the log, people."""
    found = []
    with site.engine.connect() as connection:
        for kind in site.kinds.values():
            table = kind.model.__table__.c
            sums = (func.count(), func.sum(table.version), func.count(table.deleted_at), func.max(table.updated_at))
            found.append(tuple(connection.execute(select(*sums).select_from(kind.model)).one()))
        found.append((connection.scalar(select(func.count()).select_from(AdminActivity)),))
        people = (func.count(), func.sum(AdminUser.session_epoch), func.count(AdminUser.disabled_at))
        found.append(tuple(connection.execute(select(*people)).one()))
    return tuple(found)


def ask(client: Client, method: str, address: str, body: bytes = b"", **headers: str) -> Any:
    """Send this; writes carry the session's token."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if method not in ("GET", "HEAD") and "X-CSRF-Token" not in named:
        named["X-CSRF-Token"] = client.csrf
    kind = named.pop("Content-Type", FORM)
    return client.app.request(address, method=method, body=body, content_type=kind, headers=named, expect_errors=True)
