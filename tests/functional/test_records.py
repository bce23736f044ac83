"""A record's life over HTTP, for every kind on both databases: created, seen, deleted."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.site import JFK, Client, Site

SCHEDULED_BUS = {
    "company_name": "Alpha Coaches",
    "company_address": "12 Jamaica Avenue",
    "company_phone1": "(718) 217-5477",
    "city": "Queens",
    "state": "US-NY",
    "zip_code": "11435",
}
TRANSIT = SCHEDULED_BUS | {
    "company_phone2": "212-639-9675",
    "company_phone3": "+44 20 7222 1234",
    "company_link": "https://alpha.example/timetable?line=3",
    "route_name": "Q10 Limited",
    "place": "Terminal 5, bay 2",
    "description": "Every ten minutes.",
    "status": "inactive",
}
FULL = {"scheduledbus": SCHEDULED_BUS, "transit": TRANSIT}


def shown(answer: object) -> dict[str, str]:
    """Return the label and value pairs of the detail fragment."""
    terms = [term.get_text(" ", strip=True) for term in answer.html.find_all("dt")]
    values = [value.get_text(" ", strip=True) for value in answer.html.find_all("dd")]
    assert len(terms) == len(values)
    return dict(zip(terms, values, strict=True))


def message(client: Client, address: str) -> str:
    return " ".join(client.get(address).html.find(id="messages").get_text(" ", strip=True).split())


# Create


def test_a_created_record_is_listed_with_its_airport(client: Client, kind: str) -> None:
    answer = client.post(f"/admin/{kind}", {"airport_name": "anything (jfk)", "company_name": "Alpha Coaches"})

    assert answer.status_int == 303
    assert answer.location == f"http://localhost/admin/{kind}"
    (row,) = client.rows(kind)
    assert (row["company_name"], row["airport_name"], row["airport_code"]) == ("Alpha Coaches", JFK, "JFK")


def test_a_created_record_holds_everything_that_was_typed(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, **FULL[kind])

    row = site.row(kind, record_id)
    assert {name: row[name] for name in FULL[kind]} == FULL[kind]
    assert (row["airport_name"], row["airport_code"], row["version"], row["deleted_at"]) == (JFK, "JFK", 1, None)


def test_the_list_confirms_a_creation_once_and_by_name(client: Client, kind: str) -> None:
    client.create(kind, company_name="Alpha Coaches")

    assert message(client, f"/admin/{kind}") == "Alpha Coaches was created."
    assert message(client, f"/admin/{kind}") == ""


def test_a_browser_can_fill_in_the_create_form(site: Site, client: Client, kind: str) -> None:
    form = client.get(f"/admin/{kind}/create").forms["record"]
    assert set(FULL[kind]) | {"airport_name", "csrf_token", "list_state", "form_token"} <= set(form.fields)
    assert "US-NY" in [value for value, *_ in form["state"].options]

    form["airport_name"], form["company_name"], form["state"] = JFK, "Alpha Coaches", "US-NY"
    answer = form.submit()

    assert answer.status_int == 303
    (row,) = client.rows(kind)
    assert (row["company_name"], row["state"]) == ("Alpha Coaches", "US-NY")


def test_a_transit_service_is_active_unless_said_otherwise(client: Client) -> None:
    client.create("transit")
    client.create("transit", status="")

    assert [row["status"] for row in client.rows("transit")] == ["active", "active"]


def test_a_form_that_is_sent_twice_makes_one_record(site: Site, client: Client, kind: str) -> None:
    form = client.get(f"/admin/{kind}/create").forms["record"]
    form["airport_name"] = JFK

    first, second = form.submit(), form.submit(expect_errors=True)

    assert (first.status_int, second.status_int) == (303, 303)
    assert site.count(site.kinds[kind].model) == 1
    assert len(site.entries()) == 1


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_nothing_that_no_form_offers_can_be_set(site: Site, client: Client, kind: str, method: str) -> None:
    record_id = client.create(kind)
    long_ago = "2001-01-01T00:00:00"
    unknown_fields = {
        "id": "777",
        "airport_id": "1",
        "airport_code": "LHR",
        "created_at": long_ago,
        "updated_at": long_ago,
        "deleted_at": long_ago,
        "search_text": "buried",
        "actor": "somebody",
        "__class__": "x",
    }

    fields = {"airport_name": JFK, "company_name": "Alpha Coaches", **unknown_fields}
    if method == "POST":
        answer = client.post(f"/admin/{kind}", {**fields, "version": "99"})
    else:
        answer = client.put(f"/admin/{kind}/{record_id}", fields)

    assert answer.status_int == 303
    (result,) = client.rows(kind, q="alpha jfk")
    row = site.row(kind, result["id"])
    assert row["id"] != 777
    assert (row["airport_code"], row["deleted_at"]) == ("JFK", None)
    assert row["version"] == (1 if method == "POST" else 2)
    moment = datetime.now(UTC)
    assert all(moment - row[name].replace(tzinfo=UTC) < timedelta(hours=1) for name in ("created_at", "updated_at"))
    assert client.rows(kind, q="buried") == []
    assert site.entries()[-1]["actor"] == "the-administrator"


# Detail


def test_the_detail_view_shows_every_value_with_its_label(client: Client, kind: str) -> None:
    record_id = client.create(kind, **FULL[kind])

    pairs = shown(client.get(f"/admin/{kind}/{record_id}"))

    readable = {"US-NY": "New York", "inactive": "Inactive"}
    expected = {readable.get(value, value) for value in FULL[kind].values()} | {JFK}
    assert {value.replace("JFK John", "John") for value in pairs.values()} >= expected - {JFK}
    assert len(pairs) == len(FULL[kind]) + 2
    assert {"Airport Name", "Company Name", "Verified"} <= set(pairs)
    assert ("Route Name" in pairs) is (kind == "transit")


def test_the_detail_view_leaves_out_what_is_empty(client: Client) -> None:
    record_id = client.create("scheduledbus", company_address="  ")

    pairs = shown(client.get(f"/admin/scheduledbus/{record_id}"))

    assert list(pairs) == ["Airport Name", "Verified"]
    assert "John F Kennedy International Airport" in pairs["Airport Name"]
    assert "JFK" in pairs["Airport Name"]


def test_the_detail_view_is_a_fragment_not_a_page(client: Client, kind: str) -> None:
    answer = client.get(f"/admin/{kind}/{client.create(kind)}")

    assert (answer.status_int, answer.content_type) == (200, "text/html")
    assert "<html" not in answer.text
    assert "<nav" not in answer.text


def test_a_description_keeps_its_line_breaks_in_the_form(client: Client) -> None:
    record_id = client.create("transit", description="Monday\r\n\r\nTuesday")

    form = client.get(client.edit_link("transit", record_id)).forms["record"]

    assert form["description"].value.splitlines() == ["Monday", "", "Tuesday"]


# Delete


def delete(client: Client, way: str, address: str) -> object:
    """Delete as a program or as a form without script."""
    return client.delete(address) if way == "DELETE" else client.post(address, {"_method": "DELETE"})


@pytest.mark.parametrize("way", ["DELETE", "_method"])
def test_a_deleted_record_is_gone_from_everywhere_but_its_table(
    site: Site, client: Client, kind: str, way: str
) -> None:
    record_id, other = client.create(kind, company_name="Alpha"), client.create(kind, company_name="Beta")
    edit = client.edit_link(kind, record_id)
    address = f"/admin/{kind}/{record_id}"

    answer = delete(client, way, address)

    assert (answer.status_int, answer.location) == (303, f"http://localhost/admin/{kind}")
    assert message(client, f"/admin/{kind}").startswith("Alpha was deleted.")
    result = client.get(f"/admin/{kind}?ajax=1").json
    assert [row["id"] for row in result["data"]] == [other]
    assert (result["recordsTotal"], result["recordsFiltered"]) == (1, 1)
    assert client.rows(kind, q="alpha") == []
    statuses = [client.get(it).status_int for it in (address, edit, f"{address}/delete")]
    statuses += [client.put(address, {"airport_name": JFK}).status_int, delete(client, way, address).status_int]
    assert statuses == [404] * 5
    row = site.row(kind, record_id)
    assert row["deleted_at"] is not None
    assert (row["company_name"], row["version"]) == ("Alpha", 1)


def test_the_confirmation_page_changes_nothing_and_its_form_deletes(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha Coaches")

    page = client.get(f"/admin/{kind}/{record_id}/delete", {"q": "alpha", "page_no": "1"})

    assert page.status_int == 200
    assert "Alpha Coaches" in page.html.find("h1").get_text()
    assert site.row(kind, record_id)["deleted_at"] is None
    assert len(site.entries()) == 1
    form = next(form for form in page.forms.values() if "_method" in form.fields)
    answer = form.submit()
    assert (answer.status_int, answer.location) == (303, f"http://localhost/admin/{kind}?q=alpha&page_no=1")
    assert site.row(kind, record_id)["deleted_at"] is not None


def test_a_deleted_number_is_not_given_again(client: Client, kind: str) -> None:
    record_id = client.create(kind)
    client.delete(f"/admin/{kind}/{record_id}")

    assert client.create(kind) > record_id


# The activity log


def test_each_change_leaves_one_entry_with_old_and_new_values(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha", zip_code="11435")
    client.put(f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_name": "Beta", "zip_code": ""})
    client.delete(f"/admin/{kind}/{record_id}")

    created, updated, deleted = site.entries()
    assert [entry["action"] for entry in (created, updated, deleted)] == ["create", "update", "delete"]
    for entry in (created, updated, deleted):
        assert (entry["kind"], entry["record_id"], entry["actor"]) == (kind, record_id, "the-administrator")
    assert created["changes"]["company_name"] == {"old": None, "new": "Alpha"}
    assert created["changes"]["airport_name"] == {"old": None, "new": JFK}
    assert "company_address" not in created["changes"]
    assert updated["changes"] == {
        "company_name": {"old": "Alpha", "new": "Beta"},
        "zip_code": {"old": "11435", "new": None},
    }
    assert deleted["changes"]["company_name"] == {"old": "Beta", "new": None}
    assert (created["label"], updated["label"], deleted["label"]) == ("Alpha", "Beta", "Beta")


def test_the_log_is_shown_newest_first(client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    client.delete(f"/admin/{kind}/{record_id}")

    entries = client.get("/admin/activity?ajax=1").json["data"]

    names = {"id", "at", "actor", "action", "kind", "record_id", "label", "changes", "batch"}
    assert [set(entry) for entry in entries] == [names, names]
    assert [(entry["action"], entry["label"]) for entry in entries] == [("delete", "Alpha"), ("create", "Alpha")]


def test_a_failing_subscriber_takes_the_change_with_it(site: Site, client: Client, kind: str) -> None:
    from groundtransport.events import RecordCreated

    def refuse(event: RecordCreated) -> None:
        raise RuntimeError("the log is full")

    site.registry.registerHandler(refuse, (RecordCreated,))
    try:
        answer = client.post(f"/admin/{kind}", {"airport_name": JFK})
    finally:
        site.registry.unregisterHandler(refuse, (RecordCreated,))

    assert answer.status_int == 500
    assert site.count(site.kinds[kind].model) == 0
    assert site.entries() == []
