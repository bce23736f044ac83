"""Where a record comes from: source and source ID, unique together among the live records of a kind."""

import pytest

from tests.site import HEATHROW, JFK, Client, Site

FEED = {"source": "feed", "source_id": "MTA:Q10"}


def test_a_pair_belongs_to_one_live_record_of_a_kind(site: Site, client: Client, kind: str) -> None:
    first = client.create(kind, company_name="First", **FEED)
    other = {"scheduledbus": "transit", "transit": "scheduledbus"}[kind]
    client.create(other, company_name="Of another kind", **FEED)
    answer = client.post(f"/admin/{kind}", {"airport_name": JFK, "company_name": "Second", **FEED})
    assert answer.status_int == 422
    assert f"The record {first} has this source and source ID." in answer.html.find(id="source_id-error").text
    assert answer.html.find(id="company_name")["value"] == "Second"
    client.create(kind, company_name="No pair", source="feed")
    client.create(kind, company_name="No pair", source="feed")
    assert len(client.rows(kind)) == 3


def test_an_edit_keeps_its_own_pair_and_cannot_take_anothers(client: Client, kind: str) -> None:
    first = client.create(kind, company_name="First", **FEED)
    second = client.create(kind, company_name="Second", source="feed", source_id="2")
    assert client.put(f"/admin/{kind}/{first}", {"airport_name": JFK, "company_name": "Changed"}).status_int == 303
    assert client.put(f"/admin/{kind}/{second}", {"airport_name": JFK, **FEED}).status_int == 422
    rows = {row["id"]: (row["company_name"], row["source_id"]) for row in client.rows(kind)}
    assert rows == {first: ("Changed", "MTA:Q10"), second: ("Second", "2")}


def test_it_is_shown_only_where_it_is_set(client: Client, kind: str) -> None:
    first = client.create(kind, company_name="With", **FEED)
    second = client.create(kind, company_name="Without")
    assert "MTA:Q10" in client.get(f"/admin/{kind}/{first}").text
    assert "Source" not in client.get(f"/admin/{kind}/{second}").text
    assert client.get(client.edit_link(kind, first)).html.find(id="source_id")["value"] == "MTA:Q10"
    assert client.get(client.edit_link(kind, second)).html.find(id="source_id") is None
    assert client.get(f"/admin/{kind}/create?copy={first}").html.find(id="source_id") is None


def test_it_can_be_removed_on_the_form(client: Client, kind: str) -> None:
    first = client.create(kind, company_name="With", **FEED)
    form = client.get(client.edit_link(kind, first)).forms["record"]
    form["source_id"] = ""
    assert form.submit().status_int == 303
    (row,) = client.rows(kind)
    assert (row["source"], row["source_id"]) == ("feed", None)
    changes = client.get("/admin/activity?ajax=1").json["data"][0]["changes"]
    assert changes == {"source_id": {"old": "MTA:Q10", "new": None}}


def test_a_deleted_record_cannot_come_back_beside_another_with_its_pair(client: Client, kind: str) -> None:
    first = client.create(kind, company_name="First", **FEED)
    client.delete(f"/admin/{kind}/{first}")
    second = client.create(kind, company_name="Second", **FEED)
    answer = client.post(f"/admin/{kind}/{first}/restore")
    assert answer.status_int == 422
    assert f"The record {second} has this source and source ID." in answer.text
    client.delete(f"/admin/{kind}/{second}")
    assert client.post(f"/admin/{kind}/{first}/restore").status_int == 303


def test_the_undo_of_a_bulk_action_leaves_such_a_record_alone(client: Client, kind: str) -> None:
    client.create(kind, company_name="First", **FEED)
    client.create(kind, company_name="Other")
    chosen = [("record", f"{row['id']}.{row['version']}") for row in client.rows(kind)]
    page = client.post(f"/admin/{kind}/several", [("action", "delete"), *chosen])
    form = next(form for form in page.forms.values() if "several" in form.action)
    form.submit("confirmed")
    batch = client.get("/admin/activity?ajax=1").json["data"][0]["batch"]
    client.create(kind, company_name="Second", **FEED)
    answer = client.post(f"/admin/{kind}/undo", {"batch": batch})
    assert answer.status_int in (200, 303)
    assert sorted(row["company_name"] for row in client.rows(kind)) == ["Other", "Second"]


@pytest.mark.parametrize("sort", ["source", "-source_id"])
def test_lists_are_not_sorted_by_it(client: Client, kind: str, sort: str) -> None:
    client.create(kind, company_name="First", **FEED)
    client.create(kind, company_name="Second", airport_name=HEATHROW)
    assert [row["company_name"] for row in client.rows(kind, sort=sort)] == ["Second", "First"]
