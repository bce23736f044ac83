"""The layout of the list on screens: the number of rows, the space for names, on desktop, phone and zoomed."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import check_axe
from tests.browser.chromium import Watch, wait_until
from tests.browser.conftest import Visit
from tests.browser.screens import PHONE, Screen
from tests.functional.filling import fill
from tests.site import JFK, Client, Site, query_of

KIND = "transit"
LIST = f"/admin/{KIND}"
LAPTOP = Screen(1280, 800)
# As long as the names of real operators are: of ten, nine have up to 45 characters.
NAMES = (
    "Buss",
    "Omni Lines",
    "RegioBahn GmbH",
    "City of Watertown Bus",
    "Springfield Metro Transit",
    "Kakegawa Voluntary Operation Bus",
    "Société de transport de Pierre-Saurel",
    "Zakład Komunikacji Miejskiej Sp. z o.o.",
    "Verkehrsgemeinschaft Niederrhein-Westfalen AG",
    "Komunikacja Gminy Tarnowo Podgórne i Okolice TPBUS Sp. z o.o. w Poznaniu",
)
IS_CUT = "(line) => line.scrollWidth > line.clientWidth"
IS_ON_TOP = """(one) => {
    const { left, top, width, height } = one.getBoundingClientRect();
    const points = [0.2, 0.4, 0.6, 0.8].flatMap((x) => [0.3, 0.7].map((y) => [left + width * x, top + height * y]));
    return points.every(([x, y]) => one.contains(document.elementFromPoint(x, y)));
}"""
BOXES = "(all) => all.map((one) => one.getBoundingClientRect().toJSON())"
IN_VIEW = "(all) => all.filter((one) => one.getBoundingClientRect().bottom <= innerHeight).length"
SEEN = """() => {
    const { left, top, width, height } = document.activeElement.getBoundingClientRect();
    return [0.1, 0.5, 0.9].some((part) => {
        const there = document.elementFromPoint(left + width / 2, top + height * part);
        return there && (document.activeElement.contains(there) || there.contains(document.activeElement));
    });
}"""

CLEAR_OF_FOOT = """() => {
    const [focused, foot] = [document.activeElement, document.querySelector(".form-foot")];
    return foot.contains(focused) || focused.getBoundingClientRect().bottom <= foot.getBoundingClientRect().top;
}"""


def names(page: Page) -> Locator:
    return page.locator("#records tbody .col-company_name")


def focused(page: Page) -> Locator:
    return page.locator(":focus")


def expect_one_line(parts: Locator, number: int) -> None:
    """Expect a number of parts beside each other."""
    expect(parts).to_have_count(number)
    middles = [box["y"] + box["height"] / 2 for box in parts.evaluate_all(BOXES)]
    assert max(middles) - min(middles) < 8, middles


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()


def real_names(admin_client: Client) -> None:
    for name in NAMES * 2:
        admin_client.create(KIND, company_name=name, city="New York City", status="active")


# A desk


@pytest.mark.parametrize("locale", ["en-US", "es-ES"])
def test_a_laptop_shows_fourteen_rows_and_nine_of_ten_whole_names(
    visit: Visit, admin_client: Client, locale: str
) -> None:
    real_names(admin_client)
    page = visit(screen=LAPTOP, locale=locale)
    page.goto(f"{LIST}?q=kennedy")

    assert page.locator("#records tbody tr").evaluate_all(IN_VIEW) >= 14
    lines = page.locator("#records .col-company_name > .line")
    cut = [line.inner_text() for line in lines.all() if line.evaluate(IS_CUT)]
    assert cut == [NAMES[-1]] * 2
    company, airport = (page.locator(f"th.col-{name}").bounding_box() for name in ("company_name", "airport_name"))
    assert company
    assert airport
    assert company["x"] < airport["x"]
    assert company["width"] > airport["width"]


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
@pytest.mark.parametrize("width", [1024, 1280, 1366, 1440, 1920])
def test_a_row_has_one_line_however_long_its_words(
    visit: Visit, admin_client: Client, width: int, script: bool
) -> None:
    endless = "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch"
    more = {"route_name": endless, "city": endless, "company_phone1": "+1 718 217 5477 ext. 12345"}
    admin_client.create(KIND, company_name=f"{endless} Coaches", **more)
    admin_client.create(KIND, company_name="Alpha")
    page = visit(screen=Screen(width, 900), script=script)
    page.goto(LIST)

    heights = page.locator("#records tbody tr").evaluate_all("(all) => all.map((one) => one.offsetHeight)")
    assert heights[0] == heights[1]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("language", ["en-US", "es-ES"])
def test_what_can_be_done_with_a_selection_is_one_line(visit: Visit, site: Site, language: str) -> None:
    fill(site, KIND, 1_200)
    page = visit(locale=language)
    page.goto(LIST)
    for row in range(12):
        page.locator("tbody .col-select input").nth(row).check()
    expect_one_line(page.locator("#several :is(button, select):visible"), 5)


@pytest.mark.parametrize("language", ["en-US", "es-ES"])
def test_the_filters_of_the_review_queue_are_one_line(visit: Visit, admin_client: Client, language: str) -> None:
    admin_client.create("scheduledbus")
    page = visit(locale=language)
    page.goto("/admin/review")
    page.locator(".filters button").click()
    expect(page.locator("#review-record")).to_be_visible()
    expect_one_line(page.locator(".filters :is(button, select, input):visible"), 4)


def test_a_name_that_is_cut_is_whole_under_the_pointer_and_the_focus(visit: Visit, admin_client: Client) -> None:
    admin_client.create(KIND, company_name=NAMES[-1], route_name=NAMES[-1])
    page = visit(screen=LAPTOP)
    page.goto(LIST)
    company, route = page.locator(".col-company_name > .line"), page.locator(".col-route_name > .line")
    for line in (company, route):
        assert line.evaluate(IS_CUT)
        line.hover()
        assert not line.evaluate(IS_CUT)
    page.locator(".actions [data-action=delete]").hover()  # the route does not lie over it
    route.hover()
    page.keyboard.press("j")

    expect(company).to_be_focused()
    assert not company.evaluate(IS_CUT)
    check_axe(page)


def test_no_row_is_seen_through_the_heading(visit: Visit, admin_client: Client) -> None:
    for number in range(25):
        admin_client.create(KIND, company_name=f"Company {number:02}")
    page = visit(screen=LAPTOP)
    page.goto(LIST)
    heading = page.locator("#records thead th").last
    row = page.locator("#records tbody tr").nth(3)

    row.evaluate("(row) => scrollBy(0, row.getBoundingClientRect().top)")
    heading.evaluate("(one) => scrollBy(0, -one.getBoundingClientRect().top - 4)")  # the row begins below its edge

    assert heading.evaluate(IS_ON_TOP)


def test_a_header_is_short_and_announced_once(page: Page, admin_client: Client) -> None:
    admin_client.create(KIND, company_name="Alpha")
    page.goto(LIST)

    for title in ("Company", "Airport", "Route", "Phone", "City", "Status"):
        header = page.get_by_role("columnheader", name=title, exact=True)
        expect(header).to_have_count(1)
        expect(header.get_by_role("button")).to_have_accessible_name(f"{title}: sort")
        expect(header.locator(".dt-column-title")).to_have_attribute("aria-hidden", "true")


def test_deleting_is_no_louder_than_the_rest_of_a_row(page: Page, admin_client: Client) -> None:
    admin_client.create(KIND, company_name="Alpha")
    page.goto(LIST)

    colors = {
        page.get_by_role("link", name=f"{action} Alpha").evaluate("(one) => getComputedStyle(one).color")
        for action in ("View", "Edit", "Delete")
    }
    assert len(colors) == 1


PARTS = """(all) => all.flatMap((cell) => [cell, ...cell.querySelectorAll("*")]).map((one) =>
    [one.tagName, one.className.replace(/dt-\\S+/g, "").trim(), one.title, one.textContent.replace(/\\s+/g, "")]
    .join("|"))"""


def test_cells_by_script_are_those_of_the_server(page: Page, admin_client: Client) -> None:
    full = {"company_phone1": "+1 718 217 5477", "route_name": "Q10", "city": "New York City", "status": "active"}
    admin_client.create(KIND, company_name="Alpha", **full)
    admin_client.post(LIST, {"airport_name": JFK})
    page.goto(LIST)
    cells = page.locator("#records tbody td")
    served = cells.evaluate_all(PARTS)
    with page.expect_response(lambda answer: "ajax" in answer.url):
        page.get_by_role("searchbox").press("Enter")
    expect(page.locator("#records[aria-busy=false]")).to_be_visible()

    assert cells.evaluate_all(PARTS) == served


# Searching and turning pages


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_apply_is_there_for_those_without_script_alone(visit: Visit, site: Site, script: bool) -> None:
    fill(site, KIND, 30)
    page = visit(script=script)
    page.goto(LIST)
    apply = page.locator("[data-apply]")
    expect(apply).to_have_count(2)
    for button in apply.all():
        expect(button).to_be_visible(visible=not script)
    if script:
        return
    page.get_by_label("Rows").select_option("10")
    apply.last.click()
    expect(page.locator("#records tbody tr")).to_have_count(10)


def test_the_pager_above_the_list_turns_pages_and_keeps_the_focus(page: Page, site: Site) -> None:
    fill(site, KIND, 60)
    page.goto(LIST)
    above = page.get_by_role("navigation", name="Pages, above the list")
    expect(page.get_by_role("navigation", name="Pages", exact=True)).to_be_visible()
    above.locator("[aria-label='Next page']").press("Enter")

    expect(names(page).first).to_have_text("035")
    expect(above.locator("[aria-label='Next page']")).to_be_focused()
    above.locator("[aria-label='Next page']").press("Enter")
    expect(names(page).first).to_have_text("010")
    expect(above.locator(":focus")).to_have_attribute("aria-current", "page")


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_the_list_can_be_paged_from_above(visit: Visit, site: Site, script: bool) -> None:
    fill(site, KIND, 30)
    page = visit(script=script)
    page.goto(LIST)
    pager = page.get_by_role("navigation", name="Pages, above the list")

    top, table = pager.bounding_box(), page.locator("#records").bounding_box()

    assert top
    assert table
    assert top["y"] + top["height"] <= table["y"]


# A phone


def test_the_foot_of_a_form_does_not_cover_the_focus_on_a_phone(visit: Visit, admin_client: Client) -> None:
    page = visit(screen=PHONE)
    page.goto(admin_client.edit_link(KIND, admin_client.create(KIND, company_name="Alpha")))
    expect(page.get_by_role("combobox", name="Airport")).to_be_focused()
    for _ in range(14):
        page.keyboard.press("Tab")
        wait_until(page, CLEAR_OF_FOOT)


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_phone_shows_two_cards_at_once(visit: Visit, admin_client: Client, script: bool) -> None:
    real_names(admin_client)
    page = visit(screen=PHONE, script=script)
    page.goto(f"{LIST}?q=kennedy&company_name=o&sort=company_name")

    assert page.locator("#records tbody tr").evaluate_all(IN_VIEW) >= 2
    expect(page.get_by_label("Company Name")).to_be_hidden()  # a filter: the chips tell that it is in use
    expect(page.get_by_text("Remove: Company Name")).to_be_visible()


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_cards_are_sorted_by_one_choice(visit: Visit, admin_client: Client, script: bool) -> None:
    for name in ("Beta", "Alpha", "Gamma"):
        admin_client.create(KIND, company_name=name)
    page = visit(screen=PHONE, script=script)
    page.goto(LIST)
    sort = page.get_by_label("Sort", exact=True)
    sort.select_option("Company, Z to A")
    if not script:
        page.locator("[data-apply]").first.click()

    expect(names(page)).to_have_text(["Gamma", "Beta", "Alpha"])
    assert query_of(page.url)["sort"] == ["-company_name"]
    expect(sort).to_have_value("-company_name")
    page.go_back()
    expect(names(page)).to_have_text(["Gamma", "Alpha", "Beta"])
    expect(sort).to_have_value("")


def test_the_selection_bar_does_not_cover_the_focus_on_a_phone(visit: Visit, site: Site) -> None:
    fill(site, KIND, 12)
    page = visit(screen=Screen(360, 640))
    page.goto(LIST)
    page.get_by_role("checkbox", name="Select 012").check()
    for _ in range(30):
        page.keyboard.press("Tab")
        wait_until(page, SEEN)


# Messages


@pytest.mark.parametrize("screen", [LAPTOP, PHONE, Screen(320, 256)], ids=["laptop", "phone", "zoomed"])
def test_a_confirmation_stays_in_view_beside_the_focus_until_dismissed(
    visit: Visit, site: Site, screen: Screen
) -> None:
    ids = fill(site, KIND, 75)
    page = visit(screen=screen)
    page.goto(f"{LIST}?page_no=3&view={ids[12]}")
    page.get_by_role("dialog").get_by_role("link", name="Edit").click()
    page.get_by_label("Company Address").fill("1 Main Street")
    save(page)

    message = page.locator("#messages .message")
    expect(message).to_contain_text("013 was saved.")
    expect(focused(page)).to_have_text("013")
    assert page.evaluate("scrollY") > 0
    expect(message).to_be_in_viewport()
    wait_until(page, SEEN)
    check_axe(page)
    message.get_by_role("button", name="Dismiss").click()
    expect(message).to_have_count(0)
    expect(focused(page)).to_have_text("013")


def test_the_undo_of_a_deletion_far_down_is_in_view(visit: Visit, site: Site) -> None:
    fill(site, KIND, 60)
    page = visit(screen=LAPTOP)
    page.goto(f"{LIST}?sort=id")
    page.get_by_role("link", name="Delete 021").click()
    page.locator("#removal").get_by_role("button", name="Delete").click()

    expect(page.locator("#messages")).to_contain_text("021 was deleted.")
    expect(focused(page)).to_have_text("022")
    assert page.evaluate("scrollY") > 0
    expect(page.get_by_role("button", name="Undo")).to_be_in_viewport()
    wait_until(page, SEEN)
    for _ in range(12):
        page.keyboard.press("Shift+Tab")
        wait_until(page, SEEN)


# Details


def test_a_record_can_be_read_at_400_percent(visit: Visit, admin_client: Client) -> None:
    word = "x" * 40
    record_id = admin_client.create(KIND, company_name=f"{word} {word} {word}", city="New York City")
    for screen in (Screen(320, 256), Screen(640, 360), PHONE):
        page = visit(screen=screen)
        page.goto(f"{LIST}?view={record_id}")
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("button", name="Close")).to_be_in_viewport(ratio=1)
        city = dialog.get_by_text("New York City")
        city.scroll_into_view_if_needed()
        expect(city).to_be_in_viewport(ratio=1)
        assert city.evaluate("(one) => { one.tabIndex = 0; one.focus(); return true; }")
        wait_until(page, SEEN)
        assert dialog.evaluate("(one) => one.scrollWidth <= one.clientWidth")


def test_at_400_percent_the_dialog_has_no_part_that_stays(visit: Visit, admin_client: Client) -> None:
    record_id = admin_client.create(KIND, company_name="Alpha")
    page = visit(screen=Screen(320, 256))
    page.goto(f"{LIST}?view={record_id}")

    sticky_parts = "(parts) => parts.filter((part) => getComputedStyle(part).position === 'sticky').length"
    assert page.locator("#detail > :is(header, footer)").evaluate_all(sticky_parts) == 0


# Trouble


def test_a_list_that_could_not_be_loaded_waits_for_nothing(page: Page, site: Site, watch: Watch) -> None:
    watch.allow("ERR_FAILED", "503")
    fill(site, KIND, 30)
    page.goto(LIST)
    page.route("**/*ajax*", lambda route: route.fulfill(status=503))
    page.get_by_role("searchbox").fill("02")

    expect(page.locator("#list-failed")).to_be_visible()
    expect(page.locator("#records")).to_have_attribute("aria-busy", "false")
    expect(page.locator("#records tbody")).to_have_css("opacity", "1")
    page.unroute("**/*ajax*")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#records tbody tr")).to_have_count(11)
    expect(page.locator("#list-failed")).to_be_hidden()


def test_a_sign_in_in_another_tab_brings_the_list_back(page: Page, site: Site, visit: Visit) -> None:
    fill(site, KIND, 30)
    page.goto(LIST)
    cookies = page.context.cookies()
    page.context.clear_cookies()
    page.get_by_role("searchbox").fill("02")
    expect(page.locator("#signed-out")).to_be_visible()

    page.context.add_cookies([{**cookies[0], "value": site.sign_in("administrator")}])
    page.context.new_page().goto("/admin/session/again")

    expect(page.locator("#signed-out")).to_be_hidden()
    expect(page.locator("#records tbody tr")).to_have_count(11)


# The keyboard


def test_a_key_leads_from_the_selection_to_what_can_be_done(page: Page, site: Site) -> None:
    fill(site, KIND, 12)
    page.goto(LIST)
    page.keyboard.press("a")
    expect(page.locator("#several-action")).not_to_be_focused()
    for key in "jxjx":
        page.keyboard.press(key)
    page.keyboard.press("a")
    expect(page.locator("#several-action")).to_be_focused()
    page.locator("#several-action").select_option("status=inactive")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Set Status to Inactive").press("Enter")

    expect(page.locator("#messages .message")).to_contain_text("2 records were changed.")
    expect(page.locator("#messages .message")).to_be_focused()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_contain_text("go to the actions for the selected records")


def test_the_form_begins_at_the_field_that_was_asked_for(page: Page, admin_client: Client) -> None:
    record_id = admin_client.create(KIND, company_name="Alpha", company_phone1="+1 718 217 5477")
    page.goto(admin_client.edit_link(KIND, record_id))
    expect(page.get_by_role("combobox", name="Airport")).to_be_focused()
    page.goto(LIST)
    page.goto(admin_client.edit_link(KIND, record_id) + "#company_phone1")
    expect(page.get_by_label("Company Phone 1")).to_be_focused()

    page.goto(LIST)
    page.get_by_role("link", name="+1 718 217 5477").focus()
    page.keyboard.press("e")
    expect(page.get_by_label("Company Phone 1")).to_be_focused()


def test_the_form_has_one_main_button(page: Page) -> None:
    page.goto(f"{LIST}/create")

    filled = "(all) => all.filter((one) => getComputedStyle(one).backgroundColor !== 'rgba(0, 0, 0, 0)').length"
    assert page.locator(".form-buttons .btn").evaluate_all(filled) == 1
