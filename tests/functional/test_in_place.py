"""What the list and the answers to a save hold for changing a field in its row (tests/browser/test_in_place.py)."""

import pytest

from groundtransport.security import Role
from tests.functional.editors import they_save
from tests.site import JFK, Client, Site

MANNERS = {
    "company_name": "text",
    "airport_name": "form",
    "route_name": "text",
    "company_phone1": "tel",
    "company_link": "url",
    "city": "form",
    "state": "form",
    "description": "form",
    "status": "select",
    "valid_from": "form",
    "source": None,
    "verified_at": None,
}


def manners(client: Client, columns: str) -> dict[str, str | None]:
    page = client.get(f"/admin/transit?columns={columns}").html
    return {header["data-name"]: header.get("data-in-place") for header in page.select("th[data-shown-as]")}


def test_the_header_tells_editors_how_a_field_is_changed(site: Site, client: Client) -> None:
    client.create("transit", company_name="Alpha")

    assert manners(client, ",".join(MANNERS)) == MANNERS
    assert manners(site.client(Role.EDITOR), "status,city") == {"status": "select", "city": "form"}
    assert manners(site.client(Role.VIEWER), "status,city") == {"status": None, "city": None}


def test_the_script_is_for_editors_and_live_records(site: Site, client: Client) -> None:
    client.delete(f"/admin/transit/{client.create('transit')}")
    client.create("transit")

    assert "in-place.js" in client.get("/admin/transit").text
    assert "in-place" not in client.get("/admin/transit?deleted=1").text
    viewer = site.client(Role.VIEWER).get("/admin/transit").text
    assert "in-place" not in viewer
    assert "data-airport" not in viewer


def test_a_row_names_its_airport_where_no_column_does(client: Client, kind: str) -> None:
    client.create(kind, company_name="Alpha")

    assert client.get(f"/admin/{kind}").html.select("tr[data-airport]") == []
    (row,) = client.get(f"/admin/{kind}?columns=company_name").html.select("tr[data-airport]")
    assert row["data-airport"] == JFK


@pytest.mark.parametrize("manner", ["form", "row"])
def test_one_field_is_saved_and_the_answer_leads_to_the_row_and_its_message(
    site: Site, client: Client, kind: str, manner: str
) -> None:
    record_id = client.create(kind, company_name="Alpha", company_phone1="718-555-0100", zip_code="1")
    fields = {"airport_name": JFK, "version": "1", "list_state": "q=alpha", "company_phone1": "718-555-0199"}

    accepted = {"row": "application/json", "form": "text/html"}[manner]
    answer = client.put(f"/admin/{kind}/{record_id}", fields, Accept=accepted)

    assert answer.status_int == 303
    row = site.row(kind, record_id)
    assert (row["company_phone1"], row["company_name"], row["zip_code"]) == ("718-555-0199", "Alpha", "1")
    page = client.get(answer.location, Accept=accepted)
    assert page.content_type == "text/html"
    assert page.html.find(id=f"record-{record_id}")["data-version"] == "2"
    assert "Alpha was saved." in page.html.find(id="messages").get_text(" ", strip=True)
    assert page.html.find(id="messages").find("form")["action"] == f"/admin/{kind}/{record_id}/restore"


def test_a_program_learns_who_was_faster_and_when(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    they_save(site, kind, record_id, company_name="Theirs")
    fields = {"airport_name": JFK, "company_name": "Mine", "version": "1"}

    answer = client.put(f"/admin/{kind}/{record_id}", fields, Accept="application/json")

    assert answer.status_int == 409
    assert answer.json["changed_by"] == "the-editor"
    assert answer.json["changed_at"] == site.entries()[-1]["at"].isoformat(timespec="milliseconds")
