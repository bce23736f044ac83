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
from groundtransport.security import Role
from tests.browser.axe import check_axe
from tests.browser.chromium import Watch
from tests.browser.conftest import House, Visit
from tests.browser.markup import check_markup
from tests.browser.screens import DESKTOP, PHONE, ZOOMED
from tests.site import HEATHROW, Client

LONG = "An Uncommonly Long-Winded Company of Coaches and Charters-" + "x" * 60


@dataclass
class Stage:
    """What a state is made with."""

    page: Page
    origin: str
    office: Client
    watch: Watch
    patch: pytest.MonkeyPatch

    def records(self, kind: str = "transit", number: int = 3) -> int:
        """Make some records, one of them full of long words; return the id of the last."""
        self.office.create(kind, airport_name=HEATHROW, company_name=LONG, company_phone1="+44 20 8759 4321 ext. 12345")
        for _ in range(number - 1):
            last = self.office.create(kind, company_name="Alpha Coaches", company_phone1="+1 212 555 0100")
        return last

    def go(self, address: str) -> None:
        self.page.goto(address)


STATES: dict[str, Callable[[Stage], None]] = {}


def state(make: Callable[[Stage], None]) -> Callable[[Stage], None]:
    STATES[make.__name__] = make
    return make


@state
def sign_in(stage: Stage) -> None:
    stage.page.context.clear_cookies()
    stage.go("/login?next=/admin/transit")


@state
def sign_in_refused(stage: Stage) -> None:
    stage.watch.allow("422")
    sign_in(stage)
    stage.page.get_by_label("User name").fill("nobody")
    stage.page.get_by_label("Password", exact=True).fill("wrong")
    stage.page.get_by_role("button", name="Sign in").click()
    expect(stage.page.get_by_role("alert")).to_be_focused()


@state
def sign_in_held_back(stage: Stage) -> None:
    stage.watch.allow("429")
    stage.patch.setattr(throttle, "_reached", lambda *words: db.now())
    sign_in(stage)
    stage.page.get_by_label("User name").fill("nobody")
    stage.page.get_by_label("Password", exact=True).fill("wrong")
    stage.page.get_by_role("button", name="Sign in").click()
    expect(stage.page.get_by_role("alert")).to_contain_text("Try again")


@state
def permission_missing(stage: Stage) -> None:
    token = stage.office.site.sign_in(Role.VIEWER)
    stage.page.context.add_cookies([{"name": "groundtransport", "value": token, "url": stage.origin}])
    stage.go("/admin/transit/create")
    expect(stage.page.get_by_role("alert")).to_contain_text("does not allow")


@state
def overview_empty(stage: Stage) -> None:
    stage.go("/admin")


@state
def overview(stage: Stage) -> None:
    stage.records()
    stage.records("scheduledbus")
    stage.go("/admin")
    stage.page.get_by_text("As a table").click()


@state
def overview_of_long_dates(stage: Stage) -> None:
    """Eight weeks of which seven begin on a day of two digits, in any year."""
    stage.patch.setattr(dashboard, "last_weeks", lambda dbsession, today: last_weeks(dbsession, date(2026, 11, 29)))
    stage.go("/admin")


@state
def search_unasked(stage: Stage) -> None:
    stage.go("/admin/search")


@state
def search(stage: Stage) -> None:
    stage.records(number=13)
    stage.go("/admin/search?q=alpha")


@state
def list_empty(stage: Stage) -> None:
    stage.go("/admin/transit")


@state
def list_full(stage: Stage) -> None:
    stage.records(number=13)
    stage.go("/admin/transit?page_size=10&sort=company_name")


@state
def list_nothing_matches(stage: Stage) -> None:
    stage.records()
    stage.go("/admin/transit?q=nothing-has-this-name&missing=company_address")


@state
def list_of_buses(stage: Stage) -> None:
    stage.records("scheduledbus")
    stage.go("/admin/scheduledbus?company_name=alpha&airport_code=JFK")


@state
def list_after_deletion(stage: Stage) -> None:
    stage.go(f"/admin/transit/{stage.records()}/delete")
    stage.page.locator("main form button").first.click()
    expect(stage.page.get_by_role("button", name="Undo")).to_be_visible()


@state
def recently_deleted(stage: Stage) -> None:
    stage.office.delete(f"/admin/transit/{stage.records()}")
    stage.go("/admin/transit?deleted=1")


@state
def detail_dialog(stage: Stage) -> None:
    stage.records()
    stage.go("/admin/transit")
    stage.page.get_by_role("link", name="View Alpha").first.click()
    expect(stage.page.get_by_role("dialog")).to_contain_text("+1 212 555 0100")


@state
def detail_gone(stage: Stage) -> None:
    stage.watch.allow("404")
    stage.records()
    stage.go("/admin/transit?view=999999")
    expect(stage.page.get_by_role("dialog")).to_be_visible()


@state
def deletion_asked(stage: Stage) -> None:
    stage.records()
    stage.go("/admin/transit")
    stage.page.get_by_role("link", name="Delete Alpha").first.click()
    expect(stage.page.get_by_role("dialog").get_by_role("button", name="Cancel")).to_be_focused()


@state
def several_chosen(stage: Stage) -> None:
    stage.records()
    stage.go("/admin/transit?status=active")
    stage.page.get_by_role("checkbox", name="Alpha").first.check()
    expect(stage.page.get_by_text("1 selected")).to_be_visible()


@state
def several_asked(stage: Stage) -> None:
    several_chosen(stage)
    stage.page.get_by_label("What to do with the selected records").select_option(label="Delete")
    stage.page.get_by_role("button", name="Go on").click()
    expect(stage.page.get_by_role("link", name="Cancel")).to_be_visible()


@state
def columns_offered(stage: Stage) -> None:
    stage.records()
    stage.go("/admin/transit")
    stage.page.get_by_text("Columns", exact=True).click()
    expect(stage.page.get_by_text("Columns that are shown")).to_be_visible()


@state
def keys_told(stage: Stage) -> None:
    stage.records()
    stage.go("/admin/transit")
    stage.page.keyboard.press("?")
    expect(stage.page.get_by_role("dialog")).to_be_visible()


@state
def create_form(stage: Stage) -> None:
    stage.go("/admin/transit/create")


@state
def create_form_of_buses(stage: Stage) -> None:
    stage.go("/admin/scheduledbus/create")


@state
def airports_offered(stage: Stage) -> None:
    create_form(stage)
    stage.page.get_by_role("combobox", name="Airport").fill("heathrow")
    expect(stage.page.get_by_role("option").first).to_be_visible()


@state
def form_refused(stage: Stage) -> None:
    stage.watch.allow("422")
    create_form(stage)
    stage.page.get_by_label("Company Link").fill("no link")
    stage.page.get_by_role("button", name="Save", exact=True).click()
    expect(stage.page.get_by_text("There is a problem")).to_be_visible()


@state
def form_with_hints(stage: Stage) -> None:
    stage.records()
    stage.go("/admin/transit/create?airport_code=JFK")
    stage.page.get_by_label("Company Name").fill("alpha coaches inc")
    stage.page.get_by_label("Company Phone 1").fill("1447")
    expect(stage.page.get_by_text("1447 may be wrong")).to_be_visible()
    expect(stage.page.get_by_role("link", name="Alpha Coaches").first).to_be_visible()


@state
def form_signed_out(stage: Stage) -> None:
    stage.go("/admin/transit/create")
    stage.page.get_by_label("Company Name").fill("Alpha Coaches")
    stage.page.context.clear_cookies()
    stage.page.get_by_role("button", name="Save", exact=True).click()
    expect(stage.page.get_by_role("link", name="Sign in in a new tab")).to_be_focused()


@state
def form_left(stage: Stage) -> None:
    stage.go("/admin/transit/create")
    stage.page.get_by_label("Company Name").fill("Alpha Coaches")
    stage.page.get_by_role("link", name="Cancel").click()
    expect(stage.page.get_by_role("button", name="Stay")).to_be_focused()


@state
def edit_form(stage: Stage) -> None:
    stage.go(stage.office.edit_link("transit", stage.records()))


@state
def conflict(stage: Stage) -> None:
    stage.watch.allow("409")
    record_id = stage.records()
    stage.go(stage.office.edit_link("transit", record_id))
    theirs = {"airport_name": HEATHROW, "company_name": "Theirs", "version": "1"}
    stage.office.put(f"/admin/transit/{record_id}", theirs)
    stage.page.get_by_label("Company Name").fill("Mine")
    stage.page.get_by_role("button", name="Save", exact=True).click()
    expect(stage.page.get_by_text("while you were editing").first).to_be_visible()


@state
def delete_page(stage: Stage) -> None:
    stage.go(f"/admin/transit/{stage.records()}/delete")


@state
def activity_empty(stage: Stage) -> None:
    stage.go("/admin/activity?q=nothing-has-this-name")


@state
def activity(stage: Stage) -> None:
    record_id = stage.records(number=13)
    stage.office.put(f"/admin/transit/{record_id}", {"airport_name": HEATHROW, "company_name": LONG})
    stage.go("/admin/activity?page_size=10")


@state
def history(stage: Stage) -> None:
    record_id = stage.records()
    stage.office.put(f"/admin/transit/{record_id}", {"airport_name": HEATHROW, "company_name": LONG})
    stage.go(f"/admin/transit/{record_id}/history?version=1")


@state
def profile(stage: Stage) -> None:
    stage.go("/admin/profile")


@state
def own_sessions(stage: Stage) -> None:
    stage.office.site.client()
    stage.go("/admin/profile/sessions")


@state
def people(stage: Stage) -> None:
    stage.office.post("/admin/users", {"name": "an.uncommonly-long.name@" + "x" * 40, "role": "editor"})
    stage.go("/admin/users")


@state
def person(stage: Stage) -> None:
    stage.office.site.client(Role.EDITOR)
    stage.go("/admin/users/the-editor")


@state
def person_refused(stage: Stage) -> None:
    stage.watch.allow("422")
    stage.go("/admin/users")
    stage.page.get_by_label("User name").fill("a b")
    stage.page.get_by_role("button", name="Add the user").click()
    expect(stage.page.get_by_label("User name")).to_be_focused()


@state
def person_changed_meanwhile(stage: Stage) -> None:
    stage.watch.allow("409")
    stage.office.post("/admin/users", {"name": "pat", "role": "editor"})
    stage.go("/admin/users/pat")
    stage.office.post("/admin/users/pat/disable")
    stage.page.get_by_role("button", name="Change the role").click()
    expect(stage.page.get_by_role("alert")).to_be_focused()


@state
def own_account(stage: Stage) -> None:
    stage.go("/admin/users/the-administrator")


@state
def one_time_password(stage: Stage) -> None:
    stage.go("/admin/users")
    stage.page.get_by_label("User name").fill("pat")
    stage.page.get_by_role("button", name="Add the user").click()
    expect(stage.page.get_by_role("heading", level=1)).to_have_text("One-time password")


@state
def security(stage: Stage) -> None:
    for number in range(13):
        stage.office.get("/admin/activity/csv")
        stage.office.post("/admin/users", {"name": f"pat{number}", "role": "editor"}, X_CSRF_Token="")
    stage.go("/admin/security?page_size=10&person=the-administrator")


@state
def security_empty(stage: Stage) -> None:
    stage.go("/admin/security?person=nobody")


@state
def about(stage: Stage) -> None:
    stage.go("/admin/about")


@state
def error_400(stage: Stage) -> None:
    stage.watch.allow("400")
    stage.go("/admin/transit?q=%FF")


@state
def error_404(stage: Stage) -> None:
    stage.watch.allow("404")
    stage.go("/admin/transit/999999/edit")


@state
def error_500(stage: Stage) -> None:
    stage.watch.allow("500")
    stage.patch.setattr(statistics, "total", None)
    stage.go("/admin")


@state
def error_503(stage: Stage) -> None:
    stage.watch.allow("503")
    stage.patch.setitem(stage.office.site.registry, "heads", {"another"})
    stage.go("/readyz")


@pytest.mark.parametrize("name", STATES)
def test_page_is_accessible_and_fits(
    name: str, house: House, visit: Visit, office: Client, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, documents = visit(), []
    page.on("response", lambda answer: documents.append(answer) if is_document(answer) else None)
    STATES[name](Stage(page, house.origin, office, watch, monkeypatch))

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


def test_a_page_has_one_heading_of_its_own_and_a_title(page: Page, office: Client) -> None:
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
