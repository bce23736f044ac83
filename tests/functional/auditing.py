"""An activity log in a database of its own, with helpers to write, tamper with and verify it."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, delete, insert, select, text

import groundtransport
from groundtransport import db
from groundtransport.accounts.models import AdminUser
from groundtransport.airports import lookup
from groundtransport.audit import protection
from groundtransport.audit.models import AdminActivity, AuditHead, AuditMark
from groundtransport.events import Actor
from groundtransport.records.writer import Writer
from groundtransport.security import Role
from tests.shell import Shell
from tests.site import app_settings

ZOE = 7  # the number of who writes
TABLES = (AdminActivity, AuditHead, AuditMark)


class Log:
    """The application of one small database, without HTTP, and its command line."""

    def __init__(self, folder: Path, url: str) -> None:
        self.url = url
        self.shell = Shell(folder, url)
        self.engine = self.shell.engine
        with db.transaction(self.engine) as dbsession:
            dbsession.add(AdminUser(id=ZOE, name="Zoë", role=Role.EDITOR, password_hash="none"))
        self.registry: Any = None
        self.start()

    def start(self, **environ: str) -> None:
        """(Re)start the application, with other secrets perhaps."""
        self.stop()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environ.items():
                patch.setenv(name, value)
            self.registry = groundtransport.main({}, **app_settings(self.url)).registry
        self.kinds = self.registry["kinds"]

    def another(self) -> "Log":
        """Start another application of the same database."""
        other = copy.copy(self)
        other.registry = None
        other.start()
        return other

    def stop(self) -> None:
        if self.registry is not None:
            self.registry["engine"].dispose()

    def close(self) -> None:
        self.stop()
        self.engine.dispose()

    def write(self, *steps: Callable[[Writer], Any], kind: str = "transit", batch: str = "") -> list[Any]:
        """Take the steps in one transaction."""
        actor = Actor("Zoë", ZOE, "request-1", "192.0.2.1", batch)
        with db.transaction(self.registry["engine"]) as dbsession:
            writer = Writer(dbsession, self.registry.notify, self.kinds[kind], actor)
            return [step(writer) for step in steps]

    def create(self, *names: str, kind: str = "transit", batch: str = "") -> list[int]:
        return self.write(*(creating(name) for name in names), kind=kind, batch=batch)

    def rows(self, model: Any) -> list[dict[str, Any]]:
        table = model.__table__
        with self.engine.connect() as connection:
            return [dict(row) for row in connection.execute(select(table).order_by(table.c.id)).mappings()]

    def numbers(self) -> list[int]:
        return [entry["id"] for entry in self.rows(AdminActivity)]

    def sql(self, *statements: str) -> None:
        """Run statements as whoever holds the database's password."""
        with db.write_engine(self.engine).begin() as connection:
            for statement in statements:
                connection.execute(text(statement))

    @contextmanager
    def unprotected(self) -> Iterator[Connection]:
        """A transaction past the triggers, which are put out of the way and then back."""
        with db.write_engine(self.engine).begin() as connection, protection.lifted(connection):
            yield connection

    def by_force(self, *statements: str) -> None:
        with self.unprotected() as connection:
            for statement in statements:
                connection.execute(text(statement))

    @contextmanager
    def tampered(self, *statements: str, more: tuple[Any, ...] = ()) -> Iterator[None]:
        """For a while, a log that somebody has been at; ``more`` are models whose rows are put back, too."""
        rows_before = {model: self.rows(model) for model in (*TABLES, *more)}
        self.by_force(*(statement for statement in statements if "TRIGGER" not in statement))
        self.sql(*(statement for statement in statements if "TRIGGER" in statement))
        try:
            yield
        finally:
            with self.unprotected() as connection:
                for model, rows in rows_before.items():
                    connection.execute(delete(model))
                    if rows:
                        connection.execute(insert(model), rows)

    def verify(self, *words: str, fails: bool = False, **environ: str) -> str:
        return self.shell("audit", "verify", *words, fails=fails, **environ)

    def reconcile(self, *, fails: bool = False) -> str:
        return self.shell("audit", "reconcile", fails=fails)


def creating(name: str) -> Callable[[Writer], int]:
    """Return the step that creates a record, and leads to its id."""

    def create(writer: Writer) -> int:
        airport = lookup.by_code(writer.dbsession, "JFK")
        values = {"airport_name": airport.airport_name, "airport_code": "JFK", "airport_id": airport.id}
        return writer.create({**values, "company_name": name})

    return create


def changing(record_id: int, **values: Any) -> Callable[[Writer], Any]:
    return lambda writer: writer.update(writer.dbsession.get(writer.kind.model, record_id), values)


def doing(name: str, record_id: int) -> Callable[[Writer], Any]:
    """Return the step that deletes, restores or purges a record."""
    return lambda writer: getattr(writer, name)(writer.dbsession.get(writer.kind.model, record_id))
