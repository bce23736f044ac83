"""The list of every kind: its envelope, its pages, its order and its links, as HTML and as DataTables JSON."""

from typing import Any

import pytest

from groundtransport.security import Role
from tests.functional.filling import fill
from tests.site import Client, Site, query_of

SCHEDULED_BUS_FIELDS = {
    "airport_name",
    "company_name",
    "company_address",
    "company_phone1",
    "city",
    "state",
    "zip_code",
}
FIELDS = {
    "scheduledbus": SCHEDULED_BUS_FIELDS,
    "transit": SCHEDULED_BUS_FIELDS
    | {"company_phone2", "company_phone3", "company_link", "route_name", "place", "description", "status"},
}
FURTHER = {"id", "DT_RowId", "airport_code", "source", "source_id", "created_at", "updated_at", "version", "actions"}
FURTHER |= {"verified_at", "verified_by", "valid_from", "valid_until", "validity"}


def ask(client: Client, kind: str, query: str = "") -> dict[str, Any]:
    answer = client.get(f"/admin/{kind}?ajax=1&{query}")
    assert (answer.status_int, answer.content_type) == (200, "application/json")
    return answer.json


def names(client: Client, kind: str, query: str = "") -> list[str]:
    return [row["company_name"] for row in ask(client, kind, query)["data"]]


def on_page(client: Client, kind: str, query: str = "") -> list[str]:
    """Return the names on the HTML page."""
    page = client.get(f"/admin/{kind}?{query}")
    assert page.status_int == 200
    cells = [cell.get_text(strip=True) for cell in page.html.select("tbody td")]
    return [cell for cell in cells if len(cell) == 3 and cell.isdigit()]


def count_down(first: int, last: int) -> list[str]:
    return [f"{number:03}" for number in range(first, last - 1, -1)]


# The envelope


def test_the_json_is_what_datatables_expects(client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha <b>&amp;", state="US-NY")

    result = ask(client, kind, "draw=7")

    assert (result["draw"], result["recordsTotal"], result["recordsFiltered"]) == (7, 1, 1)
    assert set(result) == {"draw", "recordsTotal", "recordsFiltered", "data"}
    (row,) = result["data"]
    assert set(row) == FIELDS[kind] | FURTHER | {*client.site.kinds[kind].marks}
    assert (row["id"], row["version"], row["airport_code"]) == (record_id, 1, "JFK")
    assert isinstance(row["DT_RowId"], str)
    assert (row["company_name"], row["state"]) == ("Alpha <b>&amp;", "US-NY")  # data, not HTML


def test_the_counts_tell_all_records_from_those_that_match(site: Site, client: Client, kind: str) -> None:
    fill(site, kind, 12)

    result = ask(client, kind, "q=01&length=1")

    assert (result["recordsTotal"], result["recordsFiltered"], len(result["data"])) == (12, 4, 1)


def test_a_draw_that_makes_no_sense_is_answered_with_a_number(client: Client, kind: str) -> None:
    for draw in ("abc", "-1", "1.5", "<script>", "9" * 30, "٣", ""):
        assert isinstance(client.get(f"/admin/{kind}", {"ajax": "1", "draw": draw}).json["draw"], int)


def test_only_the_query_selects_json(client: Client, kind: str) -> None:
    yes, no = ("ajax=1", "ajax=true", "ajax=", "ajax=yes"), ("", "ajax=0", "ajax=false")

    for query in yes + no:
        plain = client.get(f"/admin/{kind}?{query}")
        negotiated = client.get(f"/admin/{kind}?{query}", Accept="application/json", X_Requested_With="XMLHttpRequest")
        wanted = "application/json" if query in yes else "text/html"
        assert [plain.content_type, negotiated.content_type] == [wanted, wanted], query


# Pages


def test_the_newest_come_first_in_pages_of_25(site: Site, client: Client, kind: str) -> None:
    fill(site, kind, 30)

    assert names(client, kind) == on_page(client, kind) == count_down(30, 6)
    assert names(client, kind, "page_no=2") == on_page(client, kind, "page_no=2") == count_down(5, 1)


def test_html_and_json_show_the_same_page(site: Site, client: Client, kind: str) -> None:
    fill(site, kind, 30)
    expected = {
        "page_no=1": count_down(30, 21),
        "page_no=2": count_down(20, 11),
        "page_no=last": count_down(10, 1),
        "page_no=0": count_down(30, 21),
        "page_no=-1": count_down(30, 21),
        "page_no=two": count_down(30, 21),
        "page_no=%D9%A2": count_down(30, 21),
        "page_no=2&page_no=3": count_down(30, 21),
    }

    assert {query: on_page(client, kind, f"{query}&page_size=10") for query in expected} == expected
    assert {query: names(client, kind, f"{query}&page_size=10") for query in expected} == expected


@pytest.mark.parametrize("number", ["4", "999999"])
def test_past_the_end_html_shows_the_last_page_and_json_nothing(
    site: Site, client: Client, kind: str, number: str
) -> None:
    fill(site, kind, 30)

    assert on_page(client, kind, f"page_no={number}&page_size=10") == count_down(10, 1)
    result = ask(client, kind, f"start={number}0&length=10")
    assert (result["data"], result["recordsTotal"], result["recordsFiltered"]) == ([], 30, 30)


def test_a_page_number_past_the_end_gives_json_no_rows(site: Site, client: Client, kind: str) -> None:
    fill(site, kind, 12)

    assert names(client, kind, "page_no=3&page_size=10") == []
    assert names(client, kind, "page_no=999999999&page_size=10") == []


def test_only_four_page_sizes_are_known(site: Site, client: Client, kind: str) -> None:
    fill(site, kind, 105)
    expected = {"10": 10, "25": 25, "50": 50, "100": 100, "7": 25, "-1": 25, "1000": 25, "x": 25, "": 25}

    assert {size: len(on_page(client, kind, f"page_size={size}")) for size in expected} == expected
    assert {size: len(names(client, kind, f"page_size={size}")) for size in expected} == expected


def test_datatables_asks_for_any_slice(site: Site, client: Client, kind: str) -> None:
    fill(site, kind, 105)
    expected = {
        "start=5&length=3": count_down(100, 98),
        "length=-1": count_down(105, 6),
        "length=100000": count_down(105, 6),
        "length=0": count_down(105, 81),
        "length=-5": count_down(105, 81),
        "length=ten": count_down(105, 81),
        "length=10&length=20": count_down(105, 81),
        "start=-5&length=2": count_down(105, 104),
        "start=x&length=2": count_down(105, 104),
        "start=5&start=6&length=2": count_down(105, 104),
    }

    assert {query: names(client, kind, query) for query in expected} == expected


def test_a_start_beyond_all_sense_is_no_error(site: Site, client: Client, kind: str) -> None:
    fill(site, kind, 2)

    for start in ("1000000000", "9" * 18, "9" * 40):
        result = ask(client, kind, f"start={start}&length=10")
        assert (result["data"], result["recordsFiltered"]) == ([], 2)


def test_a_repeated_ajax_is_a_wrong_one(client: Client, kind: str) -> None:
    for query in ("ajax=1&ajax=1", "ajax=0&ajax=1", "ajax=1&ajax=0"):
        assert client.get(f"/admin/{kind}?{query}").content_type == "text/html"


# Texts that are too long to be looked for


@pytest.mark.parametrize("name", ["q", "company_name", "airport_code"])
def test_a_text_of_over_1000_characters_is_refused_and_kept(client: Client, kind: str, name: str) -> None:
    client.create(kind, company_name="Alpha bus")
    client.get("/admin")
    long, title = "b" * 1001, {"q": "Search", "company_name": "Company Name", "airport_code": "Airport Code"}[name]

    page = client.get(f"/admin/{kind}", {name: long, "sort": "company_name"})

    assert page.status_int == 422
    notice = page.html.find(id="list-refused")
    assert notice.get_text(" ", strip=True).startswith(f"{title}: the text is longer than 1,000 characters.")
    assert not notice.has_attr("hidden")
    assert page.html.find("main").find("input", {"name": name})["value"] == long
    assert page.html.select_one("[data-no-match]").has_attr("hidden"), "nothing was searched"
    assert page.html.select("tbody tr") == []
    assert len(page.html.select_one(f"[data-chip={name}]").get_text(strip=True)) < 150


@pytest.mark.parametrize("name", ["q", "search[value]"])
def test_json_refuses_a_text_of_over_1000_characters_by_its_name(client: Client, kind: str, name: str) -> None:
    client.create(kind, company_name="Alpha bus")

    answer = client.get(f"/admin/{kind}", {"ajax": "1", name: "bus " * 251})

    assert (answer.status_int, answer.content_type) == (422, "application/problem+json")
    assert list(answer.json["errors"]) == ["q"]
    assert answer.json["detail"] == answer.json["errors"]["q"][0]
    result = client.get(f"/admin/{kind}", {"ajax": "1", name: "bus " * 250}).json
    assert len(result["data"]) == 1, "of 1,000 characters it is answered"


def test_the_deleted_and_the_search_of_all_kinds_refuse_it_too(client: Client, kind: str) -> None:
    for address in (f"/admin/{kind}?deleted=1&", "/admin/search?"):
        page = client.get(f"{address}q={'b' * 1001}")
        assert page.status_int == 422
        assert "the text is longer than 1,000 characters" in page.html.find("main").get_text()
        assert "matches" not in page.html.find("main").get_text()
        assert page.html.find("input", {"name": "q", "value": "b" * 1001})


# Links


def test_an_edit_link_brings_its_key_the_page_and_the_filters(site: Site, client: Client, kind: str) -> None:
    fill(site, kind, 30)

    rows = ask(client, kind, "company_name=0&airport_code=jfk&sort=company_name&start=10&length=10")["data"]

    query = query_of(rows[0]["actions"]["edit"])
    assert len(query.pop("key")[0]) == 32
    assert query.pop("page_no") == ["2"]
    assert query["company_name"] == ["0"]
    assert query["airport_code"][0].lower() == "jfk"
    assert query["sort"] == ["company_name"]
    assert client.get(rows[0]["actions"]["edit"]).status_int == 200
    assert len({query_of(row["actions"]["edit"])["key"][0] for row in rows}) == 10


@pytest.mark.parametrize(
    "query", ["length=1&start=2", "length=60", "length=7&start=21", "start=5&length=10", "length=30&page_size=10"]
)
def test_an_edit_link_leads_back_to_the_page_with_its_record(site: Site, client: Client, kind: str, query: str) -> None:
    fill(site, kind, 65)

    rows = ask(client, kind, f"sort=company_name&{query}")["data"]

    for row in rows:
        state = row["actions"]["edit"].partition("&")[2]
        assert row["company_name"] in on_page(client, kind, state)
        assert row["actions"]["delete"].partition("?")[2] == state


def test_the_links_of_the_html_list_lead_where_json_says(client: Client, kind: str) -> None:
    record_id = client.create(kind)
    client.get("/admin")  # the message of the creation holds a link, too

    (row,) = client.rows(kind, page_no="1", q="jfk")
    page = client.get(f"/admin/{kind}?page_no=1&q=jfk")

    assert set(row["actions"]) == {"view", "edit", "verify", "delete"}
    assert row["actions"]["view"] == f"/admin/{kind}/{record_id}"
    linked = [link["href"] for link in page.html.find_all("a", href=True)]
    assert row["actions"]["view"] in linked
    for name in ("edit", "delete"):
        address = row["actions"][name]
        (shown,) = [href for href in linked if href.startswith(f"/admin/{kind}/{record_id}/{name}")]
        assert (shown.partition("?")[0], query_of(shown)) == (address.partition("?")[0], query_of(address))
        assert client.get(address).status_int == 200


def test_a_viewer_is_offered_nothing_but_the_view(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind)
    viewer = site.client(Role.VIEWER)

    (row,) = viewer.rows(kind)
    page = viewer.get(f"/admin/{kind}")

    assert row["actions"] == {"view": f"/admin/{kind}/{record_id}"}
    paths = {link["href"].partition("?")[0] for link in page.html.find_all("a", href=True)}
    here = f"/admin/{kind}"
    assert f"{here}/{record_id}" in paths
    assert paths.isdisjoint({f"{here}/create", f"{here}/{record_id}/edit", f"{here}/{record_id}/delete"})
    assert "key=" not in page.text


def test_the_pages_of_a_filtered_list_keep_the_filters(site: Site, client: Client, kind: str) -> None:
    fill(site, kind, 30)

    page = client.get(f"/admin/{kind}?company_name=0&page_size=10&sort=company_name")

    (following,) = {link["href"] for link in page.html.select("nav.pager a") if link.get_text() == "Next"}
    assert on_page(client, kind, following.partition("?")[2]) == [f"{number:03}" for number in range(11, 21)]


def test_an_empty_list_is_a_page_and_valid_json(client: Client, kind: str) -> None:
    assert client.get(f"/admin/{kind}?page_no=3&q=nothing").status_int == 200
    assert ask(client, kind) == {"draw": 0, "recordsTotal": 0, "recordsFiltered": 0, "data": []}


def test_the_transit_list_shows_the_status_in_words(client: Client) -> None:
    client.create("transit", status="inactive")
    client.create("transit")

    page = client.get("/admin/transit")

    heads = [head.get_text(strip=True) for head in page.html.select("thead th")]
    cells = [row.find_all("td")[heads.index("Status")].get_text(strip=True) for row in page.html.select("tbody tr")]
    assert cells == ["Active", "Inactive"]
