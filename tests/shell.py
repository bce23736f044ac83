"""The command ``groundtransport`` as an operator runs it: an ini of its own, its words and its exit code."""

import csv
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine, select

from groundtransport import db, settings
from groundtransport.accounts.models import AdminUser
from groundtransport.airports import loading, source
from groundtransport.airports.models import City, SmallCity
from groundtransport.cli import main
from groundtransport.db import migrations
from tests.site import ENVIRON, add_users, app_settings

SOME = ("JFK", "LHR", "YUL", "SJU", "ANR")


def run(*words: str, stdin: str = "", env: dict[str, str] | None = None) -> Result:
    """Run the command in this process, and close its connections as the end of a process does."""
    engines: list[Engine] = []
    make = db.make_engine
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(db, "make_engine", lambda matched, **more: engines.append(make(matched, **more)) or engines[-1])
        result = CliRunner().invoke(main, words, input=stdin, env=env)
    for engine in engines:
        engine.dispose()
    return result


class Shell:
    """``groundtransport -c FILE.ini`` on one database."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.ini = folder, folder / "test.ini"
        lines = ["[app:main]", "use = egg:groundtransport", "groundtransport.hosts = localhost"]
        self.ini.write_text("\n".join([*lines, f"sqlalchemy.url = {url.replace('%', '%%')}", ""]))
        self.engine = db.make_engine(settings.read(app_settings(url), ENVIRON))

    def __call__(self, *words: str, stdin: str = "", fails: bool = False, **environ: str) -> str:
        result = run("-c", str(self.ini), *words, stdin=stdin, env=environ)
        assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
        assert (result.exit_code != 0) is fails, result.output
        return result.output

    def all(self, *columns: Any) -> list[Any]:
        with self.engine.connect() as connection:
            rows = connection.execute(select(*columns).order_by(columns[0])).all()
        return [row[0] for row in rows] if len(columns) == 1 else [tuple(row) for row in rows]

    def user(self, name: str) -> Any:
        with self.engine.connect() as connection:
            return connection.execute(select(AdminUser.__table__).where(AdminUser.name == name)).one()

    def write(self, text: str | bytes, name: str = "records.csv") -> str:
        file = self.folder / name
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(file)

    def refused(self, name: str = "records.errors.csv") -> list[dict[str, str]]:
        with (self.folder / name).open(encoding="utf-8-sig", errors="surrogateescape", newline="") as lines:
            return list(csv.DictReader(lines))


def fill_with_some_places(url: str) -> None:
    """Migrate the database, and add some places; leave no connection open."""
    engine = db.make_engine(settings.read(app_settings(url), ENVIRON))
    migrations.upgrade(engine)
    add_some_places(engine)
    engine.dispose()


def fill_with_some_places_and_users(url: str) -> None:
    """Fill a database as ``fill_with_some_places``, and add a user for each role: what a Site needs at least."""
    fill_with_some_places(url)
    engine = db.make_engine(settings.read(app_settings(url), ENVIRON))
    with db.transaction(engine) as dbsession:
        add_users(dbsession)
    engine.dispose()


def add_some_places(engine: Engine) -> None:
    """Add five airports, two cities and a small one. ``init`` takes them for complete, and does not load all."""
    airports = [row for row in source.packaged_airports() if row["code"] in SOME]
    with db.transaction(engine) as dbsession:
        loading.refresh_airports(dbsession, airports)
        loading.note_corrected(dbsession)  # the five are all that the tests need
        for number, name in enumerate(("Queens", "Newark")):
            values = {"id": number, "name": name, "latitude": 40.7, "longitude": -73.8}
            dbsession.add(City(**values, country="US", population=9000, state="US-NY"))
        dbsession.add(SmallCity(id=2, name="Jamaica", folded_name="jamaica", latitude=40.7, longitude=-73.8))
