"""Migrations by the package itself: the folder ``alembic/``, in the wheel as ``groundtransport/migrations``."""

from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine


def config(engine: Engine | None = None) -> Config:
    """Return Alembic's configuration; its commands then work on ``engine``."""
    made = Config()
    made.set_main_option("script_location", str(files("groundtransport") / "migrations"))
    made.attributes["engine"] = engine
    return made


def head() -> str:
    """Return the newest revision."""
    revision = ScriptDirectory.from_config(config()).get_current_head()
    assert revision is not None
    return revision


def current(engine: Engine) -> str | None:
    """Return the revision of the database; None for an empty one."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def upgrade(engine: Engine, revision: str = "head") -> None:
    command.upgrade(config(engine), revision)


def downgrade(engine: Engine, revision: str = "base") -> None:
    command.downgrade(config(engine), revision)
