"""The parsing of list queries: any input gives a valid query, and its state is parsed to the same query."""

from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from groundtransport import kinds
from groundtransport.records.list import query as queries
from groundtransport.records.list.query import ListQuery
from tests.site import Site

KINDS = kinds.kinds()
NAMES = ("scheduledbus", "transit")
SIZES = (10, 25, 50, 100)
FILTERS = ("company_name", "company_address", "company_phone", "airport_name", "airport_code", "status", "batch")
OURS = ("q", *FILTERS, "page_no", "page_size", "sort", "ajax", "key")
THEIRS = ("draw", "start", "length", "search[value]", "order[0][column]", "order[0][dir]", "order[0][name]")
THEIRS += ("columns[0][data]", "columns[1][data]", "columns[99][data]", "search[regex]", "order[1][column]")

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
LIKELY = st.sampled_from(
    [
        *["", "0", "1", "2", "-1", "10", "25", "100", "101", "999999999", "9" * 30, "٣", "1e3", "last", "LAST"],
        *["asc", "DESC", "id", "-id", "--id", "company_name", "-company_name", "search_text", "deleted_at"],
        *["DT_RowId", "actions", "jfk", "active", "status; DROP TABLE transit", "%", "_", "\\", "\x00", "\x1f"],
        *["a\x00b", "'", '"', "\u2028", "1=1"],
    ]
)
VALUES = st.lists(st.one_of(TEXTS, LIKELY), min_size=1, max_size=2)
QUERIES = st.dictionaries(st.one_of(st.sampled_from(OURS + THEIRS), TEXTS), VALUES, max_size=8)


def read(kind: str, **values: str | list[str]) -> ListQuery:
    lists = {name: [value] if isinstance(value, str) else value for name, value in values.items()}
    return queries.read_query(KINDS[kind], lists, 25)


@pytest.mark.parametrize("name", NAMES)
@given(QUERIES)
@example({"q": ["\x1f"], "page_no": ["0007"]})
@example({"q": ["a+b&c=d#é%20"], "sort": ["-airport_code"], "page_size": ["50"], "page_no": ["last"]})
def test_any_query_reads_back_from_its_state(name: str, values: dict[str, list[str]]) -> None:
    query = queries.read_query(KINDS[name], values, 25)
    assert queries.query_from_state(KINDS[name], query.state(), 25) == query
    assert queries.query_from_state(KINDS[name], "?" + query.state(), 25) == query
    assert set(parse_qs(query.state())) <= {"q", *FILTERS, "page_no", "page_size", "sort"}
    assert query.page_size in SIZES


@pytest.mark.parametrize("name", NAMES)
@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("q=%ff%fe&page_no=%31")
@example("q=" + "a" * 100_000)
@example("&".join(["q=1"] * 5000))
@example("%" * 9_000)
def test_any_list_state_is_read_without_an_exception(name: str, state: str) -> None:
    query = queries.query_from_state(KINDS[name], state, 25)
    assert queries.query_from_state(KINDS[name], query.state(), 25) == query


@pytest.mark.parametrize("name", NAMES)
@given(QUERIES)
def test_datatables_parameters_of_any_kind_give_bounded_numbers(name: str, values: dict[str, list[str]]) -> None:
    kind = KINDS[name]
    query = queries.with_datatables(kind, queries.read_query(kind, values, 25), queries.single_values(values))
    part = queries.read_slice(values, query)
    assert 1 <= part.length <= 100
    assert 0 <= part.start < 2**31
    assert 0 <= part.draw < 2**31
    assert query.sort.removeprefix("-") in {
        "",
        "id",
        "created_at",
        "updated_at",
        "version",
        "airport_code",
        *kind.fields,
    }


@pytest.mark.parametrize("ajax", [True, False])
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(values=QUERIES)
@example(values={"q": ["a\x00b"], "airport_code": ["J\x00K"], "status": ["\x00"], "company_phone": ["\x00 1"]})
@example(values={"start": ["999999999"], "length": ["100"], "page_no": ["999999999"]})
def test_the_database_takes_any_query(whole_site: Site, ajax: bool, values: dict[str, list[str]]) -> None:
    if not hasattr(whole_site, "listing_client"):
        whole_site.listing_client = whole_site.client()
    pairs = [(name, value) for name, texts in values.items() for value in texts if name != "ajax"]
    query = urlencode([*pairs, ("ajax", "1" if ajax else "0")])
    answer = whole_site.listing_client.get(f"/admin/transit?{query}")
    assert answer.status_int == 200


# By name


def test_filters_are_trimmed_and_empty_ones_are_none() -> None:
    query = read("transit", q=" a ", company_name=" ", status=" active ", airport_code="jfk", nonsense="x")
    assert (query.q, query.filters) == ("a", {"status": "active", "airport_code": "jfk"})
    assert query.is_filtered
    assert not read("transit", page_no="2", sort="id").is_filtered


def test_a_scheduled_bus_has_no_filter_by_status() -> None:
    assert "status" not in read("scheduledbus", status="active").filters


@pytest.mark.parametrize("size", ["", "0", "11", "1000", "-10", "all", "25.0", "٢٥", " 25"])
def test_a_size_that_is_none_gives_the_default(size: str) -> None:
    query = read("transit", page_size=size)
    assert (query.page_size, query.state()) == (25, "")


@pytest.mark.parametrize("number", ["", "0", "-1", "1.5", "x", "٣", "LAST", " 1", "0" * 5_000])
def test_a_page_that_is_none_gives_the_first(number: str) -> None:
    assert queries.page_numbers(read("transit", page_no=number), 1000) == (1, 40)


def test_past_the_end_is_the_last_page_and_an_empty_list_has_one() -> None:
    for beyond in ("999", "1" + "0" * 9, "9" * 40, "9" * 5_000):
        assert queries.page_numbers(read("transit", page_no=beyond), 101) == (5, 5)
    assert queries.page_numbers(read("transit", page_no="last"), 101) == (5, 5)
    assert queries.page_numbers(read("transit", page_no="last"), 0) == (1, 1)


@pytest.mark.parametrize(
    "sort", ["search_text", "deleted_at", "airport_id", "--id", "id; --", "actions", "ID", "__table__"]
)
def test_nothing_that_is_sent_names_a_column_of_the_database(sort: str) -> None:
    assert read("transit", sort=sort).sort == ""
    order = {"order[0][column]": "0", "order[0][dir]": "asc", "columns[0][data]": sort}
    assert queries.with_datatables(KINDS["transit"], ListQuery(), order).sort == ""


def test_a_repeated_parameter_gives_the_default() -> None:
    query = read("transit", q=["a", "b"], page_size=["50", "50"], sort=["id", "id"], page_no=["2", "3"])
    assert query == read("transit")


@pytest.mark.parametrize(
    ("sent", "sort"),
    [
        ({"order[0][column]": "1", "columns[1][data]": "company_name"}, "company_name"),
        ({"order[0][column]": "1", "columns[1][data]": "company_name", "order[0][dir]": "desc"}, "-company_name"),
        (
            {"order[0][name]": "city", "order[0][dir]": "desc", "order[0][column]": "0", "columns[0][data]": "id"},
            "-city",
        ),
        ({"order[0][column]": "7", "columns[1][data]": "company_name"}, "-version"),
        ({"order[0][column]": "1", "columns[1][data]": "company_name", "order[0][dir]": "sideways"}, "-version"),
        ({"order[0][column]": "1", "columns[1][data]": "-company_name"}, "-version"),
        ({}, "-version"),
    ],
)
def test_the_order_of_datatables_goes_before_our_own_where_it_makes_sense(sent: dict[str, str], sort: str) -> None:
    assert queries.with_datatables(KINDS["transit"], ListQuery(sort="-version"), sent).sort == sort


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        *[({"length": length}, (0, 100)) for length in ("-1", "100", "101", "999999999", "9" * 40)],
        *[({"length": length}, (0, 25)) for length in ("", "0", "-2", "x", "٣")],
        ({"length": "7", "start": "14"}, (14, 7)),
        *[({"start": start}, (10**9, 25)) for start in ("1000000000", "9" * 40)],
        *[({"start": start}, (0, 25)) for start in ("-1", "x", "1.5", "")],
    ],
)
def test_the_slice_of_datatables_is_bounded(sent: dict[str, str], expected: tuple[int, int]) -> None:
    part = queries.read_slice({name: [value] for name, value in sent.items()}, read("transit"))
    assert (part.start, part.length) == expected


def test_the_page_serves_where_datatables_own_names_are_absent() -> None:
    values: dict[str, Any] = {"page_no": ["3"], "page_size": ["10"]}
    part = queries.read_slice(values, queries.read_query(KINDS["transit"], values, 25))
    assert (part.draw, part.start, part.length) == (0, 20, 10)
