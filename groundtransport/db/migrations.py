"""Migrations of the service (``alembic/``, in the wheel ``groundtransport/migrations``) and of a deployment.

A deployment's own revisions, such as the tables of its kinds, are in a folder and an Alembic branch of their own, so
that both can be developed independently. Importing Alembic takes 11 MB of memory and 0.3 s; so the web service reads
the heads from the revision files, and only commands import Alembic.
"""

from configparser import ConfigParser
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Engine, inspect, text

from groundtransport.db.migration_locks import repeat
from groundtransport.db.revisions import Schema, read_schema

if TYPE_CHECKING:
    from alembic.config import Config

SCRIPTS = "groundtransport:migrations"
# Default of ``version_locations`` in the ini's [alembic]: the service's revisions, then the deployment's own.
LOCATIONS = (f"{SCRIPTS}/versions", f"{SCRIPTS}/own")
OWN = "own"  # branch label of a deployment's own revisions


def config(engine: Engine | None = None, ini: Path | None = None) -> "Config":
    """Return an Alembic configuration with the version locations of an ini file; commands use ``engine``."""
    from alembic.config import Config

    result = Config()
    result.set_main_option("script_location", str(folder_of(SCRIPTS)).replace("%", "%%"))
    result.set_main_option("path_separator", "newline")
    result.set_main_option("version_locations", "\n".join(map(str, locations(ini))).replace("%", "%%"))
    result.set_main_option("revision_environment", "true")
    result.attributes["engine"] = engine
    return result


def locations(ini: Path | None = None) -> list[Path]:
    """Return the folders in ``[alembic] version_locations`` of an ini file, one on each line; LOCATIONS if unset."""
    parser = ConfigParser({"here": str(ini.absolute().parent).replace("%", "%%")} if ini else {})
    if ini:
        parser.read(ini)
    names = parser.get("alembic", "version_locations", fallback="").splitlines()
    return [folder_of(line.strip()) for line in names if line.strip()] or [folder_of(name) for name in LOCATIONS]


def folder_of(name: str) -> Path:
    """Return the folder of a location, ``package:path`` or a path, as Alembic resolves it."""
    package, colon, path = name.partition(":")
    return Path(str(files(package))) / path if colon else Path(name)


def schema(ini: Path | None = None) -> Schema:
    """Return the revisions in the version locations of an ini file."""
    return read_schema(locations(ini))


def heads(ini: Path | None = None) -> frozenset[str]:
    """Return the revisions that ``alembic_version`` holds after upgrading to the heads of an ini's version locations.

    These are the revisions that no other revision follows or depends on.
    """
    return schema(ini).heads


def current(engine: Engine) -> frozenset[str]:
    """Return the revisions in the table ``alembic_version``; an empty set for a database without it."""
    if not inspect(engine).has_table("alembic_version"):
        return frozenset()
    with engine.connect() as connection:
        return frozenset(connection.scalars(text("SELECT version_num FROM alembic_version")))


def upgrade(engine: Engine, revision: str = "heads", ini: Path | None = None) -> None:
    """Upgrade the database to a revision, beside running writers."""
    from alembic import command

    repeat(lambda: command.upgrade(config(engine, ini), revision))


def downgrade(engine: Engine, revision: str = "base", ini: Path | None = None) -> None:
    """Downgrade the database to a revision; ``base`` removes everything."""
    from alembic import command

    command.downgrade(config(engine, ini), revision)
