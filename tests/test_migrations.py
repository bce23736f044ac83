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
from groundtransport.indexes.operations import is_ours
from groundtransport.jobs import models as jobs
from groundtransport.transfer.imports import models as imports
from tests.site import ENVIRON, app_settings

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
TABLES = (accounts, audit, jobs, imports, kinds.modules())  # importing them defines the metadata
NAMED = {"scheduledbus", "transit", "airport", "city", "admin_activity", "admin_user"}
OF_A_RECORD = {"id", "airport_id", "airport_code", "created_at", "updated_at", "deleted_at", "version"}


@pytest.fixture
def engine(empty_database_url: str) -> Iterator[Engine]:
    engine = db.make_engine(settings.read(app_settings(empty_database_url), ENVIRON))
    yield engine
    engine.dispose()


@pytest.fixture
def migrated(migrated_database_url: str) -> Iterator[Engine]:
    engine = db.make_engine(settings.read(app_settings(migrated_database_url), ENVIRON))
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


def test_columns_are_named_like_the_fields(migrated: Engine) -> None:
    for kind in kinds.kinds().values():
        columns = {column["name"] for column in inspect(migrated).get_columns(kind.name)}
        assert columns >= OF_A_RECORD | set(kind.fields)


def test_a_record_belongs_to_an_airport_that_is_there(migrated: Engine) -> None:
    for name in kinds.kinds():
        (key,) = inspect(migrated).get_foreign_keys(name)
        assert (key["constrained_columns"], key["referred_table"]) == (["airport_id"], "airport")


def test_every_constraint_has_a_name_so_that_a_migration_can_drop_it(migrated: Engine) -> None:
    result = inspect(migrated)
    for table in tables(migrated):
        constraints = [*result.get_foreign_keys(table), *result.get_unique_constraints(table)]
        assert all(constraint["name"] for constraint in constraints), table


def test_down_to_nothing_and_up_again(migrated: Engine) -> None:
    migrations.downgrade(migrated)
    assert tables(migrated) == set()
    assert migrations.current(migrated) == frozenset()
    migrations.upgrade(migrated)
    assert differences(migrated) == []


def test_each_step_goes_down_and_up_again(migrated: Engine) -> None:
    revisions = [script.revision for script in ScriptDirectory.from_config(migrations.config()).walk_revisions()]
    for _ in revisions:
        before = migrations.current(migrated)
        migrations.downgrade(migrated, "-1")
        migrations.upgrade(migrated, "+1")
        assert migrations.current(migrated) == before
        migrations.downgrade(migrated, "-1")
    assert tables(migrated) == set()


def test_an_upgrade_of_a_current_database_leaves_its_rows(migrated: Engine) -> None:
    place = {"city": "", "state": "", "country": "US", "latitude": 1.0, "longitude": 2.0, "search_text": "|aaa|"}
    with db.transaction(migrated) as dbsession:
        dbsession.add(Airport(code="AAA", name="A", **place))
    migrations.upgrade(migrated)
    with migrated.connect() as connection:
        assert connection.scalars(select(Airport.code)).all() == ["AAA"]


def test_what_no_search_reads_any_more_is_dropped_even_half_made(engine: Engine) -> None:
    migrations.upgrade(engine, "0021")
    left = text("SELECT count(*) FROM pg_class WHERE relname LIKE '%rare_signs'")
    if engine.dialect.name == "sqlite":
        left = text("SELECT count(*) FROM sqlite_master WHERE name LIKE '%search_terms'")
    with engine.begin() as connection:
        assert connection.scalar(left) == 2
        if engine.dialect.name == "postgresql":
            signs = "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ix_transit_rare_signs'::regclass"
            connection.execute(text(signs))
    migrations.upgrade(engine)
    with engine.connect() as connection:
        assert connection.scalar(left) == 0
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
    result = {path for pattern in patterns for path in (ROOT / folder).rglob(pattern)}
    return {str(path.relative_to(ROOT)) for path in result}


def test_the_wheel_carries_every_module_template_and_static_file(wheel: zipfile.ZipFile) -> None:
    expected = source("groundtransport", "*.py", "*.jinja2", "py.typed") | source("groundtransport/static", "*.*")
    assert {name for name in expected if "/migrations/" not in name} - set(wheel.namelist()) == set()


def test_the_wheel_carries_the_migrations(wheel: zipfile.ZipFile) -> None:
    expected = {
        name.replace("alembic/", "groundtransport/migrations/", 1) for name in source("alembic", "*.py", "*.mako")
    }
    assert expected - set(wheel.namelist()) == set()
    assert len([name for name in expected if "/versions/" in name]) >= 1


def test_the_wheel_carries_every_file_that_a_template_names(wheel: zipfile.ZipFile) -> None:
    templates = [path.read_text() for path in (ROOT / "groundtransport").rglob("*.jinja2")]
    named = {name for template in templates for name in re.findall(r"asset\(['\"]([^'\"]+)['\"]\)", template)}
    assert {"base.css", "vendor/dataTables.min.js"} <= named
    assert {f"groundtransport/static/{name}" for name in named} - set(wheel.namelist()) == set()


def test_the_wheel_carries_the_licenses_of_what_is_not_ours(wheel: zipfile.ZipFile) -> None:
    names = [Path(name).name for name in wheel.namelist()]
    assert {"datatables.LICENSE.txt", "LICENSE"} <= set(names)


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
