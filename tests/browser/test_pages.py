"""Every page in every state: no violation of WCAG, in light and dark, wide and narrow, and nothing stands out."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

import pytest
from playwright.sync_api import Page, Response, expect

from groundtransport import dashboard, db
from groundtransport.accounts.sign_in import throttle
from groundtransport.dashboard import statistics
from groundtransport.dashboard.weekly_changes import last_weeks
from groundtransport.db.revisions import EXPAND, Revision, Schema
from groundtransport.links.models import LinkCheck
from groundtransport.security import Role
from tests.browser.axe import check_axe
from tests.browser.chromium import Watch
from tests.browser.conftest import ServedSite, Visit
from tests.browser.markup import check_markup
from tests.browser.screens import DESKTOP, PHONE, ZOOMED
from tests.functional.importing import Importing
from tests.site import HEATHROW, Client

LONG = "An Uncommonly Long-Winded Company of Coaches and Charters-" + "x" * 60


@dataclass
class Scenario:
    """What a state is made with."""

    page: Page
    origin: str
    admin_client: Client
    watch: Watch
    patch: pytest.MonkeyPatch

    def records(self, kind: str = "transit", number: int = 3) -> int:
        """Make some records, one of them full of long words; return the id of the last."""
        self.admin_client.create(
            kind, airport_name=HEATHROW, company_name=LONG, company_phone1="+44 20 8759 4321 ext. 12345"
        )
        for _ in range(number - 1):
            last = self.admin_client.create(kind, company_name="Alpha Coaches", company_phone1="+1 212 555 0100")
        return last

    def go(self, address: str) -> None:
        self.page.goto(address)


STATES: dict[str, Callable[[Scenario], None]] = {}


def state(make: Callable[[Scenario], None]) -> Callable[[Scenario], None]:
    STATES[make.__name__] = make
    return make


@state
def sign_in(scenario: Scenario) -> None:
    scenario.page.context.clear_cookies()
    scenario.go("/login?next=/admin/transit")


@state
def sign_in_refused(scenario: Scenario) -> None:
    scenario.watch.allow("422")
    sign_in(scenario)
    scenario.page.get_by_label("User name").fill("nobody")
    scenario.page.get_by_label("Password", exact=True).fill("wrong")
    scenario.page.get_by_role("button", name="Sign in").click()
    expect(scenario.page.get_by_role("alert")).to_be_focused()


@state
def sign_in_held_back(scenario: Scenario) -> None:
    scenario.watch.allow("429")
    scenario.patch.setattr(throttle, "_reached", lambda *words: db.now())
    sign_in(scenario)
    scenario.page.get_by_label("User name").fill("nobody")
    scenario.page.get_by_label("Password", exact=True).fill("wrong")
    scenario.page.get_by_role("button", name="Sign in").click()
    expect(scenario.page.get_by_role("alert")).to_contain_text("Try again")


@state
def permission_missing(scenario: Scenario) -> None:
    token = scenario.admin_client.site.sign_in(Role.VIEWER)
    scenario.page.context.add_cookies([{"name": "groundtransport", "value": token, "url": scenario.origin}])
    scenario.go("/admin/transit/create")
    expect(scenario.page.get_by_role("alert")).to_contain_text("does not allow")


@state
def overview_empty(scenario: Scenario) -> None:
    scenario.go("/admin")


@state
def overview(scenario: Scenario) -> None:
    scenario.records()
    scenario.records("scheduledbus")
    scenario.go("/admin")
    scenario.page.get_by_text("As a table").click()


@state
def overview_of_long_dates(scenario: Scenario) -> None:
    """Eight weeks of which seven begin on a day of two digits, in any year."""
    scenario.patch.setattr(dashboard, "last_weeks", lambda dbsession, today: last_weeks(dbsession, date(2026, 11, 29)))
    scenario.go("/admin")


@state
def search_unasked(scenario: Scenario) -> None:
    scenario.go("/admin/search")


@state
def search(scenario: Scenario) -> None:
    scenario.records(number=13)
    scenario.go("/admin/search?q=alpha")


@state
def list_empty(scenario: Scenario) -> None:
    scenario.go("/admin/transit")


@state
def list_full(scenario: Scenario) -> None:
    scenario.records(number=13)
    scenario.go("/admin/transit?page_size=10&sort=company_name")


@state
def list_nothing_matches(scenario: Scenario) -> None:
    scenario.records()
    scenario.go("/admin/transit?q=nothing-has-this-name&missing=company_address")


@state
def list_of_buses(scenario: Scenario) -> None:
    scenario.records("scheduledbus")
    scenario.go("/admin/scheduledbus?company_name=alpha&airport_code=JFK")


@state
def list_after_deletion(scenario: Scenario) -> None:
    scenario.go(f"/admin/transit/{scenario.records()}/delete")
    scenario.page.locator("main form button").first.click()
    expect(scenario.page.get_by_role("button", name="Undo")).to_be_visible()


@state
def recently_deleted(scenario: Scenario) -> None:
    scenario.admin_client.delete(f"/admin/transit/{scenario.records()}")
    scenario.go("/admin/transit?deleted=1")


@state
def detail_dialog(scenario: Scenario) -> None:
    scenario.records()
    scenario.go("/admin/transit")
    scenario.page.get_by_role("link", name="View Alpha").first.click()
    expect(scenario.page.get_by_role("dialog")).to_contain_text("+1 212 555 0100")


@state
def detail_gone(scenario: Scenario) -> None:
    scenario.watch.allow("404")
    scenario.records()
    scenario.go("/admin/transit?view=999999")
    expect(scenario.page.get_by_role("dialog")).to_be_visible()


@state
def deletion_asked(scenario: Scenario) -> None:
    scenario.records()
    scenario.go("/admin/transit")
    scenario.page.get_by_role("link", name="Delete Alpha").first.click()
    expect(scenario.page.get_by_role("dialog").get_by_role("button", name="Cancel")).to_be_focused()


@state
def several_chosen(scenario: Scenario) -> None:
    scenario.records()
    scenario.go("/admin/transit?status=active")
    scenario.page.get_by_role("checkbox", name="Alpha").first.check()
    expect(scenario.page.get_by_text("1 selected")).to_be_visible()


@state
def export_of_a_selection(scenario: Scenario) -> None:
    several_chosen(scenario)
    scenario.page.get_by_role("form", name="Selected records").get_by_role("button", name="Export").click()
    expect(scenario.page.get_by_role("heading", name="Export transit services")).to_be_visible()


@state
def export_refused(scenario: Scenario) -> None:
    scenario.watch.allow("422")
    scenario.records()
    scenario.go("/admin/transit/export?format=csv&chosen=1&q=alpha")
    expect(scenario.page.get_by_role("alert")).to_contain_text("at least one column")


@state
def several_asked(scenario: Scenario) -> None:
    several_chosen(scenario)
    scenario.page.get_by_label("What to do with the selected records").select_option(label="Delete")
    scenario.page.get_by_role("button", name="Go on").click()
    expect(scenario.page.get_by_role("link", name="Cancel")).to_be_visible()


@state
def columns_offered(scenario: Scenario) -> None:
    scenario.records()
    scenario.go("/admin/transit")
    scenario.page.get_by_text("Columns", exact=True).click()
    expect(scenario.page.get_by_text("Columns that are shown")).to_be_visible()


@state
def keys_told(scenario: Scenario) -> None:
    scenario.records()
    scenario.go("/admin/transit")
    scenario.page.keyboard.press("?")
    expect(scenario.page.get_by_role("dialog")).to_be_visible()


@state
def list_of_all_columns(scenario: Scenario) -> None:
    record_id = scenario.records()
    ended = {"airport_name": HEATHROW, "valid_from": "2020-04-01", "valid_until": "2020-10-31", "state": "GB-LND"}
    scenario.admin_client.put(
        f"/admin/transit/{record_id}", {**ended, "company_link": "https://alpha.example/" + "x" * 90}
    )
    names = (*scenario.admin_client.site.kinds["transit"].fields, "verified_at", "created_at", "updated_at")
    scenario.go(f"/admin/transit?columns={','.join(names)}")
    expect(scenario.page.get_by_text("Ended").first).to_be_attached()


@state
def notes(scenario: Scenario) -> None:
    record_id = scenario.records()
    for text in ("Called them.", LONG * 3):
        scenario.admin_client.post(f"/admin/transit/{record_id}/notes", {"text": text})
    scenario.go(f"/admin/transit?view={record_id}")
    expect(scenario.page.get_by_text("Called them.")).to_be_visible()


@state
def fields_of_several(scenario: Scenario) -> None:
    several_chosen(scenario)
    scenario.page.get_by_role("button", name="Change fields").click()
    expect(scenario.page.get_by_role("button", name="Go on")).to_be_visible()


@state
def change_of_several_asked(scenario: Scenario) -> None:
    fields_of_several(scenario)
    scenario.page.get_by_role("textbox", name="Description").fill(LONG)
    scenario.page.get_by_role("button", name="Go on").click()
    expect(scenario.page.get_by_role("button", name="Change them")).to_be_visible()


@state
def saved_views(scenario: Scenario) -> None:
    scenario.watch.allow("422")
    for name in (LONG[:60], "For everybody"):
        scenario.admin_client.post("/admin/transit/views", {"do": "save", "name": name, "shared": "1"})
    scenario.go("/admin/transit/views?q=alpha&status=active")
    scenario.page.get_by_label("Name", exact=True).fill("For everybody")
    scenario.page.get_by_label("For all").check()
    scenario.page.get_by_role("button", name="Save").click()
    expect(scenario.page.get_by_role("alert")).to_be_focused()


@state
def doubles(scenario: Scenario) -> None:
    scenario.records(number=4)
    scenario.admin_client.create("transit", airport_name=HEATHROW, company_name=LONG, place="Terminal 5")
    scenario.go("/admin/transit/doubles")
    expect(scenario.page.get_by_role("link", name="Merge").first).to_be_visible()


@state
def doubles_of_a_record(scenario: Scenario) -> None:
    scenario.go(f"/admin/transit?view={scenario.records(number=4)}")
    scenario.page.get_by_role("link", name="2 possible doubles").click()
    expect(scenario.page.get_by_role("link", name="Show all pairs")).to_be_visible()


@state
def merge(scenario: Scenario) -> None:
    one = scenario.admin_client.create("transit", airport_name=HEATHROW, company_name=LONG, place="Terminal 5")
    two = scenario.admin_client.create("transit", airport_name=HEATHROW, company_name=LONG, description=LONG * 4)
    scenario.go(f"/admin/transit/{one}/merge?with={two}")
    expect(scenario.page.get_by_role("button", name="Merge")).to_be_visible()


@state
def review_choice(scenario: Scenario) -> None:
    scenario.records()
    scenario.go("/admin/review")


@state
def review_record(scenario: Scenario) -> None:
    review_choice(scenario)
    scenario.page.get_by_label("Kind").select_option("transit")
    scenario.page.get_by_role("button", name="Start").click()
    expect(scenario.page.get_by_role("button", name="Skip")).to_be_visible()


@state
def link_checks(scenario: Scenario) -> None:
    link = f"https://alpha.example/{'x' * 90}"
    record_id = scenario.admin_client.create("transit", company_name="Alpha Coaches", company_link=link)
    moved = {"state": "moved", "status": 200, "failure": "", "final_url": f"https://other.example/{'y' * 90}"}
    with db.transaction(scenario.admin_client.site.engine) as dbsession:
        of_link = {"kind": "transit", "record_id": record_id, "field": "company_link", "url": link}
        shown = {"title": LONG, "language": "en", "checked_at": db.now(), "failures": 0}
        dbsession.add(LinkCheck(**of_link, **moved, **shown))
    scenario.go(f"/admin/transit?view={record_id}")
    expect(scenario.page.get_by_text("other.example").first).to_be_visible()


@state
def airport(scenario: Scenario) -> None:
    scenario.records(number=7)
    scenario.go("/admin/airports/LHR")


@state
def airport_edit(scenario: Scenario) -> None:
    scenario.go("/admin/airports/LHR/edit")
    expect(scenario.page.get_by_role("button", name="Save")).to_be_visible()


@state
def create_form(scenario: Scenario) -> None:
    scenario.go("/admin/transit/create")


@state
def create_form_of_buses(scenario: Scenario) -> None:
    scenario.go("/admin/scheduledbus/create")


@state
def airports_offered(scenario: Scenario) -> None:
    create_form(scenario)
    scenario.page.get_by_role("combobox", name="Airport").fill("heathrow")
    expect(scenario.page.get_by_role("option").first).to_be_visible()


@state
def form_refused(scenario: Scenario) -> None:
    scenario.watch.allow("422")
    create_form(scenario)
    scenario.page.get_by_label("Company Link").fill("no link")
    scenario.page.get_by_role("button", name="Save", exact=True).click()
    expect(scenario.page.get_by_text("There is a problem")).to_be_visible()


@state
def form_with_hints(scenario: Scenario) -> None:
    scenario.records()
    scenario.go("/admin/transit/create?airport_code=JFK")
    scenario.page.get_by_label("Company Name").fill("alpha coaches inc")
    scenario.page.get_by_label("Company Phone 1").fill("1447")
    expect(scenario.page.get_by_text("1447 may be wrong")).to_be_visible()
    expect(scenario.page.get_by_role("link", name="Alpha Coaches").first).to_be_visible()


@state
def form_signed_out(scenario: Scenario) -> None:
    scenario.go("/admin/transit/create")
    scenario.page.get_by_label("Company Name").fill("Alpha Coaches")
    scenario.page.context.clear_cookies()
    scenario.page.get_by_role("button", name="Save", exact=True).click()
    expect(scenario.page.get_by_role("link", name="Sign in in a new tab")).to_be_focused()


@state
def form_left(scenario: Scenario) -> None:
    scenario.go("/admin/transit/create")
    scenario.page.get_by_label("Company Name").fill("Alpha Coaches")
    scenario.page.get_by_role("link", name="Cancel").click()
    expect(scenario.page.get_by_role("button", name="Stay")).to_be_focused()


@state
def edit_form(scenario: Scenario) -> None:
    scenario.go(scenario.admin_client.edit_link("transit", scenario.records()))


@state
def conflict(scenario: Scenario) -> None:
    scenario.watch.allow("409")
    record_id = scenario.records()
    scenario.go(scenario.admin_client.edit_link("transit", record_id))
    theirs = {"airport_name": HEATHROW, "company_name": "Theirs", "version": "1"}
    scenario.admin_client.put(f"/admin/transit/{record_id}", theirs)
    scenario.page.get_by_label("Company Name").fill("Mine")
    scenario.page.get_by_role("button", name="Save", exact=True).click()
    expect(scenario.page.get_by_text("while you were editing").first).to_be_visible()


@state
def delete_page(scenario: Scenario) -> None:
    scenario.go(f"/admin/transit/{scenario.records()}/delete")


@state
def activity_empty(scenario: Scenario) -> None:
    scenario.go("/admin/activity?q=nothing-has-this-name")


@state
def activity(scenario: Scenario) -> None:
    record_id = scenario.records(number=13)
    scenario.admin_client.put(f"/admin/transit/{record_id}", {"airport_name": HEATHROW, "company_name": LONG})
    scenario.go("/admin/activity?page_size=10")


@state
def history(scenario: Scenario) -> None:
    record_id = scenario.records()
    scenario.admin_client.put(f"/admin/transit/{record_id}", {"airport_name": HEATHROW, "company_name": LONG})
    scenario.go(f"/admin/transit/{record_id}/history?version=1")


@state
def profile(scenario: Scenario) -> None:
    scenario.go("/admin/profile")


@state
def own_sessions(scenario: Scenario) -> None:
    scenario.admin_client.site.client()
    scenario.go("/admin/profile/sessions")


@state
def people(scenario: Scenario) -> None:
    scenario.admin_client.post("/admin/users", {"name": "an.uncommonly-long.name@" + "x" * 40, "role": "editor"})
    scenario.go("/admin/users")


@state
def person(scenario: Scenario) -> None:
    scenario.admin_client.site.client(Role.EDITOR)
    scenario.go("/admin/users/the-editor")


@state
def person_refused(scenario: Scenario) -> None:
    scenario.watch.allow("422")
    scenario.go("/admin/users")
    scenario.page.get_by_label("User name").fill("a b")
    scenario.page.get_by_role("button", name="Add the user").click()
    expect(scenario.page.get_by_label("User name")).to_be_focused()


@state
def person_changed_meanwhile(scenario: Scenario) -> None:
    scenario.watch.allow("409")
    scenario.admin_client.post("/admin/users", {"name": "pat", "role": "editor"})
    scenario.go("/admin/users/pat")
    scenario.admin_client.post("/admin/users/pat/disable")
    scenario.page.get_by_role("button", name="Change the role").click()
    expect(scenario.page.get_by_role("alert")).to_be_focused()


@state
def own_account(scenario: Scenario) -> None:
    scenario.go("/admin/users/the-administrator")


@state
def one_time_password(scenario: Scenario) -> None:
    scenario.go("/admin/users")
    scenario.page.get_by_label("User name").fill("pat")
    scenario.page.get_by_role("button", name="Add the user").click()
    expect(scenario.page.get_by_role("heading", level=1)).to_have_text("One-time password")


@state
def security(scenario: Scenario) -> None:
    for number in range(13):
        scenario.admin_client.get("/admin/activity/csv")
        scenario.admin_client.post("/admin/users", {"name": f"pat{number}", "role": "editor"}, X_CSRF_Token="")
    scenario.go("/admin/security?page_size=10&person=the-administrator")


@state
def security_empty(scenario: Scenario) -> None:
    scenario.go("/admin/security?person=nobody")


@state
def about(scenario: Scenario) -> None:
    scenario.go("/admin/about")


@state
def error_400(scenario: Scenario) -> None:
    scenario.watch.allow("400")
    scenario.go("/admin/transit?q=%FF")


@state
def error_404(scenario: Scenario) -> None:
    scenario.watch.allow("404")
    scenario.go("/admin/transit/999999/edit")


@state
def error_500(scenario: Scenario) -> None:
    scenario.watch.allow("500")
    scenario.patch.setattr(statistics, "total", None)
    scenario.go("/admin")


PROBLEMS = b"""airport_name,company_name,company_phone1,company_link,what
JFK,Alpha Coaches,+1 212 555 0100,,x
XXX,Beta,,,
JFK,Gamma,no number at all,,
JFK,Delta,+1 212 555 0102,not a link,
JFK,Twice,,,
JFK,Twice,,,
"""


@state
def import_upload(scenario: Scenario) -> None:
    scenario.go("/admin/transit/import")


@state
def import_refused(scenario: Scenario) -> None:
    scenario.watch.allow("422")
    scenario.go("/admin/transit/import")
    scenario.page.get_by_role("button", name="Upload").click()
    expect(scenario.page.get_by_role("alert")).to_be_focused()


@state
def import_working(scenario: Scenario) -> None:
    importing = Importing(scenario.admin_client)
    answer = importing.upload(PROBLEMS + LONG.encode())
    scenario.go(answer.location.removeprefix("http://localhost"))
    expect(scenario.page.get_by_role("progressbar")).to_be_visible()


@state
def import_columns(scenario: Scenario) -> None:
    scenario.go(Importing(scenario.admin_client).start(PROBLEMS.replace(b"x", LONG.encode()), f"{LONG}.csv"))


@state
def import_preview(scenario: Scenario) -> None:
    importing = Importing(scenario.admin_client)
    path = importing.start(PROBLEMS, f"{LONG}.csv")
    importing.preview(path, match="place")
    scenario.go(f"{path}?show=refused")


@state
def import_preview_of_new_rows(scenario: Scenario) -> None:
    import_preview(scenario)
    scenario.page.get_by_role("link", name="New").click()
    scenario.page.get_by_text("Values").first.click()


@state
def import_result(scenario: Scenario) -> None:
    importing = Importing(scenario.admin_client)
    path = importing.start(PROBLEMS)
    importing.preview(path, match="place")
    importing.commit(path)
    scenario.go(path)


@state
def import_list(scenario: Scenario) -> None:
    import_result(scenario)
    scenario.go("/admin/imports")


@state
def error_503(scenario: Scenario) -> None:
    scenario.watch.allow("503")
    registry = scenario.admin_client.site.registry
    another = Revision("another", frozenset(), frozenset(), EXPAND)
    scenario.patch.setitem(registry, "schema", Schema({**registry["schema"].revisions, another.name: another}))
    scenario.go("/readyz")


@pytest.mark.parametrize("name", STATES)
def test_page_is_accessible_and_fits(
    name: str,
    served_site: ServedSite,
    visit: Visit,
    admin_client: Client,
    watch: Watch,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page, documents = visit(), []
    page.on("response", lambda answer: documents.append(answer) if is_document(answer) else None)
    STATES[name](Scenario(page, served_site.origin, admin_client, watch, monkeypatch))

    check_markup(documents[-1].text())
    check_axe(page)
    fits(page)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    check_axe(page, "color-contrast")
    page.set_viewport_size(ZOOMED.viewport)
    fits(page)
    page.set_viewport_size(PHONE.viewport)
    fits(page)
    check_axe(page)


def is_document(answer: Response) -> bool:
    return answer.request.resource_type == "document" and not 300 <= answer.status < 400


def fits(page: Page) -> None:
    """Fail when the page must be scrolled sideways, and say what stands out."""
    width = page.viewport_size["width"]
    wide = page.evaluate(
        """(width) => document.documentElement.scrollWidth <= width ? [] : [...document.body.querySelectorAll("*")]
            .filter((one) => one.getBoundingClientRect().right > width + 1)
            .map((one) => `${one.tagName}.${one.className}: ${one.textContent.trim().slice(0, 40)}`).slice(-8)""",
        width,
    )
    assert wide == [], f"at {width} px"


def test_a_page_has_one_heading_of_its_own_and_a_title(page: Page, admin_client: Client) -> None:
    assert page.viewport_size == DESKTOP.viewport
    for address in (
        "/admin",
        "/admin/search",
        "/admin/transit",
        "/admin/transit/create",
        "/admin/activity",
        "/admin/users",
    ):
        page.goto(address)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        assert page.title().split(" · ")[0] not in ("", "Ground transport")
