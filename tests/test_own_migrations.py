"""The README's "Add a kind", to the letter: two kinds, an upgrade of ours in between, downgrades; on both databases."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, insert, make_url, text

from groundtransport import db, settings
from groundtransport.airports.models import Airport
from groundtransport.db import migrations
from tests.databases import new_database
from tests.own_kinds import OwnCode, readme_kind
from tests.site import ENVIRON, app_settings

pytestmark = pytest.mark.slow

UPSTREAM = '''"""An upgrade of ours"""

from alembic import op

revision = "{number}"
down_revision = "{before}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE TABLE of_{number} (id INTEGER)")


def downgrade() -> None:
    op.execute("DROP TABLE of_{number}")
'''
READY = """
import sys, groundtransport
from webtest import TestApp
ini = {'sqlalchemy.url': 'sqlite:///x', 'groundtransport.hosts': 'localhost'}
wsgi = groundtransport.main({'__file__': 'development.ini'}, **ini)
print(TestApp(wsgi).get('/readyz', expect_errors=True).status_int)
"""


@pytest.fixture
def own(small_database_url: str, tmp_path: Path) -> OwnCode:
    """The code on a database with so few places that ``init`` is quick: it loads none where there are some."""
    return OwnCode(tmp_path, small_database_url)


@pytest.fixture
def engine(own: OwnCode) -> Iterator[Engine]:
    with connected(own.url) as engine:
        yield engine


def parts(engine: Engine) -> dict[str, str]:
    """Return everything that the database has besides rows: tables and columns, indexes, triggers, functions."""
    if engine.dialect.name == "sqlite":
        query = "SELECT type || ' ' || name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    else:
        query = (
            "SELECT 'index ' || indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' "
            "UNION ALL SELECT 'trigger ' || tgrelid::regclass || ' ' || tgname, pg_get_triggerdef(oid) FROM pg_trigger "
            "WHERE NOT tgisinternal "
            "UNION ALL SELECT 'function ' || proname, pg_get_functiondef(p.oid) FROM pg_proc p "
            "JOIN pg_namespace n ON n.oid = pronamespace WHERE nspname = 'public' AND prosrc LIKE '%record%' "
            "UNION ALL SELECT 'column ' || table_name || '.' || column_name, data_type || coalesce(column_default, '') "
            "|| is_nullable || coalesce(character_maximum_length, 0) FROM information_schema.columns "
            "WHERE table_schema = 'public' "
            "UNION ALL SELECT 'statistics ' || attrelid::regclass, attstattarget::text FROM pg_attribute "
            "WHERE attname = 'search_text' AND attrelid IN (SELECT oid FROM pg_class WHERE relkind = 'r')"
        )
    with engine.connect() as connection:
        result = {row[0]: row[1] for row in connection.execute(text(query))}
    return {name: re.sub(r"\s+", " ", sql or "") for name, sql in result.items()}


def ready(own: OwnCode) -> str:
    return own.python(READY).strip().splitlines()[-1]


def add(own: OwnCode, name: str, code: str) -> None:
    """Add another kind like the README's, and follow the README."""
    own.kind(name, code.replace("shuttle", name).replace("Shuttle", name.title()))
    own.run(f'.venv/bin/alembic -c development.ini revision --autogenerate -m "{name}"')
    own.run(".venv/bin/groundtransport init")


def test_two_kinds_and_an_upgrade_of_ours_between_them(own: OwnCode, engine: Engine) -> None:
    files, commands = readme_kind()
    newest = max(file.name[:4] for file in (own.folder / "alembic" / "versions").glob("*.py"))
    following = f"{int(newest) + 1:04}"
    own.run(".venv/bin/groundtransport init")
    without = parts(engine)

    for path, content in files.items():
        own.file(path, content)
    install, *others = commands
    own.run(install)
    assert "No migration creates the table of shuttle" in own.run("groundtransport init", fails=True)
    for command in others:
        own.run(command)
    assert "table shuttle" in parts(engine) or "column shuttle.id" in parts(engine)
    (first,) = own.revisions()
    assert ready(own) == "200"

    ours = own.file(f"alembic/versions/{following}_ours.py", UPSTREAM.format(number=following, before=newest))
    assert ready(own) == "503"
    own.run("groundtransport init")
    assert ready(own) == "200"
    assert migrations.current(engine) == {first.name.split("_")[0], following}

    add(own, "minibus", files["shuttle/groundtransport_shuttle.py"])
    first, second = own.revisions()
    assert migrations.current(engine) == {second.name.split("_")[0]}
    assert ready(own) == "200"
    own.run("alembic -c development.ini check")
    assert "groundtransport" in own.run('alembic -c development.ini revision -m "by hand"')  # without --autogenerate
    by_hand = own.revisions()[-1]
    own.run("groundtransport init")
    whole = parts(engine)

    # Ours goes back alone: what was written on it goes with it, the first kind stays.
    own.run(f"alembic -c development.ini downgrade {newest}")
    assert ready(own) == "503"
    assert migrations.current(engine) == {first.name.split("_")[0]}
    own.run("groundtransport init")
    assert parts(engine) == whole

    # The own branch goes back alone: ours stays.
    own.run("alembic -c development.ini downgrade own@base")
    by_hand.unlink()
    assert migrations.current(engine) == {following}
    own.run("alembic -c development.ini upgrade heads")
    assert parts(engine) == whole

    # To nothing, and all at once.
    own.run("alembic -c development.ini downgrade own@base")
    own.run(f"alembic -c development.ini downgrade {newest}")
    assert parts(engine) == without
    own.run("alembic -c development.ini downgrade base")
    ours.touch()
    own.run("alembic -c development.ini upgrade heads")
    assert parts(engine) == whole


def test_a_kind_that_is_added_again_uses_no_id_again(own: OwnCode, engine: Engine) -> None:
    files, commands = readme_kind()
    for path, content in files.items():
        own.file(path, content)
    own.run(commands[0])
    for round_number in (1, 2, 3):
        for command in commands[1:]:
            own.run(command)
        own.run("groundtransport sample shuttle --records 3")
        with engine.connect() as connection:
            ids = list(connection.scalars(text("SELECT id FROM shuttle ORDER BY id")))
        assert ids == [round_number * 3 - 2, round_number * 3 - 1, round_number * 3]
        # The entries of the first round stay, and tell that its records are gone.
        assert "does not account" not in own.run("groundtransport audit reconcile", fails=round_number > 1)
        own.run("alembic -c development.ini downgrade own@-1")
        (revision,) = own.revisions()
        revision.unlink()


def test_a_downgrade_leaves_what_was_there_before(own: OwnCode, engine: Engine) -> None:
    before = parts(engine)
    file = own.folder / "groundtransport" / "kinds" / "transit.py"
    changed = file.read_text().replace(
        "    route_name: Mapped", "    email: Mapped[str | None] = mapped_column(String(100))\n    route_name: Mapped"
    )
    own.file("groundtransport/kinds/transit.py", changed)
    own.run('alembic -c development.ini revision --autogenerate -m "An address for mail"')
    (revision,) = own.revisions()
    assert "scheduledbus" not in revision.read_text()

    with engine.begin() as connection:  # on PostgreSQL a table with rows goes another way
        fill(connection)
    own.run("alembic -c development.ini upgrade heads")
    after = parts(engine)
    added = {name.split()[-1] for name in after.keys() - before.keys()}
    assert "ix_transit_by_email" in added
    assert added <= {"ix_transit_by_email", "transit.email"}
    own.run("alembic -c development.ini downgrade own@-1")
    assert parts(engine) == before
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM transit")) == 1


def fill(connection: Connection) -> None:
    """Store an airport and a record, whatever columns a kind has by now."""
    place = {"city": "", "state": "", "country": "US", "latitude": 1.0, "longitude": 1.0, "search_text": ""}
    connection.execute(insert(Airport).values(id=99, code="AAA", name="A", **place))
    columns = "airport_id, airport_code, airport_name, created_at, updated_at, version, search_text"
    values = "99, 'AAA', 'A (AAA)', CURRENT_TIMESTAMP, CURRENT_TIMESTAMP, 1, 'a'"
    connection.execute(text(f"INSERT INTO transit ({columns}) VALUES ({values})"))


def test_an_upgrade_in_steps_is_like_a_fresh_one(empty_database_url: str, request: Any) -> None:
    """Reach each revision by a command of its own, and upgrade a copy of every fifth one at once.

    Both run the same frozen migrations in the same order, so a copy of each revision would show no more.
    """
    backend = make_url(empty_database_url).get_backend_name()
    with upgraded(backend, request) as fresh:
        expected = parts(fresh)
    scripts = reversed([*ScriptDirectory.from_config(migrations.config()).walk_revisions()])
    for number, script in enumerate(scripts):
        with connected(empty_database_url) as engine:
            migrations.upgrade(engine, script.revision)
        if number % 5 == 0:
            with upgraded(backend, request, empty_database_url) as copy:
                assert parts(copy) == expected, script.revision
    with connected(empty_database_url) as engine:
        assert parts(engine) == expected


@contextmanager
def upgraded(backend: str, request: Any, template: str = "") -> Iterator[Engine]:
    """Yield the engine of a new database, or of the copy of a database, upgraded to the newest revision."""
    with new_database(backend, request, "groundtransport_upgraded", template) as url, connected(url) as engine:
        migrations.upgrade(engine)
        yield engine


@contextmanager
def connected(url: str) -> Iterator[Engine]:
    """Yield an engine whose connections are closed at the end."""
    engine = db.make_engine(settings.read(app_settings(url), ENVIRON))
    try:
        yield engine
    finally:
        engine.dispose()
