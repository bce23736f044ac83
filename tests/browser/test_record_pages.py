"""The conflict page, the comparison, the history and the users: of one width, and with controls that are seen."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.chromium import Watch
from tests.browser.conftest import Visit
from tests.browser.screens import DESKTOP, PHONE, Screen
from tests.site import HEATHROW, Client

CONTROL = 3  # contrast of a control's border (WCAG 1.4.11)


def in_conflict(page: Page, admin_client: Client, watch: Watch) -> None:
    watch.allow("409")
    record_id = admin_client.create("transit", airport_name=HEATHROW, company_name="Alpha")
    page.goto(admin_client.edit_link("transit", record_id))
    theirs = {"airport_name": HEATHROW, "company_name": "Theirs", "city": "London", "version": "1"}
    admin_client.put(f"/admin/transit/{record_id}", theirs)
    page.get_by_label("Company Name").fill("Mine")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("heading", name="was changed in the meantime")).to_be_visible()


def color(element: Locator, name: str) -> str:
    return element.evaluate("(element, name) => getComputedStyle(element)[name]", name)


def luminance(text: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", text)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_choices_of_a_conflict_are_seen(visit: Visit, admin_client: Client, watch: Watch, scheme: str) -> None:
    page = visit(scheme=scheme)
    in_conflict(page, admin_client, watch)

    group = page.get_by_role("group", name="Company Name")
    for choice in group.get_by_role("radio").all():
        assert contrast(color(choice, "borderTopColor"), color(group, "backgroundColor")) >= CONTROL


def test_a_conflict_names_what_was_merged(page: Page, admin_client: Client, watch: Watch) -> None:
    in_conflict(page, admin_client, watch)

    expect(page.get_by_role("region", name="Already merged").get_by_role("row", name="City London")).to_be_visible()


def test_forms_history_and_users_are_of_one_width(page: Page, admin_client: Client, watch: Watch) -> None:
    record_id = admin_client.create("transit", company_name="Alpha")
    admin_client.put(f"/admin/transit/{record_id}", {"airport_name": HEATHROW, "company_name": "Beta"})
    lefts = set()
    for address in (
        "/admin/transit/create",
        f"/admin/transit/{record_id}/history?version=1",
        "/admin/users",
        "/admin/users/the-editor",
    ):
        page.goto(address)
        lefts.add(page.get_by_role("heading", level=1).bounding_box()["x"])
    in_conflict(page, admin_client, watch)
    lefts.add(page.get_by_role("heading", level=1).bounding_box()["x"])

    assert len(lefts) == 1


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_titles_of_the_users_stand_above_their_rows(visit: Visit, screen: Screen) -> None:
    page = visit(screen=screen)
    page.goto("/admin/users")

    title = page.get_by_role("columnheader", name="Role").bounding_box()
    assert title["y"] + title["height"] <= page.locator("tbody th").first.bounding_box()["y"]


def test_no_title_of_a_pair_of_doubles_is_broken_in_spanish(visit: Visit, admin_client: Client) -> None:
    for text in ("Una descripción", "Otra descripción"):
        admin_client.create("transit", company_name="Doble Express", description=text)
    page = visit(screen=PHONE, locale="es-ES")
    page.goto("/admin/transit/doubles")

    lines = page.get_by_text("Descripción", exact=True).evaluate(
        """node => {
            const range = document.createRange();
            range.selectNodeContents(node);
            return range.getClientRects().length;
        }"""
    )
    assert lines == 1
