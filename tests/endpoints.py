"""Every URL of the service with every method, from the running application, and examples to request them with."""

from typing import Any

from sqlalchemy import func, select

from groundtransport import db
from groundtransport.accounts import users
from groundtransport.accounts.models import AdminUser
from groundtransport.audit.models import AdminActivity
from groundtransport.security import Role
from groundtransport.transfer.imports import store
from groundtransport.transfer.imports.models import ImportBatch, ImportState
from groundtransport.webhooks import subscriptions
from groundtransport.webhooks.subscriptions import Subscription
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
        names["{merged}"] = self.merged
        names["{import}"] = self._import
        names["{webhook}"] = self._webhook
        for part in address.split("/"):
            if part.startswith("{"):
                address = address.replace(part, names[part](kind))
        return address

    def _live(self, kind: str) -> str:
        result = self._made.get(kind)
        if result is None or self._site.row(kind, int(result))["deleted_at"] is not None:
            result = self._made[kind] = str(self._site.client().create(kind, company_name="Alpha"))
        return result

    def _deleted(self, kind: str) -> str:
        client = self._site.client()
        record_id = client.create(kind, company_name="Gone")
        client.delete(f"/admin/{kind}/{record_id}")
        return str(record_id)

    def merged(self, kind: str) -> str:
        """Return the id of a record that was merged into another one."""
        client = self._site.client()
        one, other = (str(client.create(kind, company_name="Double")) for _ in range(2))
        form = {"other": other, "survivor": one, "version": "1", "other_version": "1"}
        client.post(f"/admin/{kind}/{one}/merge", form)
        return other

    def _import(self, kind: str) -> str:
        """An import that is done, which everybody sees who may import."""
        with db.transaction(self._site.engine) as dbsession:
            batch = ImportBatch(
                batch=store.new_batch_name(),
                kind="transit",
                actor="somebody",
                filename="records.csv",
                digest="0" * 64,
                size=1,
                state=ImportState.DONE,
            )
            store.add(dbsession, batch)
            return str(batch.id)

    def _webhook(self, kind: str) -> str:
        with db.transaction(self._site.engine) as dbsession:
            if webhooks := subscriptions.all_webhooks(dbsession):  # unless the last one was removed
                return str(webhooks[-1].id)
            settings = self._site.registry["settings"]
            webhook, _ = subscriptions.create(dbsession, settings.secrets, Subscription("https://example.org/"), "me")
            return str(webhook.id)

    def _person(self, kind: str) -> str:
        """Somebody else, made for the occasion."""
        self._people += 1
        name = f"pat-{self._people}"
        with db.transaction(self._site.engine) as dbsession:
            users.add(dbsession, name, Role.VIEWER, PASSWORD, one_time=False)
        return name


def facts(site: Site) -> tuple[Any, ...]:
    """Return what a refused request leaves alone: how many records, their versions and deletions, the log, people."""
    result = []
    with site.engine.connect() as connection:
        for kind in site.kinds.values():
            table = kind.model.__table__.c
            sums = (func.count(), func.sum(table.version), func.count(table.deleted_at), func.max(table.updated_at))
            result.append(tuple(connection.execute(select(*sums).select_from(kind.model)).one()))
        result.append((connection.scalar(select(func.count()).select_from(AdminActivity)),))
        people = (func.count(), func.sum(AdminUser.session_epoch), func.count(AdminUser.disabled_at))
        result.append(tuple(connection.execute(select(*people)).one()))
    return tuple(result)


def ask(client: Client, method: str, address: str, body: bytes = b"", **headers: str) -> Any:
    """Send this; writes carry the session's token."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if method not in ("GET", "HEAD") and "X-CSRF-Token" not in named:
        named["X-CSRF-Token"] = client.known_csrf
    kind = named.pop("Content-Type", FORM)
    return client.app.request(address, method=method, body=body, content_type=kind, headers=named, expect_errors=True)
