"""The page after a save, and the initial values of a new form."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from groundtransport.security import Role
from tests.functional.editors import opened
from tests.site import HEATHROW, JFK, Client, Site, query_of

PLACE = ("airport_name", "city", "state")


def filled(client: Client, kind: str, **fields: str) -> Any:
    form = client.get(f"/admin/{kind}/create?q=alpha&page_no=2").forms["record"]
    typed = {"airport_name": JFK, "company_name": "Alpha Coaches", "zip_code": "10001", **fields}
    for name, value in typed.items():
        form[name].force_value(value)
    return form


def values(page: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(page.forms["record"][name].value for name in names)


def test_plain_save_leads_to_the_list_as_it_was(client: Client, kind: str) -> None:
    answer = filled(client, kind).submit()

    assert (answer.status_int, urlsplit(answer.location).path) == (303, f"/admin/{kind}")
    assert query_of(answer.location) == {"q": ["alpha"], "page_no": ["2"]}


def test_save_and_add_another_keeps_airport_city_and_state(site: Site, client: Client, kind: str) -> None:
    answer = filled(client, kind, city="Newark", state="US-NJ").submit("then", value="add")

    assert (answer.status_int, urlsplit(answer.location).path) == (303, f"/admin/{kind}/create")
    page = client.get(answer.location)
    assert values(page, PLACE) == (JFK, "Newark", "US-NJ")
    assert values(page, ("company_name", "zip_code")) == ("", "")
    assert page.forms["record"]["list_state"].value == "q=alpha&page_no=2"
    assert "Alpha Coaches was created." in page.html.find(id="messages").get_text()
    assert page.html.find(attrs={"autofocus": True})["name"] == "company_name"
    assert page.forms["record"]["form_token"].value != filled(client, kind)["form_token"].value
    assert site.count(site.kinds[kind].model) == 1


def test_save_and_keep_editing_leads_to_the_records_form(client: Client, kind: str) -> None:
    answer = filled(client, kind).submit("then", value="edit")

    page = client.get(answer.location)
    assert page.status_int == 200
    assert values(page, ("company_name", "version")) == ("Alpha Coaches", "1")
    assert page.forms["record"]["list_state"].value == "q=alpha&page_no=2"

    form = page.forms["record"]
    form["company_name"] = "Beta Coaches"
    again = client.get(form.submit("then", value="edit").location)
    assert values(again, ("company_name", "version")) == ("Beta Coaches", "2")


def test_an_edit_can_be_followed_by_another_at_the_same_airport(client: Client, kind: str) -> None:
    form = opened(client, kind, client.create(kind, airport_name=HEATHROW))

    page = client.get(form.submit("then", value="add").location)

    assert values(page, PLACE)[0] == HEATHROW
    assert "version" not in page.forms["record"].fields


def test_a_refused_save_leads_nowhere(client: Client, kind: str) -> None:
    answer = filled(client, kind, airport_name="nowhere").submit("then", value="add", expect_errors=True)

    assert answer.status_int == 422


@pytest.mark.parametrize("then", ["", "elsewhere", "//example.com"])
def test_what_is_no_way_is_the_plain_one(client: Client, kind: str, then: str) -> None:
    answer = client.post(f"/admin/{kind}", {"airport_name": JFK, "then": then})

    assert answer.location == f"http://localhost/admin/{kind}"


def test_cancel_leads_to_the_list_as_it_was(client: Client, kind: str) -> None:
    page = client.get(f"/admin/{kind}/create?q=alpha&sort=-city&page_size=50&page_no=3")

    cancel = page.html.find("a", string="Cancel")
    assert query_of(cancel["href"]) == {"q": ["alpha"], "sort": ["-city"], "page_size": ["50"], "page_no": ["3"]}


# What a new form begins with


def test_a_duplicate_is_the_same_company_at_another_airport(site: Site, client: Client) -> None:
    fields = {
        "company_name": "Alpha",
        "company_phone1": "718 244 4444",
        "company_link": "https://alpha.example",
        "description": "Daily.\nBy day.",
        "status": "inactive",
        "city": "Newark",
        "zip_code": "10001",
    }
    form = opened(client, "transit", client.create("transit", **fields), q="alpha")

    page = client.get(form.response.html.find("a", string="Duplicate")["href"])

    same = ("company_name", "company_phone1", "company_link", "description", "status")
    assert values(page, same) == tuple(fields[name] for name in same)
    assert values(page, ("airport_name", "city", "state", "zip_code", "place")) == ("",) * 5
    assert page.html.find(attrs={"autofocus": True})["name"] == "airport_name"
    assert page.forms["record"]["list_state"].value == form["list_state"].value
    assert "version" not in page.forms["record"].fields
    assert site.count(site.kinds["transit"].model) == 1


@pytest.mark.parametrize("name", ["near", "copy"])
@pytest.mark.parametrize("number", ["", "0", "abc", "9" * 30, "12345"])
def test_what_names_no_record_begins_an_empty_form(client: Client, kind: str, name: str, number: str) -> None:
    page = client.get(f"/admin/{kind}/create?{name}={number}")

    assert page.status_int == 200
    assert values(page, ("airport_name", "company_name")) == ("", "")


def test_a_deleted_record_is_not_copied(client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Gone")
    client.delete(f"/admin/{kind}/{record_id}")

    assert values(client.get(f"/admin/{kind}/create?copy={record_id}"), ("company_name",)) == ("",)


def test_a_new_record_from_a_list_of_one_airport_is_at_that_airport(client: Client, kind: str) -> None:
    assert values(client.get(f"/admin/{kind}/create?airport_code=LHR"), ("airport_name",)) == (HEATHROW,)
    assert values(client.get(f"/admin/{kind}/create?airport_code=QQQ"), ("airport_name",)) == ("",)


def test_who_may_not_create_sees_no_record_through_the_form(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")

    answer = site.client(Role.VIEWER).get(f"/admin/{kind}/create?copy={record_id}")

    assert (answer.status_int, urlsplit(answer.location).path) == (303, "/login")


def test_enter_saves_and_does_not_load_the_lists(client: Client, kind: str) -> None:
    """Enter presses the first button that submits the form."""
    first = client.get(f"/admin/{kind}/create").html.find("form", id="record").find("button")

    assert first.get("name") is None
    assert first.get_text(strip=True) == "Save"
