"""The databases that every test runs on, and the application on each."""

import gc
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from sqlalchemy import URL

from groundtransport.accounts import password_strength
from tests import postgres
from tests.browser import chromium
from tests.databases import DATABASES, filled_database, migrate, new_database
from tests.shared import Shared
from tests.shell import fill_with_some_places
from tests.site import ENVIRON, Client, Site, fill_with_all_places

hypothesis.settings.register_profile("project", deadline=None)  # a busy machine is no failure
hypothesis.settings.load_profile("project")

with warnings.catch_warnings():
    # Imported once here, so that the known farewell notices of dependencies do not meet "error" in a random test.
    warnings.simplefilter("ignore")
    import deform  # noqa: F401  # for its warnings
    import pyramid.config  # noqa: F401  # the same

# A parsed page is many objects that reference one another. With Python's own thresholds, the search for such garbage
# takes a fifth of the time of tests that parse pages.
gc.set_threshold(50_000, 20, 100)

SHARED = pytest.StashKey[Shared]()
TIME = "All tests take 20 to 50 minutes on two cores; make test QUICK=1 takes a few (SQLite, no browser)."
QUICK_TIME = "The quick tests take a few minutes on two cores: SQLite alone, without browser and slow tests."


@pytest.fixture(scope="session", autouse=True)
def environ() -> Iterator[None]:
    """The environment of a deployment, and nothing of the developer's own."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("GROUNDTRANSPORT_")] + ["DATABASE_URL"]:
            patch.delenv(name, raising=False)
        for name, value in ENVIRON.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="session", autouse=True)
def common_passwords() -> Iterator[None]:
    """Read the list of common passwords once; the service reads it for each new password, to save memory."""
    passwords = tuple(password_strength._common_passwords())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(password_strength, "_common_passwords", lambda: passwords)
        yield


@pytest.fixture(scope="session")
def shared(request: pytest.FixtureRequest) -> Shared:
    """Return the resources that all processes of this test run share."""
    return request.config.stash[SHARED]


@pytest.fixture(scope="session")
def postgresql_server(shared: Shared) -> URL | None:
    return postgres.server(shared)


@pytest.fixture(scope="session", params=DATABASES)
def database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a database with every airport, and a user for each role; every test that asks for it runs on both."""
    with filled_database(request.param, request, "groundtransport_test", fill_with_all_places) as url:
        yield url


@pytest.fixture(params=DATABASES)
def full_database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of such a database for this test alone."""
    with filled_database(request.param, request, "groundtransport_full", fill_with_all_places) as url:
        yield url


@pytest.fixture(params=DATABASES)
def small_database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a migrated database with five airports, two cities and no user, for this test alone."""
    with filled_database(request.param, request, "groundtransport_small", fill_with_some_places) as url:
        yield url


@pytest.fixture(params=DATABASES)
def migrated_database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a database whose tables have no rows, for this test alone."""
    with filled_database(request.param, request, "groundtransport_migrated", migrate) as url:
        yield url


@pytest.fixture(params=DATABASES)
def empty_database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty database for this test alone."""
    with new_database(request.param, request, "groundtransport_empty") as url:
        yield url


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
    if hasattr(config, "workerinput"):
        config.stash[SHARED] = Shared(Path(config.workerinput["shared"]))
    else:
        config.pluginmanager.register(FailureNames(config), "failure-names")
        config.stash[SHARED] = Shared(Path(tempfile.mkdtemp(prefix="gt-tests-")))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process of pytest-xdist where the resources of the test run are."""
    node.workerinput["shared"] = str(node.config.stash[SHARED].folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        postgres.end(config.stash[SHARED])
        shutil.rmtree(config.stash[SHARED].folder, ignore_errors=True)


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
