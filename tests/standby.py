"""A leader and its standby: two servers of PostgreSQL of their own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, create_engine, text

from tests import postgres
from tests.shell import fill_with_some_places_and_users


@dataclass(frozen=True)
class Servers:
    """The folders of the two servers, and the database on each."""

    programs: Path
    leader_folder: Path
    standby_folder: Path
    name: str

    @property
    def leader(self) -> URL:
        return url_of(self.leader_folder).set(database=self.name)

    @property
    def standby(self) -> URL:
        return url_of(self.standby_folder).set(database=self.name)

    def catch_up(self) -> None:
        """Wait until the standby has replayed what the leader has written."""
        position = execute(self.leader, "SELECT pg_current_wal_insert_lsn()::text")
        while not execute(self.standby, f"SELECT pg_last_wal_replay_lsn() >= '{position}'::pg_lsn"):
            pass


@contextmanager
def leader_and_standby(name: str) -> Iterator[Servers]:
    """Yield two servers with a database ``name`` that has some places and users.

    Without PostgreSQL, skip the test; in CI, fail it.
    """
    programs = postgres.find_programs()
    if programs is None:
        if os.environ.get("CI"):
            pytest.fail("CI must run the tests with a standby, and PostgreSQL is not installed")
        pytest.skip(postgres.HOW_TO)
    leader = postgres.start(programs)
    try:
        standby = postgres.start(programs, leader)
        try:
            execute(url_of(leader), f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
            servers = Servers(programs, leader, standby, name)
            fill_with_some_places_and_users(servers.leader.render_as_string())
            yield servers
        finally:
            postgres.stop(programs, standby)
    finally:
        postgres.stop(programs, leader)


def url_of(folder: Path) -> URL:
    """Return the URL of the server in a folder."""
    return URL.create("postgresql+psycopg", "postgres", database="postgres", query={"host": str(folder)})


def execute(url: URL, *statements: str) -> Any:
    """Execute statements on one server, each by itself; return the value of the last one, None if it has no row."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            results = [connection.execute(text(statement)) for statement in statements]
            return results[-1].scalar() if results[-1].returns_rows else None
    finally:
        engine.dispose()
