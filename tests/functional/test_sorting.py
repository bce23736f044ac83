"""The order of the list: the same on both databases, and never by what a client makes up."""

from typing import Any

import pytest
from sqlalchemy import select, text

from groundtransport.records.list.order import Order
from groundtransport.records.list.query import ListQuery
from groundtransport.text import fold
from tests.site import HEATHROW, JFK, Client, Site

ZURICH = "Zurich Airport (ZRH)"
# In order, by the folded texts: no locale of a server has a say.
NAMES = [
    "A 1",
    "a-1",
    "A1",
    "ab",
    "Ab c",
    "Ångström",
    "Éclair",
    "Émile",
    "fast",
    "O'Hare",
    "Ōsaka",
    "øst",
    "Zeta",
    "zoo",
]
CODES = [
    "A 1",
    "a-1",
    "A1",
    "ab",
    "Ab c",
    "fast",
    "O'Hare",
    "Zeta",
    "zoo",
    "Ångström",
    "Éclair",
    "Émile",
    "øst",
    "Ōsaka",
]
TEXTS = ["company_name", "company_address"]
TRANSIT_TEXTS = [*TEXTS, "route_name", "place", "description", "city"]
PHONES = ["(718) 217-5477", "212-639-9675", "800-555-0199"]


def ids(client: Client, kind: str, **query: str) -> list[int]:
    return [row["id"] for row in client.rows(kind, page_size="100", **query)]


def scramble(values: list[Any]) -> list[Any]:
    return values[1::2] + values[::2]


def test_texts_are_sorted_by_the_folded_text_alike_on_every_database(client: Client, kind: str) -> None:
    fields = TRANSIT_TEXTS if kind == "transit" else TEXTS
    for value in scramble(NAMES):
        client.create(kind, **dict.fromkeys(fields, value))

    assert sorted(NAMES, key=fold) == NAMES
    for name in fields:
        assert [row[name] for row in client.rows(kind, sort=name, page_size="100")] == NAMES
        assert [row[name] for row in client.rows(kind, sort=f"-{name}", page_size="100")] == NAMES[::-1]


def test_codes_are_sorted_by_plain_characters_without_the_case_of_ascii(client: Client) -> None:
    for value in scramble(CODES):
        client.create("transit", zip_code=value)

    assert [row["zip_code"] for row in client.rows("transit", sort="zip_code")] == CODES


def test_an_index_gives_the_order_of_folded_texts(site: Site, client: Client) -> None:
    """No step sorts: at a million records it would take a second."""
    created = {client.create("transit", company_name=name): name for name in scramble(NAMES)}
    query = ListQuery(sort="company_name", page_size=10)
    kind = site.kinds["transit"]
    order = Order.of(kind, query)
    rows = select(kind.model.id).where(kind.model.is_live()).order_by(*order.clauses()).limit(10)
    with site.engine.connect() as connection:
        explain = "EXPLAIN QUERY PLAN " if site.engine.dialect.name == "sqlite" else "EXPLAIN "
        if explain == "EXPLAIN ":
            connection.execute(text("SET enable_seqscan = off"))
        statement = rows.compile(connection, compile_kwargs={"literal_binds": True})
        plan = "\n".join(str(row) for row in connection.exec_driver_sql(f"{explain}{statement}"))
    assert "ix_transit_by_company_name_folded" in plan
    assert "sort" not in plan.lower().replace("ix_transit_by_company_name_folded", "")
    assert "TEMP B-TREE" not in plan
    last = next(number for number, name in created.items() if name == NAMES[-1])
    page = client.get(f"/admin/transit?sort=company_name&page_size=10&find={last}")
    assert [row.get_text() for row in page.html.find("tbody").find_all("tr") if "zoo" in row.get_text()]


def test_a_changed_name_moves_its_record(client: Client, kind: str) -> None:
    first, second = client.create(kind, company_name="Alpha"), client.create(kind, company_name="Beta")

    client.put(f"/admin/{kind}/{first}", {"airport_name": JFK, "company_name": "Éclair"})

    assert ids(client, kind, sort="company_name") == [second, first]


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
    created = [client.create(kind, company_name="Alpha") for _ in range(12)]

    assert ids(client, kind, sort=column) == created
    assert ids(client, kind, sort=f"-{column}") in (created, created[::-1])
    pages = [client.rows(kind, sort=column, page_size="10", page_no=str(number)) for number in (1, 2)]
    assert [row["id"] for page in pages for row in page] == created


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
    created = [client.create(kind, company_name=name) for name in ("Beta", "Alpha")]

    for sort in NONSENSE:
        assert ids(client, kind, sort=sort) == created[::-1], sort
        named = {"order[0][name]": sort, "order[0][dir]": "asc"}
        assert ids(client, kind, **named) == created[::-1], sort


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
    created = [client.create(kind, company_name=name) for name in ("Beta", "Alpha")]

    result = client.get(f"/admin/{kind}?ajax=1&sort=company_name&sort=company_name").json["data"]

    assert [row["id"] for row in result] == created[::-1]


def test_the_html_list_is_sorted_by_the_same_names(client: Client, kind: str) -> None:
    for name in ("Beta", "alpha", "Gamma"):
        client.create(kind, company_name=name)

    page = client.get(f"/admin/{kind}?sort=company_name")

    text = page.html.find("tbody").get_text()
    assert text.index("alpha") < text.index("Beta") < text.index("Gamma")
