"""An import and a bulk edit in the browser, from the list to the undo, with the server's thread of jobs."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import update

from groundtransport import db
from groundtransport.jobs.runner import BackgroundRunner
from tests.browser.axe import check_axe
from tests.browser.conftest import both_databases
from tests.functional.filling import fill
from tests.functional.importing import rows_of
from tests.site import Site


@pytest.fixture
def _jobs(site: Site) -> Iterator[None]:
    """Execute jobs in a thread, as the server does."""
    background = BackgroundRunner(site.registry)
    background.start()
    yield
    background.end(20)


@both_databases
@pytest.mark.usefixtures("_jobs")
def test_a_file_is_imported_and_taken_back(page: Page) -> None:
    page.goto("/admin/transit")
    page.get_by_role("link", name="Import", exact=True).click()
    content = rows_of(*(f"Company {number:04}" for number in range(1_200)))
    page.get_by_label("File", exact=True).set_input_files(
        {"name": "companies.csv", "mimeType": "text/csv", "buffer": content}
    )
    page.get_by_role("button", name="Upload").click()

    expect(page.get_by_role("table")).to_contain_text("Company 0003")  # the script followed the job
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Import 1,200 rows").click(timeout=60_000)

    expect(page.get_by_role("heading", name="Result")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("definition").first).to_have_text("1,200")
    page.get_by_role("link", name="The records").click()
    expect(page.get_by_text(re.compile("of 1,200")).first).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Undo this import").click()
    expect(page.get_by_text("Undone by the-administrator")).to_be_visible(timeout=60_000)
    page.goto("/admin/transit")
    expect(page.get_by_text("Create the first")).to_be_visible()


@both_databases
@pytest.mark.usefixtures("_jobs")
def test_a_bulk_edit_names_what_stayed_as_it_was_and_is_taken_back(page: Page, site: Site) -> None:
    ids = fill(site, "transit", 3)
    page.goto("/admin/transit")
    for name in ("001", "002", "003"):
        page.get_by_role("checkbox", name=f"Select {name}").check()
    page.get_by_role("button", name="Change fields").click()
    page.get_by_label("Place", exact=True).fill("Terminal 5")
    page.locator(".form-buttons").get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", name="Change 3 records?")).to_be_visible()
    with db.transaction(site.engine) as dbsession:  # somebody else saves one of them
        model = site.kinds["transit"].model
        dbsession.execute(update(model).where(model.company_name == "002").values(version=model.version + 1))
    page.get_by_role("button", name="Change them").click()

    expect(page.get_by_role("heading", name="Result")).to_be_visible(timeout=60_000)  # the script followed the job
    check_axe(page)
    expect(page.get_by_role("definition").first).to_have_text("2")
    expect(page.get_by_role("listitem").filter(has_text="Changed by somebody in the meantime")).to_contain_text("002")
    page.get_by_role("link", name="The records").click()
    expect(page.locator("#records tbody .col-company_name")).to_have_text(["003", "001"])
    page.go_back()
    page.get_by_role("button", name="Undo this change").click()
    expect(page.get_by_text("Undone by the-administrator")).to_be_visible(timeout=60_000)
    assert [site.row("transit", record_id)["place"] for record_id in ids] == [None] * 3
