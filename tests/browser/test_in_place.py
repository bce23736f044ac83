"""Changing a field in its row of the list."""

import re

import pytest
from playwright.sync_api import Dialog, Locator, Page, Route, expect
from sqlalchemy import delete

from groundtransport import db
from groundtransport.accounts.models import AdminSession
from groundtransport.security import Role
from tests.browser.axe import check_axe
from tests.browser.chromium import Watch, wait_until
from tests.browser.conftest import COOKIE, Visit, both_databases
from tests.browser.keyboard import assert_focus_is_seen
from tests.browser.screens import DESKTOP, PHONE, Screen
from tests.functional.editors import they_save
from tests.functional.filling import fill
from tests.site import JFK, Client, Site, query_of

KIND = "transit"
LIST = f"/admin/{KIND}"
ALPHA = {
    "company_name": "Alpha",
    "route_name": "Route 7",
    "company_phone1": "+1 718 555 0100",
    "city": "New York City",
    "status": "active",
}
NEW = "+1 718 555 0199"


@pytest.fixture
def alpha(admin_client: Client) -> int:
    """A record, below another one."""
    record_id = admin_client.create(KIND, **ALPHA)
    admin_client.create(KIND, **{**ALPHA, "company_name": "Beta"})
    return record_id


def cell(page: Page, record_id: int, name: str) -> Locator:
    return page.locator(f"#record-{record_id} td.col-{name}")


def pencil(page: Page, record_id: int, name: str) -> Locator:
    return cell(page, record_id, name).locator(".pencil")


def editor(page: Page) -> Locator:
    return page.locator(".in-place")


def field(page: Page) -> Locator:
    return editor(page).locator("input, select")


def open_field(page: Page, record_id: int, name: str) -> None:
    """Open a field by its pencil."""
    cell(page, record_id, name).hover()
    pencil(page, record_id, name).click()


def change(page: Page, record_id: int, name: str, text: str) -> None:
    """Open a field by its pencil and type a text, without saving it."""
    open_field(page, record_id, name)
    expect(field(page)).to_be_focused()
    field(page).fill(text)


def expect_closed(page: Page) -> None:
    expect(editor(page)).to_have_count(0)


def expect_saved(page: Page, record_id: int, name: str, text: str) -> None:
    """The cell shows the text and has the focus, and the message offers to take it back."""
    expect_closed(page)
    expect(cell(page, record_id, name)).to_have_text(text)
    expect(pencil(page, record_id, name)).to_be_focused()
    expect(page.locator("#messages")).to_contain_text("was saved.")
    expect(page.locator("#messages").get_by_role("button", name="Undo")).to_be_visible()


# Saving and leaving


@both_databases
def test_a_status_is_chosen_and_taken_back(page: Page, site: Site, alpha: int) -> None:
    page.goto(LIST)
    cell(page, alpha, "status").hover()
    page.get_by_role("button", name="Change Status of Alpha").click()
    expect(page.get_by_role("combobox", name="Status of Alpha")).to_have_value("active")
    check_axe(page)
    page.get_by_role("combobox", name="Status of Alpha").select_option(label="Inactive")
    page.keyboard.press("Enter")

    expect_saved(page, alpha, "status", "Inactive")
    expect(cell(page, alpha, "status").locator(".badge")).to_have_class("badge status-inactive")
    expect(page.locator(f"#record-{alpha}")).to_have_attribute("aria-current", "true")
    assert site.row(KIND, alpha)["status"] == "inactive"
    assert [entry["action"] for entry in site.entries()] == ["create", "create", "update"]
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#messages")).to_contain_text("Alpha is again as it was before.")
    expect(cell(page, alpha, "status")).to_have_text("Active")


@both_databases
def test_a_telephone_number_is_saved_by_enter(page: Page, site: Site, alpha: int) -> None:
    page.goto(LIST)
    change(page, alpha, "company_phone1", NEW)
    assert field(page).get_attribute("inputmode") == "tel"
    page.keyboard.press("Enter")

    expect_saved(page, alpha, "company_phone1", NEW)
    expect(page.get_by_role("link", name=NEW)).to_have_attribute("href", "tel:+17185550199")
    row = site.row(KIND, alpha)
    assert (row["company_phone1"], row["route_name"], row["city"]) == (NEW, "Route 7", "New York City")


def test_several_saves_in_one_row_follow_each_other(page: Page, site: Site, alpha: int) -> None:
    page.goto(f"{LIST}?columns=company_name,company_link,company_phone1")  # no airport
    change(page, alpha, "company_link", "example.com/bus")
    page.keyboard.press("Enter")
    expect_saved(page, alpha, "company_link", "https://example.com/bus")
    change(page, alpha, "company_phone1", "")
    editor(page).get_by_role("button", name="Save").click()
    expect_saved(page, alpha, "company_phone1", "")
    change(page, alpha, "company_name", "Alpha & <b>Sons</b>")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Edit Alpha & <b>Sons</b>")).to_be_visible()
    expect(page.locator("tr.just-saved")).to_have_count(1)
    row = site.row(KIND, alpha)
    assert (row["company_link"], row["company_phone1"], row["version"]) == ("https://example.com/bus", None, 4)
    assert row["company_name"] == "Alpha & <b>Sons</b>"


def test_the_stored_value_is_in_the_field_and_marked(page: Page, alpha: int) -> None:
    page.goto(f"{LIST}?q=alpha+718")  # with marks of the search
    cell(page, alpha, "company_phone1").hover()
    pencil(page, alpha, "company_phone1").click()

    expect(field(page)).to_have_value(ALPHA["company_phone1"])
    assert page.evaluate("getSelection().toString()") == ALPHA["company_phone1"]


def test_escape_leaves_the_field_as_it_was(page: Page, site: Site, alpha: int) -> None:
    page.goto(LIST)
    change(page, alpha, "route_name", "Route 8")
    page.keyboard.press("Escape")

    expect_closed(page)
    expect(cell(page, alpha, "route_name")).to_have_text("Route 7")
    expect(pencil(page, alpha, "route_name")).to_be_focused()
    change(page, alpha, "route_name", "Route 8")
    editor(page).get_by_role("button", name="Cancel").click()
    expect_closed(page)
    assert site.row(KIND, alpha)["version"] == 1


def test_enter_without_a_change_saves_nothing(page: Page, site: Site, alpha: int) -> None:
    page.goto(LIST)
    change(page, alpha, "route_name", "Route 7")
    page.keyboard.press("Enter")

    expect_closed(page)
    expect(page.locator("#messages")).to_be_empty()
    assert site.row(KIND, alpha)["version"] == 1


def test_going_on_by_tab_saves(page: Page, site: Site, alpha: int) -> None:
    page.goto(LIST)
    change(page, alpha, "route_name", "Route 8")
    page.keyboard.press("Tab")

    expect(cell(page, alpha, "route_name")).to_have_text("Route 8")
    expect_closed(page)
    expect(page.locator(f"#record-{alpha} a[href^='tel:']")).to_be_focused()
    assert site.row(KIND, alpha)["route_name"] == "Route 8"


def test_a_click_elsewhere_saves_and_does_no_more(page: Page, site: Site, alpha: int) -> None:
    page.goto(LIST)
    change(page, alpha, "route_name", "Route 8")
    cell(page, alpha + 1, "city").click()

    expect(cell(page, alpha, "route_name")).to_have_text("Route 8")
    expect(page.locator("#detail")).to_be_hidden()
    change(page, alpha, "route_name", "Route 9")
    cell(page, alpha + 1, "route_name").click()
    expect(cell(page, alpha, "route_name")).to_have_text("Route 9")
    open_field(page, alpha + 1, "route_name")
    expect(editor(page).and_(page.locator(f"#record-{alpha + 1} .in-place"))).to_be_visible()


def test_a_click_beside_the_pencil_opens_the_record(page: Page, alpha: int) -> None:
    page.goto(LIST)
    cell(page, alpha, "status").click()
    expect(page.locator("#detail")).to_be_visible()


def test_text_can_be_selected_and_links_work(page: Page, alpha: int) -> None:
    page.goto(LIST)
    page.evaluate("addEventListener('click', (event) => event.preventDefault())")
    box = cell(page, alpha, "route_name").locator(".line").bounding_box()
    assert box
    page.mouse.move(box["x"] + 9, box["y"] + 9)
    page.mouse.down()
    page.mouse.move(box["x"] + 50, box["y"] + 9, steps=4)
    page.mouse.up()
    assert page.evaluate("getSelection().toString()")
    page.get_by_role("link", name=ALPHA["company_phone1"]).last.click()
    expect_closed(page)
    expect(page.locator("#detail")).to_be_hidden()


# What cannot be saved


def test_a_wrong_number_stays_with_its_reason(page: Page, site: Site, alpha: int, watch: Watch) -> None:
    watch.allow("422")
    page.goto(LIST)
    change(page, alpha, "company_phone1", "ask the driver")
    page.keyboard.press("Enter")
    expect(editor(page).get_by_role("alert")).to_have_text("Company Phone 1 is not a telephone number.")
    expect(field(page)).to_have_value("ask the driver")
    expect(field(page)).to_be_focused()
    check_axe(page)
    page.get_by_role("searchbox").focus()  # what was refused stays, and is not sent again
    expect(field(page)).to_have_value("ask the driver")

    field(page).fill(NEW)
    page.keyboard.press("Enter")
    expect_saved(page, alpha, "company_phone1", NEW)
    assert site.row(KIND, alpha)["version"] == 2


def test_a_wrong_number_is_corrected_in_the_form(page: Page, site: Site, alpha: int, watch: Watch) -> None:
    watch.allow("422")
    page.goto(f"{LIST}?q=alpha")
    change(page, alpha, "company_phone1", "ask the driver")
    page.keyboard.press("Enter")
    editor(page).get_by_role("button", name="Go on in the form").click()

    expect(page.get_by_label("Company Phone 1")).to_have_value("ask the driver")
    expect(page.get_by_label("Company Phone 1")).to_be_focused()
    expect(page.locator("[name=airport_name]")).to_have_value(JFK)
    assert site.row(KIND, alpha)["version"] == 1
    page.get_by_label("Company Phone 1").fill(NEW)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(cell(page, alpha, "company_phone1")).to_have_text(NEW)
    assert query_of(page.url) == {"q": ["alpha"]}


@pytest.mark.parametrize("choice", ["mine", "theirs"])
def test_who_was_faster_is_told_and_the_reader_decides(
    page: Page, site: Site, alpha: int, watch: Watch, choice: str
) -> None:
    watch.allow("409")
    page.goto(LIST)
    change(page, alpha, "route_name", "Mine")
    they_save(site, KIND, alpha, route_name="Theirs", zip_code="11430")
    page.keyboard.press("Enter")
    alert = editor(page).get_by_role("alert")
    expect(alert).to_contain_text("the-editor saved “Theirs” in the meantime: ")
    expect(alert.locator("time")).to_contain_text(re.compile(r"\d\d:\d\d"))
    expect(field(page)).to_have_value("Mine")
    check_axe(page)
    page.keyboard.press("Enter")  # decides nothing
    expect(editor(page).get_by_role("button")).to_have_text(["Cancel", "Save mine", "Keep theirs", "Go on in the form"])

    editor(page).get_by_role("button", name=f"{'Save' if choice == 'mine' else 'Keep'} {choice}").click()
    expect_closed(page)
    expect(cell(page, alpha, "route_name")).to_have_text(choice.capitalize())
    expect(pencil(page, alpha, "route_name")).to_be_focused()
    row = site.row(KIND, alpha)
    assert (row["route_name"], row["zip_code"]) == (choice.capitalize(), "11430")
    assert row["version"] == (3 if choice == "mine" else 2)


def test_a_choice_in_conflict_is_named_as_it_is_shown(page: Page, site: Site, alpha: int, watch: Watch) -> None:
    watch.allow("409")
    page.goto(LIST)
    change(page, alpha, "company_name", "Mine")
    they_save(site, KIND, alpha, company_name="")
    page.keyboard.press("Enter")
    expect(editor(page).get_by_role("alert")).to_contain_text("“(empty)”")


def test_what_another_user_changed_elsewhere_is_kept(page: Page, site: Site, alpha: int) -> None:
    page.goto(LIST)
    change(page, alpha, "route_name", "Mine")
    they_save(site, KIND, alpha, company_phone1=NEW)
    page.keyboard.press("Enter")

    expect_closed(page)
    expect(page.locator("#messages")).to_contain_text("Alpha was saved.")
    expect(cell(page, alpha, "company_phone1")).to_have_text(NEW)
    expect(cell(page, alpha, "route_name")).to_have_text("Mine")


def test_a_deleted_record_says_so(page: Page, admin_client: Client, alpha: int, watch: Watch) -> None:
    watch.allow("404")
    page.goto(LIST)
    change(page, alpha, "route_name", "Mine")
    admin_client.delete(f"{LIST}/{alpha}")
    page.keyboard.press("Enter")
    expect(editor(page).get_by_role("alert")).to_have_text("This record was deleted.")
    expect(field(page)).to_have_value("Mine")


def test_a_server_that_does_not_answer_loses_nothing(page: Page, site: Site, alpha: int, watch: Watch) -> None:
    watch.allow("503", "ERR_FAILED")
    page.goto(LIST)
    page.route("**/admin/session", lambda route: route.abort())
    change(page, alpha, "route_name", "Route 8")
    page.keyboard.press("Enter")
    expect(editor(page).get_by_role("alert")).to_contain_text("The server cannot be reached.")
    page.unroute("**/admin/session")
    page.keyboard.press("Enter")
    expect_saved(page, alpha, "route_name", "Route 8")


def test_a_signed_out_user_signs_in_again_and_saves(page: Page, site: Site, alpha: int) -> None:
    page.goto(LIST)
    change(page, alpha, "route_name", "Route 8")
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(delete(AdminSession))
    page.keyboard.press("Enter")
    expect(editor(page).get_by_role("alert")).to_contain_text("You are signed out.")
    expect(editor(page).get_by_role("link", name="Sign in in a new tab")).to_be_visible()

    origin = page.url.split("/admin")[0]
    page.context.add_cookies([{"name": COOKIE, "value": site.sign_in(Role.EDITOR), "url": origin}])
    field(page).press("Enter")
    expect(editor(page).get_by_role("alert")).to_contain_text("You are signed in as the-editor now.")
    assert site.row(KIND, alpha)["version"] == 1
    editor(page).get_by_role("button", name="Save as the-editor").click()
    expect_closed(page)
    expect(cell(page, alpha, "route_name")).to_have_text("Route 8")
    assert site.entries()[-1]["actor"] == "the-editor"


def test_a_page_with_an_unsaved_field_asks_before_it_is_left(page: Page, alpha: int, watch: Watch) -> None:
    watch.allow("422")
    page.goto(LIST)
    change(page, alpha, "company_phone1", "ask the driver")
    page.keyboard.press("Enter")
    expect(editor(page).get_by_role("alert")).not_to_be_empty()
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.get_by_role("link", name="Activity").click()
    wait_until(page, "document.querySelector('.in-place input').value === 'ask the driver'")
    assert asked == ["beforeunload"]


# The list around it


def test_the_rows_wait_for_the_field(page: Page, alpha: int, admin_client: Client) -> None:
    page.goto(LIST)
    change(page, alpha, "route_name", "Route 8")
    admin_client.create(KIND, company_name="Gamma")
    page.evaluate("list.table.draw('page')")

    expect(editor(page)).to_contain_text("The list waits until this field is saved or left.")
    expect(field(page)).to_have_value("Route 8")
    expect(field(page)).to_be_focused()
    expect(page.locator("#records tbody tr")).to_have_count(2)
    page.keyboard.press("Enter")
    expect(page.locator("#records tbody tr")).to_have_count(3)
    expect(cell(page, alpha, "route_name")).to_have_text("Route 8")


def test_rows_that_are_under_way_wait_too(page: Page, alpha: int) -> None:
    page.goto(LIST)
    held: list[Route] = []
    page.route("**/admin/transit?*ajax=1*", lambda route: held.append(route))
    page.evaluate("list.table.draw('page')")
    change(page, alpha, "route_name", "Route 8")
    held[0].continue_()
    expect(editor(page)).to_contain_text("The list waits")
    page.unroute("**/admin/transit?*ajax=1*")
    page.keyboard.press("Escape")
    expect(page.locator("#records[aria-busy=false]")).to_be_visible()
    expect(cell(page, alpha, "route_name")).to_have_text("Route 7")


def test_a_search_after_a_change_finds_what_was_saved(page: Page, alpha: int) -> None:
    page.goto(LIST)
    change(page, alpha, "company_name", "Airport Flyer")
    page.get_by_role("searchbox").fill("flyer")

    expect(page.locator("#records tbody tr")).to_have_count(1)
    expect(cell(page, alpha, "company_name").locator("mark")).to_have_text("Flyer")
    expect(page.get_by_role("searchbox")).to_be_focused()


def test_a_row_that_moved_is_followed(page: Page, site: Site) -> None:
    ids = fill(site, KIND, 5)
    page.goto(f"{LIST}?sort=company_name")
    change(page, ids[0], "company_name", "9 Lines")
    page.keyboard.press("Enter")

    expect(page.locator("#records tbody .col-company_name").last).to_contain_text("9 Lines")
    expect(pencil(page, ids[0], "company_name")).to_be_focused()


def test_a_row_that_the_filter_no_longer_lets_through_is_named(page: Page, alpha: int) -> None:
    page.goto(f"{LIST}?status=active")
    open_field(page, alpha, "status")
    field(page).select_option("inactive")
    page.keyboard.press("Enter")

    expect(page.locator("#records tbody tr")).to_have_count(1)
    messages = page.locator("#messages")
    expect(messages).to_contain_text("the search and the filters no longer let it through.")
    messages.get_by_role("link", name="Show it in the list").click()
    expect(page.locator(f"#record-{alpha}[aria-current=true]")).to_be_visible()


def test_selected_rows_stay_selected_with_their_new_version(page: Page, alpha: int) -> None:
    page.goto(LIST)
    page.get_by_role("checkbox", name="Select Alpha").check()
    change(page, alpha, "route_name", "Route 8")
    page.keyboard.press("Enter")
    expect_saved(page, alpha, "route_name", "Route 8")
    box = page.get_by_role("checkbox", name="Select Alpha")
    expect(box).to_be_checked()
    expect(box).to_have_attribute("value", f"{alpha}.2")


def test_other_fields_lead_to_the_form(page: Page, alpha: int) -> None:
    page.goto(LIST)
    cell(page, alpha, "city").hover()
    pencil(page, alpha, "city").click()
    expect(page.get_by_role("heading", name="Edit Alpha")).to_be_visible()
    expect(page.get_by_label("City")).to_be_focused()


def test_an_ended_record_keeps_its_stored_status(page: Page, admin_client: Client) -> None:
    record_id = admin_client.create(KIND, company_name="Summer line", valid_until="2020-08-31")
    page.goto(LIST)
    expect(cell(page, record_id, "status")).to_have_text("Ended")
    open_field(page, record_id, "status")
    expect(field(page)).to_have_value("active")


# Who may, and how


def test_viewers_change_nothing(visit: Visit, alpha: int) -> None:
    page = visit(role=Role.VIEWER)
    page.goto(LIST)
    cell(page, alpha, "route_name").hover()
    page.keyboard.press("j")
    page.keyboard.press("i")
    page.keyboard.press("F2")
    expect(page.locator(".pencil, .in-place")).to_have_count(0)
    cell(page, alpha, "route_name").click()
    expect(page.locator("#detail")).to_be_visible()


def test_the_keyboard_is_enough(visit: Visit, site: Site, alpha: int) -> None:
    page = visit(role=Role.EDITOR)
    page.goto(LIST)
    page.keyboard.press("j")
    page.keyboard.press("j")
    for name in ("airport_name", "route_name", "company_phone1"):
        page.keyboard.press("ArrowRight")
        expect(pencil(page, alpha, name)).to_be_focused()
        assert_focus_is_seen(page)
    page.keyboard.press("Enter")
    page.keyboard.type(NEW)  # over the selected text
    page.keyboard.press("Enter")
    expect_saved(page, alpha, "company_phone1", NEW)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("i")
    page.keyboard.type("Route 9")
    page.keyboard.press("Enter")
    expect_saved(page, alpha, "route_name", "Route 9")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("F2")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect_saved(page, alpha, "status", "Inactive")
    page.keyboard.press("ArrowUp")  # along the column
    expect(pencil(page, alpha + 1, "status")).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("j")
    expect(pencil(page, alpha, "status")).to_be_focused()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_contain_text("change the field in use")
    row = site.row(KIND, alpha)
    assert (row["company_phone1"], row["route_name"], row["status"]) == (NEW, "Route 9", "inactive")


def test_the_pencil_is_the_next_stop_of_tab(page: Page, alpha: int) -> None:
    page.goto(LIST)
    page.get_by_role("link", name="Alpha", exact=True).focus()
    page.keyboard.press("Tab")
    expect(pencil(page, alpha, "company_name")).to_be_focused()
    assert_focus_is_seen(page)
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Company of Alpha")).to_have_value("Alpha")


# Looks


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", [DESKTOP, Screen(1920, 1080), PHONE], ids=["1280", "1920", "360"])
def test_it_hinders_nobody(visit: Visit, alpha: int, screen: Screen, scheme: str) -> None:
    page = visit(screen=screen, scheme=scheme)
    page.goto(LIST)
    before = page.locator("#records thead th").evaluate_all("(all) => all.map((one) => one.offsetWidth)")
    page.get_by_role("link", name="Alpha", exact=True).focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("i")
    page.keyboard.press("ArrowDown")
    check_axe(page)
    width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width <= 0, "nothing is wider than the screen"
    assert page.locator("#records thead th").evaluate_all("(all) => all.map((one) => one.offsetWidth)") == before
    expect(editor(page)).to_be_in_viewport(ratio=1)
