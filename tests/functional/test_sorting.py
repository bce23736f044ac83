"""The order of the list: the same on both databases, and never by what a client makes up."""

from typing import Any

import pytest

from tests.site import HEATHROW, JFK, Client, Site

ZURICH = "Zurich Airport (ZRH)"
# In order, without case and by plain characters: no locale of a server has a say.
NAMES = ["A 1", "a-1", "A1", "ab", "Ab c", "Zeta", "zoo", "Émile"]
TEXTS = ["company_name", "company_address", "zip_code"]
TRANSIT_TEXTS = [*TEXTS, "route_name", "place", "description", "city"]
PHONES = ["(718) 217-5477", "212-639-9675", "800-555-0199"]


def ids(client: Client, kind: str, **query: str) -> list[int]:
    return [row["id"] for row in client.rows(kind, page_size="100", **query)]


def scramble(values: list[Any]) -> list[Any]:
    return values[1::2] + values[::2]


def test_texts_are_sorted_without_case_alike_on_every_database(client: Client, kind: str) -> None:
    fields = TRANSIT_TEXTS if kind == "transit" else TEXTS
    for text in scramble(NAMES):
        client.create(kind, **dict.fromkeys(fields, text))

    for name in fields:
        assert [row[name] for row in client.rows(kind, sort=name)] == NAMES
        assert [row[name] for row in client.rows(kind, sort=f"-{name}")] == NAMES[::-1]


def test_the_other_fields_are_sorted_too(client: Client) -> None:
    columns = {
        "company_phone1": PHONES,
        "company_phone2": PHONES,
        "company_phone3": PHONES,
        "company_link": ["http://b.example", "https://a.example", "https://c.example"],
        "state": ["US-AL", "US-NJ", "US-NY"],
    }
    for number in (1, 2, 0):
        client.create("transit", **{name: values[number] for name, values in columns.items()})

    for name, values in columns.items():
        assert [row[name] for row in client.rows("transit", sort=name)] == values
        assert [row[name] for row in client.rows("transit", sort=f"-{name}")] == values[::-1]


def test_airports_and_statuses_are_sorted_too(client: Client) -> None:
    columns = {"airport_name": [JFK, HEATHROW, ZURICH], "status": ["active", "active", "inactive"]}
    for airport, status in [(HEATHROW, "active"), (ZURICH, "active"), (JFK, "inactive")]:
        client.create("transit", airport_name=airport, status=status)

    for name, values in columns.items():
        assert [row[name] for row in client.rows("transit", sort=name)] == values
        assert [row[name] for row in client.rows("transit", sort=f"-{name}")] == values[::-1]


@pytest.mark.parametrize("name", ["id", "created_at", "version", "updated_at", "airport_code", "DT_RowId"])
def test_what_a_row_holds_besides_its_fields_is_sortable(client: Client, kind: str, name: str) -> None:
    first, second = client.create(kind, airport_name=JFK), client.create(kind, airport_name=HEATHROW)
    client.put(f"/admin/{kind}/{second}", {"airport_name": HEATHROW, "company_name": "Saved later"})

    assert ids(client, kind, sort=name) == [first, second]
    assert ids(client, kind, sort=f"-{name}") == [second, first]


@pytest.mark.parametrize("column", ["company_name", "city", "version", "airport_code"])
def test_ties_are_broken_by_the_number_of_the_record(client: Client, kind: str, column: str) -> None:
    made = [client.create(kind, company_name="Alpha") for _ in range(12)]

    assert ids(client, kind, sort=column) == made
    assert ids(client, kind, sort=f"-{column}") in (made, made[::-1])
    pages = [client.rows(kind, sort=column, page_size="10", page_no=str(number)) for number in (1, 2)]
    assert [row["id"] for page in pages for row in page] == made


def test_absent_values_stand_together_alike_on_every_database(client: Client, kind: str) -> None:
    absent, named, other = client.create(kind), client.create(kind, company_name="Alpha"), client.create(kind)

    assert ids(client, kind, sort="company_name") == [absent, other, named]
    assert ids(client, kind, sort="-company_name")[0] == named


NONSENSE = [
    "password_hash",
    "search_text",
    "deleted_at",
    "airport_id",
    "actions",
    "__table__",
    "company_name desc",
    "company_name;drop table transit",
    "--company_name",
    "+company_name",
    "Company_Name",
    "-",
    "1",
    "\0",
    "company_name\0",
]


def test_a_sort_that_makes_no_sense_gives_the_newest_first(client: Client, kind: str) -> None:
    made = [client.create(kind, company_name=name) for name in ("Beta", "Alpha")]

    for sort in NONSENSE:
        assert ids(client, kind, sort=sort) == made[::-1], sort
        named = {"order[0][name]": sort, "order[0][dir]": "asc"}
        assert ids(client, kind, **named) == made[::-1], sort


NEWEST, UP, DOWN = ["Gamma", "Alpha", "Beta"], ["Alpha", "Beta", "Gamma"], ["Gamma", "Beta", "Alpha"]
BY_NAME, BY_NUMBER = {"order[0][name]": "company_name"}, {"order[0][column]": "1", "columns[1][data]": "company_name"}
ORDERS = [
    (BY_NAME | {"order[0][dir]": "asc"}, UP),
    (BY_NAME | {"order[0][dir]": "desc"}, DOWN),
    (BY_NUMBER | {"order[0][dir]": "asc"}, UP),
    (BY_NUMBER | {"order[0][dir]": "desc"}, DOWN),
    (BY_NAME | {"order[0][dir]": "sideways"}, NEWEST),
    (BY_NUMBER | {"order[0][column]": "7", "order[0][dir]": "asc"}, NEWEST),
    ({"order[0][column]": "-1", "order[0][dir]": "asc", "columns[-1][data]": "company_name"}, NEWEST),
    ({"order[0][column]": "x", "order[0][dir]": "asc"}, NEWEST),
    ({"order[0][column]": "9" * 40, "order[0][dir]": "asc"}, NEWEST),
    ({"order[1][name]": "company_name", "order[1][dir]": "asc"}, NEWEST),
]


def test_datatables_orders_by_one_column(client: Client, kind: str) -> None:
    for name in ("Beta", "Alpha", "Gamma"):
        client.create(kind, company_name=name)

    for query, expected in ORDERS:
        assert [row["company_name"] for row in client.rows(kind, **query)] == expected, query


def test_a_repeated_sort_counts_as_none(site: Site, client: Client, kind: str) -> None:
    made = [client.create(kind, company_name=name) for name in ("Beta", "Alpha")]

    found = client.get(f"/admin/{kind}?ajax=1&sort=company_name&sort=company_name").json["data"]

    assert [row["id"] for row in found] == made[::-1]


def test_the_html_list_is_sorted_by_the_same_names(client: Client, kind: str) -> None:
    for name in ("Beta", "alpha", "Gamma"):
        client.create(kind, company_name=name)

    page = client.get(f"/admin/{kind}?sort=company_name")

    text = page.html.find("tbody").get_text()
    assert text.index("alpha") < text.index("Beta") < text.index("Gamma")
