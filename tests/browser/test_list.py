"""The list in a browser: the saved row, the details over it, chips and marks, several at once, and the keyboard."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from groundtransport.security import Role
from tests.browser.axe import check_axe
from tests.browser.chromium import Watch
from tests.browser.conftest import Visit
from tests.browser.screens import DESKTOP, PHONE, Screen
from tests.functional.filling import fill
from tests.functional.stopping import stop_searches
from tests.site import JFK, Client, Site, query_of

KIND = "transit"
LIST = f"/admin/{KIND}"
FULL = {
    "airport_name": JFK,
    "company_name": "Castillo & Zimmermann Coaches",
    "company_phone1": "+1 212 555 0100",
    "route_name": "Route 179",
    "city": "New York City",
    "status": "active",
}


def row(page: Page, name: str) -> Locator:
    return page.locator("#records tbody tr").filter(has=page.get_by_role("cell", name=name, exact=True))


def names(page: Page) -> list[str]:
    return page.locator("#records tbody .col-company_name").all_inner_texts()


def expect_names(page: Page, *expected: str) -> None:
    expect(page.locator("#records tbody .col-company_name")).to_have_text(list(expected))


def details(page: Page) -> Locator:
    return page.locator("#detail")


def focused(page: Page) -> Locator:
    return page.locator(":focus")


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()


def turn(page: Page, name: str) -> Locator:
    return page.locator(f".dt-paging [aria-label='{name}']").last


def expect_closed(page: Page) -> None:
    """The details are closed, and the address says so: going back in the browser's history takes a moment."""
    expect(details(page)).to_be_hidden()
    expect(page).to_have_url(re.compile(r"^(?!.*view=)"))


def count_down(first: int, last: int) -> list[str]:
    return [f"{number:03}" for number in range(first, last - 1, -1)]


# Nothing forgets where one was


def test_a_saved_row_is_marked_in_view_and_has_the_focus(page: Page, site: Site) -> None:
    ids = fill(site, KIND, 60)
    page.goto(f"{LIST}?q=0&sort=company_name&page_no=2")
    row(page, "048").get_by_role("link", name="Edit 048").click()
    page.get_by_label("Company Address").fill("1 Main Street")
    save(page)

    saved = page.locator(f"#record-{ids[47]}")
    expect(saved).to_have_attribute("aria-current", "true")
    expect(saved).to_be_in_viewport()
    expect(focused(page)).to_have_text("048")
    assert query_of(page.url) == {"q": ["0"], "sort": ["company_name"], "page_no": ["2"]}


def test_a_row_that_moved_is_told_and_found(page: Page, site: Site) -> None:
    fill(site, KIND, 60)
    page.goto(f"{LIST}?sort=company_name&page_no=2")
    page.get_by_role("link", name="Edit 030").click()
    page.get_by_label("Company Name").fill("9 Lines")
    save(page)

    expect(page.get_by_text("9 Lines: it stands on another page of this list.")).to_be_visible()
    page.get_by_role("link", name="Show it in the list").click()
    expect(page.locator("#records tr[aria-current=true]")).to_contain_text("9 Lines")
    expect(page.get_by_text("Showing 51 to 60 of 60").last).to_be_visible()
    assert query_of(page.url) == {"sort": ["company_name"], "page_no": ["3"]}


def test_back_and_forward_walk_through_what_was_asked(page: Page, site: Site) -> None:
    fill(site, KIND, 60)
    page.goto(LIST)
    expect_names(page, *count_down(60, 36))
    turn(page, "Next page").click()
    expect_names(page, *count_down(35, 11))
    page.get_by_role("columnheader", name="Company").click()
    expect(page.locator("#records tbody tr").first).to_contain_text("001")
    page.get_by_role("searchbox").press_sequentially("06")
    expect_names(page, "006", "060")

    page.go_back()
    expect(page.locator("#records tbody tr").first).to_contain_text("001")
    expect(page.get_by_role("searchbox")).to_have_value("")
    page.go_back()
    expect_names(page, *count_down(35, 11))
    page.go_back()
    expect_names(page, *count_down(60, 36))
    for _ in range(3):
        page.go_forward()
    expect_names(page, "006", "060")
    expect(page.get_by_role("searchbox")).to_have_value("06")


def test_after_the_last_row_of_the_last_page_its_neighbors_are_shown(page: Page, site: Site) -> None:
    fill(site, KIND, 26)
    page.goto(f"{LIST}?page_no=2")
    page.get_by_role("link", name="Delete 001").click()
    page.locator("#removal").get_by_role("button", name="Delete").click()

    expect(page.locator("#messages")).to_contain_text("001 was deleted.")
    expect_names(page, *count_down(26, 2))


# The details


def test_the_details_have_an_address_and_back_closes_them(page: Page, site: Site) -> None:
    ids = fill(site, KIND, 30)
    page.goto(f"{LIST}?q=0&page_no=2")
    page.get_by_role("link", name="003", exact=True).click()

    expect(details(page).get_by_role("heading", level=2)).to_contain_text("003")
    assert query_of(page.url) == {"q": ["0"], "page_no": ["2"], "view": [str(ids[2])]}
    page.go_back()
    expect(details(page)).to_be_hidden()
    assert query_of(page.url) == {"q": ["0"], "page_no": ["2"]}
    expect(focused(page)).to_have_text("003")
    page.go_forward()
    expect(details(page)).to_be_visible()
    page.keyboard.press("Escape")
    expect_closed(page)
    expect(focused(page)).to_have_text("003")
    assert query_of(page.url) == {"q": ["0"], "page_no": ["2"]}


def test_a_shared_link_opens_the_details(page: Page, admin_client: Client) -> None:
    record_id = admin_client.create(KIND, company_name="Alpha", zip_code="11430")

    page.goto(f"{LIST}?view={record_id}")

    assert details(page).evaluate("(one) => one.matches(':modal')")
    expect(details(page)).to_contain_text("11430")
    expect(details(page)).to_contain_text("Last changed by the-administrator")
    details(page).get_by_role("link", name="Close").click()
    expect_closed(page)
    assert page.url.endswith(LIST)


def test_arrows_and_buttons_walk_through_the_whole_result(page: Page, site: Site) -> None:
    fill(site, KIND, 30)
    page.goto(f"{LIST}?page_size=10&sort=company_name")
    page.get_by_role("link", name="009", exact=True).click()
    heading = details(page).get_by_role("heading", level=2)
    for name in ("010", "011", "012"):
        page.keyboard.press("ArrowRight")
        expect(heading).to_contain_text(name)
        expect(details(page).locator("dl")).to_contain_text(name)
    assert query_of(page.url)["page_no"] == ["2"]
    for name in ("011", "010"):
        details(page).get_by_role("link", name="Previous record").click()
        expect(heading).to_contain_text(name)
    expect(details(page)).to_contain_text("10 of 30")
    page.keyboard.press("Escape")
    expect_closed(page)
    expect(focused(page)).to_have_text("010")
    assert query_of(page.url) == {"page_size": ["10"], "sort": ["company_name"]}
    page.get_by_role("link", name="001", exact=True).click()
    expect(details(page).get_by_role("link", name="Previous record")).to_be_hidden()


def test_a_record_is_duplicated_from_its_details(page: Page, admin_client: Client) -> None:
    admin_client.create(KIND, company_name="Alpha")
    page.goto(f"{LIST}?q=alpha")
    page.get_by_role("link", name="Alpha", exact=True).click()
    details(page).get_by_role("link", name="Duplicate").click()

    expect(page.get_by_label("Company Name")).to_have_value("Alpha")
    expect(page.locator("[name=airport_name]")).to_have_value("")
    assert query_of(page.url)["q"] == ["alpha"]


def test_what_went_wrong_is_told_in_the_dialog(page: Page, admin_client: Client, watch: Watch) -> None:
    watch.allow("404", "503", "ERR_FAILED")
    record_id = admin_client.create(KIND, company_name="Alpha")
    page.goto(LIST)
    page.route(f"**{LIST}/{record_id}", lambda route: route.fulfill(status=503))
    page.get_by_role("link", name="View Alpha").click()
    expect(details(page)).to_contain_text("could not be loaded")
    page.unroute(f"**{LIST}/{record_id}")
    details(page).get_by_role("button", name="Try again").click()
    expect(details(page).locator("dl")).to_contain_text("Alpha")
    page.keyboard.press("Escape")

    admin_client.delete(f"{LIST}/{record_id}")
    page.get_by_role("link", name="View Alpha").click()
    expect(details(page)).to_contain_text("This record was deleted.")
    expect(details(page).get_by_role("link", name="Edit")).to_be_hidden()
    expect(details(page).get_by_role("link", name="History")).to_be_visible()


def test_a_click_on_a_row_opens_it_and_one_on_a_telephone_number_does_not(page: Page, admin_client: Client) -> None:
    admin_client.create(KIND, company_name="Alpha", company_phone1="+1 718 217 5477")
    page.goto(LIST)
    page.evaluate("addEventListener('click', (event) => event.preventDefault())")
    page.get_by_role("link", name="+1 718 217 5477").click()
    expect(details(page)).to_be_hidden()
    page.locator("#records tbody .col-city").click()
    expect(details(page)).to_be_visible()


# Chips, marks, columns, the page size


def test_chips_follow_the_filters_and_take_them_away(page: Page, admin_client: Client) -> None:
    for name in ("Alpha Bus", "Beta Bus", "Gamma"):
        admin_client.create(KIND, company_name=name)
    page.goto(LIST)
    page.get_by_text("Filters", exact=True).click()
    page.get_by_role("searchbox").fill("bús")
    page.get_by_role("textbox", name="Company Name").fill("alpha")
    expect_names(page, "Alpha Bus")
    expect(page.get_by_text("Showing 1 to 1 of 1 (filtered from 3)").last).to_be_visible()
    expect(page.locator("[data-chip]")).to_have_count(2)
    expect(page.locator("#records mark")).to_have_text(["Alpha", "Bus"])
    check_axe(page)

    page.get_by_role("link", name="Remove: Company Name: alpha").click()
    expect_names(page, "Beta Bus", "Alpha Bus")
    expect(focused(page)).to_contain_text("Search: bús")
    assert query_of(page.url) == {"q": ["bús"]}
    page.get_by_role("link", name="Clear", exact=True).click()
    expect(page.locator("#records tbody tr")).to_have_count(3)
    expect(focused(page)).to_have_attribute("id", "q")
    page.get_by_role("searchbox").fill("nothing like it")
    expect(page.get_by_text("No records match your search.")).to_be_visible()
    page.get_by_role("link", name="Clear the search and the filters").click()
    expect(page.locator("#records tbody tr")).to_have_count(3)


def test_marks_by_script_are_those_of_the_server(page: Page, admin_client: Client) -> None:
    admin_client.create(
        KIND, company_name="Straße <b>Città</b>", company_phone1="+1 (718) 217-5477", company_address="x"
    )
    for query in ("strasse citta", "718-217", "7182175477 <b", "kennedy jfk", "ss 2"):
        page.goto(f"{LIST}?q={query.replace(' ', '+')}")
        served = page.locator("#records tbody mark").all_inner_texts()
        with page.expect_response(lambda answer: "ajax" in answer.url):
            page.get_by_role("searchbox").press("Enter")
        expect(page.locator("#records[aria-busy=false]")).to_be_visible()
        assert served
        assert page.locator("#records tbody mark").all_inner_texts() == served


def test_the_page_size_is_kept_with_the_person(page: Page, visit: Visit, site: Site) -> None:
    fill(site, KIND, 30)
    page.goto(LIST)
    with page.expect_response("**/admin/profile/preferences") as response:
        page.get_by_label("Rows").select_option("10")
    assert response.value.status == 204
    expect(page.locator("#records tbody tr")).to_have_count(10)
    other = visit()
    other.goto(LIST)
    expect(other.locator("#records tbody tr")).to_have_count(10)
    site.client().post("/admin/profile/preferences", {"page_size": ""})


# Its columns


@pytest.mark.parametrize("locale", ["en-US", "es-ES"])
def test_the_columns_stand_still_when_the_script_comes(visit: Visit, admin_client: Client, locale: str) -> None:
    admin_client.post(LIST, FULL)
    cells = []
    for script in (False, True):
        page = visit(script=script, locale=locale)
        page.goto(f"{LIST}?sort=company_name")
        cells.append([cell.bounding_box() for cell in page.locator("#records :is(th, tbody td)").all()])

    assert cells[0] == cells[1]


@pytest.mark.parametrize("width", [1100, 1280, 1440])
def test_long_titles_leave_the_names_their_room(visit: Visit, admin_client: Client, width: int) -> None:
    admin_client.post(LIST, FULL)
    page = visit(locale="es-ES", screen=Screen(width, 900))
    page.goto(f"{LIST}?q=a&sort=company_name")

    airport, company = (
        page.locator(f"#records tbody .col-{name}").bounding_box() for name in ("airport_name", "company_name")
    )
    assert airport
    assert company
    assert company["width"] > airport["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_column_is_hidden_and_the_list_still_works(visit: Visit, site: Site, script: bool) -> None:
    fill(site, KIND, 30)
    page = visit(script=script)
    page.goto(f"{LIST}?q=0")
    page.locator(".menu summary", has_text="Columns").click()
    page.get_by_role("checkbox", name="Airport").uncheck()
    page.locator(".menu").get_by_role("button", name="Apply").click()

    expect(page.get_by_role("columnheader", name="Airport")).to_have_count(0)
    assert query_of(page.url) == {"q": ["0"]}
    if script:
        turn(page, "Next page").click()
        expect_names(page, *count_down(5, 1))
        page.get_by_role("link", name="003", exact=True).click()
        expect(details(page).locator("dl")).to_contain_text("003")
    site.client().post("/admin/profile/preferences", {f"columns.{KIND}": ""})


def test_columns_are_moved_and_kept(page: Page, site: Site, admin_client: Client) -> None:
    admin_client.create(KIND, company_name="Alpha")
    page.goto(LIST)
    page.locator("summary", has_text="Columns").click()
    page.get_by_role("checkbox", name="Company Link").check()
    up = page.get_by_role("button", name="Move Company Link up")
    for _ in range(12):
        up.click()
    page.locator(".menu").get_by_role("button", name="Apply").click()
    expect(page.locator("#records thead th[data-shown-as]").first).to_have_attribute("data-name", "company_link")
    site.client().post("/admin/profile/preferences", {"columns.transit": ""})


# Deleting


def test_deleting_asks_first_with_the_focus_on_cancel(page: Page, site: Site) -> None:
    fill(site, KIND, 3)
    page.goto(LIST)
    page.get_by_role("link", name="Delete 002").click()
    question = page.locator("#removal")
    expect(question.get_by_role("heading")).to_have_text("Delete “002”?")
    expect(focused(page)).to_have_text("Cancel")
    check_axe(page)
    page.keyboard.press("Enter")
    expect(question).to_be_hidden()
    expect(focused(page)).to_have_attribute("aria-label", "Delete 002")

    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#messages")).to_contain_text("002 was deleted.")
    expect_names(page, "003", "001")
    expect(focused(page)).to_have_text("001")  # what came in its place


def test_a_stale_row_is_not_deleted_unseen(page: Page, admin_client: Client, site: Site, watch: Watch) -> None:
    watch.allow("409")
    record_id = admin_client.create(KIND, company_name="Alpha")
    page.goto(LIST)
    admin_client.put(f"{LIST}/{record_id}", {"airport_name": JFK, "company_name": "Alpha", "zip_code": "1"})
    page.get_by_role("link", name="Delete Alpha").click()
    page.locator("#removal").get_by_role("button", name="Delete").click()

    expect(page.get_by_text("Somebody changed this record in the meantime.")).to_be_visible()
    assert site.row(KIND, record_id)["deleted_at"] is None


def test_a_record_is_deleted_from_its_details(page: Page, site: Site) -> None:
    ids = fill(site, KIND, 3)
    page.goto(f"{LIST}?view={ids[1]}")
    details(page).get_by_role("link", name="Delete").click()
    page.locator("#removal").get_by_role("button", name="Delete").click()
    expect(page.locator("#messages")).to_contain_text("002 was deleted.")
    expect_names(page, "003", "001")


# Several at once


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_several_are_changed_after_a_question_and_taken_back(visit: Visit, site: Site, script: bool) -> None:
    fill(site, KIND, 4)
    page = visit(role=Role.EDITOR, script=script)
    page.goto(LIST)
    if script:
        expect(page.locator("#several")).to_be_hidden()
    for name in ("002", "003"):
        page.get_by_role("checkbox", name=f"Select {name}").check()
    if script:
        expect(page.locator("#several")).to_contain_text("2 selected")
    page.locator("#several-action").select_option("status=inactive")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", name="Set Status to Inactive for 2 records?")).to_be_visible()
    page.get_by_role("button", name="Set Status to Inactive").click()

    expect(page.locator("#messages")).to_contain_text("2 records were changed.")
    expect(page.locator("#records .status-inactive")).to_have_count(2)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#records .status-inactive")).to_have_count(0)


def test_back_over_the_question_leads_to_the_list(page: Page, site: Site) -> None:
    fill(site, KIND, 3)
    page.goto(f"{LIST}?q=0")
    page.get_by_role("checkbox", name="002").check()
    page.get_by_label("What to do with the selected records").select_option(label="Delete")
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.locator("#messages")).to_contain_text("1 record was deleted.")

    page.go_back()

    expect_names(page, "003", "001")
    assert query_of(page.url) == {"q": ["0"]}


def test_a_choice_lasts_over_pages_and_ends_with_the_filter(page: Page, site: Site) -> None:
    fill(site, KIND, 30)
    page.goto(f"{LIST}?page_size=10")
    page.get_by_role("checkbox", name="Select every row").check()
    page.get_by_role("checkbox", name="Select 025").uncheck()
    turn(page, "Next page").click()
    expect_names(page, *count_down(20, 11))
    page.get_by_role("checkbox", name="Select 015").check()
    expect(page.locator("[data-selected]")).to_have_text("10 selected")
    turn(page, "Previous page").click()
    expect(page.get_by_role("checkbox", name="Select 030")).to_be_checked()
    expect(page.get_by_role("checkbox", name="Select 025")).not_to_be_checked()
    page.locator("#several-action").select_option("delete")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", name="Delete 10 records?")).to_be_visible()
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("checkbox", name="Select 030").check()
    page.get_by_role("searchbox").fill("02")
    expect(page.locator("#records tbody tr")).to_have_count(10)
    expect(page.locator("#several")).to_be_hidden()


def test_all_that_match_are_chosen_as_one(page: Page, site: Site) -> None:
    fill(site, KIND, 30)
    page.goto(f"{LIST}?q=02&page_size=10")
    page.get_by_role("checkbox", name="Select every row").check()
    page.locator("#several [name=all]").check()
    expect(page.locator("[data-selected]")).to_have_text(re.compile(r"All \d+ that match are selected"))
    check_axe(page)
    page.locator("#several-action").select_option("delete")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_text("All that match: Search: 02")).to_be_visible()
    check_axe(page)


# The keyboard


def test_the_keys_of_the_list(page: Page, site: Site) -> None:
    fill(site, KIND, 5)
    page.goto(LIST)
    page.keyboard.press("j")
    expect(focused(page)).to_have_text("005")
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    expect(focused(page)).to_have_text("003")
    page.keyboard.press("k")
    expect(focused(page)).to_have_text("004")
    page.keyboard.press("x")
    expect(page.get_by_role("checkbox", name="Select 004")).to_be_checked()
    page.keyboard.press("Enter")
    expect(details(page).get_by_role("heading", level=2)).to_contain_text("004")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    expect(focused(page)).to_have_attribute("id", "q")
    page.keyboard.type("njxe?")  # text, while typing
    expect(page.get_by_role("searchbox")).to_have_value("njxe?")
    page.get_by_role("searchbox").fill("")
    expect(page.locator("#records tbody tr")).to_have_count(5)
    page.get_by_role("heading", name="Transit services").click()
    page.keyboard.press("?")
    keys = page.locator("#keys")
    expect(keys).to_contain_text("to the search")
    check_axe(page)
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.keyboard.press("j")
    page.keyboard.press("e")
    expect(page.get_by_role("heading", name=re.compile("^Edit"))).to_be_visible()
    page.go_back()
    page.keyboard.press("n")
    expect(page.get_by_role("heading", name="New transit service")).to_be_visible()


def test_the_keys_can_be_switched_off(page: Page, site: Site) -> None:
    fill(site, KIND, 2)
    page.goto(LIST)
    with page.expect_response("**/admin/profile/preferences"):
        page.get_by_role("checkbox", name="Single-key shortcuts").uncheck()
    for _ in ("at once", "on the next page"):
        page.keyboard.press("/")
        expect(page.get_by_role("searchbox")).not_to_be_focused()
        page.keyboard.press("j")
        assert page.locator("#records :focus").count() == 0
        page.goto(LIST)
    with page.expect_response("**/admin/profile/preferences"):
        page.get_by_role("checkbox", name="Single-key shortcuts").check()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()


# Looks


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_state_hinders_anybody(visit: Visit, site: Site, screen: Screen, scheme: str) -> None:
    ids = fill(site, KIND, 30)
    page = visit(screen=screen, scheme=scheme)
    page.goto(f"{LIST}?q=0&find={ids[4]}")
    page.get_by_role("checkbox", name="Select 005").check()
    page.locator(".menu summary", has_text="Columns").click()
    check_axe(page)
    width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width <= 0, "nothing is wider than the screen"
    page.goto(f"{LIST}?view={ids[4]}")
    expect(details(page)).to_be_visible()
    check_axe(page)


def test_without_a_script_the_details_are_a_part_of_the_page(no_script: Page, site: Site) -> None:
    fill(site, KIND, 3)
    no_script.goto(f"{LIST}?sort=company_name")
    no_script.get_by_role("link", name="001", exact=True).click()
    expect(details(no_script)).to_be_visible()
    expect(details(no_script)).to_contain_text("001")
    details(no_script).get_by_role("link", name="Next record").click()
    expect(details(no_script).get_by_role("heading", level=2)).to_contain_text("002")
    details(no_script).get_by_role("link", name="Close").click()
    expect(details(no_script)).to_be_hidden()
    assert query_of(no_script.url) == {"sort": ["company_name"]}


# What cannot be answered, or not wholly


def test_a_text_that_is_too_long_is_refused_with_a_message(page: Page, site: Site, watch: Watch) -> None:
    fill(site, KIND, 3)
    watch.allow("422")
    refused = page.locator("#list-refused")
    page.goto(LIST)

    page.get_by_role("searchbox").fill("b" * 1001)
    expect(refused).to_contain_text("Search: the text is longer than 1,000 characters.")
    page.get_by_role("searchbox").fill("002")
    expect(refused).to_be_hidden()
    expect_names(page, "002")

    page.goto(f"{LIST}?q={'b' * 1001}")  # as the server says it
    expect(refused).to_be_visible()
    expect(page.get_by_text("No records match your search.")).to_be_hidden()
    page.get_by_role("searchbox").fill("003")
    expect(refused).to_be_hidden()
    expect_names(page, "003")


def test_where_counting_was_stopped_the_list_says_so_and_leads_on(
    page: Page, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(site, KIND, 30)
    stop_searches(monkeypatch)
    info, together = page.locator("#records_info"), page.locator("[data-all] span")
    page.goto(f"{LIST}?q=0&sort=company_name&page_size=10")
    expect(info).to_have_text("Showing 1 to 10; counting was stopped")
    expect(together).to_have_text("All that match")

    turn(page, "Next page").click()
    expect(info).to_have_text("Showing 11 to 20; counting was stopped")
    expect_names(page, *[f"{number:03}" for number in range(11, 21)])
    turn(page, "Previous page").click()
    expect(info).to_have_text("Showing 1 to 10; counting was stopped")

    page.get_by_role("searchbox").fill("017")
    expect_names(page, "017")
    expect(info).to_have_text("Showing 1 to 1; counting was stopped")
    expect(turn(page, "Next page")).to_have_attribute("aria-disabled", "true")
    expect(together).to_have_text("All that match")
    row(page, "017").get_by_role("link", name="View 017").click()
    expect(page.locator("[data-detail-place]")).to_have_text("· 1")


def test_a_menu_is_closed_by_escape_and_by_a_click_elsewhere(page: Page) -> None:
    page.goto("/admin/transit")
    views, name = page.locator("summary", has_text="Views"), page.locator("#view-name")
    views.click()
    name.press("Escape")
    expect(name).to_be_hidden()
    expect(views).to_be_focused()
    views.press("Enter")
    page.locator("summary", has_text="Columns").click()
    expect(name).to_be_hidden()
    page.locator("h1").click()
    expect(page.locator(".menu[open]")).to_have_count(0)
