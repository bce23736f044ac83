"""The form in a browser: no input is lost, whatever happens to the session, the server or the page."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Dialog, Locator, Page, Route, expect
from sqlalchemy import delete, func, select

from groundtransport import db
from groundtransport.accounts.models import AdminSession, SavedForm
from groundtransport.security import Role
from tests.browser.axe import check_axe
from tests.browser.chromium import Watch, wait_until
from tests.browser.conftest import COOKIE, ServedSite, Visit, nearly_end_the_session
from tests.browser.screens import PHONE, Screen
from tests.site import HEATHROW, JFK, PASSWORD, Client, Site

GONE = ("Failed to load resource", "request failed")  # what a browser says of a server that is away


@pytest.fixture(autouse=True)
def nothing_kept(site: Site) -> Iterator[None]:
    yield
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(delete(SavedForm))


def new(page: Page, kind: str = "transit", **fields: str) -> None:
    page.goto(f"/admin/{kind}/create?airport_code=JFK")
    for label, text in {"Company Name": "Alpha Coaches", **fields}.items():
        page.get_by_label(label).fill(text)


def save(page: Page) -> Locator:
    return page.get_by_role("button", name="Save", exact=True)


def message(page: Page) -> Locator:
    return page.locator("#messages .message").first


def until_forgotten(page: Page) -> None:
    """The message was there before the script that forgets the form that it tells of."""
    wait_until(page, "!sessionStorage.getItem('groundtransport.draft')")


def sign_in(page: Page, name: str = "the-administrator") -> None:
    page.get_by_label("User name").fill(name)
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def dialogs(page: Page) -> list[str]:
    """Return the list of the browser's own dialogs, which are accepted as they come."""
    seen: list[str] = []

    def accept(dialog: Dialog) -> None:
        seen.append(dialog.type)
        dialog.accept()

    page.on("dialog", accept)
    return seen


# The airport, its cities and states


def test_an_airport_typed_as_its_code_is_taken_on_the_way_out(page: Page) -> None:
    page.goto("/admin/scheduledbus/create")
    airport = page.get_by_role("combobox", name="Airport")
    expect(airport).to_be_focused()
    expect(page.get_by_text("Choose an airport first.")).to_be_visible()

    page.keyboard.type("jfk")
    page.keyboard.press("Tab")

    expect(airport).to_have_value(JFK)
    expect(page.locator("#city option[value=Newark]").first).to_be_attached()


def test_a_proposal_that_nobody_moved_to_is_not_taken_by_tab(page: Page) -> None:
    page.goto("/admin/scheduledbus/create")
    airport = page.get_by_role("combobox", name="Airport")
    page.keyboard.type("london")
    expect(page.get_by_role("option").first).to_contain_text("London, United Kingdom")
    page.keyboard.press("Tab")
    expect(airport).to_have_value("london")

    airport.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Tab")
    expect(airport).to_have_value(HEATHROW)


def test_a_mistyped_airport_is_asked_about(page: Page) -> None:
    page.goto("/admin/transit/create")
    page.keyboard.type("heatrow")
    expect(page.get_by_text("Did you mean heathrow?")).to_be_visible()
    expect(page.get_by_role("option").first).to_contain_text("LHR")


def test_the_button_for_those_without_script_never_shows_with_one(page: Page) -> None:
    page.route("**/airport.js*", lambda route: route.fulfill(body="", content_type="text/javascript"))  # not run yet
    page.goto("/admin/transit/create")
    expect(page.get_by_role("button", name="Load its cities and states")).to_be_hidden()


def test_a_city_brings_its_state_and_a_chosen_state_stays(page: Page) -> None:
    new(page, "scheduledbus")
    city, state = page.get_by_label("City"), page.get_by_label("State")

    city.select_option("Newark")
    expect(state).to_have_value("US-NJ")
    city.select_option("New York")
    expect(state).to_have_value("US-NY")

    state.select_option("US-CT")
    city.select_option("Newark")
    expect(state).to_have_value("US-CT")
    page.get_by_role("button", name="Choose New Jersey").click()
    expect(state).to_have_value("US-NJ")


def test_a_late_answer_of_an_earlier_airport_counts_no_more(page: Page) -> None:
    late: list[Route] = []
    page.route("**/admin/airports/JFK", lambda route: late.append(route))
    page.goto("/admin/scheduledbus/create")
    airport = page.get_by_role("combobox", name="Airport")
    airport.fill(JFK)
    airport.press("Tab")
    expect(page.get_by_text("Loading cities")).to_be_visible()

    airport.fill(HEATHROW)
    airport.press("Tab")
    expect(page.locator("#city option[value=Hounslow]").first).to_be_attached()
    for route in late:
        route.continue_()

    expect(page.locator("#city option[value=Newark]")).to_have_count(0)
    expect(page.get_by_label("State")).to_contain_text("Hounslow")


def test_cities_that_could_not_be_loaded_can_be_asked_for_again(page: Page, watch: Watch) -> None:
    watch.allow(*GONE)
    page.route("**/admin/airports/JFK", lambda route: route.abort())
    page.goto("/admin/scheduledbus/create")
    airport = page.get_by_role("combobox", name="Airport")
    airport.fill(JFK)
    airport.press("Tab")
    expect(page.get_by_text("Could not load")).to_be_visible()

    page.unroute("**/admin/airports/JFK")
    page.get_by_role("button", name="Retry").click()

    expect(page.locator("#city option[value=Newark]").first).to_be_attached()


def test_the_city_survives_a_refused_save(page: Page, watch: Watch) -> None:
    watch.allow("422")
    new(page, "scheduledbus", **{"Company Phone": "nobody"})
    page.get_by_label("City").select_option("Newark")

    save(page).click()

    expect(page.get_by_role("alert").first).to_be_focused()
    expect(page).to_have_title("Error: New scheduled bus · Ground transport")
    expect(page.get_by_label("City")).to_have_value("Newark")
    page.get_by_role("alert").first.get_by_role("link").click()
    expect(page.get_by_label("Company Phone")).to_be_focused()


def test_another_place_is_offered_while_it_is_typed_and_saved_when_it_is_confirmed(page: Page, watch: Watch) -> None:
    watch.allow("422")
    new(page, "scheduledbus")
    page.get_by_text("Another place").click()
    field = page.get_by_label("Its name")
    field.press_sequentially("broad ch")
    expect(page.locator("#other_city-list option[value='Broad Channel']")).to_be_attached()
    field.fill("Broad Channel")

    save(page).click()

    expect(page.locator("#city-error")).to_contain_text("km away")
    expect(page.get_by_label("City")).to_have_value("Broad Channel")
    check_axe(page)
    page.get_by_role("checkbox", name="Save Broad Channel all the same").check()
    save(page).click()
    expect(page.locator("#records .col-city .badge")).to_have_text("Another place")


# Hints


def test_a_number_is_shown_as_it_will_be_dialled_and_a_doubt_hinders_nothing(page: Page, site: Site) -> None:
    new(page)
    phone = page.get_by_label("Company Phone 1")
    phone.fill("718 244 4444")
    expect(page.get_by_text("Will be dialled as +1 718-244-4444")).to_be_visible()

    phone.fill("1447")
    expect(page.get_by_text("1447 may be wrong")).to_be_visible()
    save(page).click()

    expect(message(page)).to_contain_text("Alpha Coaches was created.")


@pytest.mark.parametrize("screen", [Screen(1280, 800), PHONE], ids=["desktop", "phone"])
def test_two_numbers_in_one_field_are_divided_by_a_button(
    visit: Visit, admin_client: Client, watch: Watch, screen: Screen
) -> None:
    watch.allow("422")
    page = visit(screen=screen)
    new(page, **{"Company Phone 1": "718 244 4444 / 718 244 5555"})
    page.get_by_label("Company Phone 1").press("Enter")  # saves, as in each field, and is refused
    button = page.get_by_role("button", name="Keep 718 244 4444 here and write 718 244 5555 into Company Phone 2")
    expect(button).to_be_visible()
    check_axe(page)

    button.click()

    expect(message(page)).to_contain_text("Alpha Coaches was created.")
    (row,) = admin_client.rows("transit")
    assert (row["company_phone1"], row["company_phone2"]) == ("718 244 4444", "718 244 5555")


def test_the_same_company_at_the_same_airport_is_named_with_a_link(page: Page, admin_client: Client) -> None:
    admin_client.create("transit", company_name="Alpha Coaches Ltd.")
    new(page)

    hint = page.get_by_role("link", name="Alpha Coaches Ltd.")
    with page.context.expect_page() as opened:
        hint.click()
    expect(opened.value.get_by_label("Company Name")).to_have_value("Alpha Coaches Ltd.")
    expect(page.get_by_label("Company Name")).to_have_value("Alpha Coaches")

    page.get_by_label("Company Name").fill("Another")
    expect(hint).to_have_count(0)


# Ways to save


def test_save_and_add_another_begins_at_the_company(page: Page) -> None:
    new(page, City="Newark")
    page.get_by_role("button", name="Save and add another").click()

    expect(page.get_by_label("Company Name")).to_be_focused()
    expect(page.get_by_role("combobox", name="Airport")).to_have_value(JFK)
    expect(page.get_by_label("City")).to_have_value("Newark")
    expect(message(page)).to_contain_text("Alpha Coaches was created.")


def test_save_and_keep_editing_leaves_the_focus_where_it_was(page: Page) -> None:
    new(page)
    again = page.get_by_role("button", name="Save and keep editing")
    again.click()
    expect(message(page)).to_contain_text("Alpha Coaches was created.")
    expect(again).to_be_focused()

    page.get_by_label("Company Name").fill("Beta Coaches")
    again.press("Enter")
    expect(message(page)).to_contain_text("Beta Coaches was saved.")
    expect(again).to_be_focused()


def test_a_duplicate_begins_at_the_airport(page: Page) -> None:
    new(page)
    page.get_by_role("button", name="Save and keep editing").click()
    page.get_by_role("link", name="Duplicate").click()

    expect(page.get_by_role("combobox", name="Airport")).to_be_focused()
    expect(page.get_by_label("Company Name")).to_have_value("Alpha Coaches")


@pytest.mark.parametrize("key", ["Enter", "Control+s"])
def test_keys_save(page: Page, key: str) -> None:
    new(page)
    page.get_by_label("Company Name").press(key)

    expect(message(page)).to_contain_text("Alpha Coaches was created.")


def test_a_double_click_makes_one_record_and_says_that_it_saves(page: Page, site: Site) -> None:
    pending_routes: list[Route] = []
    new(page)
    page.route("**/admin/session", lambda route: pending_routes.append(route))
    save(page).dblclick()
    expect(page.get_by_role("button", name="Saving ...")).to_be_visible()
    for route in pending_routes:
        route.continue_()

    expect(message(page)).to_contain_text("Alpha Coaches was created.")
    assert site.count(site.kinds["transit"].model) == 1


def test_back_to_a_sent_form_finds_it_ready(page: Page) -> None:
    new(page)
    save(page).click()
    expect(message(page)).to_be_visible()

    page.go_back()

    expect(save(page)).to_be_enabled()


def test_back_after_a_save_offers_an_empty_form_and_not_the_same_again(page: Page, site: Site) -> None:
    new(page)
    save(page).click()
    expect(message(page)).to_contain_text("Alpha Coaches was created.")
    until_forgotten(page)

    page.go_back()
    expect(page.get_by_label("Company Name")).to_have_value("")
    page.go_forward()
    page.go_back()
    expect(page.get_by_label("Company Name")).to_have_value("")
    assert site.count(site.kinds["transit"].model) == 1


def test_a_save_whose_answer_was_lost_is_not_made_twice(page: Page, site: Site, watch: Watch) -> None:
    watch.allow(*GONE)
    new(page)
    page.route("**/admin/transit", lambda route: (route.fetch(max_redirects=0), route.abort("connectionreset")))
    save(page).click()
    expect(page).to_have_url("chrome-error://chromewebdata/")
    page.unroute("**/admin/transit")

    page.go_back()
    expect(page.get_by_label("Company Name")).to_have_value("Alpha Coaches")
    save(page).click()

    expect(message(page)).to_contain_text("it was not created again")
    assert site.count(site.kinds["transit"].model) == 1


def test_back_to_a_save_that_never_arrived_overwrites_nobody(
    page: Page, admin_client: Client, site: Site, watch: Watch
) -> None:
    watch.allow(*GONE)
    record_id = admin_client.create("transit", company_name="Alpha Coaches")
    page.goto(admin_client.edit_link("transit", record_id))
    page.get_by_label("Company Name").fill("Beta Coaches")
    page.route(f"**/admin/transit/{record_id}", lambda route: route.abort("connectionreset"))
    save(page).click()
    expect(page).to_have_url("chrome-error://chromewebdata/")
    page.unroute(f"**/admin/transit/{record_id}")
    theirs = {"airport_name": JFK, "company_address": "1 Main Street", "version": "1"}
    admin_client.put(f"/admin/transit/{record_id}", theirs)

    page.go_back()
    save(page).click()

    expect(message(page)).to_contain_text("What somebody else changed in the meantime was kept")
    row = site.row("transit", record_id)
    assert (row["company_name"], row["company_address"]) == ("Beta Coaches", "1 Main Street")


def test_back_over_a_refused_save_asks_nothing_and_loses_nothing(page: Page, watch: Watch) -> None:
    watch.allow("422")
    dialogs(page)
    new(page)
    page.get_by_role("combobox", name="Airport").fill("nowhere")
    save(page).click()
    expect(page.get_by_text("There is a problem")).to_be_visible()
    expect(page).to_have_url("/admin/transit/create?airport_code=JFK")

    page.go_back()
    expect(page.get_by_role("combobox", name="Airport")).to_have_value("nowhere")
    page.go_forward()
    page.get_by_role("combobox", name="Airport").fill(JFK)
    save(page).click()
    expect(message(page)).to_contain_text("Alpha Coaches was created.")
    until_forgotten(page)
    page.go_back()  # the browser would fail here, and ask to send the form once more
    expect(page.get_by_label("Company Name")).to_have_value("")


def test_back_over_a_conflict_leads_to_the_form(page: Page, admin_client: Client, watch: Watch) -> None:
    watch.allow("409")
    record_id = admin_client.create("transit", company_name="Alpha Coaches")
    page.goto(admin_client.edit_link("transit", record_id))
    admin_client.put(f"/admin/transit/{record_id}", {"airport_name": JFK, "company_name": "Theirs", "version": "1"})
    page.get_by_label("Company Name").fill("Mine")
    save(page).click()
    expect(page.get_by_role("alert")).to_be_focused()
    save(page).click()
    expect(message(page)).to_contain_text("Mine was saved.")

    page.go_back()

    expect(page.get_by_label("Company Name")).to_have_value("Mine")


# Leaving


def test_what_was_typed_and_left_is_there_on_the_way_back(page: Page) -> None:
    dialogs(page)
    new(page, Place="Gate 4")
    page.goto("/admin/transit")

    page.go_back()

    expect(page.get_by_role("combobox", name="Airport")).to_have_value(JFK)
    expect(page.get_by_label("Place", exact=True)).to_have_value("Gate 4")


def test_what_was_discarded_does_not_come_back(page: Page) -> None:
    new(page)
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("button", name="Discard").click()
    expect(page).to_have_url("/admin/transit?airport_code=JFK")

    page.go_back()

    expect(page.get_by_label("Company Name")).to_have_value("")


def test_typing_and_undoing_is_clean(page: Page) -> None:
    seen = dialogs(page)
    page.goto("/admin/transit/create")
    page.get_by_label("Company Name").fill("Alpha")
    page.get_by_label("Company Name").fill("")
    page.get_by_role("link", name="Cancel").click()

    expect(page.get_by_role("heading", name="Transit services")).to_be_visible()
    assert seen == []


def test_leaving_by_a_link_asks_and_staying_keeps_what_was_typed(page: Page) -> None:
    seen = dialogs(page)
    new(page)
    cancel = page.get_by_role("link", name="Cancel")
    cancel.click()
    expect(page.get_by_role("button", name="Stay")).to_be_focused()
    page.keyboard.press("Escape")
    expect(cancel).to_be_focused()
    expect(page.get_by_label("Company Name")).to_have_value("Alpha Coaches")

    cancel.click()
    page.get_by_role("button", name="Discard").click()

    expect(page.get_by_role("heading", name="Transit services")).to_be_visible()
    assert seen == []


def test_leaving_can_save(page: Page) -> None:
    new(page)
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()

    expect(message(page)).to_contain_text("Alpha Coaches was created.")


def test_closing_and_reloading_ask(page: Page) -> None:
    seen = dialogs(page)
    new(page)
    page.reload()

    assert seen == ["beforeunload"]


def test_signing_out_asks_nothing(page: Page) -> None:
    seen = dialogs(page)
    new(page)
    page.get_by_role("button", name="Sign out").click()

    expect(page.get_by_label("User name")).to_be_visible()
    assert seen == []


# A session that ends, a server that is away


def end_sessions(site: Site) -> None:
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(delete(AdminSession))


def test_a_session_that_ended_does_not_lose_the_form(page: Page, site: Site) -> None:
    new(page)
    end_sessions(site)
    save(page).click()
    link = page.get_by_role("link", name="Sign in in a new tab")
    expect(link).to_be_focused()

    with page.context.expect_page() as opened:
        link.click()
    sign_in(opened.value)
    expect(opened.value.get_by_role("heading", name="You are signed in again")).to_be_visible()
    opened.value.close()

    expect(message(page)).to_contain_text("Alpha Coaches was created.")
    assert site.count(site.kinds["transit"].model) == 1


def test_nothing_is_saved_under_another_name_unasked(page: Page, site: Site, served_site: ServedSite) -> None:
    new(page)
    page.context.add_cookies([{"name": COOKIE, "value": site.sign_in(Role.EDITOR), "url": served_site.origin}])
    save(page).click()
    as_editor = page.get_by_role("button", name="Save as the-editor")
    expect(as_editor).to_be_focused()
    assert site.count(site.kinds["transit"].model) == 0

    as_editor.click()

    expect(message(page)).to_contain_text("Alpha Coaches was created.")
    assert site.entries()[-1]["actor"] == "the-editor"


def test_the_end_is_told_before_and_can_be_put_off(page: Page, site: Site) -> None:
    page.clock.install()
    # Time jumps when nothing is under way: an answer from before would count as a use of the session after it.
    with page.expect_response("**/similar?*") as hinted, page.expect_response("**/admin/session") as session_response:
        new(page)
    hinted.value.finished()
    session_response.value.finished()
    nearly_end_the_session(page, site)
    page.get_by_role("button", name="Stay signed in").click()

    expect(page.get_by_text("You stay signed in.")).to_be_visible()
    assert site.scalar(select(func.min(AdminSession.seen_at))) > db.now() - timedelta(minutes=1)
    expect(page.get_by_label("Company Name")).to_have_value("Alpha Coaches")


def test_a_server_that_is_away_is_told_and_tried_again(page: Page, watch: Watch) -> None:
    watch.allow(*GONE)
    new(page)
    page.context.set_offline(True)
    save(page).click()
    expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached")
    expect(page.get_by_label("Company Name")).to_have_value("Alpha Coaches")
    expect(save(page)).to_be_visible()

    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()

    expect(message(page)).to_contain_text("Alpha Coaches was created.")


def test_a_save_that_never_arrived_is_still_typed_on_the_way_back(page: Page, watch: Watch) -> None:
    watch.allow(*GONE)
    new(page, "scheduledbus")
    page.get_by_label("City").select_option("Newark")
    page.route("**/admin/scheduledbus", lambda route: route.abort("connectionreset"))
    save(page).click()
    expect(page).to_have_url("chrome-error://chromewebdata/")

    page.unroute("**/admin/scheduledbus")
    page.go_back()

    expect(page.get_by_label("Company Name")).to_have_value("Alpha Coaches")
    expect(page.get_by_role("combobox", name="Airport")).to_have_value(JFK)
    expect(page.get_by_label("City")).to_have_value("Newark")


def test_without_script_what_was_typed_comes_back_after_the_sign_in(no_script: Page, site: Site) -> None:
    new(no_script)
    end_sessions(site)
    save(no_script).click()
    expect(no_script.get_by_text("what you typed will be in it again")).to_be_visible()
    sign_in(no_script)

    expect(no_script.get_by_label("Company Name")).to_have_value("Alpha Coaches")
    save(no_script).click()
    expect(message(no_script)).to_contain_text("Alpha Coaches was created.")


# Messages


def test_messages_are_spoken_and_shown_once(visit: Visit) -> None:
    page = visit()
    page.add_init_script(
        "addEventListener('DOMContentLoaded', () => { const region = document.querySelector('#messages');"
        "new MutationObserver((all) => { for (const one of all) for (const node of one.addedNodes)"
        " region.dataset.spoken = (region.dataset.spoken ?? '') + node.textContent; })"
        ".observe(region, { childList: true }); });"
    )
    new(page, **{"Company Phone 1": "1447"})
    save(page).click()

    region = page.locator("#messages")
    expect(region).to_have_attribute("role", "status")
    expect(region.get_by_role("alert")).to_contain_text("1447 may be wrong")
    expect(region).to_have_attribute("data-spoken", re.compile(r"Alpha Coaches was created\."))
    region.get_by_role("link", name="Alpha Coaches").click()
    expect(page.get_by_label("Company Name")).to_have_value("Alpha Coaches")
    expect(page.locator("#messages .message")).to_have_count(0)


def test_without_script_an_airport_is_chosen_among_those_that_were_found(no_script: Page, site: Site) -> None:
    new(no_script)
    no_script.get_by_label("Airport (required)").fill("heathrow")
    no_script.get_by_role("button", name="Load its cities and states").click()

    no_script.get_by_role("button", name=HEATHROW).click()
    expect(no_script.get_by_label("Airport (required)")).to_have_value(HEATHROW)
    expect(no_script.get_by_role("button", name=HEATHROW)).to_have_count(0)
    save(no_script).click()

    expect(no_script.get_by_text("was created")).to_be_visible()
    assert site.client().rows("transit")[0]["airport_code"] == "LHR"


def test_with_script_the_field_has_its_own_list_of_airports(page: Page, watch: Watch) -> None:
    watch.allow("422")
    new(page)
    page.get_by_label("Airport (required)").fill("lhr terminal")
    save(page).click()

    expect(page.locator("#errors")).to_be_visible()
    expect(page.locator("[data-airport-choices], [name=refresh]")).to_have_count(0)
