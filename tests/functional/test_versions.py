"""Versions of a record: undo, comparison, restoring; each restoring is a new change."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import update

from groundtransport.airports.lookup import AIRPORTS
from groundtransport.airports.models import Airport
from groundtransport.db import now, transaction
from groundtransport.security import Role
from tests.functional.editors import they_save
from tests.site import HEATHROW, JFK, Client, Site


@pytest.fixture
def kind() -> str:
    """One kind is enough: nothing here knows which it is."""
    return "scheduledbus"


@pytest.fixture
def record_id(client: Client, kind: str) -> int:
    """A record of three versions: the company is Alpha, then Beta, then Beta with a zip code."""
    record_id = client.create(kind, company_name="Alpha", company_address="1 Main St")
    for fields in ({"company_name": "Beta"}, {"zip_code": "11435"}):
        client.put(f"/admin/{kind}/{record_id}", {"airport_name": JFK, **fields})
    client.get("/admin")  # the messages so far
    return record_id


def undo(client: Client, page: Any) -> Any:
    """Press the Undo of a page's message."""
    form = page.html.find(id="messages").find("form")
    fields = {field["name"]: field["value"] for field in form.find_all("input")}
    return client.post(form["action"], fields)


def restore(client: Client, kind: str, record_id: int, to_version: object, **more: str) -> Any:
    return client.post(f"/admin/{kind}/{record_id}/restore", {"to_version": str(to_version), **more})


def compared(client: Client, kind: str, record_id: int, version: object) -> Any:
    return client.get(f"/admin/{kind}/{record_id}/history?version={version}").html


def facts(site: Site, kind: str, record_id: int) -> tuple[Any, ...]:
    row = site.row(kind, record_id)
    return row["company_name"], row["company_address"], row["zip_code"], row["version"]


@contextmanager
def withdrawn(site: Site, code: str) -> Iterator[None]:
    """For a while, no longer in the list of airports."""

    def withdraw(moment: object) -> None:
        with transaction(site.engine) as dbsession:
            dbsession.execute(update(Airport).where(Airport.code == code).values(withdrawn_at=moment))
        AIRPORTS.forget(site.engine)  # a minute passes

    withdraw(now())
    try:
        yield
    finally:
        withdraw(None)


# Undo


def test_an_update_is_undone_by_a_new_change(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha", company_address="1 Main St")
    client.get("/admin")
    page = client.put(
        f"/admin/{kind}/{record_id}",
        {"airport_name": JFK, "company_name": "Beta", "company_address": "", "list_state": "q=b"},
    ).follow()

    answer = undo(client, page)

    assert answer.location == f"http://localhost/admin/{kind}?q=b"
    assert facts(site, kind, record_id) == ("Alpha", "1 Main St", None, 3)
    entry = site.entries()[-1]
    assert (entry["action"], entry["version"], entry["actor"]) == ("update", 3, "the-administrator")
    assert entry["changes"] == {
        "company_name": {"old": "Beta", "new": "Alpha"},
        "company_address": {"old": None, "new": "1 Main St"},
    }


def test_an_undo_can_be_undone(site: Site, client: Client, kind: str, record_id: int) -> None:
    page = client.put(f"/admin/{kind}/{record_id}", {"airport_name": HEATHROW}).follow()
    page = undo(client, page).follow()
    assert site.row(kind, record_id)["airport_code"] == "JFK"
    undo(client, page)
    row = site.row(kind, record_id)
    assert (row["airport_code"], row["airport_name"], row["version"]) == ("LHR", HEATHROW, 6)


def test_an_undo_that_somebody_overtook_is_refused_and_changes_nothing(
    site: Site, client: Client, kind: str, record_id: int
) -> None:
    page = client.put(f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_name": "Gamma"}).follow()
    they_save(site, kind, record_id, company_address="2 Main St")
    before, entries = facts(site, kind, record_id), site.entries()

    answer = undo(client, page)

    assert answer.status_int == 409
    assert "Somebody changed this record" in answer.text
    assert (facts(site, kind, record_id), site.entries()) == (before, entries)


def test_the_undo_of_a_restoration_deletes_again(site: Site, client: Client, kind: str, record_id: int) -> None:
    client.delete(f"/admin/{kind}/{record_id}")
    client.get("/admin")
    page = client.post(f"/admin/{kind}/{record_id}/restore").follow()

    assert undo(client, page).status_int == 303

    assert client.rows(kind) == []
    assert [entry["action"] for entry in site.entries()][-3:] == ["delete", "restore", "delete"]


def test_the_undo_of_a_restoration_does_not_delete_what_somebody_saved_since(
    site: Site, client: Client, kind: str, record_id: int
) -> None:
    client.delete(f"/admin/{kind}/{record_id}")
    client.get("/admin")
    page = client.post(f"/admin/{kind}/{record_id}/restore").follow()
    they_save(site, kind, record_id, company_name="Theirs")

    assert undo(client, page).status_int == 409
    assert site.row(kind, record_id)["deleted_at"] is None


# Versions brought back


def test_an_early_version_is_restored_over_several(site: Site, client: Client, kind: str, record_id: int) -> None:
    answer = restore(client, kind, record_id, 1, version="3")

    assert answer.status_int == 303
    assert facts(site, kind, record_id) == ("Alpha", "1 Main St", None, 4)
    assert site.entries()[-1]["changes"] == {
        "company_name": {"old": "Beta", "new": "Alpha"},
        "zip_code": {"old": "11435", "new": None},
    }
    assert [row["company_name"] for row in client.rows(kind, q="alpha")] == ["Alpha"]


def test_a_version_from_before_a_deletion_is_restored(site: Site, client: Client, kind: str, record_id: int) -> None:
    client.delete(f"/admin/{kind}/{record_id}")
    client.post(f"/admin/{kind}/{record_id}/restore")
    restore(client, kind, record_id, 2)
    assert facts(site, kind, record_id) == ("Beta", "1 Main St", None, 4)


def test_todays_version_is_no_change(site: Site, client: Client, kind: str, record_id: int) -> None:
    assert restore(client, kind, record_id, 3).status_int == 303
    assert facts(site, kind, record_id) == ("Beta", "1 Main St", "11435", 3)
    assert len(site.entries()) == 3


def test_a_version_that_never_was_is_not_there(site: Site, client: Client, kind: str, record_id: int) -> None:
    for version in ("0", "4", "99", "-1", "one", "", "1.0", "\u0661", "9" * 40):
        assert restore(client, kind, record_id, version).status_int == 404, version
    assert client.post(f"/admin/{kind}/{record_id}/restore").status_int == 404
    assert len(site.entries()) == 3


def test_a_version_is_restored_over_nothing_that_was_not_seen(
    site: Site, client: Client, kind: str, record_id: int
) -> None:
    assert restore(client, kind, record_id, 1, version="2").status_int == 409
    assert facts(site, kind, record_id) == ("Beta", "1 Main St", "11435", 3)


def test_a_version_that_is_not_valid_any_more_comes_as_a_form(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    client.put(f"/admin/{kind}/{record_id}", {"airport_name": HEATHROW, "company_name": "Beta"})
    with withdrawn(site, "JFK"):
        answer = restore(client, kind, record_id, 1)

    assert answer.status_int == 422
    assert "no longer in the list" in answer.text
    form = answer.forms["record"]
    assert (form["airport_name"].value, form["company_name"].value) == (JFK, "Alpha")
    assert site.row(kind, record_id)["airport_code"] == "LHR"
    form["airport_name"] = HEATHROW
    assert form.submit().status_int == 303
    row = site.row(kind, record_id)
    assert (row["company_name"], row["airport_code"], row["version"]) == ("Alpha", "LHR", 3)


def test_viewers_see_versions_and_restore_none(site: Site, client: Client, kind: str, record_id: int) -> None:
    viewer = site.client(Role.VIEWER)
    page = compared(viewer, kind, record_id, 1)
    assert "Alpha" in page.find(class_="compare").get_text()
    assert page.find("main").find("form") is None
    assert "/login" in restore(viewer, kind, record_id, 1).location
    assert "/login" in restore(site.anonymous(), kind, record_id, 1).location
    assert len(site.entries()) == 3


# Compared


def test_a_version_is_compared_with_today_and_restored_from_there(
    site: Site, client: Client, kind: str, record_id: int
) -> None:
    page = client.get(f"/admin/{kind}/{record_id}/history?version=1")

    cells = [
        [cell.get_text(strip=True) for cell in line.find_all(["th", "td"])]
        for line in page.html.find(class_="compare").find("tbody").find_all("tr")
    ]
    assert cells == [["Company Name", "Alpha", "Beta"], ["Zip Code", "(empty)", "11435"]]
    form = next(form for form in page.forms.values() if form.action.endswith("/restore"))
    assert form.submit().status_int == 303
    assert facts(site, kind, record_id) == ("Alpha", "1 Main St", None, 4)


def test_a_page_of_versions_that_is_out_of_date_restores_nothing(
    site: Site, client: Client, kind: str, record_id: int
) -> None:
    page = client.get(f"/admin/{kind}/{record_id}/history?version=1")
    they_save(site, kind, record_id, company_name="Theirs")
    form = next(form for form in page.forms.values() if form.action.endswith("/restore"))
    assert form.submit(expect_errors=True).status_int == 409
    assert site.row(kind, record_id)["company_name"] == "Theirs"


def test_the_history_leads_to_the_versions(client: Client, kind: str, record_id: int) -> None:
    history = client.get(f"/admin/{kind}/{record_id}/history")
    links = [link["href"] for link in history.html.select("ol.activity a[href*='version=']")]
    assert links == [f"/admin/{kind}/{record_id}/history?version={version}" for version in (2, 1)]
    assert "Alpha" in client.get(links[1]).html.find(class_="compare").get_text()


def test_todays_version_says_the_same(client: Client, kind: str, record_id: int) -> None:
    section = compared(client, kind, record_id, 3).find(class_="compare")
    assert "There is no difference." in section.get_text()
    assert section.find("form") is None


def test_an_unknown_version_shows_the_history_alone(client: Client, kind: str, record_id: int) -> None:
    for version in ("0", "4", "99", "one", "", "%D9%A1", "-1", "9" * 40):
        answer = client.get(f"/admin/{kind}/{record_id}/history?version={version}")
        assert answer.status_int == 200, version
        assert len(answer.html.select("ol.activity > li")) == 3
        section = answer.html.find(class_="compare")
        assert section is None or "does not hold" in section.get_text()
        assert answer.html.find("main").find("table") is None
