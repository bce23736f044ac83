"""The databases that every test runs on, and the application on each."""

import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import Any

import hypothesis
import pytest
from sqlalchemy import make_url
from sqlalchemy.exc import OperationalError

from tests import postgres
from tests.browser import chromium
from tests.shell import fill_with_some_places
from tests.site import ENVIRON, Client, Site

hypothesis.settings.register_profile("house", deadline=None)  # a busy machine is no failure
hypothesis.settings.load_profile("house")

with warnings.catch_warnings():
    # Imported once here, so that the known farewell notices of dependencies do not meet "error" in a random test.
    warnings.simplefilter("ignore")
    import deform  # noqa: F401  # for its warnings
    import pyramid.config  # noqa: F401  # the same

DATABASES = ("sqlite", "postgresql")
TIME = "All tests take about 13 minutes on two cores; make test QUICK=1 takes about 2 (SQLite, no browser)."
QUICK_TIME = "The quick tests take about 2 minutes on two cores: SQLite alone, without browser and slow tests."


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


@pytest.fixture(scope="session")
def small_templates() -> Iterator[Callable[..., str]]:
    """Return a function that makes, once for each backend, the database that ``small_database_url`` copies."""
    urls: dict[str, str] = {}
    with suppress(OperationalError), ExitStack() as databases:  # the throw-away server may be gone already

        def template(backend: str, *fixtures: Any) -> str:
            if backend not in urls:
                url = databases.enter_context(new_database(backend, *fixtures, "groundtransport_small"))
                fill_with_some_places(url)
                urls[backend] = url
            return urls[backend]

        yield template


@pytest.fixture(params=DATABASES)
def small_database_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, small_templates: Callable[..., str]
) -> Iterator[str]:
    """The URL of a migrated database with five airports, two cities and no user, for this test alone."""
    template = small_templates(request.param, request, tmp_path_factory)
    with new_database(request.param, request, tmp_path_factory, "groundtransport_copy", template) as url:
        yield url


def new_database(
    backend: str, request: Any, tmp_path_factory: Any, name: str, template: str = ""
) -> AbstractContextManager[str]:
    """Return the context of a new database's URL: empty, or a copy of the database at the URL ``template``."""
    if backend == "sqlite":
        return _sqlite(tmp_path_factory, template)
    server = request.getfixturevalue("postgresql_server")
    if server is None:
        if os.environ.get("CI"):
            pytest.fail("CI must run the tests on PostgreSQL, and there is no server")
        pytest.skip(postgres.HOW_TO)
    return postgres.database(
        server, f"{name}_{os.getpid()}", str(make_url(template).database) if template else "template0"
    )


class _sqlite:  # noqa: N801  # a context manager, used like a function
    def __init__(self, tmp_path_factory: pytest.TempPathFactory, template: str) -> None:
        self.file = tmp_path_factory.mktemp("sqlite") / "test.sqlite"
        if template:
            shutil.copy(make_url(template).database, self.file)

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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="on SQLite alone, without browser and slow tests")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailureNames(config), "failure-names")


def pytest_report_header(config: pytest.Config) -> str:
    return QUICK_TIME if config.getoption("quick") else TIME


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("quick"):
        left_out = [item for item in items if is_left_out_of_quick(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not is_left_out_of_quick(item)]


def is_left_out_of_quick(item: pytest.Item) -> bool:
    """Return True for a test that is marked as slow, drives a browser, or runs on PostgreSQL."""
    parameters = getattr(item, "callspec", None)
    on_postgresql = parameters is not None and "postgresql" in parameters.params.values()
    return on_postgresql or any(item.get_closest_marker(name) for name in ("slow", "browser"))


class FailureNames:
    """Print the name of each failed test at once; pytest-xdist prints dots until the end."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            terminal.ensure_newline()
            terminal.write_line(f"FAILED {report.nodeid} ({report.when})", red=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    for title, how_to in (("PostgreSQL was", postgres.HOW_TO), ("The pages were", chromium.HOW_TO)):
        if any(how_to in reason for reason in skipped):
            terminalreporter.write_sep("!", f"{title} not tested", red=True, bold=True)
            terminalreporter.write_line(how_to)
