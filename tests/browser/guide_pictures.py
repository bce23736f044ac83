"""The pictures of docs/guide, each in every language, of the sample site of ``make pictures``."""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Browser, Page, expect

from groundtransport import db
from groundtransport.accounts import users
from groundtransport.help.guide import GUIDE
from groundtransport.i18n import LANGUAGES
from groundtransport.security import Role
from tests.browser.conftest import COOKIE, ServedSite
from tests.browser.screens import Screen
from tests.site import PASSWORD, Site

SCREEN = Screen(1200, 720)
LIST = "/admin/transit"
# User name, full name and role of the people in the pictures.
PEOPLE = (
    ("ana.silva", "Ana Silva", Role.ADMINISTRATOR),
    ("ben.okafor", "Ben Okafor", Role.EDITOR),
    ("chen.wei", "Chen Wei", Role.VIEWER),
)


@dataclass(frozen=True)
class SignedInPage:
    """What a picture needs: pages of an administrator and of an editor, and which row of a list they change."""

    page: Page
    colleague: Page
    row: int


def find(signed_in: SignedInPage) -> None:
    signed_in.page.goto(f"{LIST}?q=coach&status=active")
    signed_in.page.locator("#filters summary").click()


def detail(signed_in: SignedInPage) -> None:
    signed_in.page.goto(LIST)
    signed_in.page.locator("[data-action=view]").nth(1).click()
    expect(signed_in.page.locator("#detail dl")).to_be_visible()


def add(signed_in: SignedInPage) -> None:
    signed_in.page.goto(f"{LIST}/create")
    signed_in.page.locator("#airport_name").fill("new york")
    expect(signed_in.page.get_by_role("option").first).to_be_visible()


def several(signed_in: SignedInPage) -> None:
    signed_in.page.goto(LIST)
    for row in range(3):
        signed_in.page.locator("#records tbody input[name=record]").nth(row).check()
    signed_in.page.locator("#several-action").select_option(index=1)


def undo(signed_in: SignedInPage) -> None:
    edit(signed_in.page, signed_in.row, 2)
    save(signed_in.page, place="Terminal 4", route_name="")
    expect(signed_in.page.locator("#messages form")).to_be_visible()


def conflict(signed_in: SignedInPage) -> None:
    for page in (signed_in.page, signed_in.colleague):
        edit(page, signed_in.row, 3)
    save(signed_in.colleague, place="Terminal 2", description="By appointment")
    expect(signed_in.colleague.locator("#messages form")).to_be_visible()
    save(signed_in.page, place="Terminal 5", company_address="12 Station Road")
    expect(signed_in.page.locator("form.conflict")).to_be_visible()


def history(signed_in: SignedInPage) -> None:
    """Show the record that ``undo`` changed, which is the last one that an administrator did."""
    signed_in.page.goto("/admin/activity?actor=ana.silva&action=update")
    signed_in.page.locator("ol.activity a[href$='/history']").first.click()
    signed_in.page.locator("ol.activity a[href*='version=']").first.click()
    expect(signed_in.page.locator("#compare")).to_be_visible()


def people(signed_in: SignedInPage) -> None:
    signed_in.page.goto("/admin/users")


def security(signed_in: SignedInPage) -> None:
    signed_in.page.goto("/admin/security")


PICTURES: dict[str, Callable[[SignedInPage], None]] = {
    "find": find,
    "detail": detail,
    "add": add,
    "several": several,
    "undo": undo,
    "history": history,
    "conflict": conflict,
    "users": people,
    "security": security,
}


def edit(page: Page, row: int, page_no: int) -> None:
    """Open the form of a record of the list."""
    page.goto(f"{LIST}?sort=company_name&page_no={page_no}")
    page.locator("[data-action=edit]").nth(row).click()
    expect(page.locator("form#record")).to_be_visible()


def save(page: Page, **values: str) -> None:
    for name, value in values.items():
        page.locator(f"#{name}").fill(value)
    page.locator(".form-buttons .btn-primary").click()


def open_pages(browser: Browser, served_site: ServedSite, language: str, row: int) -> SignedInPage:
    def visit(role: Role) -> Page:
        context = browser.new_context(
            base_url=served_site.origin, viewport=SCREEN.viewport, locale=language, timezone_id="America/New_York"
        )
        context.add_cookies([{"name": COOKIE, "value": served_site.site.sign_in(role), "url": served_site.origin}])
        return context.new_page()

    return SignedInPage(visit(Role.ADMINISTRATOR), visit(Role.EDITOR), row)


def name_people(site: Site) -> None:
    """Give the people of the site names that a reader expects; their sessions stay."""
    with db.transaction(site.engine) as dbsession:
        for name, full_name, role in PEOPLE:
            user = users.find(dbsession, f"the-{role}")
            user.name, user.full_name = name, full_name


def fill_the_security_log(site: Site) -> None:
    """Let one person mistype a password, and a stranger try another's."""
    for address, name, password in (
        ("192.0.2.7", "ben.okafor", "a wrong password"),
        ("192.0.2.7", "ben.okafor", PASSWORD),
        ("198.51.100.23", "ana.silva", "password"),
        ("198.51.100.23", "ana.silva", "123456"),
        ("192.0.2.9", "ana.silva", PASSWORD),
    ):
        site.anonymous(address).post("/login", {"username": name, "password": password})


def take_all(browser: Browser, served_site: ServedSite) -> None:
    pages_by_language = {
        language: open_pages(browser, served_site, language, row) for row, language in enumerate(LANGUAGES)
    }
    name_people(served_site.site)
    fill_the_security_log(served_site.site)
    for language, signed_in in pages_by_language.items():
        folder = GUIDE / "pictures" / language
        folder.mkdir(parents=True, exist_ok=True)
        for name, show in PICTURES.items():
            show(signed_in)
            signed_in.page.evaluate("document.fonts.ready")
            signed_in.page.screenshot(path=folder / f"{name}.png", animations="disabled")
            print(f"docs/guide/pictures/{language}/{name}.png")
