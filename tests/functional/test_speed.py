"""Lists stay quick at any size. No timing is asserted: queries are counted, plans are read, bytes are measured."""

import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event, text

from groundtransport import db, settings
from groundtransport.db import sqlite
from groundtransport.indexes import TableSpec, build, spec_of
from groundtransport.records.search import time_limit
from groundtransport.records.search.terms import like_pattern
from tests.site import ENVIRON, JFK, Site

pytestmark = pytest.mark.slow

RECORDS = 100_000
LISTS = {
    "page 1": {},
    "sorted": {"sort": "company_name"},
    "sorted by a long text": {"sort": "-description"},
    "sorted by a moment": {"sort": "-created_at"},
    "a page far away": {"page_no": "3200"},
    "a sorted page far away": {"page_no": "1500", "sort": "company_name"},
    "the last page": {"page_no": "last"},
    "the last sorted page": {"page_no": "last", "sort": "company_name"},
    "an airport": {"airport_code": "JFK"},
    "an airport, last page": {"airport_code": "JFK", "page_no": "last"},
    "a status": {"status": "inactive"},
    "an airport and a status": {"airport_code": "JFK", "status": "active"},
    "a common word": {"q": "limousine"},
    "a rare word": {"q": "zephyrine"},
    "no such word": {"q": "qzxwvk"},
    "a word at an airport": {"q": "limousine", "airport_code": "JFK"},
    "two words": {"q": "limousine zephyrine"},
    "a phone": {"q": "(718) 555-0199"},
    "no phone": {"missing": "company_phone"},
    "deleted": {"deleted": "1"},
}
# Few records that match are sorted in memory: that is quicker than any index. (Of a common word, a plan shows the
# branch for few, too.)
SORTS_FEW = {"no phone", "a common word", "a rare word", "no such word", "two words", "a phone", "a word at an airport"}


@contextmanager
def statements(site: Site) -> Iterator[list[tuple[str, Any]]]:
    """Collect what is sent to the database, but for the session's own and what begins a transaction."""
    seen: list[tuple[str, Any]] = []

    def note(connection: Any, cursor: Any, statement: str, parameters: Any, *more: Any) -> None:
        ours = not re.match(r"(BEGIN|PRAGMA|SET LOCAL|SELECT 1 FROM sqlite_master|SELECT set_config)", statement)
        if ours and ("admin_session" not in statement or "admin_activity" in statement):
            seen.append((statement, parameters))

    event.listen(site.engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(site.engine, "before_cursor_execute", note)


@pytest.fixture(scope="module")
def filled_site(whole_site: Site) -> Iterator[Site]:
    """The site with a hundred thousand transit services."""
    whole_site.clean()
    model = whole_site.kinds["transit"].model
    facts = spec_of(model.__table__)
    assert facts is not None
    replace(whole_site, facts, _rows)
    yield whole_site
    replace(whole_site, facts, lambda dialect: "DELETE FROM transit")


def replace(site: Site, facts: TableSpec, rows: Callable[[str], str]) -> None:
    """Change the table by one statement, as a command without a time limit would, and index it afterwards."""
    engine = db.make_engine(settings.read(site.app_settings, ENVIRON))
    with db.write_engine(engine).begin() as connection:
        build.drop(connection, facts)
        connection.execute(text(rows(connection.dialect.name)))
        build.create(connection, facts, lambda line: None)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM ANALYZE transit" if connection.dialect.name == "postgresql" else "ANALYZE")
    engine.dispose()


def _rows(dialect: str) -> str:
    """Return the statement that makes the records.

    Every 20th is at JFK, every other one in London, every 10th is a limousine; a few are named Zephyrine, and some
    Heathrow, in Zurich.
    """
    postgresql = dialect == "postgresql"
    character, integer = ("chr", "bigint") if postgresql else ("char", "integer")
    series = (
        f"SELECT cast(n AS {integer}) AS n FROM generate_series(1, {RECORDS}) AS n"
        if postgresql
        else f"WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {RECORDS}) SELECT n FROM c"
    )
    moment = "timestamp '2026-01-01' + n * interval '1 second'" if postgresql else "datetime('2026-01-01', n || ' s')"
    moment = moment.replace(" s')", " seconds') || '.000000'")
    mark = f"CASE WHEN n % 9 = 0 THEN {character}(1) || {character}(2) ELSE {character}(1) || {character}(1) END"
    name = (
        "CASE WHEN n % 4001 = 0 THEN 'zephyrine ' WHEN n % 100 = 7 THEN 'heathrow ' ELSE '' END || "
        "CASE WHEN n % 10 = 0 THEN 'limousine., ' ELSE 'coaches ' END || ((n * 7919) % 100003) || "
        "CASE WHEN n % 4999 = 0 THEN ' 5% 東京 wk東 -- xw' ELSE '' END"
    )
    return f"""
        INSERT INTO transit (id, airport_id, airport_code, airport_name, company_name, airport_name_folded,
                             company_name_folded, description, status, created_at, updated_at, version, deleted_at,
                             search_text)
        SELECT n, a.id, a.code, a.name || ' (' || a.code || ')', company, lower(a.name || ' (' || a.code || ')'),
               company, 'Every ' || n % 60 || ' minutes',
               CASE WHEN n % 9 = 0 THEN 'inactive' ELSE 'active' END, moment, moment, 1,
               CASE WHEN n % 50 = 0 THEN moment END,
               lower(a.name || ' (' || a.code || ')') || {character}(31) || company || {character}(31)
               || {character}(31) || {character}(31) || {character}(31) || {character}(29) || lower(a.code)
               || {character}(29) || mark || {character}(29)
        FROM (SELECT n, {name} AS company, {mark} AS mark, {moment} AS moment,
                     CASE WHEN n % 20 = 0 THEN 'JFK' WHEN n % 2 = 0 THEN 'LHR' ELSE 'ZRH' END AS code
              FROM ({series}) AS numbers) AS r
        JOIN airport AS a ON a.code = r.code
        """


def test_a_list_needs_at_most_six_queries(filled_site: Site) -> None:
    client = filled_site.client()
    client.get("/admin/transit?ajax=1")
    for name, query in LISTS.items():
        for ajax in ({}, {"ajax": "1"}):
            with statements(filled_site) as seen:
                assert client.get("/admin/transit", {**query, **ajax}).status_int == 200
            assert len(seen) <= 6, (name, seen)  # one for the saved views


def test_a_detail_needs_at_most_four_queries(filled_site: Site) -> None:
    client = filled_site.client()
    with statements(filled_site) as seen:
        assert client.get("/admin/transit/4001").status_int == 200
    assert 1 <= len(seen) <= 4, seen  # one for the number of possible doubles


def test_the_look_for_doubles_reads_ranges_of_indexes(filled_site: Site) -> None:
    fields = {"company_name": "Limousine 77", "company_phone1": "718 244 4444", "company_link": "alpha.example"}
    with statements(filled_site) as seen:
        assert filled_site.client().get("/admin/transit/similar", {"airport_name": JFK, **fields}).status_int == 200
    (patterns,) = (statement for statement in seen if "FROM transit" in statement[0])
    # PostgreSQL sorts the rows of a telephone number, because it reads several ranges of the index.
    assert [line for line in plan(filled_site, *patterns) if is_slow(line, may_sort=True)] == []


def test_no_list_reads_the_whole_table_or_sorts_it(filled_site: Site) -> None:
    client = filled_site.client()
    wrong = []
    for name, query in LISTS.items():
        with statements(filled_site) as seen:
            client.get("/admin/transit", {**query, "ajax": "1"})
        plans = [line for statement in seen if "FROM transit" in statement[0] for line in plan(filled_site, *statement)]
        wrong += [(name, line) for line in plans if is_slow(line, may_sort=name in SORTS_FEW)]
    assert wrong == []


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_trigrams_are_asked_for_an_airport_by_the_end_of_its_mark(filled_site: Site) -> None:
    """Of its beginning they know "  j" and " jf", whose lists name every text with a word that begins so."""
    with statements(filled_site) as seen:
        answer = filled_site.client().get("/admin/transit?ajax=1&q=limousine&airport_code=JFK").json
    assert answer["recordsFiltered"] == 4_000
    plans = [line for one in seen if "FROM transit" in one[0] for line in plan(filled_site, *one)]
    assert [line for line in plans if "Index Cond" in line and "'%jfk\x1d%'" in line]


def test_the_overview_counts_by_indexes_and_counters(filled_site: Site) -> None:
    client = filled_site.client()
    with statements(filled_site) as seen:
        page = client.get("/admin")
    plans = [line for statement in seen if "FROM transit" in statement[0] for line in plan(filled_site, *statement)]
    assert [line for line in plans if is_slow(line, may_sort=False)] == []
    assert any("ix_transit_lacks_company_phone" in line for line in plans)
    assert "No phone over 10,000" in " ".join(page.html.select_one(".card-kind .gap").parent.get_text(" ").split())


@pytest.mark.parametrize(
    ("query", "record_id"),
    [
        ({}, 41_003),
        ({"sort": "id"}, 41_003),
        ({"sort": "company_name"}, 41_003),
        ({"sort": "-status"}, 41_003),
        ({"q": "zephyrine", "sort": "description"}, 52_013),
        ({"airport_code": "JFK", "sort": "-created_at"}, 60_020),
    ],
)
def test_a_record_is_found_on_its_page_wherever_that_is(
    filled_site: Site, query: dict[str, str], record_id: int
) -> None:
    page = filled_site.client().get("/admin/transit", {**query, "find": str(record_id)})
    assert f"record-{record_id}" in [row["id"] for row in page.html.select("tbody tr")]


def test_finding_a_record_that_takes_too_long_leads_to_the_list(
    filled_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_limit, "SEARCH_SECONDS", -1)
    page = filled_site.client().get("/admin/transit?find=41003&sort=company_name")
    assert len(page.html.select("tbody tr")) == 25


def plan(site: Site, statement: str, parameters: Any) -> list[str]:
    """Return the lines of a statement's plan."""
    with site.engine.connect() as connection:
        if site.engine.dialect.name == "sqlite":
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            return [row[3] for row in rows]
        from psycopg import ClientCursor

        driver = connection.connection.dbapi_connection
        with ClientCursor(driver) as cursor:
            cursor.execute(f"EXPLAIN {statement}", parameters)
            return [row[0] for row in cursor.fetchall()]


def is_slow(line: str, *, may_sort: bool) -> bool:
    reads_all = re.search(r"SCAN transit$|Seq Scan on transit\b", line)
    sorts = re.search(r"TEMP B-TREE FOR (RIGHT PART OF )?ORDER BY|Sort Key|Incremental Sort", line)
    of_counters = "sum(" in line or "block" in line or "key" in line or "record_count" in line
    return bool(reads_all or (sorts and not may_sort and not of_counters))


def test_a_page_of_25_rows_is_small(filled_site: Site) -> None:
    client = filled_site.client()
    for query in ({}, {"q": "limousine"}, {"sort": "company_name", "page_no": "2000"}):
        assert len(client.get("/admin/transit", query).body) < 60_000
        assert len(client.get("/admin/transit", {**query, "ajax": "1"}).body) < 25_000


def test_counts_beyond_the_bound_are_estimates_that_say_so(filled_site: Site) -> None:
    client = filled_site.client()

    exact = client.get("/admin/transit?ajax=1&q=limousine").json
    assert exact["recordsFiltered"] == RECORDS // 10 - RECORDS // 50
    assert "recordsFilteredIsEstimate" not in exact
    guessed = client.get("/admin/transit?ajax=1&q=coaches").json
    assert guessed["recordsFilteredIsEstimate"] is True
    assert 0.8 < guessed["recordsFiltered"] / (RECORDS * 0.9) < 1.2
    assert guessed["recordsTotal"] == RECORDS - RECORDS // 50

    page = client.get("/admin/transit?q=coaches")
    assert "about" in page.html.select_one(".list-foot p").get_text()
    last = next(link["href"] for link in page.html.select("nav.pager a") if link.get_text() == "Last")
    end = client.get(last)
    assert [row["id"] for row in end.html.select("tbody tr")][-1] == "record-1"


def test_the_number_of_matches_of_short_words_that_go_together_is_guessed_well(filled_site: Site) -> None:
    """All are of Heathrow. PostgreSQL's planner takes them for independent, and guesses a fiftieth."""
    answer = filled_site.client().get("/admin/transit?ajax=1&q=he+at+hr+ow+lo+nd").json
    assert answer["recordsFilteredIsEstimate"] is True
    assert 0.8 < answer["recordsFiltered"] / 44_000 < 1.2


def test_a_word_within_another_makes_no_difference(filled_site: Site) -> None:
    """PostgreSQL's planner takes them for independent, and guessed a quarter."""
    client = filled_site.client()
    alone, both = (client.get("/admin/transit", {"q": q, "ajax": "1"}).json for q in ("heathrow", "he heathrow eath"))
    assert [row["id"] for row in alone["data"]] == [row["id"] for row in both["data"]]
    assert 0.8 < both["recordsFiltered"] / 44_000 < 1.2


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ({"company_name": "he"}, 90_000),
        ({"company_name": "coach", "status": "active"}, 80_000),
        ({"company_name": "mo"}, 8_000),
        ({"company_name": "airport"}, 0),
        ({"company_name": "heathrow"}, 999),
        ({"company_name": "heathrow", "q": "coaches"}, 999),
        ({"company_name": "mou", "airport_name": "airport"}, 8_000),
        ({"missing": "company_name", "airport_name": "airport"}, 0),
        ({"missing": "company_address", "airport_name": "airport"}, 98_000),
    ],
)
def test_the_number_of_matches_is_that_of_the_fields_that_are_asked_for(
    filled_site: Site, query: dict[str, str], number: int
) -> None:
    """Not of the whole texts, of which PostgreSQL's planner guesses: all are of an airport, and half of London."""
    answer = filled_site.client().get("/admin/transit", {**query, "ajax": "1"}).json
    if "recordsFilteredIsEstimate" in answer:
        assert 0.8 < answer["recordsFiltered"] / number < 1.2
    else:
        assert answer["recordsFiltered"] == number


@pytest.mark.parametrize("query", [{}, {"sort": "company_name"}, {"sort": "-status"}, {"q": "zephyrine"}])
def test_pages_join_up_to_the_whole_list(filled_site: Site, query: dict[str, str]) -> None:
    client = filled_site.client()
    with filled_site.engine.connect() as connection:
        live = text("SELECT count(*) FROM transit WHERE deleted_at IS NULL AND search_text LIKE :sought")
        number = connection.scalar(live, {"sought": f"%{query.get('q', '')}%"})
    assert client.get("/admin/transit", {**query, "ajax": "1"}).json["recordsFiltered"] == number
    for start in (0, 900, 4_000, number // 2, number - 150):
        parts = [
            row["id"]
            for at in range(max(0, start), max(0, start) + 100, 10)
            for row in client.rows("transit", **query, start=str(at), length="10")
        ]
        assert parts == [row["id"] for row in client.rows("transit", **query, start=str(max(0, start)), length="100")]


SEARCHES = [
    "limousine",
    "coaches",
    "zephyrine",
    "limousine 77",
    "coaches 9999",
    "zep limou",
    "77",
    "9",
    "%",
    "5%",
    "_",
    "東",
    "東京 9",
    "qq",
    "z",
    "zephyrine limousine 9",
    "(718) 555-0199",
    "(99",
    "ph",
    "wk xw",
    "he wk",
    "--",
    "% limousine",
]
SORTS = {"": "id DESC", "company_name": "company_name {c}, id", "-created_at": "created_at DESC, id DESC"}


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("code", ["", "JFK"])
def test_searches_find_what_a_plain_scan_finds(
    filled_site: Site, monkeypatch: pytest.MonkeyPatch, sort: str, code: str
) -> None:
    """Whichever way the size of the answer calls for: rows, order, and the number where it is no estimate."""
    monkeypatch.setattr(time_limit, "SEARCH_SECONDS", 60)
    client = filled_site.client()
    collate = 'COLLATE "C"' if filled_site.engine.dialect.name == "postgresql" else ""
    for q in SEARCHES:
        words = {f"w{number}": like_pattern(word) for number, word in enumerate(q.split())}
        holds = " AND ".join(f"search_text LIKE :{name} ESCAPE '\\'" for name in words)
        at = f"AND airport_code = '{code}'" if code else ""
        scan = (
            f"SELECT id FROM transit WHERE deleted_at IS NULL AND {holds} {at} ORDER BY {SORTS[sort].format(c=collate)}"
        )
        with filled_site.engine.connect() as connection:
            expected = connection.scalars(text(scan), words).all()
        for page_no in ("1", "2", "last"):
            query = {"ajax": "1", "q": q, "sort": sort, "airport_code": code, "page_no": page_no}
            answer = client.get("/admin/transit", query).json
            assert "truncated" not in answer
            start = 25 * (int(page_no) - 1) if page_no != "last" else max(0, len(expected) - 1) // 25 * 25
            if "recordsFilteredIsEstimate" in answer:
                assert len(expected) > 10_000, q
                start = start if page_no != "last" else len(expected) - 25
            else:
                assert answer["recordsFiltered"] == len(expected), q
            assert [row["id"] for row in answer["data"]] == expected[start : start + 25], (q, page_no)


def test_a_search_that_takes_too_long_answers_with_what_it_found(
    filled_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_limit, "SEARCH_SECONDS", 0)
    monkeypatch.setattr(time_limit, "EXTRA_SECONDS", 0)
    client = filled_site.client()

    answer = client.get("/admin/transit?ajax=1&q=us&sort=company_name")
    assert (answer.status_int, answer.json["truncated"]) == (200, True)
    # None, or what PostgreSQL's shortest limit, 10 ms, is enough for.
    assert all("us" in f"{row['airport_name']} {row['company_name']}".lower() for row in answer.json["data"])
    assert answer.json["recordsTotal"] == RECORDS - RECORDS // 50
    page = client.get("/admin/transit?q=us&sort=company_name")
    assert "Narrow your search" in page.html.find(id="list-truncated").get_text()
    assert not page.html.find(id="list-truncated").has_attr("hidden")
    assert client.get("/admin/transit?ajax=1").json["data"]  # the connection is as it was


@pytest.mark.parametrize("q", ["%", "qq", "9", "% limousine"])
def test_a_short_word_is_never_looked_for_in_the_whole_index(filled_site: Site, q: str) -> None:
    """PostgreSQL would read all of it for a word without a piece of three characters, and could not be stopped."""
    client = filled_site.client()
    for sort in ("", "company_name"):
        with statements(filled_site) as seen:
            client.get("/admin/transit", {"q": q, "sort": sort, "ajax": "1"})
        lines = [line for one in seen if "FROM transit" in one[0] for line in plan(filled_site, *one)]
        patterns = [pattern for line in lines if "Index Cond" in line for pattern in re.findall("~~ '([^']*)'", line)]
        assert [pattern for pattern in patterns if len(pattern.strip("%")) < 3] == []


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_part_of_a_text_is_cut_out_only_where_the_rest_does_not_tell(
    filled_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python does it, at the price of three rows."""
    seen, usual = [], sqlite.split_part

    def note(*given: Any) -> str | None:
        seen.append(given)
        return usual(*given)

    monkeypatch.setattr(sqlite, "split_part", note)
    filled_site.engine.dispose()
    client = filled_site.client()
    assert client.get("/admin/transit?ajax=1&airport_name=coaches").json["recordsFiltered"] == 0
    assert client.get("/admin/transit?ajax=1&company_name=airport").json["recordsFiltered"] == 0
    assert seen == []
    assert client.get("/admin/transit?ajax=1&company_name=zephyrine").json["recordsFiltered"] == 24
    assert seen
    filled_site.engine.dispose()


@pytest.fixture
def late(filled_site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """The time is over before anything was found; a last short while is left."""
    tries = itertools.count()
    usual = time_limit.Budget.limit

    @contextmanager
    def limit(self: time_limit.Budget, **more: bool) -> Iterator[None]:
        if next(tries) == 0:
            raise time_limit.OutOfTime
        with usual(self, **more):
            yield

    monkeypatch.setattr(time_limit.Budget, "limit", limit)
    monkeypatch.setattr(
        time_limit, "EXTRA_SECONDS", 10.0
    )  # short enough for people, too short for a machine that runs all tests
    return filled_site


def test_where_time_is_over_before_anything_was_found_a_short_walk_finds_something(late: Site) -> None:
    answer = late.client().get("/admin/transit?ajax=1&q=coaches&sort=-created_at").json

    assert answer["truncated"] is True
    assert (answer["recordsFiltered"], answer["recordsFilteredIsUnknown"]) == (26, True), "there is a next page"
    with late.engine.connect() as connection:
        scan = (
            "SELECT id FROM transit WHERE deleted_at IS NULL AND search_text LIKE '%coaches%' ORDER BY id DESC LIMIT 25"
        )
        assert [row["id"] for row in answer["data"]] == list(connection.scalars(text(scan)))


# Without the hundred thousand: they are gone from here on


def test_a_write_needs_few_queries(site: Site) -> None:
    """The record's own, three for the activity log, and up to seven for the pairs of possible doubles.

    There is no savepoint, and nothing is read twice. The page that tells of a save looks for doubles.
    """
    client = site.client()
    client.create("transit", company_name="Company")
    fields = {"airport_name": JFK, "company_name": "Alpha Limousine", "company_phone1": "718 244 4444"}
    address = f"/admin/transit/{client.create('transit', **fields)}"
    edit = client.rows("transit", sort="-id", length="1")[0]["actions"]["edit"]
    patterns = {
        "create": (lambda: client.post("/admin/transit", {**fields, "form_token": "one-form-and-no-other"}), 10),
        "update": (lambda: client.put(address, {**fields, "company_name": "Beta Limousine"}), 12),
        "edit": (lambda: client.get(edit), 3),
        "delete": (lambda: client.delete(address), 7),
    }
    for name, (ask, most) in patterns.items():
        with statements(site) as sent_statements:
            client.get("/admin/about")
        assert len(sent_statements) <= 2, (name, sent_statements)
        with statements(site) as seen:
            assert ask().status_int in (200, 303)
        assert len(seen) <= most, (name, seen)


def test_a_change_drops_the_pairs_of_a_record_by_indexes(site: Site) -> None:
    """However many pairs there are. SQLite prints a line for the outer table, PostgreSQL one for each."""
    client = site.client()
    address = f"/admin/transit/{client.create('transit', airport_name=JFK, company_name='Alpha')}"
    rows = "SELECT 'transit', n * 7, n * 7 + 1, 'LHR', 0, 90, 'name' FROM ({}) AS numbers"
    with site.engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            numbers = "SELECT generate_series(1, 50000) AS n"
        else:
            numbers = "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 50000) SELECT n FROM c"
        connection.exec_driver_sql(f"INSERT INTO duplicate_pair {rows.format(numbers)}")
        connection.exec_driver_sql("ANALYZE duplicate_pair")
    with statements(site) as seen:
        client.put(address, {"airport_name": JFK, "company_name": "Beta"})
    (dropped,) = (statement for statement in seen if "DELETE FROM duplicate_pair" in statement[0])
    lines = plan(site, *dropped)
    assert [line for line in lines if re.search(r"SCAN (duplicate_pair|p)\b|Seq Scan on duplicate_pair", line)] == []
    assert [line for line in lines if re.search("ix_duplicate_pair_second", line)]
