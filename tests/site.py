"""The whole application on a database of its own, and the clients that talk to it over (simulated) HTTP."""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sqlalchemy import Engine, delete, func, select, text, update
from sqlalchemy.orm import Session
from webtest import TestApp

import groundtransport
from groundtransport import db, settings
from groundtransport.accounts import users
from groundtransport.accounts.models import AdminSession, AdminUser, SignInTry
from groundtransport.accounts.secondfactor.models import PendingSignIn, RecoveryCode, SecondFactor
from groundtransport.accounts.sessions.rows import hash_of as token_hash
from groundtransport.accounts.sessions.rows import new_token
from groundtransport.airports import loading, lookup
from groundtransport.airports.models import Airport
from groundtransport.audit.models import AdminActivity, AuditHead
from groundtransport.db import migrations
from groundtransport.records.search import result_cache
from groundtransport.security import Role
from groundtransport.security_log import event_chain
from groundtransport.security_log.models import SecurityEvent, SecurityHead

PASSWORD = "a long walk to the terminal"
JFK = "John F Kennedy International Airport (JFK)"
HEATHROW = "London Heathrow Airport (LHR)"
ENVIRON = {"GROUNDTRANSPORT_SECRET": "s" * 48, "GROUNDTRANSPORT_AUDIT_SECRET": "a" * 48}


def app_settings(url: str, **more: str) -> dict[str, str]:
    """Return what an ini's [app:main] would hold."""
    return {"sqlalchemy.url": url, "groundtransport.hosts": "localhost 127.0.0.1", **more}


class Site:
    """The application of one database, with every airport and city, and a person for each role."""

    def __init__(self, url: str, **more: str) -> None:
        self.url = url
        self.app_settings = app_settings(url, **more)
        engine = db.make_engine(settings.read(self.app_settings, ENVIRON))
        migrations.upgrade(engine)
        with db.transaction(engine) as dbsession:
            loading.refresh_airports(dbsession, loading.packaged_airports())
            loading.load_cities(dbsession)
            loading.note_populations(dbsession)
            for role in Role:
                users.add(dbsession, f"the-{role}", role, PASSWORD, one_time=False)
        engine.dispose()
        self.start()

    def start(self) -> None:
        """(Re)make the application, as a restart would."""
        self.wsgi = groundtransport.main({}, **self.app_settings)
        self.registry = self.wsgi.registry
        self.engine: Engine = self.registry["engine"]
        self.kinds = self.registry["kinds"]

    def clean(self) -> None:
        """Remove what a test left: records, entries, sessions, and people and airports of its own."""
        result_cache.forget(self.engine)
        lookup.DIRECTORIES.forget(self.engine)  # a test may have withdrawn an airport
        self.registry["security_log"].omitted.pop()
        with db.transaction(self.engine) as dbsession:
            for kind in self.kinds.values():
                dbsession.execute(delete(kind.model))
            empty_the_log(dbsession)
            for model in (AdminSession, SignInTry, SecurityEvent, PendingSignIn, RecoveryCode, SecondFactor):
                dbsession.execute(delete(model))
            dbsession.execute(delete(AdminUser).where(AdminUser.name.not_like("the-%")))
            dbsession.execute(delete(Airport).where(Airport.is_listed.is_(False)))

    def anonymous(self, address: str = "") -> "Client":
        return Client(self, address)

    def client(self, role: Role = Role.ADMINISTRATOR) -> "Client":
        """Return a client that is signed in with that role (the sign-in page has tests of its own)."""
        client = Client(self)
        client.app.set_cookie("groundtransport", self.sign_in(role))
        return client

    def sign_in(self, role: Role) -> str:
        """Begin a session of the person with that role, and return its cookie's value."""
        token = new_token(self.registry["settings"].secrets)
        with db.transaction(self.engine) as dbsession:
            user = users.find(dbsession, f"the-{role}")
            dbsession.add(
                AdminSession(token_hash=token_hash(token), user_id=user.id, epoch=user.session_epoch, data={})
            )
        return token

    # What the database holds, asked past the application

    def scalar(self, statement: Any) -> Any:
        with self.engine.connect() as connection:
            return connection.scalar(statement)

    def count(self, model: Any) -> int:
        return self.scalar(select(func.count()).select_from(model))

    def row(self, kind: str, record_id: int) -> dict[str, Any]:
        table = self.kinds[kind].model.__table__
        with self.engine.connect() as connection:
            return dict(connection.execute(select(table).where(table.c.id == record_id)).mappings().one())

    def events(self, *names: str) -> list[dict[str, Any]]:
        """Return the security events of some names, or all, oldest first."""
        table = SecurityEvent.__table__
        wanted = select(table).where(table.c.event.in_(names)) if names else select(table)
        with self.engine.connect() as connection:
            return [dict(row) for row in connection.execute(wanted.order_by(table.c.id)).mappings()]

    def add_event(self, row: dict[str, Any]) -> int:
        """Append a security event; return its number."""
        with db.write_engine(self.engine).begin() as connection:
            event_chain.append(connection, self.registry["security_log"].key, [row])
            return connection.scalars(select(SecurityHead.number)).one()

    def entries(self) -> list[dict[str, Any]]:
        """Return the activity log, oldest first."""
        table = AdminActivity.__table__
        with self.engine.connect() as connection:
            return [dict(row) for row in connection.execute(select(table).order_by(table.c.id)).mappings()]


def empty_the_log(dbsession: Session) -> None:
    """Empty the activity log in spite of its triggers, which are put back: only tests may."""
    if dbsession.get_bind().dialect.name == "postgresql":
        dbsession.execute(text("ALTER TABLE admin_activity DISABLE TRIGGER USER"))
        dbsession.execute(delete(AdminActivity))
        dbsession.execute(text("ALTER TABLE admin_activity ENABLE TRIGGER USER"))
    else:
        triggers = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'admin_activity'"
        found = dbsession.execute(text(triggers)).all()
        for trigger in found:
            dbsession.execute(text(f"DROP TRIGGER {trigger.name}"))
        dbsession.execute(delete(AdminActivity))
        for trigger in found:
            dbsession.execute(text(trigger.sql))
    dbsession.execute(update(AuditHead).values(number=0, mac=""))
    dbsession.execute(update(SecurityHead).values(number=0, mac=""))


class Client:
    """A browser without JavaScript. ``get``, ``post`` and so on never fail on a status: the test looks at it."""

    def __init__(self, site: Site, address: str = "") -> None:
        self.site = site
        self.app = TestApp(site.wsgi, extra_environ={"REMOTE_ADDR": address} if address else None)

    def get(self, address: str, params: Any = None, **headers: str) -> Any:
        return self.app.get(address, params, headers=_headers(headers), expect_errors=True)

    @property
    def csrf(self) -> str:
        return self.ask_for_csrf()

    def ask_for_csrf(self) -> str:
        """Return the token of this client's session, as any page's form holds it."""
        found = re.search(r'name="csrf_token" value="([0-9a-f]+)"', self.get("/login").text)
        assert found, "the page has no token"
        return found[1]

    def post(self, address: str, params: Any = (), **headers: str) -> Any:
        return self._send("POST", address, params, headers)

    def put(self, address: str, params: Any = (), **headers: str) -> Any:
        return self._send("PUT", address, params, headers)

    def delete(self, address: str, params: Any = (), **headers: str) -> Any:
        return self._send("DELETE", address, params, headers)

    def _send(self, method: str, address: str, params: Any, headers: dict[str, str]) -> Any:
        """Send a form with the CSRF token in its header, as a program would."""
        sent = _headers(headers)
        if "X-CSRF-Token" not in sent:
            sent["X-CSRF-Token"] = self.csrf
        pairs = list(params.items()) if isinstance(params, dict) else list(params)
        call = {"POST": self.app.post, "PUT": self.app.put, "DELETE": self.app.delete}[method]
        # Upper-case headers reach WebTest as they are; an explicit empty token is left out.
        return call(address, pairs, headers={k: v for k, v in sent.items() if v}, expect_errors=True)

    def create(self, kind: str, **fields: str) -> int:
        """Create a record at JFK, or at ``airport_name``, and return its id."""
        answer = self.post(f"/admin/{kind}", {"airport_name": JFK, **fields})
        assert answer.status_int == 303, answer.text
        return self.site.scalar(select(func.max(self.site.kinds[kind].model.id)))

    def rows(self, kind: str, **query: str) -> list[dict[str, Any]]:
        """Return the rows of the list's JSON."""
        answer = self.get(f"/admin/{kind}", {"ajax": "1", **query})
        assert answer.status_int == 200, answer.text
        return answer.json["data"]

    def edit_link(self, kind: str, record_id: int, **query: str) -> str:
        """Return the edit address that the list gives for a record."""
        return next(row["actions"]["edit"] for row in self.rows(kind, **query) if row["id"] == record_id)


def _headers(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def query_of(address: str) -> dict[str, list[str]]:
    """Return the query of an address, as lists of values."""
    return parse_qs(urlsplit(address).query, keep_blank_values=True)
