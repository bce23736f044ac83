"""Migrations: ours in the folder ``alembic/`` (``groundtransport/migrations`` in the wheel), and a deployment's own.

A deployment's own revisions, such as the tables of its kinds, have a folder and a branch of their own, so that they and
ours are written independently. Alembic, which takes 11 MB of memory and 0.3 s to import, is imported only to migrate:
a worker of the web service reads the revisions' files itself.
"""

import ast
from collections.abc import Iterable
from configparser import ConfigParser
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, inspect, text

if TYPE_CHECKING:
    from alembic.config import Config

SCRIPTS = "groundtransport:migrations"
# Used where the ini's [alembic] has no ``version_locations``: ours, then where a deployment's own are written.
LOCATIONS = (f"{SCRIPTS}/versions", f"{SCRIPTS}/own")
OWN = "own"  # the label of the branch of a deployment's own revisions


def config(engine: Engine | None = None, ini: Path | None = None) -> "Config":
    """Return Alembic's configuration for the locations that an ini names; its commands then work on ``engine``."""
    from alembic.config import Config

    made = Config()
    made.set_main_option("script_location", str(folder_of(SCRIPTS)).replace("%", "%%"))
    made.set_main_option("path_separator", "newline")
    made.set_main_option("version_locations", "\n".join(map(str, locations(ini))).replace("%", "%%"))
    made.set_main_option("revision_environment", "true")
    made.attributes["engine"] = engine
    return made


def locations(ini: Path | None = None) -> list[Path]:
    """Return the folders of revisions that an ini's ``[alembic] version_locations`` names, one a line."""
    parser = ConfigParser({"here": str(ini.absolute().parent).replace("%", "%%")} if ini else {})
    if ini:
        parser.read(ini)
    named = parser.get("alembic", "version_locations", fallback="").splitlines()
    return [folder_of(line.strip()) for line in named if line.strip()] or [folder_of(name) for name in LOCATIONS]


def folder_of(name: str) -> Path:
    """Return the folder that Alembic means by ``package:path`` or by a path."""
    package, colon, path = name.partition(":")
    return Path(str(files(package))) / path if colon else Path(name)


def heads(ini: Path | None = None) -> frozenset[str]:
    """Return the revisions that the table ``alembic_version`` holds when everything is applied.

    These are the revisions that no other one follows or depends on.
    """
    return heads_of(locations(ini))


def heads_of(folders: Iterable[Path]) -> frozenset[str]:
    """Return the same for the revisions in some folders."""
    found = [_header(file) for folder in folders for file in sorted(folder.glob("*.py"))]
    ids = {label: header["revision"] for header in found for label in _texts(header.get("branch_labels"))}
    needed = {name for header in found for key in ("down_revision", "depends_on") for name in _texts(header.get(key))}
    return frozenset(header["revision"] for header in found) - {ids.get(name, name) for name in needed}


def _header(file: Path) -> dict[str, Any]:
    """Return the constants of a revision's file: ``revision``, ``down_revision``, ``branch_labels``, ``depends_on``."""
    header = {}
    for node in ast.parse(file.read_text(encoding="utf-8"), str(file)).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant | ast.Tuple | ast.List):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(target, ast.Name) and target.id in _HEADER:
                header[target.id] = ast.literal_eval(node.value)
    return header


_HEADER = {"revision", "down_revision", "branch_labels", "depends_on"}


def _texts(value: Any) -> list[str]:
    """Return the names in a constant of a header: None, a text, or several texts."""
    return [value] if isinstance(value, str) else list(value or ())


def current(engine: Engine) -> frozenset[str]:
    """Return the revisions that the database's table ``alembic_version`` holds; none for an empty database."""
    if not inspect(engine).has_table("alembic_version"):
        return frozenset()
    with engine.connect() as connection:
        return frozenset(connection.scalars(text("SELECT version_num FROM alembic_version")))


def upgrade(engine: Engine, revision: str = "heads", ini: Path | None = None) -> None:
    from alembic import command

    command.upgrade(config(engine, ini), revision)


def downgrade(engine: Engine, revision: str = "base", ini: Path | None = None) -> None:
    from alembic import command

    command.downgrade(config(engine, ini), revision)
