"""The databases that every test runs on, and the application on each."""

import os
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import hypothesis
import pytest

from tests import postgres
from tests.browser import chromium
from tests.site import ENVIRON, Client, Site

hypothesis.settings.register_profile("house", deadline=None)  # a busy machine is no failure
hypothesis.settings.load_profile("house")

with warnings.catch_warnings():
    # Imported once here, so that the known farewell notices of dependencies do not meet "error" in a random test.
    warnings.simplefilter("ignore")
    import deform  # noqa: F401  # for its warnings
    import pyramid.config  # noqa: F401  # the same

DATABASES = ("sqlite", "postgresql")


@pytest.fixture(scope="session", autouse=True)
def environ() -> Iterator[None]:
    """The environment of a deployment, and nothing of the developer's own."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("GROUNDTRANSPORT_")] + ["DATABASE_URL"]:
            patch.delenv(name, raising=False)
        for name, value in ENVIRON.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[object]:
    with postgres.server() as url:
        yield url


@pytest.fixture(scope="session", params=DATABASES)
def database_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an empty database; every test that asks for it runs on both."""
    with new_database(request.param, request, tmp_path_factory, "groundtransport_test") as url:
        yield url


@pytest.fixture(params=DATABASES)
def empty_database_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an empty database for this test alone."""
    with new_database(request.param, request, tmp_path_factory, "groundtransport_empty") as url:
        yield url


def new_database(backend: str, request: Any, tmp_path_factory: Any, name: str) -> AbstractContextManager[str]:
    if backend == "sqlite":
        return _sqlite(tmp_path_factory)
    server = request.getfixturevalue("postgresql_server")
    if server is None:
        if os.environ.get("CI"):
            pytest.fail("CI must run the tests on PostgreSQL, and there is no server")
        pytest.skip(postgres.HOW_TO)
    return postgres.database(server, f"{name}_{os.getpid()}")


class _sqlite:  # noqa: N801  # a context manager, used like a function
    def __init__(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.file = tmp_path_factory.mktemp("sqlite") / "test.sqlite"

    def __enter__(self) -> str:
        return f"sqlite:///{self.file}"

    def __exit__(self, *error: object) -> None:
        self.file.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def whole_site(database_url: str) -> Iterator[Site]:
    site = Site(database_url)
    yield site
    site.engine.dispose()


@pytest.fixture
def site(whole_site: Site) -> Site:
    """The application, with no record and no entry yet. Its transactions are real ones."""
    whole_site.clean()
    return whole_site


@pytest.fixture(params=("scheduledbus", "transit"))
def kind(request: pytest.FixtureRequest) -> str:
    """The name of each kind in turn."""
    return request.param


@pytest.fixture
def client(site: Site) -> Client:
    """A signed-in administrator."""
    return site.client()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    for title, how_to in (("PostgreSQL was", postgres.HOW_TO), ("The pages were", chromium.HOW_TO)):
        if any(how_to in reason for reason in skipped):
            terminalreporter.write_sep("!", f"{title} not tested", red=True, bold=True)
            terminalreporter.write_line(how_to)
