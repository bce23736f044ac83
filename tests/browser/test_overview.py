"""The overview in a browser, and what every page offers: light and dark, times in the reader's zone, paper."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.screens import Screen
from tests.functional.test_dashboard import add_entries
from tests.site import HEATHROW, JFK, Client, Site


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_search_over_both_kinds_leads_to_a_list(visit: Visit, admin_client: Client, script: bool) -> None:
    for _ in range(11):
        admin_client.create("transit", company_name="Alpha Line")
    admin_client.create("scheduledbus", company_name="Alpha Coaches")
    page = visit(script=script)

    page.goto("/admin")
    page.get_by_role("textbox", name="Search all records").fill("alpha")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.get_by_role("link", name="Alpha Coaches", exact=True)).to_be_visible()
    page.get_by_role("link", name="All 11").click()

    expect(page).to_have_url("/admin/transit?q=alpha")
    expect(page.get_by_role("link", name="Edit Alpha Line")).to_have_count(11)


def test_the_chart_is_legible_after_an_import(page: Page, admin_client: Client, site: Site) -> None:
    """A day of one change is seen beside a day of thousands, and the lines name their numbers."""
    today = datetime.now(UTC)
    add_entries(site, today - timedelta(days=2), *[today - timedelta(days=1)] * 3000)
    page.goto("/admin")

    heights = [bar.bounding_box()["height"] for bar in page.locator(".chart rect").all()]
    assert len(heights) == 2
    assert min(heights) >= 10
    expect(page.locator(".chart text")).to_have_text(["10", "100", "1,000", "5,000"])
    expect(page.get_by_text("The scale is logarithmic")).to_be_visible()


@pytest.mark.parametrize("width", [768, 1280, 1920])
def test_the_cards_are_equally_high_and_keep_their_arrow_in_the_line(
    visit: Visit, admin_client: Client, width: int
) -> None:
    admin_client.create("transit")
    page = visit(screen=Screen(width, 900), locale="es-ES")
    page.goto("/admin")

    cards = page.locator(".card-kind")
    heights = {round(card.bounding_box()["height"]) for card in cards.all()}
    assert len(heights) == 1
    for title in page.locator(".card-kind h2 a").all():
        assert title.bounding_box()["height"] < 64


def test_slash_goes_to_the_search(page: Page) -> None:
    page.goto("/admin")
    page.keyboard.press("/")
    expect(page.get_by_role("textbox", name="Search all records")).to_be_focused()


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_gap_leads_to_the_list_that_shows_it(visit: Visit, admin_client: Client, script: bool) -> None:
    admin_client.create("transit", company_name="With a phone", company_phone1="+1 212 555 0100")
    admin_client.create("transit", company_name="Without a phone")
    page = visit(script=script)

    page.goto("/admin")
    page.get_by_role("link", name="No phone 1").click()

    expect(page.get_by_role("link", name="Edit Without a phone")).to_be_visible()
    expect(page.get_by_text("With a phone")).to_have_count(0)


def test_the_chart_is_read_as_a_table_too(page: Page, admin_client: Client) -> None:
    for _ in range(3):
        admin_client.create("transit")
    page.goto("/admin")

    expect(page.get_by_role("img", name="3 changes in eight weeks")).to_be_visible()
    page.get_by_text("As a table").click()
    table = page.get_by_role("table", name="Changes per day")
    expect(table.get_by_role("row")).to_have_count(1 + 8)
    table.get_by_role("link", name="3 changes on").click()
    expect(page.get_by_text("3 entries")).to_be_visible()


# Light and dark


GROUNDS = {"light": "rgb(243, 243, 240)", "dark": "rgb(21, 23, 26)"}


def ground(page: Page) -> str:
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_without_script_the_theme_is_that_of_the_system(visit: Visit, scheme: str) -> None:
    page = visit(scheme=scheme, script=False)
    page.goto("/admin")

    assert ground(page) == GROUNDS[scheme]


def test_paper_is_light(visit: Visit) -> None:
    page = visit(scheme="dark")
    page.goto("/admin")
    page.emulate_media(media="print", color_scheme="dark")

    expect(page.locator(".board").first).to_have_css("background-color", "rgb(255, 255, 255)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_as_light_as_the_system_until_somebody_chooses(visit: Visit, scheme: str) -> None:
    page = visit(scheme=scheme)
    page.goto("/admin")
    assert ground(page) == GROUNDS[scheme]
    other = {"light": "dark", "dark": "light"}[scheme]
    with page.expect_response("**/preferences") as response:
        page.get_by_role("button", name=other.title()).click()
    assert response.value.status == 204
    assert ground(page) == GROUNDS[other]
    expect(page.get_by_role("button", name=other.title())).to_have_attribute("aria-pressed", "true")

    page.goto("/admin/transit")
    assert ground(page) == GROUNDS[other]
    with page.expect_response("**/preferences"):
        page.get_by_role("button", name="System setting").click()
    assert ground(page) == GROUNDS[scheme]


def test_choosing_a_theme_keeps_what_is_being_typed(page: Page) -> None:
    page.goto("/admin/transit/create")
    page.get_by_label("Company Name").fill("Half a na")
    with page.expect_response("**/preferences"):
        page.get_by_role("button", name="Dark").click()

    expect(page.get_by_label("Company Name")).to_have_value("Half a na")


def test_a_theme_is_chosen_without_script_and_leads_back(no_script: Page) -> None:
    no_script.goto("/admin/transit?q=alpha")
    no_script.get_by_role("button", name="Dark").click()

    expect(no_script).to_have_url("/admin/transit?q=alpha")
    expect(no_script.locator("html")).to_have_attribute("data-theme", "dark")


# Times


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata"])
def test_times_are_the_readers(visit: Visit, admin_client: Client, zone: str) -> None:
    admin_client.create("transit")
    page = visit(timezone_id=zone)
    page.goto("/admin")

    time_element = page.locator(".latest time").first
    at = datetime.fromisoformat(time_element.get_attribute("datetime") or "")
    local = at.astimezone(ZoneInfo(zone))
    expect(time_element).to_have_text(f"{local:%b} {local.day}, {local:%Y, %H:%M}")
    expect(time_element).to_have_attribute("title", at.strftime("%Y-%m-%d %H:%M:%S UTC"))


def test_without_script_times_are_in_utc_and_say_so(no_script: Page, admin_client: Client) -> None:
    admin_client.create("transit")
    no_script.goto("/admin")
    expect(no_script.locator(".latest time").first).to_contain_text("UTC")


# Paper


def test_on_paper_a_list_is_dark_on_white_and_without_its_tools(visit: Visit, admin_client: Client, site: Site) -> None:
    admin_client.create("transit", airport_name=HEATHROW, company_name="Alpha Coaches")
    page = visit(scheme="dark")
    page.goto("/admin/transit")
    expect(page.get_by_role("link", name="Edit Alpha Coaches")).to_be_visible()

    page.emulate_media(media="print")

    expect(page.get_by_text("Alpha Coaches")).to_be_visible()
    for tool in (page.get_by_role("navigation").first, page.get_by_role("textbox"), page.get_by_text("Sign out")):
        expect(tool).to_be_hidden()
    expect(page.get_by_role("link", name="Edit Alpha Coaches")).to_be_hidden()


def test_on_paper_a_record_stands_alone(page: Page, admin_client: Client) -> None:
    admin_client.create("transit", airport_name=JFK, company_name="Alpha Coaches", company_phone1="+1 212 555 0100")
    admin_client.create("transit", company_name="Beta Line")
    page.goto("/admin/transit")
    page.get_by_role("link", name="View Alpha Coaches").click()
    expect(page.get_by_role("dialog")).to_contain_text("+1 212 555 0100")

    page.emulate_media(media="print")

    expect(page.get_by_role("dialog")).to_contain_text("Alpha Coaches")
    expect(page.get_by_text("Beta Line")).to_be_hidden()
    assert page.evaluate("getComputedStyle(document.querySelector('#detail'), '::backdrop').display") == "none"
