"""The URLs of a record that exist and that do not, and the form's second button."""

from typing import Any

import pytest

from tests.site import HEATHROW, JFK, Client, Site


def test_the_home_page_leads_to_the_dashboard(client: Client) -> None:
    home = client.get("/")

    assert 300 <= home.status_int < 400
    assert home.location == "http://localhost/admin"
    assert client.get("/admin").status_int == 200


BAD_IDS = ["abc", "0", "9" * 18, "9" * 19, "1" * 30, "-1", "+1", "1.0", "1e0", "0x1", "1_0"]
BAD_IDS += ["%D9%A1", "%EF%BC%91", "%201", "1%20", "1%00", "..%2f1"]  # an Arabic and a full-width digit, blanks


def test_what_is_no_id_of_a_record_is_not_there(site: Site, client: Client, kind: str) -> None:
    client.create(kind)

    for bad in BAD_IDS:
        address = f"/admin/{kind}/{bad}"
        result = [client.get(f"{address}{tail}").status_int for tail in ("", "/edit", "/delete")]
        result += [client.put(address, {"airport_name": JFK}).status_int, client.delete(address).status_int]
        assert result == [404] * 5, bad
    assert len(site.entries()) == 1


@pytest.mark.parametrize(
    "path", ["/login/x", "/healthz/x", "/admin/transit/create/x", "/admin/transit/{id}/edit/x", "/admin/review/x", "/x"]
)
def test_segments_behind_a_page_are_not_ignored(client: Client, path: str) -> None:
    number = client.create("transit", company_name="Line")
    assert client.get(path.format(id=number)).status_int == 404
    assert client.post(f"/admin/transit/{number}/verify/x", {}, X_CSRF_Token=client.csrf).status_int == 404
    assert client.rows("transit")[0]["verified_at"] is None


def test_a_record_is_not_found_under_the_other_kind(client: Client) -> None:
    for _ in range(3):
        client.create("transit")
    record_id = client.create("transit")

    assert client.get(f"/admin/scheduledbus/{record_id}").status_int == 404


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_what_is_not_there_is_said_in_the_language_of_the_client(client: Client, kind: str, accept: str) -> None:
    answer = client.get(f"/admin/{kind}/12345", Accept=accept)

    assert answer.status_int == 404
    if accept == "text/html":
        assert answer.html.find("nav") is not None  # in the layout
    else:
        assert answer.content_type == "application/problem+json"
        assert answer.json["status"] == 404


def test_every_address_answers_with_a_trailing_slash_too(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind)
    here, record = f"/admin/{kind}/", f"/admin/{kind}/{record_id}/"
    key = client.edit_link(kind, record_id).partition("?")[2]

    pages = ["/admin/", here, f"{here}create/", record, f"{record}edit/?{key}", f"{record}delete/", "/admin/activity/"]
    assert [client.get(page).status_int for page in pages] == [200] * len(pages)

    created = client.post(here, {"airport_name": JFK})
    updated = client.put(record, {"airport_name": JFK, "company_name": "Beta"})
    deleted = client.delete(record)
    assert {answer.location for answer in (created, updated, deleted)} == {f"http://localhost/admin/{kind}"}
    assert site.row(kind, record_id)["deleted_at"] is not None


def test_links_are_made_without_a_trailing_slash(client: Client, kind: str) -> None:
    record_id = client.create(kind)

    page = client.get(f"/admin/{kind}/")

    paths = [link["href"].partition("?")[0] for link in page.html.find_all("a", href=True)]
    assert f"/admin/{kind}/{record_id}/edit" in paths
    assert [path for path in paths if path.endswith("/")] == []


def test_city_addresses_belong_to_scheduled_buses_alone(client: Client) -> None:
    assert client.get("/admin/transit/get-city-scheduled").status_int == 404


# The second button of the form, for who has no script


def test_the_second_button_loads_the_lists_of_the_typed_airport(site: Site, client: Client, kind: str) -> None:
    form = client.get(f"/admin/{kind}/create").forms["record"]
    form["airport_name"], form["company_name"] = "somewhere (lhr)", "Alpha Coaches"

    page = form.submit("refresh")

    assert page.status_int == 200
    again = page.forms["record"]
    assert again["company_name"].value == "Alpha Coaches"
    assert "LHR" in again["airport_name"].value.upper()
    states = [option["value"] for option in page.html.find(attrs={"name": "state"}).find_all("option")]
    assert "GB-LND" in states
    assert "US-NY" not in states
    assert page.html.find("option", value="Hounslow") is not None
    assert site.count(site.kinds[kind].model) == 0
    assert site.entries() == []


def test_the_second_button_stores_nothing_of_an_edit_either(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha", state="US-NY")
    form = client.get(client.edit_link(kind, record_id, q="alpha")).forms["record"]
    state = form["list_state"].value
    form["airport_name"], form["company_name"] = HEATHROW, ""

    page = form.submit("refresh")

    assert page.status_int == 200
    again = page.forms["record"]
    assert (again["airport_name"].value, again["company_name"].value) == (HEATHROW, "")
    assert (again["version"].value, again["_method"].value, again["list_state"].value) == ("1", "PUT", state)
    row = site.row(kind, record_id)
    assert (row["airport_code"], row["company_name"], row["version"]) == ("JFK", "Alpha", 1)
    assert len(site.entries()) == 1


def offered(page: Any) -> list[str]:
    """Return the airports that the form offers without script."""
    return [button["value"] for button in page.html.select("form#record [data-airport-choices] button[name=refresh]")]


@pytest.mark.parametrize(
    ("typed", "first", "number"),
    [("heathrow", HEATHROW, 1), ("LHR", HEATHROW, None), ("x (LHR", HEATHROW, None), ("york", None, None)],
)
def test_what_was_typed_offers_the_airports_that_it_finds(
    client: Client, kind: str, typed: str, first: str | None, number: int | None
) -> None:
    form = client.get(f"/admin/{kind}/create").forms["record"]
    assert offered(form.response) == []
    form["airport_name"] = typed

    refreshed, refused = form.submit("refresh"), form.submit(expect_errors=True)

    assert (refreshed.status_int, refused.status_int) == (200, 422)
    result = offered(refreshed)
    assert result == offered(refused)
    assert 0 < len(result) <= 20
    assert first is None or result[0] == first
    assert number is None or len(result) == number
    answer = client.get("/admin/airports", {"q": typed.rpartition("(")[2]}).json
    assert result == [airport["airport_name"] for airport in answer["airports"]], "as the field with script"


def test_an_airport_that_is_offered_is_chosen_by_its_button(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    for address in (f"/admin/{kind}/create", client.edit_link(kind, record_id)):
        form = client.get(address).forms["record"]
        form["airport_name"], form["company_name"] = "heathrow", "Beta"

        page = form.submit("refresh").forms["record"].submit("refresh", index=1)

        assert page.status_int == 200
        assert page.html.find(id="errors") is None
        assert offered(page) == []
        again = page.forms["record"]
        assert (again["airport_name"].value, again["company_name"].value) == (HEATHROW, "Beta")
        assert page.html.find("option", value="Hounslow") is not None
        assert again.submit().status_int == 303
    assert [row["airport_code"] for row in client.rows(kind)] == ["LHR", "LHR"]


def test_a_text_that_finds_no_airport_says_so(client: Client, kind: str) -> None:
    page = client.post(f"/admin/{kind}", {"airport_name": "qzxwvk", "refresh": "1"})

    assert "No airport found." in page.html.select_one("[data-airport-choices]").get_text()
    empty = client.post(f"/admin/{kind}", {"airport_name": "", "refresh": "1"})
    assert empty.html.select_one("[data-airport-choices]") is None


def test_the_second_button_does_not_validate(client: Client, kind: str) -> None:
    fields = {"airport_name": "nowhere", "company_name": "x" * 999, "refresh": "1"}

    page = client.post(f"/admin/{kind}", fields)

    assert page.status_int == 200
    assert page.forms["record"]["company_name"].value == "x" * 999
    errors = page.html.find(id="errors").get_text(" ")
    assert "Write the airport's name and its code in brackets" in errors
    assert "999" not in errors
    button = page.html.find("button", attrs={"name": "refresh"})
    assert button.has_attr("formnovalidate")
