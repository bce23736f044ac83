"""Migrations by the package itself: the folder ``alembic/``, in the wheel as ``groundtransport/migrations``.

Alembic, which takes 10 MB of memory, is imported only to migrate: a worker of the web service never does.
"""

from importlib.resources import files
from typing import TYPE_CHECKING

from sqlalchemy import Engine, inspect, text

if TYPE_CHECKING:
    from alembic.config import Config

FOLDER = files("groundtransport") / "migrations"


def config(engine: Engine | None = None) -> "Config":
    """Return Alembic's configuration; its commands then work on ``engine``."""
    from alembic.config import Config

    made = Config()
    made.set_main_option("script_location", str(FOLDER))
    made.attributes["engine"] = engine
    return made


def head() -> str:
    """Return the newest revision: the files' names begin with it, and revisions count up."""
    names = (file.name for file in (FOLDER / "versions").iterdir() if file.name.endswith(".py"))
    return max(name.partition("_")[0] for name in names)


def current(engine: Engine) -> str | None:
    """Return the revision of the database; None for an empty one."""
    if not inspect(engine).has_table("alembic_version"):
        return None
    with engine.connect() as connection:
        revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def upgrade(engine: Engine, revision: str = "head") -> None:
    from alembic import command

    command.upgrade(config(engine), revision)


def downgrade(engine: Engine, revision: str = "base") -> None:
    from alembic import command

    command.downgrade(config(engine), revision)
