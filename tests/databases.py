"""New databases for tests: empty ones, and copies of databases that are filled once for each test run."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from sqlalchemy import URL, make_url

from groundtransport import db, settings
from groundtransport.db import migrations
from tests import postgres
from tests.shared import TEMPLATE, Shared
from tests.site import ENVIRON, app_settings

DATABASES = ("sqlite", "postgresql")


@contextmanager
def new_database(backend: str, request: Any, name: str, template: str = "") -> Iterator[str]:
    """Yield the URL of a new database, empty or a copy of the one at a URL ``template``; it is removed afterwards."""
    server = server_of(backend, request)
    if server is not None:
        source = make_url(template).database if template else "template0"
        with postgres.database(server, f"{name}_{os.getpid()}", source) as url:
            yield url
        return
    file = request.getfixturevalue("tmp_path_factory").mktemp("sqlite") / "test.sqlite"
    if template:
        shutil.copy(make_url(template).database, file)
    try:
        yield f"sqlite:///{file}"
    finally:
        file.unlink(missing_ok=True)


def filled_database(backend: str, request: Any, name: str, fill: Callable[[str], None]) -> AbstractContextManager[str]:
    """Return the context of the URL of a copy of the database that ``fill`` filled, once for this test run.

    ``fill`` gets the URL of an empty database, and leaves no connection open.
    """
    template = template_url(request.getfixturevalue("shared"), backend, server_of(backend, request), fill)
    return new_database(backend, request, name, template)


def server_of(backend: str, request: Any) -> URL | None:
    """Return the URL of the backend's server, None for SQLite; skip the test if there is none, but fail it in CI."""
    if backend == "sqlite":
        return None
    server = request.getfixturevalue("postgresql_server")
    if server is None:
        if os.environ.get("CI"):
            pytest.fail("CI must run the tests on PostgreSQL, and there is no server")
        pytest.skip(postgres.HOW_TO)
    return server


def template_url(shared: Shared, backend: str, server: URL | None, fill: Callable[[str], None]) -> str:
    """Return the URL of the database that ``fill`` filled for this test run."""
    name = f"{TEMPLATE}{backend}-{fill.__name__}"

    def make() -> str:
        if server is None:
            url = f"sqlite:///{shared.folder / fill.__name__}.sqlite"
        else:
            url = postgres.create(server, f"{fill.__name__}_{os.getpid()}")
        fill(url)
        return url

    return shared.once(name, make)


def migrate(url: str) -> None:
    """Make the tables in an empty database."""
    engine = db.make_engine(settings.read(app_settings(url), ENVIRON))
    migrations.upgrade(engine)
    engine.dispose()
