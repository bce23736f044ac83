"""The database URL as ``pg_dump`` and ``pg_restore`` get it."""

import pytest
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import make_url

from groundtransport.db.backup import conninfo
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
