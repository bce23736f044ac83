"""Bulk edits: fields and values are chosen, confirmed, written by a job as one batch, reported, and undone as one."""

from typing import Any

import pytest

from groundtransport.jobs.runner import Runner
from groundtransport.records.bulk import batch as bulk
from groundtransport.security import Role
from groundtransport.transfer.edits import job
from groundtransport.transfer.imports.models import ImportBatch
from tests.functional.filling import fill
from tests.site import HEATHROW, JFK, Client, Site


@pytest.fixture
def editor(site: Site) -> Client:
    return site.client(Role.EDITOR)


def ask(client: Client, kind: str, *fields: tuple[str, str]) -> Any:
    return client.post(f"/admin/{kind}/change", list(fields))


def press(page: Any, name: str, **changes: str) -> Any:
    """Press a button of the page's form, with changed fields."""
    form = next(form for form in page.forms.values() if form.action.endswith("/change"))
    for field, value in changes.items():
        form[field] = value
    return form.submit(name, expect_errors=True)


def words(page: Any) -> str:
    return " ".join(page.html.find("main").get_text(" ").split()).replace(" :", ":")


def run(site: Site, answer: Any) -> Any:
    """Execute the jobs that wait, and return the page to which an answer leads."""
    Runner(site.registry).run_pending()
    return answer.follow()


def undo(site: Site, page: Any) -> Any:
    form = next(form for form in page.forms.values() if form.action.endswith("/undo"))
    return run(site, form.submit())


def values(client: Client, kind: str, name: str) -> dict[str, Any]:
    return {row["company_name"]: row[name] for row in client.rows(kind, page_size="100")}


def test_all_that_match_get_new_values_as_one_batch_with_one_undo(
    site: Site, editor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "MOST", 4)
    monkeypatch.setattr(job, "CHUNK", 2)
    fill(site, "transit", 6)
    editor.create("transit", company_name="Alpha", description="old")

    page = ask(editor, "transit", ("all", "1"), ("list_state", "company_name=0"))
    assert "Change fields of 6 records" in words(page)
    page = press(page, "next", company_link="example.org/a", description="new", city="Queens")
    assert "Change 6 records? All that match: Company Name: 0" in words(page)
    assert "Company Link example.org/a" in words(page)
    assert values(editor, "transit", "description")["001"] is None, "nothing is done before the confirmation"
    done = run(site, press(page, "confirmed"))

    assert "Changed 6" in words(done)
    links = values(editor, "transit", "company_link")
    assert links.pop("Alpha") is None
    assert set(links.values()) == {"https://example.org/a"}
    entries = site.entries()[-6:]
    assert {(entry["action"], len(entry["changes"])) for entry in entries} == {("update", 3)}
    assert len({entry["batch"] for entry in entries}) == 1

    assert "Changed records set back by the undo 6" in words(undo(site, done))
    assert set(values(editor, "transit", "company_link").values()) == {None}


def test_a_selection_is_changed_and_an_optional_field_is_cleared(site: Site, editor: Client, kind: str) -> None:
    ids = [editor.create(kind, company_name=name, company_address="1 Road") for name in ("A", "B", "C")]

    page = ask(editor, kind, *[("record", f"{one}.1") for one in ids[:2]], ("clear", "company_address"))
    page = press(page, "next", zip_code="11430")
    assert "Change 2 records? Zip Code 11430 Company Address is cleared" in words(page)
    run(site, press(page, "confirmed"))

    assert values(editor, kind, "company_address") == {"A": None, "B": None, "C": "1 Road"}
    assert values(editor, kind, "zip_code") == {"A": "11430", "B": "11430", "C": None}


def test_an_error_is_at_its_field_and_nothing_typed_is_lost(site: Site, editor: Client) -> None:
    ids = fill(site, "transit", 2)
    selected = [("record", f"{one}.1") for one in ids]

    page = press(
        ask(editor, "transit", *selected), "next", company_link="ftp://example.org", description="<b>typed</b>"
    )

    assert page.status_int == 422
    assert "http" in page.html.find(id="company_link-error").get_text()
    assert page.html.find(id="company_link")["value"] == "ftp://example.org"
    assert page.html.find(id="description").get_text().strip() == "<b>typed</b>"
    assert len(page.html.select("input[name=record]")) == 2
    empty = press(ask(editor, "transit", *selected), "next")
    assert (empty.status_int, "Write at least one new value" in words(empty)) == (422, True)
    both = press(ask(editor, "transit", *selected, ("clear", "city")), "next", city="Queens")
    assert "not both" in both.html.find(id="city-error").get_text()
    unclearable = ask(editor, "transit", *selected, ("clear", "airport_name"), ("clear", "status"), ("next", "1"))
    assert unclearable.status_int == 422
    assert site.count(ImportBatch) == 0


@pytest.mark.parametrize("is_all", [True, False])
def test_what_others_changed_or_is_not_valid_for_a_record_stays_and_is_listed(
    site: Site, client: Client, editor: Client, *, is_all: bool
) -> None:
    ids = [editor.create("transit", company_name=name) for name in ("Stays", "Changed", "Deleted")]
    ids.append(editor.create("transit", company_name="Abroad", airport_name=HEATHROW))
    fields = [("all", "1")] if is_all else [("record", f"{one}.1") for one in ids]
    page = press(ask(editor, "transit", *fields), "next", state="US-NY")
    client.put(f"/admin/transit/{ids[1]}", {"airport_name": JFK, "description": "mine"})
    client.delete(f"/admin/transit/{ids[2]}")
    client.create("transit", company_name="New")

    text = words(run(site, press(page, "confirmed")))

    assert "Changed: Changed by somebody in the meantime" in text
    assert "Abroad: State: United Kingdom has no US-NY" in text
    assert is_all or "Deleted: Deleted by somebody in the meantime" in text
    assert values(editor, "transit", "state") == {"Stays": "US-NY", "Changed": None, "Abroad": None, "New": None}


def test_a_record_moves_to_another_airport_with_what_is_valid_there(site: Site, editor: Client) -> None:
    fine = editor.create("scheduledbus", company_name="Fine")
    bound = editor.create("scheduledbus", company_name="Bound", state="US-NY")

    page = press(ask(editor, "scheduledbus", ("all", "1")), "next", airport_name="heathrow (lhr)")
    done = run(site, press(page, "confirmed"))

    assert "Bound: State: United Kingdom has no US-NY" in words(done)
    moved = site.row("scheduledbus", fine)
    assert (moved["airport_name"], moved["airport_code"]) == (HEATHROW, "LHR")
    assert site.row("scheduledbus", bound)["airport_code"] == "JFK"
    undo(site, done)
    assert site.row("scheduledbus", fine)["airport_name"] == JFK


def test_a_form_that_is_sent_twice_is_one_change_and_a_viewer_has_none(site: Site, editor: Client) -> None:
    fill(site, "transit", 1)
    page = press(ask(editor, "transit", ("all", "1")), "next", description="new")

    assert press(page, "confirmed").location == press(page, "confirmed").location
    Runner(site.registry).run_pending()

    assert len(site.entries()) == 1
    assert ask(site.client(Role.VIEWER), "transit", ("all", "1")).location.endswith("missing=edit")
    assert "Change of Description" in editor.get("/admin/imports").text
    assert ask(editor, "transit").location == "http://localhost/admin/transit"
