"""Signing in and out in a browser, with script and without."""

from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import func, select

from groundtransport import db
from groundtransport.accounts.models import AdminSession
from tests.browser.axe import check_axe
from tests.browser.chromium import Watch
from tests.browser.conftest import Visit, both_databases, nearly_end_the_session
from tests.site import PASSWORD, Site


@both_databases
@pytest.mark.parametrize("script", [True, False])
def test_sign_in_leads_to_the_page_asked_for_and_out_again(visit: Visit, script: bool) -> None:
    page = visit(role=None, script=script)

    page.goto("/admin/transit?q=alpha")
    page.get_by_label("User name").fill("the-editor")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url("/admin/transit?q=alpha")

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("User name")).to_be_visible()
    page.goto("/admin")
    expect(page.get_by_label("User name")).to_be_visible()


def test_back_over_a_wrong_password_asks_nothing(anonymous: Page, watch: Watch) -> None:
    watch.allow("422")
    anonymous.goto("/admin/transit?q=alpha")
    for password, wanted in (("wrong", "/login?next=/admin/transit%3Fq%3Dalpha"), (PASSWORD, "/admin/transit?q=alpha")):
        anonymous.get_by_label("User name").fill("the-editor")
        anonymous.get_by_label("Password", exact=True).fill(password)
        anonymous.get_by_role("button", name="Sign in").click()
        expect(anonymous).to_have_url(wanted)

    anonymous.go_back()  # the browser would fail here, and ask to send the password once more

    expect(anonymous.get_by_label("User name")).to_be_visible()


def test_sign_in_page_is_accessible(anonymous: Page) -> None:
    anonymous.goto("/login")
    check_axe(anonymous)


def test_the_end_is_told_on_a_page_without_a_form_too(visit: Visit, site: Site) -> None:
    page = visit()
    page.clock.install()
    page.goto("/admin/transit")
    nearly_end_the_session(page, site)
    page.get_by_role("button", name="Stay signed in").click()

    expect(page.get_by_text("You stay signed in.")).to_be_visible()
    assert site.scalar(select(func.min(AdminSession.seen_at))) > db.now() - timedelta(minutes=1)
