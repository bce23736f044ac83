"""The service on a port, a Chromium that looks at it, and the pages that tests work with.

A test asks for ``page`` (an administrator at a desk, in light), ``phone``, ``no_script`` or ``anonymous``, or makes
pages of its own by ``visit(role=..., screen=..., scheme=..., script=...)``. It fails on any console error, uncaught
error, CSP violation or failed request; ``watch.allow("404")`` names what it expects. Records are made by ``office``,
the WebTest client of an administrator. ``site`` is on SQLite; decorate a test with ``@both_databases`` for both.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from sqlalchemy import update
from webtest.http import StopableWSGIServer

from groundtransport import db
from groundtransport.accounts.models import AdminSession
from groundtransport.security import Role
from tests.browser import chromium
from tests.browser.chromium import Watch
from tests.browser.screens import DESKTOP, PHONE, Screen
from tests.conftest import new_database
from tests.site import Client, Site

COOKIE = "groundtransport"
PATIENCE = 10_000  # ms; Playwright waits no longer for what a test expects. Machines of CI may be slow

Visit = Callable[..., Page]
both_databases = pytest.mark.parametrize("house", ["sqlite", "postgresql"], indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser/" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = chromium.find_program()
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("CI must run the browser tests, and there is no Chromium")
        pytest.skip(chromium.HOW_TO)
    expect.set_options(timeout=PATIENCE)
    with chromium.launch(program) as browser:
        yield browser


class House:
    """A site that is served on a port of its own."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.server = StopableWSGIServer.create(site.wsgi, threads=8)
        self.origin = f"http://127.0.0.1:{self.server.effective_port}"

    def close(self) -> None:
        self.server.shutdown()
        self.site.engine.dispose()


@pytest.fixture(scope="session")
def houses(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, postgresql_server: object
) -> Iterator[Callable[[str], House]]:
    """The house on each database, made when first asked for. The server is named so that it outlives them."""
    made: dict[str, House] = {}
    with ExitStack() as at_the_end:

        def house(backend: str) -> House:
            if backend not in made:
                database = new_database(backend, request, tmp_path_factory, "groundtransport_browser")
                made[backend] = House(Site(at_the_end.enter_context(database)))
                at_the_end.callback(made[backend].close)
            return made[backend]

        yield house


@pytest.fixture
def house(request: pytest.FixtureRequest, houses: Callable[[str], House]) -> House:
    found = houses(getattr(request, "param", "sqlite"))
    found.site.clean()
    return found


@pytest.fixture
def site(house: House) -> Site:
    """The application that the browser sees, with no record and no entry yet."""
    return house.site


@pytest.fixture
def office(site: Site) -> Client:
    """A signed-in administrator without a browser: the quick way to records."""
    return site.client()


@pytest.fixture
def watch() -> Iterator[Watch]:
    watch = Watch()
    yield watch
    assert watch.problems() == []


@pytest.fixture
def visit(browser: Browser, house: House, watch: Watch) -> Iterator[Visit]:
    """Make a page of a browser of its own: ``visit(role=..., screen=..., scheme=..., script=..., **context)``."""
    contexts: list[BrowserContext] = []

    def visit(
        *,
        role: Role | None = Role.ADMINISTRATOR,
        screen: Screen = DESKTOP,
        scheme: str = "light",
        script: bool = True,
        **more: Any,
    ) -> Page:
        context = browser.new_context(
            base_url=house.origin,
            viewport=screen.viewport,
            device_scale_factor=screen.scale,
            has_touch=screen.touch,
            color_scheme=scheme,
            java_script_enabled=script,
            **{"locale": "en-US", "timezone_id": "America/New_York", **more},
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        context.on("page", watch.over)
        context.add_init_script(chromium.REPORT_VIOLATIONS)
        if role:
            context.add_cookies([{"name": COOKIE, "value": house.site.sign_in(role), "url": house.origin}])
        return context.new_page()

    yield visit
    for context in contexts:
        context.close()


@pytest.fixture
def page(visit: Visit) -> Page:
    """An administrator at a desk, in light."""
    return visit()


@pytest.fixture
def phone(visit: Visit) -> Page:
    """An administrator with a phone, in light."""
    return visit(screen=PHONE)


@pytest.fixture
def no_script(visit: Visit) -> Page:
    """An administrator whose browser runs no script."""
    return visit(script=False)


@pytest.fixture
def anonymous(visit: Visit) -> Page:
    """Somebody who has not signed in."""
    return visit(role=None)


def nearly_end_the_session(page: Page, site: Site) -> None:
    """Let 28 minutes and a half pass, of the 30 that a session lasts, on a page whose clock is installed."""
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(update(AdminSession).values(seen_at=db.now() - timedelta(minutes=29)))
    page.clock.fast_forward("28:30")
