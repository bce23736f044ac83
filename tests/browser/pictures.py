"""``make pictures``: the pictures of README and of the guide, taken of a site with generated data."""

import os
import random
import tempfile
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from unittest import mock

from playwright.sync_api import Browser, Page, expect

from groundtransport import db
from groundtransport.accounts import users
from groundtransport.events import Actor
from groundtransport.security import Role
from groundtransport.transfer.importer import Importer
from groundtransport.transfer.samples import Sampler
from tests.browser import chromium, guide_pictures
from tests.browser.conftest import COOKIE, ServedSite
from tests.browser.screens import PHONE, Screen
from tests.site import ENVIRON, Site, fill_with_all_places

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
SCREEN = Screen(1440, 900)
DAYS = 54  # that the generated changes span
RECORDS, GAPS = 1204, 40  # of a kind
SEED = 7
PEOPLE = ("Ana Silva", "Ben Okafor", "Chen Wei")


def live_through(site: Site) -> None:
    """Let people make records, more on working days than on others, until now."""
    rng = random.Random(SEED)  # nothing secret
    today = datetime.now(UTC)
    with db.transaction(site.engine) as dbsession:
        users.find(dbsession, f"the-{Role.ADMINISTRATOR}").full_name = PEOPLE[0]
        rows = {name: list(Sampler(dbsession, kind, SEED).rows(RECORDS)) for name, kind in site.kinds.items()}
    for records in rows.values():
        for row in rng.sample(records, GAPS):
            row[rng.choice(("company_phone1", "company_address"))] = ""
    for ago in range(DAYS, -1, -1):
        day = datetime.combine(today - timedelta(days=ago), time(rng.randrange(8, 17), 12), UTC)
        with mock.patch("groundtransport.audit.subscriber.now", return_value=min(day, today)):
            for name, left in rows.items():
                share = len(left) // (ago + 1) * (1.5 if day.weekday() < 5 else 0.1) * rng.uniform(0.5, 1.3)
                part, rows[name] = left[: int(share)], left[int(share) :]
                actor = Actor(rng.choice(PEOPLE), client_ip="192.0.2.7")
                assert not [error for _, error in Importer(site.registry, site.kinds[name], actor).run(part) if error]


def visit(browser: Browser, served_site: ServedSite, screen: Screen, scheme: str = "light") -> Page:
    context = browser.new_context(
        base_url=served_site.origin,
        viewport=screen.viewport,
        device_scale_factor=screen.scale,
        color_scheme=scheme,
        timezone_id="America/New_York",
    )
    context.add_cookies(
        [{"name": COOKIE, "value": served_site.site.sign_in(Role.ADMINISTRATOR), "url": served_site.origin}]
    )
    return context.new_page()


def take(page: Page, name: str) -> None:
    page.evaluate("document.fonts.ready")
    page.screenshot(path=FOLDER / f"{name}.png")
    print(f"docs/pictures/{name}.png")


def take_all(browser: Browser, served_site: ServedSite) -> None:
    page = visit(browser, served_site, SCREEN)
    page.goto("/admin")
    take(page, "overview")
    page.goto("/admin/transit?q=coach")
    expect(page.get_by_role("table")).to_be_visible()
    take(page, "list")
    page.goto("/admin/transit/create")
    page.get_by_role("combobox", name="Airport").fill("new york")
    expect(page.get_by_role("option").first).to_be_visible()
    take(page, "form")

    dark = visit(browser, served_site, SCREEN, "dark")
    dark.goto("/admin/transit")
    dark.get_by_role("link", name="View").nth(2).click()
    expect(dark.get_by_role("dialog")).to_contain_text("Company Name")
    take(dark, "detail")

    phone = visit(browser, served_site, PHONE, "dark")
    phone.goto("/admin/scheduledbus")
    expect(phone.get_by_role("table")).to_be_visible()
    take(phone, "phone")


def main() -> None:
    os.environ.update(ENVIRON)
    program = chromium.find_program()
    if program is None:
        raise SystemExit(chromium.HOW_TO.replace("make test", "make pictures"))
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium.launch(program) as browser:
        fill_with_all_places(url := f"sqlite:///{folder}/pictures.sqlite")
        served_site = ServedSite(Site(url))
        live_through(served_site.site)
        take_all(browser, served_site)
        guide_pictures.take_all(browser, served_site)
        served_site.close()


if __name__ == "__main__":
    main()
