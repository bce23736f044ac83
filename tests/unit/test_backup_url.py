"""The database URL as ``pg_dump`` and ``pg_restore`` get it."""

from types import SimpleNamespace
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import make_url

from groundtransport.db.backup import conninfo, on_one_server
from groundtransport.settings.database_url import database_url


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://me:secret@db:5433/data", {"user": "me", "host": "db", "port": "5433", "dbname": "data"}),
        ("postgresql://me@/data?host=/run/postgresql", {"user": "me", "host": "/run/postgresql", "dbname": "data"}),
        (
            "postgresql://me:secret@db1:5432,db2:5433/data?target_session_attrs=read-write",
            {
                "user": "me",
                "host": "db1,db2",
                "port": "5432,5433",
                "dbname": "data",
                "target_session_attrs": "read-write",
            },
        ),
    ],
    ids=["one server", "a socket", "several servers"],
)
def test_libpq_reads_the_url_of_one_server_or_several_without_the_password(url: str, expected: dict[str, str]) -> None:
    assert conninfo_to_dict(conninfo(make_url(database_url(url)))) == expected


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("postgresql://me@db1:5432,db2:5433/data?target_session_attrs=read-write", "db2"),
        ("postgresql://me@db1:5432/data", "db1"),
    ],
    ids=["several servers", "one server"],
)
def test_a_new_database_is_looked_for_where_it_was_created(url: str, host: str) -> None:
    """A standby that does not have the database yet ends libpq's search: it does not ask the next server."""
    driver = SimpleNamespace(info=SimpleNamespace(host="db2", port=5433))
    connection: Any = SimpleNamespace(connection=SimpleNamespace(driver_connection=driver))
    result = conninfo_to_dict(conninfo(on_one_server(make_url(database_url(url)), connection)))
    assert result["host"] == host
