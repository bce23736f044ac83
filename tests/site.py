"""The whole application on a database of its own, and the clients that talk to it over (simulated) HTTP."""

import copy
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sqlalchemy import Connection, Engine, func, insert, select
from sqlalchemy.orm import Session
from webtest import TestApp

import groundtransport
from groundtransport import db, settings
from groundtransport.accounts import users
from groundtransport.accounts.models import AdminSession, AdminUser, SignInTry
from groundtransport.accounts.saved_views.models import SavedView
from groundtransport.accounts.secondfactor.models import PendingSignIn, RecoveryCode, SecondFactor
from groundtransport.accounts.sessions.rows import hash_of as token_hash
from groundtransport.accounts.sessions.rows import new_token
from groundtransport.accounts.tokens.models import ApiToken, StoredAnswer
from groundtransport.airports import loading, lookup, source
from groundtransport.airports.models import Airport
from groundtransport.airports.name_index import Directory
from groundtransport.audit.models import AdminActivity, AuditHead, AuditMark
from groundtransport.db import Base, migrations
from groundtransport.jobs.models import Job, JobWorker
from groundtransport.links.models import LinkCheck, LinkHost
from groundtransport.notes.models import RecordNote
from groundtransport.records.duplicates.models import DuplicateKey, DuplicatePair
from groundtransport.review.models import ReviewLease
from groundtransport.security import Role
from groundtransport.security_log import event_chain
from groundtransport.security_log.models import SecurityEvent, SecurityHead
from groundtransport.transfer.imports.models import ImportBatch, ImportKept, ImportPart, ImportRow
from groundtransport.webhooks.models import Delivery, Webhook

PASSWORD = "a long walk to the terminal"
JFK = "John F Kennedy International Airport (JFK)"
HEATHROW = "London Heathrow Airport (LHR)"
# Many people who wait in one queue may wait for more than the usual four seconds on a slow machine.
PATIENT = {"groundtransport.database_timeout": "30", "groundtransport.pool_timeout": "30"}
ENVIRON = {"GROUNDTRANSPORT_SECRET": "s" * 48, "GROUNDTRANSPORT_AUDIT_SECRET": "a" * 48}

# Tables that a test may leave rows in, besides those of the kinds; in the order of their foreign keys.
CLEANED: tuple[type[Base], ...] = (
    SavedView,
    RecordNote,
    DuplicateKey,
    DuplicatePair,
    ImportKept,
    ImportRow,
    ImportPart,
    ImportBatch,
    ReviewLease,
    Delivery,
    Webhook,
    LinkCheck,
    LinkHost,
    Job,
    JobWorker,
    StoredAnswer,
    ApiToken,
    AdminSession,
    SignInTry,
    SecurityEvent,
    PendingSignIn,
    RecoveryCode,
    SecondFactor,
)


def app_settings(url: str, **more: str) -> dict[str, str]:
    """Return what an ini's [app:main] would hold."""
    return {"sqlalchemy.url": url, "groundtransport.hosts": "localhost 127.0.0.1", **more}


def fill_with_all_places(url: str) -> None:
    """Migrate the database, and add every airport and city, and a user for each role; leave no connection open."""
    engine = db.make_engine(settings.read(app_settings(url), ENVIRON))
    migrations.upgrade(engine)
    with db.transaction(engine) as dbsession:
        loading.refresh_airports(dbsession, source.packaged_airports())
        loading.add_missing(dbsession)
        loading.load_cities(dbsession)
        loading.load_small_cities(dbsession)
        add_users(dbsession)
    engine.dispose()


def add_users(dbsession: Session) -> None:
    """Add a user for each role, whose name is ``the-<role>``."""
    for role in Role:
        users.add(dbsession, f"the-{role}", role, PASSWORD, one_time=False)


class Site:
    """The application on a database with places, and with the users of ``add_users``."""

    def __init__(self, url: str, **more: str) -> None:
        self.url = url
        self.app_settings = app_settings(url, **more)
        self.directory: Directory | None = None
        self.start()
        self.newest_airport = self.scalar(select(func.max(Airport.id)))

    def start(self) -> None:
        """(Re)make the application, as a restart would."""
        self.wsgi = groundtransport.main({}, **self.app_settings)
        self.registry = self.wsgi.registry
        self.engine: Engine = self.registry["engine"]
        self.kinds = self.registry["kinds"]

    @contextmanager
    def again(self, **changes: str) -> Iterator["Site"]:
        """Yield the application started once more on the same database, with some settings of the ini changed."""
        other = copy.copy(self)
        other.app_settings = {**self.app_settings, **changes}
        other.url = other.app_settings["sqlalchemy.url"]
        other.start()
        try:
            yield other
        finally:
            other.engine.dispose()

    def clean(self) -> None:
        """Remove what a test left: records, entries, sessions, and people and airports of its own."""
        self.registry["security_log"].omitted.pop()
        with db.write_engine(self.engine, durable=False).begin() as connection:
            execute(connection, self._cleaning)
            empty_the_log(connection)
        self.renew_directory()

    @cached_property
    def _cleaning(self) -> list[str]:
        """The statements that remove it, as plain texts: this runs before each test."""
        models = [*(kind.model for kind in self.kinds.values()), *CLEANED]
        return [
            *(f"DELETE FROM {model.__tablename__}" for model in models),
            f"DELETE FROM {AdminUser.__tablename__} WHERE substr(name, 1, 4) <> 'the-'",
            f"UPDATE {AdminUser.__tablename__} SET preferences = '{{}}'",
            f"DELETE FROM {Airport.__tablename__} WHERE id > {self.newest_airport}",
        ]

    def renew_directory(self) -> None:
        """Put back the directory of airports as it is without records; it is built once, because that is slow."""
        lookup.DIRECTORIES.forget(self.engine)
        if self.directory is None:
            with db.transaction(self.engine) as dbsession:
                self.directory = lookup._directory(dbsession)
        lookup.DIRECTORIES.put(self.engine, self.newest_airport, self.directory)

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
        with db.write_engine(self.engine, durable=False).begin() as connection:
            user = connection.execute(
                select(AdminUser.id, AdminUser.session_epoch).where(AdminUser.name == f"the-{role}")
            )
            user_id, epoch = user.one()
            values = {"token_hash": token_hash(token), "user_id": user_id, "epoch": epoch, "data": {}}
            connection.execute(insert(AdminSession), values)
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


def execute(connection: Connection, statements: list[str]) -> None:
    """Execute statements without parameters; PostgreSQL gets them in one message."""
    for statement in ["; ".join(statements)] if connection.dialect.name == "postgresql" else statements:
        connection.exec_driver_sql(statement)


def empty_the_log(connection: Connection) -> None:
    """Empty the activity log in spite of its triggers, which are put back: only tests may."""
    for model in (AdminActivity, AuditMark):
        if connection.scalar(select(model.id).limit(1)):
            empty_protected(connection, model.__tablename__)
    execute(connection, [f"UPDATE {head.__tablename__} SET number = 0, mac = ''" for head in (AuditHead, SecurityHead)])


def empty_protected(connection: Connection, table: str) -> None:
    """Delete all rows of a table whose triggers forbid it."""
    delete_all = f"DELETE FROM {table}"
    if connection.dialect.name == "postgresql":
        off, on = f"ALTER TABLE {table} DISABLE TRIGGER USER", f"ALTER TABLE {table} ENABLE TRIGGER USER"
        execute(connection, [off, delete_all, on])
        return
    trigger = f"{table}_no_delete"
    (sql,) = connection.exec_driver_sql("SELECT sql FROM sqlite_master WHERE name = ?", (trigger,)).one()
    execute(connection, [f"DROP TRIGGER {trigger}", delete_all, sql])


class Client:
    """A browser without JavaScript. ``get``, ``post`` and so on never fail on a status: the test looks at it."""

    def __init__(self, site: Site, address: str = "") -> None:
        self.site = site
        self._tokens = dict[str, str]()  # of cookies
        self.app = TestApp(site.wsgi, extra_environ={"REMOTE_ADDR": address} if address else None)

    def get(self, address: str, params: Any = None, **headers: str) -> Any:
        return self.app.get(address, params, headers=_headers(headers), expect_errors=True)

    @property
    def csrf(self) -> str:
        return self.ask_for_csrf()

    @property
    def known_csrf(self) -> str:
        """The same token, read once for each cookie, which determines it: reading it takes the page's messages away."""
        cookie = self._cookie
        if cookie not in self._tokens:
            token = self.ask_for_csrf()
            self._tokens[self._cookie] = token
            return token
        return self._tokens[cookie]

    @property
    def _cookie(self) -> str:
        return self.app.cookies.get("groundtransport", "")

    def ask_for_csrf(self) -> str:
        """Return the token of this client's session, as any page's form holds it."""
        result = re.search(r'name="csrf_token" value="([0-9a-f]+)"', self.get("/login").text)
        assert result, "the page has no token"
        return result[1]

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
