"""Updating a record: the edit form, the meaning of PUT, the version, and the list's state in the form."""

from typing import Any

import pytest

from tests.site import HEATHROW, JFK, Client, Site, query_of


def update(client: Client, way: str, address: str, **fields: str) -> Any:
    """Update as a program or as a form without script."""
    if way == "PUT":
        return client.put(address, fields)
    return client.post(address, {"_method": "PUT", **fields})


def message(client: Client, address: str) -> str:
    return " ".join(client.get(address).html.find(id="messages").get_text(" ", strip=True).split())


def facts(site: Site, kind: str, record_id: int) -> tuple[Any, ...]:
    row = site.row(kind, record_id)
    return row["version"], row["updated_at"], len(site.entries())


@pytest.mark.parametrize("way", ["PUT", "_method"])
def test_an_update_is_saved_and_confirmed(site: Site, client: Client, kind: str, way: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    client.get("/admin")  # the message of the creation

    answer = update(client, way, f"/admin/{kind}/{record_id}", airport_name=JFK, company_name="Beta")

    assert (answer.status_int, answer.location) == (303, f"http://localhost/admin/{kind}")
    assert message(client, f"/admin/{kind}") == "Beta was saved. Undo"
    row = site.row(kind, record_id)
    assert (row["company_name"], row["version"]) == ("Beta", 2)
    assert row["updated_at"] > row["created_at"]


def test_the_edit_form_shows_the_record_and_a_browser_can_send_it(site: Site, client: Client, kind: str) -> None:
    fields = {"company_name": "Alpha", "company_phone1": "(718) 217-5477", "city": "Queens", "state": "US-NY"}
    record_id = client.create(kind, **fields)

    page = client.get(client.edit_link(kind, record_id))

    assert page.status_int == 200
    form = page.forms["record"]
    assert {name: form[name].value for name in fields} == fields
    assert (form["airport_name"].value, form["version"].value, form["_method"].value) == (JFK, "1", "PUT")
    form["company_name"] = "Beta"
    assert form.submit().status_int == 303
    row = site.row(kind, record_id)
    assert (row["company_name"], row["city"], row["state"], row["version"]) == ("Beta", "Queens", "US-NY", 2)


def test_a_field_that_is_not_sent_stays_and_one_sent_empty_is_cleared(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha", company_address="1 Main Street", zip_code="11435")

    client.put(f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_address": "", "zip_code": " "})

    row = site.row(kind, record_id)
    assert (row["company_name"], row["company_address"], row["zip_code"]) == ("Alpha", None, None)


def test_a_status_stays_unless_it_is_sent_and_emptied_it_is_the_default(site: Site, client: Client) -> None:
    record_id = client.create("transit", status="inactive")

    client.put(f"/admin/transit/{record_id}", {"airport_name": JFK, "company_name": "Alpha"})
    assert site.row("transit", record_id)["status"] == "inactive"

    client.put(f"/admin/transit/{record_id}", {"airport_name": JFK, "status": ""})
    assert site.row("transit", record_id)["status"] == "active"


def test_a_record_that_was_stored_without_a_status_gets_the_default_when_it_is_saved(
    site: Site, client: Client
) -> None:
    record_id = client.create("transit", company_name="Alpha")
    table = site.kinds["transit"].model.__table__
    with site.engine.begin() as connection:
        connection.execute(table.update().where(table.c.id == record_id).values(status=None))

    form = client.get(client.edit_link("transit", record_id)).forms["record"]
    assert [value for value, *_ in form["status"].options] == ["active", "inactive"]
    form["company_name"] = "Beta"
    form.submit()

    assert site.row("transit", record_id)["status"] == "active"
    assert [row["id"] for row in client.rows("transit", status="active")] == [record_id]


@pytest.mark.parametrize("fields", [{"company_name": "Beta"}, {"airport_name": "", "company_name": "Beta"}, {}])
def test_the_airport_must_be_sent_with_every_update(
    site: Site, client: Client, kind: str, fields: dict[str, str]
) -> None:
    record_id = client.create(kind, company_name="Alpha")

    answer = client.put(f"/admin/{kind}/{record_id}", fields, Accept="application/json")

    assert answer.status_int == 422
    assert list(answer.json["errors"]) == ["airport_name"]
    assert site.row(kind, record_id)["company_name"] == "Alpha"
    assert len(site.entries()) == 1


def test_another_airport_changes_what_is_derived_from_it(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind)
    before = site.row(kind, record_id)["airport_id"]

    client.put(f"/admin/{kind}/{record_id}", {"airport_name": HEATHROW})

    row = site.row(kind, record_id)
    assert (row["airport_name"], row["airport_code"]) == (HEATHROW, "LHR")
    assert row["airport_id"] != before
    assert client.rows(kind, airport_code="JFK") == []
    assert [result["id"] for result in client.rows(kind, airport_code="LHR")] == [record_id]


def test_a_save_that_changes_nothing_is_no_update(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha", state="US-NY")
    before = facts(site, kind, record_id)
    client.get("/admin")

    answer = client.put(
        f"/admin/{kind}/{record_id}", {"airport_name": "x (jfk)", "company_name": " Alpha ", "state": "ny"}
    )

    assert (answer.status_int, answer.location) == (303, f"http://localhost/admin/{kind}")
    assert "Nothing was changed" in message(client, f"/admin/{kind}")
    assert facts(site, kind, record_id) == before


def test_sending_the_edit_form_untouched_changes_nothing(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha", city="Queens", state="US-NY")
    before = facts(site, kind, record_id)

    client.get(client.edit_link(kind, record_id)).forms["record"].submit()

    assert facts(site, kind, record_id) == before


@pytest.mark.parametrize("where", ["query", "header", "PATCH", "get"])
def test_only_a_body_field_stands_for_put_or_delete(site: Site, client: Client, kind: str, where: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    address, fields = f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_name": "Beta"}

    if where == "query":
        answer = client.post(f"{address}?_method=DELETE", fields)
    elif where == "header":
        answer = client.post(address, fields, X_HTTP_Method_Override="DELETE")
    elif where == "PATCH":
        answer = client.post(address, {**fields, "_method": "PATCH"})
    else:
        answer = client.get(address, {"_method": "DELETE"})

    assert answer.status_int == (200 if where == "get" else 405)
    row = site.row(kind, record_id)
    assert (row["company_name"], row["deleted_at"]) == ("Alpha", None)


# The version


def test_a_stale_save_is_refused_and_keeps_what_was_typed(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    form = client.get(client.edit_link(kind, record_id)).forms["record"]
    client.put(f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_name": "Theirs"})
    before = facts(site, kind, record_id)

    form["company_name"] = "Mine"
    answer = form.submit(expect_errors=True)

    assert answer.status_int == 409
    assert answer.forms["record"]["company_name"].value == "Mine"
    assert site.row(kind, record_id)["company_name"] == "Theirs"
    assert facts(site, kind, record_id) == before


@pytest.mark.parametrize("way", ["PUT", "DELETE"])
def test_a_program_gets_the_current_values_with_a_conflict(site: Site, client: Client, kind: str, way: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    client.put(f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_name": "Theirs"})
    before = facts(site, kind, record_id)

    fields = {"_method": way, "airport_name": JFK, "company_name": "Mine", "version": "1"}
    answer = client.post(f"/admin/{kind}/{record_id}", fields, Accept="application/json")

    assert (answer.status_int, answer.content_type) == (409, "application/problem+json")
    assert answer.json["status"] == 409
    assert "Theirs" in answer.text
    assert facts(site, kind, record_id) == before
    assert site.row(kind, record_id)["deleted_at"] is None


def test_a_client_that_names_the_current_version_or_none_is_served(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind)
    address = f"/admin/{kind}/{record_id}"

    with_version = client.put(address, {"airport_name": JFK, "company_name": "Alpha", "version": "1"})
    without = client.put(address, {"airport_name": JFK, "company_name": "Beta"})

    assert (with_version.status_int, without.status_int) == (303, 303)
    assert site.row(kind, record_id)["version"] == 3


# The list's state

STATE = "q=bus&company_name=Al%26pha&page_no=3&page_size=10&sort=-company_name"


@pytest.mark.parametrize("way", ["create", "update", "nothing", "delete"])
def test_every_write_leads_back_to_the_list_as_it_was(client: Client, kind: str, way: str) -> None:
    record_id = client.create(kind)
    fields = {"airport_name": JFK, "list_state": f"{STATE}&ajax=1&key=abc&evil=//evil.example&id=9"}
    if way == "create":
        answer = client.post(f"/admin/{kind}", fields)
    elif way == "delete":
        answer = client.post(f"/admin/{kind}/{record_id}", {**fields, "_method": "DELETE"})
    else:
        name = {"company_name": "Beta"} if way == "update" else {}
        answer = client.put(f"/admin/{kind}/{record_id}", fields | name)

    assert answer.status_int == 303
    assert answer.location.partition("?")[0] == f"http://localhost/admin/{kind}"
    assert query_of(answer.location) == {
        "q": ["bus"],
        "company_name": ["Al&pha"],
        "page_no": ["3"],
        "page_size": ["10"],
        "sort": ["-company_name"],
    }


STATES = [
    ("page_no=last", {"page_no": ["last"]}),
    ("page_no=4711", {"page_no": ["4711"]}),
    ("page_no=1&page_no=2&q=x", {"q": ["x"]}),
    ("sort=password&page_size=7&q=x", {"q": ["x"]}),
    ("//evil.example/?q=x", {}),
    ("https://evil.example", {}),
    ("q=a%0D%0ASet-Cookie:x", {"q": ["a\r\nSet-Cookie:x"]}),
]


def test_a_list_state_is_never_more_than_a_query_of_known_names(client: Client, kind: str) -> None:
    for state, kept in STATES:
        answer = client.post(f"/admin/{kind}", {"airport_name": JFK, "list_state": state})

        assert answer.location.partition("?")[0] == f"http://localhost/admin/{kind}"
        assert query_of(answer.location) == kept
        assert "Set-Cookie" not in answer.headers


def test_the_state_survives_from_the_list_over_a_refused_save_to_the_list(client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    client.get("/admin")  # the message of the creation holds a link to the record, too
    query = {"company_name": "alph", "page_size": "10", "page_no": "1", "sort": "-city"}
    page = client.get(f"/admin/{kind}", query)
    link = page.html.find("a", href=lambda href: href and f"/{record_id}/edit" in href)["href"]

    form = client.get(link).forms["record"]
    form["airport_name"] = ""
    refused = form.submit(expect_errors=True)
    assert refused.status_int == 422
    again = refused.forms["record"]
    again["airport_name"] = JFK
    answer = again.submit()

    assert answer.status_int == 303
    assert query_of(answer.location) == {name: [value] for name, value in query.items()}
