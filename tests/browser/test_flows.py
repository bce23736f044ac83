"""The life of a record, from its creation to the undoing of its deletion: with script, without, and by keys alone."""

import pytest
from playwright.sync_api import Locator, Page, expect

from groundtransport.security import Role
from tests.browser.conftest import Visit, both_databases
from tests.browser.keyboard import tab_to
from tests.site import JFK, PASSWORD, Client, Site


def message(page: Page) -> Locator:
    return page.locator("#messages .message")


@both_databases
@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_create_search_edit_delete_undo(visit: Visit, admin_client: Client, site: Site, script: bool) -> None:
    admin_client.create("transit", company_name="Beta Line")
    page = visit(role=Role.EDITOR, script=script)

    page.goto("/admin/transit")
    page.get_by_role("link", name="New transit service").click()
    choose_airport(page, script)
    page.get_by_label("Company Name").fill("Alpha Coaches")
    page.get_by_label("Company Phone 1").fill("+1 212 555 0100")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(message(page)).to_contain_text("Alpha Coaches")

    page.get_by_role("searchbox", name="Search").fill("alpha 0100")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Beta Line")).to_have_count(0)

    page.get_by_role("link", name="Edit Alpha Coaches").click()
    expect(page.get_by_label("Company Phone 1")).to_have_value("+1 212 555 0100")
    page.get_by_label("Company Name").fill("Alpha Coaches & Sons")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(message(page)).to_contain_text("Alpha Coaches & Sons")
    assert "alpha" in page.url  # the search is still there

    page.get_by_role("link", name="Delete Alpha Coaches & Sons").click()
    page.get_by_role("button", name="Delete").click()
    expect(message(page)).to_contain_text("deleted")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name="Edit Alpha Coaches & Sons")).to_be_visible()
    assert [entry["action"] for entry in site.entries()] == ["create", "create", "update", "delete", "restore"]


def choose_airport(page: Page, script: bool) -> None:
    if not script:
        page.get_by_label("Airport").fill(JFK)
        return
    page.get_by_role("combobox", name="Airport").press_sequentially("kennedy")
    page.get_by_role("option", name="JFK").click()
    expect(page.get_by_role("combobox", name="Airport")).to_have_value(JFK)


def test_a_whole_day_by_the_keyboard_alone(anonymous: Page, site: Site) -> None:
    """Sign in, create, search, edit, delete, undo, sign out: never a pointer, and the focus is always seen."""
    page, keys = anonymous, anonymous.keyboard
    page.goto("/login?next=/admin/transit")
    keys.type("the-editor")
    tab_to(page, page.get_by_label("Password", exact=True))
    keys.type(PASSWORD)
    keys.press("Enter")

    expect(page.get_by_role("heading", name="Transit services")).to_be_visible()
    tab_to(page, page.get_by_role("link", name="New transit service"))
    keys.press("Enter")
    expect(page.get_by_role("heading", name="New transit service")).to_be_visible()
    airport = page.get_by_role("combobox", name="Airport")
    if not airport.evaluate("(one) => one === document.activeElement"):
        tab_to(page, airport)
    keys.type("kennedy")
    expect(page.get_by_role("option", name="JFK")).to_be_visible()
    keys.press("Enter")
    expect(airport).to_have_value(JFK)
    tab_to(page, page.get_by_label("Company Name"))
    keys.type("Alpha Coaches")
    keys.press("Control+s")
    expect(message(page)).to_contain_text("Alpha Coaches")

    keys.press("/")
    expect(page.get_by_role("searchbox", name="Search")).to_be_focused()
    keys.type("alpha")
    edit = page.get_by_role("link", name="Edit Alpha Coaches")
    expect(page).to_have_url("/admin/transit?q=alpha")
    tab_to(page, edit)
    keys.press("Enter")
    tab_to(page, page.get_by_label("Company Name"))
    keys.press("End")
    keys.type(" & Sons")
    tab_to(page, page.get_by_role("button", name="Save", exact=True))
    keys.press("Enter")
    expect(message(page)).to_contain_text("Alpha Coaches & Sons")

    tab_to(page, page.get_by_role("link", name="Delete Alpha Coaches & Sons"))
    keys.press("Enter")
    tab_to(page, page.get_by_role("button", name="Delete"))
    keys.press("Enter")
    expect(message(page)).to_contain_text("deleted")
    tab_to(page, page.get_by_role("button", name="Undo"))
    keys.press("Enter")
    expect(page.get_by_role("link", name="Edit Alpha Coaches & Sons")).to_be_visible()

    tab_to(page, page.get_by_role("button", name="Sign out"))
    keys.press("Enter")
    expect(page.get_by_label("User name")).to_be_visible()
    assert [entry["action"] for entry in site.entries()] == ["create", "update", "delete", "restore"]


def test_skip_link_leads_past_the_header(page: Page) -> None:
    page.goto("/admin")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
