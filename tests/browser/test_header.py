"""The header of every page: one line that stays in view, a menu where it has no room, a search over all records."""

import pytest
from playwright.sync_api import Page, expect

from groundtransport.security import Role
from tests.browser.conftest import Visit
from tests.browser.screens import PHONE, Screen
from tests.site import Client

LINE = 56  # px
LOW = Screen(320, 256, scale=4)  # 1280 x 1024 at 400 %


@pytest.mark.parametrize("language", ["en-US", "es-ES"])
@pytest.mark.parametrize("width", [360, 768, 1024, 1280, 1920])
def test_it_is_one_line_in_which_everything_is_whole(visit: Visit, width: int, language: str) -> None:
    page = visit(screen=Screen(width, 740), locale=language)
    page.goto("/admin/activity")

    assert page.get_by_role("banner").bounding_box()["height"] <= LINE
    for part in page.locator("header :is(a, button, input):visible").all():
        box = part.bounding_box()
        assert 0 <= box["y"] <= LINE - box["height"], part
        assert 0 <= box["x"] <= width - box["width"], part
    assert page.evaluate("(nav => nav.scrollWidth <= nav.clientWidth)(document.querySelector('header nav'))")


@pytest.mark.parametrize("screen", [Screen(1280, 800), PHONE], ids=["desktop", "phone"])
def test_it_stays_in_view(visit: Visit, admin_client: Client, screen: Screen) -> None:
    for _ in range(25):
        admin_client.create("transit")
    page = visit(screen=screen)
    page.goto("/admin/transit")
    page.evaluate("scrollTo(0, 600)")

    header = page.get_by_role("banner").bounding_box()
    assert header["y"] == 0
    if screen is not PHONE:
        assert page.locator("#records thead th").first.bounding_box()["y"] >= header["height"] - 1


def test_a_low_window_keeps_its_room(visit: Visit) -> None:
    page = visit(screen=LOW)
    page.goto("/admin")
    page.evaluate("scrollTo(0, 200)")

    assert page.get_by_role("banner").bounding_box()["y"] < 0


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_on_a_phone_a_menu_leads_everywhere(visit: Visit, script: bool) -> None:
    page = visit(screen=PHONE, script=script)
    page.goto("/admin")
    expect(page.get_by_role("link", name="Activity", exact=True)).to_be_hidden()

    page.get_by_role("button", name="Menu").click()
    for name in ("Overview", "Scheduled buses", "Transit services", "Users", "Security"):
        expect(page.get_by_role("navigation", name="Main").get_by_role("link", name=name)).to_be_visible()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.get_by_role("link", name="Activity", exact=True).click()

    expect(page).to_have_url("/admin/activity")


def test_the_overview_has_an_entry_that_is_current_there_only(page: Page) -> None:
    entry = page.get_by_role("navigation", name="Main").get_by_role("link", name="Overview")
    page.goto("/admin")
    expect(entry).to_have_attribute("aria-current", "page")
    page.goto("/admin/transit")
    expect(entry).not_to_have_attribute("aria-current", "page")


@pytest.mark.parametrize("key", ["Control+k", "Meta+k"])
@pytest.mark.parametrize("screen", [Screen(1280, 800), PHONE], ids=["desktop", "phone"])
def test_a_key_leads_to_the_search_over_all_records(
    visit: Visit, admin_client: Client, screen: Screen, key: str
) -> None:
    admin_client.create("scheduledbus", company_name="Alpha Coaches")
    page = visit(screen=screen, role=Role.VIEWER)
    page.goto("/admin/transit")

    page.keyboard.press(key)
    expect(page.get_by_role("textbox", name="Search all records")).to_be_focused()
    page.keyboard.type("alpha")
    page.keyboard.press("Enter")

    expect(page).to_have_url("/admin/search?q=alpha")
    expect(page.get_by_role("link", name="Alpha Coaches")).to_be_visible()
    expect(page.get_by_role("textbox", name="Search all records")).to_have_value("alpha")


def test_the_key_works_while_somebody_types_and_not_behind_a_dialog(page: Page) -> None:
    page.goto("/admin/transit/create")
    page.get_by_label("Company Name").press("Control+k")
    expect(page.get_by_role("textbox", name="Search all records")).to_be_focused()

    page.get_by_role("button", name="Keyboard shortcuts").click()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog").get_by_role("button", name="Close")).to_be_focused()
