"""Merging two records: the chosen values, where the other one leads, one undo, conflicts and permissions."""

from typing import Any

from groundtransport.security import Role
from tests.api import Program, make_token
from tests.functional.importing import Importing
from tests.functional.test_doubles import pairs
from tests.site import HEATHROW, Client, Site


def two(client: Client, kind: str = "transit") -> tuple[int, int]:
    """Create two records that look like doubles, and return their ids."""
    one = client.create(kind, company_name="Metro Line", company_phone1="718 244 4444", source="feed", source_id="1")
    other = client.create(
        kind, company_name="Metro Line Ltd", company_address="Terminal 4", source="feed", source_id="2"
    )
    return one, other


def merge(client: Client, kind: str, one: int, other: int, **fields: str) -> Any:
    """Send the form of a merge with the present versions."""
    versions = {"version": "1", "other_version": "1"}
    return client.post(f"/admin/{kind}/{one}/merge", {"other": str(other), **versions, **fields})


def test_one_record_survives_with_the_chosen_values(client: Client, site: Site, kind: str) -> None:
    one, other = two(client, kind)
    page = client.get(f"/admin/{kind}/{one}/merge?with={other}")
    form = next(form for form in page.forms.values() if "survivor" in form.fields)
    assert form["pick-company_phone1"].value == str(one)  # the only one
    assert form["pick-company_address"].value == str(other)

    form["survivor"] = str(other)
    form["pick-company_name"] = str(one)
    answer = form.submit(expect_errors=True)
    assert answer.status_int == 303
    row = site.row(kind, other)
    assert (row["company_name"], row["company_phone1"], row["company_address"]) == (
        "Metro Line",
        "718 244 4444",
        "Terminal 4",
    )
    assert (row["source"], row["source_id"], row["deleted_at"]) == ("feed", "2", None)
    assert site.row(kind, one)["merged_into"] == other
    assert not pairs(site)
    delete, update = site.entries()[-2:]
    assert (delete["action"], delete["record_id"], update["action"], update["record_id"]) == (
        "delete",
        one,
        "update",
        other,
    )
    assert delete["batch"] == update["batch"]


def test_one_undo_brings_both_back(client: Client, site: Site) -> None:
    one, other = two(client)
    before = [site.row("transit", number)["company_address"] for number in (one, other)]
    merge(client, "transit", one, other, survivor=str(one), **{"pick-company_address": str(other)})
    assert site.row("transit", one)["company_address"] == "Terminal 4"

    client.post("/admin/transit/undo", {"batch": site.entries()[-1]["batch"]})
    assert [site.row("transit", number)["company_address"] for number in (one, other)] == before
    assert site.row("transit", other)["merged_into"] is None
    assert {pair[:2] for pair in pairs(site)} == {(one, other)}


def test_a_merged_record_leads_to_its_survivor_in_several_steps(client: Client, site: Site) -> None:
    one, other = two(client)
    third = client.create("transit", company_name="Metro Line")
    merge(client, "transit", one, other, survivor=str(one))
    version = str(site.row("transit", one)["version"])
    merge(client, "transit", one, third, survivor=str(third), version=version)
    assert client.get(f"/admin/transit/{other}").location.endswith(f"/admin/transit/{third}")
    edit = client.get(f"/admin/transit/{other}/edit")
    assert f"/admin/transit/{third}/edit" in edit.location
    assert f"Record {other} was merged into this one." in client.get(edit.location).text
    assert f"view={one}" in client.get(f"/admin/transit?view={other}").text
    for method in (client.put, client.delete):
        assert method(f"/admin/transit/{other}", {"airport_name": "(JFK)"}).status_int == 404
    history = client.get(f"/admin/transit/{third}/history").text
    assert all(f"ID {number}," in history for number in (one, other, third))
    deleted = client.get("/admin/transit?ajax=1&deleted=1").json["data"]
    assert {row["id"]: row["merged_into"] for row in deleted} == {one: third, other: one}


def test_a_change_of_either_record_in_the_meantime_is_a_conflict(client: Client, site: Site) -> None:
    one, other = two(client)
    client.put(f"/admin/transit/{other}", {"airport_name": "(JFK)", "company_name": "Metro Line West"})
    answer = merge(client, "transit", one, other, survivor=str(other), **{"pick-company_name": str(one)})
    assert answer.status_int == 409
    assert "Metro Line West" in answer.text
    form = next(form for form in answer.forms.values() if "survivor" in form.fields)
    assert (form["survivor"].value, form["pick-company_name"].value) == (str(other), str(one))
    assert site.row("transit", other)["deleted_at"] is None
    assert site.row("transit", one)["deleted_at"] is None
    assert form.submit(expect_errors=True).status_int == 303


def test_what_cannot_be_merged(client: Client, site: Site) -> None:
    one, other = two(client)
    client.delete(f"/admin/transit/{other}")
    for text in (str(other), str(one), "9" * 30, "x\x00", "", "-1"):
        assert client.post(f"/admin/transit/{one}/merge", {"other": text, "survivor": text}).status_int == 400
        assert client.get(f"/admin/transit/{one}/merge", {"with": text}).status_int == 400
    viewer = site.client(Role.VIEWER)
    third = client.create("transit", company_name="Metro Line")
    assert merge(viewer, "transit", one, third).location.startswith("http://localhost/login")
    assert site.row("transit", third)["deleted_at"] is None


def test_at_two_airports_the_place_is_the_survivors(client: Client, site: Site) -> None:
    one = client.create("transit", company_name="Metro Line", state="US-NY")
    other = client.create("transit", company_name="Metro Line", airport_name=HEATHROW, description="Every ten minutes")
    merge(
        client, "transit", one, other, survivor=str(one), **{"pick-state": str(other), "pick-description": str(other)}
    )
    row = site.row("transit", one)
    assert (row["airport_code"], row["state"], row["description"]) == ("JFK", "US-NY", "Every ten minutes")


def test_an_import_by_source_updates_the_survivor(client: Client, site: Site) -> None:
    one, other = two(client)
    merge(client, "transit", one, other, survivor=str(one))
    importing = Importing(client)
    rows = b"airport_name,company_name,source,source_id\nJFK,Metro Line East,feed,2\n"
    path = importing.start(rows)
    importing.preview(path, match="source", can_update="1")
    importing.commit(path)

    row = site.row("transit", one)
    assert (row["company_name"], row["source_id"]) == ("Metro Line East", "1")
    assert site.count(site.kinds["transit"].model) == 2


def test_the_api_names_the_survivor_of_a_merged_record(client: Client, site: Site) -> None:
    one, other = two(client)
    merge(client, "transit", one, other, survivor=str(one))
    program = Program(site, make_token(site))
    answer = program.get(f"/api/v1/transit/{other}")
    assert (answer.status_int, answer.json["merged_into"]) == (404, one)
    problem = program.get("/api/v1/openapi.json").json["components"]["schemas"]["problem"]
    assert set(answer.json) <= set(problem["properties"])
