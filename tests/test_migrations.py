"""The migrations build what the models say, on both databases, and the wheel carries them and all that pages need."""

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, inspect, select, text

from groundtransport import db, kinds, settings
from groundtransport.accounts import models as accounts
from groundtransport.airports.models import Airport
from groundtransport.audit import models as audit
from groundtransport.db import migrations
from groundtransport.indexes import postgresql
from groundtransport.indexes.operations import is_ours
from groundtransport.indexes.spec import TableSpec
from tests.site import ENVIRON, app_settings

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
TABLES = (accounts, audit, kinds.modules())  # importing them defines the metadata
NAMED = {"scheduledbus", "transit", "airport", "city", "admin_activity", "admin_user"}
OF_A_RECORD = {"id", "airport_id", "airport_code", "created_at", "updated_at", "deleted_at", "version"}


@pytest.fixture
def engine(empty_database_url: str) -> Iterator[Engine]:
    engine = db.make_engine(settings.read(app_settings(empty_database_url), ENVIRON))
    yield engine
    engine.dispose()


def tables(engine: Engine) -> set[str]:
    """The tables, but for Alembic's own and those that FTS5 makes for a search index."""
    return {name for name in inspect(engine).get_table_names() if "_search" not in name} - {"alembic_version"}


def differences(engine: Engine) -> list[object]:
    """What autogenerate would write into a new migration."""
    with engine.connect() as connection:
        ours = partial(is_ours, tables=db.Base.metadata.tables)
        opts = {"compare_type": True, "compare_server_default": True, "include_name": ours}
        context = MigrationContext.configure(connection, opts=opts)
        return list(compare_metadata(context, db.Base.metadata))


def test_from_nothing_up_gives_what_the_models_say(engine: Engine) -> None:
    assert migrations.current(engine) == frozenset()
    migrations.upgrade(engine)
    assert migrations.current(engine) == migrations.heads()
    assert differences(engine) == []
    command.check(migrations.config(engine))
    assert tables(engine) == set(db.Base.metadata.tables) >= NAMED


def test_columns_are_named_like_the_fields(engine: Engine) -> None:
    migrations.upgrade(engine)
    for kind in kinds.kinds().values():
        columns = {column["name"] for column in inspect(engine).get_columns(kind.name)}
        assert columns >= OF_A_RECORD | set(kind.fields)


def test_a_record_belongs_to_an_airport_that_is_there(engine: Engine) -> None:
    migrations.upgrade(engine)
    for name in kinds.kinds():
        (key,) = inspect(engine).get_foreign_keys(name)
        assert (key["constrained_columns"], key["referred_table"]) == (["airport_id"], "airport")


def test_every_constraint_has_a_name_so_that_a_migration_can_drop_it(engine: Engine) -> None:
    migrations.upgrade(engine)
    found = inspect(engine)
    for table in tables(engine):
        constraints = [*found.get_foreign_keys(table), *found.get_unique_constraints(table)]
        assert all(constraint["name"] for constraint in constraints), table


def test_down_to_nothing_and_up_again(engine: Engine) -> None:
    migrations.upgrade(engine)
    migrations.downgrade(engine)
    assert tables(engine) == set()
    assert migrations.current(engine) == frozenset()
    migrations.upgrade(engine)
    assert differences(engine) == []


def test_each_step_goes_down_and_up_again(engine: Engine) -> None:
    revisions = [script.revision for script in ScriptDirectory.from_config(migrations.config()).walk_revisions()]
    migrations.upgrade(engine)
    for _ in revisions:
        before = migrations.current(engine)
        migrations.downgrade(engine, "-1")
        migrations.upgrade(engine, "+1")
        assert migrations.current(engine) == before
        migrations.downgrade(engine, "-1")
    assert tables(engine) == set()


def test_an_upgrade_of_a_current_database_leaves_its_rows(engine: Engine) -> None:
    migrations.upgrade(engine)
    place = {"city": "", "state": "", "country": "US", "latitude": 1.0, "longitude": 2.0, "search_text": "|aaa|"}
    with db.transaction(engine) as dbsession:
        dbsession.add(Airport(code="AAA", name="A", **place))
    migrations.upgrade(engine)
    with engine.connect() as connection:
        assert connection.scalars(select(Airport.code)).all() == ["AAA"]


@pytest.mark.parametrize("empty_database_url", ["postgresql"], indirect=True)
def test_the_index_of_rare_signs_is_made_while_others_write(engine: Engine) -> None:
    """It is found by its expression: the migration's and today's are the same. What was left half made is made anew."""
    migrations.upgrade(engine, "0012")
    signs = text(
        "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indexrelid = 'ix_transit_rare_signs'::regclass"
    )
    with engine.begin() as connection:
        connection.execute(text("CREATE INDEX ix_transit_rare_signs ON transit (id)"))
        connection.execute(
            text("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ix_transit_rare_signs'::regclass")
        )
    migrations.upgrade(engine)
    with engine.connect() as connection:
        name = "ix_transit_rare_signs"
        (part,) = [part for part in postgresql.parts(TableSpec("transit", {}, None, True)) if part.name == name]
        made = connection.scalar(signs)
        connection.execute(text("DROP INDEX ix_transit_rare_signs"))
        connection.execute(text(part.create))
        assert connection.scalar(signs) == made
        assert connection.scalar(text("SELECT to_regclass('ix_transit_signs')")) is None
    assert differences(engine) == []


def test_a_migration_that_fails_leaves_nothing_behind(engine: Engine) -> None:
    (first,) = [s for s in ScriptDirectory.from_config(migrations.config()).walk_revisions() if s.down_revision is None]
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE transit (id INTEGER)"))  # in the way of the last table
    with pytest.raises(Exception, match="transit"):
        migrations.upgrade(engine, first.revision)
    assert tables(engine) == {"transit"}
    assert migrations.current(engine) == frozenset()


def test_there_is_one_head() -> None:
    """Read without Alembic as with it."""
    assert set(ScriptDirectory.from_config(migrations.config()).get_heads()) == migrations.heads()
    assert len(migrations.heads()) == 1


# The wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel of a copy of the repository, so that nothing is built in the real one."""
    copy = tmp_path_factory.mktemp("copy") / "source"
    leave = shutil.ignore_patterns(".*", "var", "build", "docs", "*.egg-info", "node_modules", "__pycache__")
    shutil.copytree(ROOT, copy, symlinks=True, ignore=leave)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--wheel-dir", copy.parent, copy], check=True, timeout=120)
    (built,) = copy.parent.glob("groundtransport-*.whl")
    return zipfile.ZipFile(built)


def source(folder: str, *patterns: str) -> set[str]:
    found = {path for pattern in patterns for path in (ROOT / folder).rglob(pattern)}
    return {str(path.relative_to(ROOT)) for path in found}


def test_the_wheel_carries_every_module_template_and_static_file(wheel: zipfile.ZipFile) -> None:
    wanted = source("groundtransport", "*.py", "*.jinja2", "py.typed") | source("groundtransport/static", "*.*")
    assert {name for name in wanted if "/migrations/" not in name} - set(wheel.namelist()) == set()


def test_the_wheel_carries_the_migrations(wheel: zipfile.ZipFile) -> None:
    wanted = {
        name.replace("alembic/", "groundtransport/migrations/", 1) for name in source("alembic", "*.py", "*.mako")
    }
    assert wanted - set(wheel.namelist()) == set()
    assert len([name for name in wanted if "/versions/" in name]) >= 1


def test_the_wheel_carries_every_file_that_a_template_names(wheel: zipfile.ZipFile) -> None:
    templates = [path.read_text() for path in (ROOT / "groundtransport").rglob("*.jinja2")]
    named = {name for template in templates for name in re.findall(r"asset\(['\"]([^'\"]+)['\"]\)", template)}
    assert {"vendor/bootstrap.min.css", "vendor/dataTables.min.js"} <= named
    assert {f"groundtransport/static/{name}" for name in named} - set(wheel.namelist()) == set()


def test_the_wheel_carries_the_licenses_of_what_is_not_ours(wheel: zipfile.ZipFile) -> None:
    names = [Path(name).name for name in wheel.namelist()]
    assert {"bootstrap.LICENSE.txt", "datatables.LICENSE.txt", "LICENSE"} <= set(names)


def test_the_wheel_holds_the_package_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"groundtransport"}


def test_the_wheel_has_the_command_and_the_application(wheel: zipfile.ZipFile) -> None:
    (name,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    words = wheel.read(name).decode()
    assert "groundtransport = groundtransport.cli:main" in words
    assert "main = groundtransport:main" in words


def test_a_worker_does_without_alembic(tmp_path: Path) -> None:
    """It takes 10 MB of memory, and a worker never migrates."""
    program = (
        "import sys, groundtransport, os; os.environ.update(GROUNDTRANSPORT_SECRET='s' * 48,"
        " GROUNDTRANSPORT_AUDIT_SECRET='a' * 48);"
        "groundtransport.main({}, **{'sqlalchemy.url': sys.argv[1], 'groundtransport.hosts': 'localhost'});"
        "sys.exit('alembic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program, f"sqlite:///{tmp_path / 'x'}"]).returncode == 0
