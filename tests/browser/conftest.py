"""Fixtures of the browser tests: the service on a port, Chromium, and pages of signed-in users.

A test uses ``page`` (an administrator at 1,280 pixels, light), ``phone``, ``no_script`` or ``anonymous``, or opens
pages by ``visit(role=..., screen=..., scheme=..., script=...)``. It fails on any console error, uncaught error, CSP
violation or failed request; ``watch.allow("404")`` names what it expects. Records are created by ``admin_client``, the
WebTest client of an administrator. ``site`` is on SQLite; decorate a test with ``@both_databases`` for both.
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
from tests.databases import filled_database
from tests.site import Client, Site, fill_with_all_places

COOKIE = "groundtransport"
TIMEOUT = 10_000  # ms that Playwright waits for what a test expects; CI machines may be slow

Visit = Callable[..., Page]
both_databases = pytest.mark.parametrize("served_site", ["sqlite", "postgresql"], indirect=True)


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
    expect.set_options(timeout=TIMEOUT)
    with chromium.launch(program) as browser:
        yield browser


class ServedSite:
    """A site that is served on a port of its own."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.server = StopableWSGIServer.create(site.wsgi, threads=8)
        self.origin = f"http://127.0.0.1:{self.server.effective_port}"

    def close(self) -> None:
        self.server.shutdown()
        self.site.engine.dispose()


@pytest.fixture(scope="session")
def served_sites(request: pytest.FixtureRequest) -> Iterator[Callable[[str], ServedSite]]:
    """Return a function that serves a site on a database, once."""
    served_by_backend: dict[str, ServedSite] = {}
    with ExitStack() as resources:

        def served_site(backend: str) -> ServedSite:
            if backend not in served_by_backend:
                database = filled_database(backend, request, "groundtransport_browser", fill_with_all_places)
                served_by_backend[backend] = ServedSite(Site(resources.enter_context(database)))
                resources.callback(served_by_backend[backend].close)
            return served_by_backend[backend]

        yield served_site


@pytest.fixture
def served_site(request: pytest.FixtureRequest, served_sites: Callable[[str], ServedSite]) -> ServedSite:
    chosen = served_sites(getattr(request, "param", "sqlite"))
    chosen.site.clean()
    return chosen


@pytest.fixture
def site(served_site: ServedSite) -> Site:
    """The application that the browser sees, with no record and no entry yet."""
    return served_site.site


@pytest.fixture
def admin_client(site: Site) -> Client:
    """A client signed in as administrator, which creates records faster than a browser."""
    return site.client()


@pytest.fixture
def watch() -> Iterator[Watch]:
    watch = Watch()
    yield watch
    assert watch.problems() == []


@pytest.fixture
def visit(browser: Browser, served_site: ServedSite, watch: Watch) -> Iterator[Visit]:
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
            base_url=served_site.origin,
            viewport=screen.viewport,
            device_scale_factor=screen.scale,
            has_touch=screen.touch,
            color_scheme=scheme,
            java_script_enabled=script,
            **{"locale": "en-US", "timezone_id": "America/New_York", **more},
        )
        contexts.append(context)
        context.set_default_timeout(TIMEOUT)
        context.on("page", watch.over)
        context.add_init_script(chromium.REPORT_VIOLATIONS)
        if role:
            context.add_cookies([{"name": COOKIE, "value": served_site.site.sign_in(role), "url": served_site.origin}])
        return context.new_page()

    yield visit
    for context in contexts:
        context.close()


@pytest.fixture
def page(visit: Visit) -> Page:
    """A page of an administrator at 1,280 pixels, light."""
    return visit()


@pytest.fixture
def phone(visit: Visit) -> Page:
    """A page of an administrator on a phone, light."""
    return visit(screen=PHONE)


@pytest.fixture
def no_script(visit: Visit) -> Page:
    """A page of an administrator without JavaScript."""
    return visit(script=False)


@pytest.fixture
def anonymous(visit: Visit) -> Page:
    """A page without a session."""
    return visit(role=None)


def nearly_end_the_session(page: Page, site: Site) -> None:
    """Let 28 minutes and a half pass, of the 30 that a session lasts, on a page whose clock is installed."""
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(update(AdminSession).values(seen_at=db.now() - timedelta(minutes=29)))
    page.clock.fast_forward("28:30")
