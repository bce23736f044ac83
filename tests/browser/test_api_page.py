"""The page of the API: Swagger UI under the service's Content-Security-Policy."""

from typing import Literal

from playwright.sync_api import Page, expect

from groundtransport.security import Role
from tests.api import make_token
from tests.site import Site

SCHEMES: tuple[tuple[Literal["dark", "light"], bool], ...] = (("dark", True), ("light", False))


def test_the_page_shows_the_operations_and_tries_one(page: Page, site: Site) -> None:
    token = make_token(site, Role.VIEWER, name="from the page")
    page.goto("/admin/api")
    page.get_by_role("button", name="Authorize").first.click()
    page.get_by_label("Value:").or_(page.locator("input[aria-label='auth-bearer-value']")).first.fill(token)
    page.locator(".auth-btn-wrapper button.authorize").click()
    page.locator(".auth-btn-wrapper button.btn-done").click()

    page.locator("#operations-General-me .opblock-summary-control").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()

    expect(page.locator("#operations-General-me .live-responses-table")).to_contain_text("from the page")


def test_the_page_can_be_read_in_the_dark_theme(page: Page) -> None:
    brightness = "(e) => Math.max(...getComputedStyle(e).color.match(/[0-9.]+/g).slice(0, 3))"
    for scheme, is_bright in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.goto("/admin/api")
        for part in (".info .title", ".info p", ".opblock-summary-description"):
            assert (page.locator(f".swagger-ui {part}").first.evaluate(brightness) > 128) is is_bright, (scheme, part)
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html.dark-mode")).to_be_attached()
