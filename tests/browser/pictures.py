"""``make pictures``: the pictures of README and of the guide, of an office that is made for them and thrown away."""

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
from tests.browser.conftest import COOKIE, House
from tests.browser.screens import PHONE, Screen
from tests.site import ENVIRON, Site

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
SCREEN = Screen(1440, 900)
DAYS = 54  # of the office's life
RECORDS, GAPS = 1204, 40  # of a kind
SEED = 7
PEOPLE = ("Ana Silva", "Ben Okafor", "Chen Wei")


def live_through(site: Site) -> None:
    """Let people make records, more on working days than on others, until now."""
    chance = random.Random(SEED)  # nothing secret
    today = datetime.now(UTC)
    with db.transaction(site.engine) as dbsession:
        users.find(dbsession, f"the-{Role.ADMINISTRATOR}").full_name = PEOPLE[0]
        rows = {name: list(Sampler(dbsession, kind, SEED).rows(RECORDS)) for name, kind in site.kinds.items()}
    for made in rows.values():
        for row in chance.sample(made, GAPS):
            row[chance.choice(("company_phone1", "company_address"))] = ""
    for ago in range(DAYS, -1, -1):
        day = datetime.combine(today - timedelta(days=ago), time(chance.randrange(8, 17), 12), UTC)
        with mock.patch("groundtransport.audit.subscriber.now", return_value=min(day, today)):
            for name, left in rows.items():
                share = len(left) // (ago + 1) * (1.5 if day.weekday() < 5 else 0.1) * chance.uniform(0.5, 1.3)
                part, rows[name] = left[: int(share)], left[int(share) :]
                actor = Actor(chance.choice(PEOPLE), address="192.0.2.7")
                assert not [error for _, error in Importer(site.registry, site.kinds[name], actor).run(part) if error]


def visit(browser: Browser, house: House, screen: Screen, scheme: str = "light") -> Page:
    context = browser.new_context(
        base_url=house.origin,
        viewport=screen.viewport,
        device_scale_factor=screen.scale,
        color_scheme=scheme,
        timezone_id="America/New_York",
    )
    context.add_cookies([{"name": COOKIE, "value": house.site.sign_in(Role.ADMINISTRATOR), "url": house.origin}])
    return context.new_page()


def take(page: Page, name: str) -> None:
    page.evaluate("document.fonts.ready")
    page.screenshot(path=FOLDER / f"{name}.png")
    print(f"docs/pictures/{name}.png")


def take_all(browser: Browser, house: House) -> None:
    page = visit(browser, house, SCREEN)
    page.goto("/admin")
    take(page, "overview")
    page.goto("/admin/transit?q=coach")
    expect(page.get_by_role("table")).to_be_visible()
    take(page, "list")
    page.goto("/admin/transit/create")
    page.get_by_role("combobox", name="Airport").fill("new york")
    expect(page.get_by_role("option").first).to_be_visible()
    take(page, "form")

    dark = visit(browser, house, SCREEN, "dark")
    dark.goto("/admin/transit")
    dark.get_by_role("link", name="View").nth(2).click()
    expect(dark.get_by_role("dialog")).to_contain_text("Company Name")
    take(dark, "detail")

    phone = visit(browser, house, PHONE, "dark")
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
        house = House(Site(f"sqlite:///{folder}/pictures.sqlite"))
        live_through(house.site)
        take_all(browser, house)
        guide_pictures.take_all(browser, house)
        house.close()


if __name__ == "__main__":
    main()
