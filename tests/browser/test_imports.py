"""An import in the browser, from the list to the undo, with the server's thread of jobs."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from groundtransport.jobs.runner import BackgroundRunner
from tests.browser.conftest import both_databases
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
