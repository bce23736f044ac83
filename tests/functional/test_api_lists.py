"""Lists of the API: searches, filters, orders, pages, bulk requests, reference data and the feed of changes."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import event

from groundtransport import db
from groundtransport.audit.integrity.maintenance import archive
from groundtransport.db import deadline
from groundtransport.records.list import counters
from groundtransport.security import Role
from groundtransport.signing import keyring
from tests.api import Program, make_token
from tests.endpoints import facts
from tests.functional.test_api import created, is_problem
from tests.site import HEATHROW, JFK, Site

pytestmark = pytest.mark.usefixtures("cheaply")


@pytest.fixture
def program(site: Site) -> Program:
    return Program(site, make_token(site, Role.EDITOR, name="nightly"))


def fill(program: Program, number: int, kind: str = "transit") -> list[int]:
    """Create records, every other at Heathrow, and return their ids."""
    airports = (JFK, HEATHROW)
    operations = [
        {"op": "create", "kind": kind, "values": {"airport_name": airports[n % 2], "company_name": f"Line {n % 7}"}}
        for n in range(number)
    ]
    answer = program.post("/api/v1/bulk", {"operations": operations})
    assert answer.status_int == 200, answer.text
    return [result["id"] for result in answer.json["results"]]


def read_all(program: Program, path: str) -> list[dict[str, Any]]:
    items, url = [], path
    while url:
        answer = program.get(url)
        assert answer.status_int == 200, answer.text
        items += answer.json["items"]
        url = answer.json["next"]
        assert ("Link" in answer.headers) is bool(url)
    return items


# Pages


@pytest.mark.parametrize(
    "query", ["", "sort=company_name", "sort=-company_name", "sort=-updated_at", "q=line", "q=line+3&sort=city"]
)
@pytest.mark.parametrize("limit", [1, 7, 30, 1000])
def test_the_pages_together_are_the_list_of_the_pages_for_people(
    site: Site, program: Program, query: str, limit: int
) -> None:
    if limit == 1 and "company" in query:
        query += "&q=3"
    fill(program, 29)
    items = read_all(program, f"/api/v1/transit?limit={limit}&{query}")
    shown = site.client().get(f"/admin/transit?ajax=1&length=100&{query}").json["data"]
    assert [item["id"] for item in items] == [row["id"] for row in shown]
    assert program.get(f"/api/v1/transit?limit={limit}&{query}").json["total"] == len(items)


def test_a_page_goes_on_behind_a_record_that_was_deleted(site: Site, program: Program) -> None:
    ids = fill(program, 9)
    first = program.get("/api/v1/transit?limit=3&sort=id").json
    program.delete(f"/api/v1/transit/{ids[2]}", If_Match='"1"')
    program.delete(f"/api/v1/transit/{ids[0]}", If_Match='"1"')
    assert [item["id"] for item in program.get(first["next"]).json["items"]] == ids[3:6]
    deleted = read_all(program, "/api/v1/transit?deleted=1&limit=1")
    assert [item["id"] for item in deleted] == [ids[0], ids[2]]
    assert deleted[0]["deleted_by"] == "the-editor"


@pytest.mark.parametrize("limit", [3, 100])
def test_a_record_that_is_created_while_a_list_is_read_hides_no_other(
    site: Site, program: Program, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    ids = fill(program, 3)
    fetch = counters.fetch_counts

    def fetch_and_create(*given: Any) -> tuple[int, int]:
        monkeypatch.setattr(counters, "fetch_counts", fetch)
        numbers = fetch(*given)
        fill(program, 1)
        return numbers

    monkeypatch.setattr(counters, "fetch_counts", fetch_and_create)
    found = {row["id"] for row in read_all(program, f"/api/v1/transit?limit={limit}")}
    assert found >= set(ids)
    assert len(program.get("/api/v1/transit").json["items"]) == 4


def test_filters_have_the_names_of_the_list(program: Program, site: Site) -> None:
    fill(program, 4)
    for query, number in (("airport_code=LHR", 2), ("status=active", 4), ("company_name=line+1", 1), ("q=jfk", 2)):
        assert program.get(f"/api/v1/transit?{query}").json["total"] == number, query
    assert program.get("/api/v1/transit?missing=company_phone").json["total"] == 4


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("colour=red", "colour"),
        ("page_no=2", "page_no"),
        ("ajax=1", "ajax"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=ten", "limit"),
        ("limit=", "limit"),
        ("sort=", "sort"),
        ("cursor=", "cursor"),
        ("limit=" + "9" * 30, "limit"),
        ("limit=5&limit=6", "limit"),
        ("sort=nothing", "sort"),
        ("sort=search_text", "sort"),
        ("status=open", "status"),
        ("deleted=yes", "deleted"),
        ("missing=all", "missing"),
        ("q=" + "x" * 1001, "q"),
        ("cursor=x", "cursor"),
        ("cursor=" + "A" * 80, "cursor"),
        ("cursor=%C3%A9", "cursor"),
    ],
)
def test_a_bad_parameter_is_named(program: Program, query: str, name: str) -> None:
    assert list(is_problem(program.get(f"/api/v1/transit?{query}"), 422)["errors"]) == [name]


def test_a_cursor_of_another_query_is_refused(program: Program) -> None:
    fill(program, 6)
    url = program.get("/api/v1/transit?limit=2&sort=company_name").json["next"]
    cursor = parse_qs(urlsplit(url).query)["cursor"][0]
    assert program.get(f"/api/v1/transit?sort=company_name&limit=5&cursor={cursor}").status_int == 200
    for path in (
        "transit?",
        "transit?sort=-company_name&",
        "transit?sort=company_name&q=x&",
        "scheduledbus?sort=company_name&",
    ):
        is_problem(program.get(f"/api/v1/{path}cursor={cursor}"), 422)
    changed = ("B" if cursor[30] == "A" else "A").join((cursor[:30], cursor[31:]))
    is_problem(program.get(f"/api/v1/transit?sort=company_name&cursor={changed}"), 422)


# Bulk


def test_a_bulk_request_is_one_batch(site: Site, program: Program) -> None:
    ids = fill(program, 4)
    operations = [
        {"op": "update", "kind": "transit", "id": ids[0], "version": 1, "values": {"place": "Bay 1"}},
        {"op": "update", "kind": "transit", "id": ids[0], "version": 2, "values": {"place": "Bay 2"}},
        {"op": "replace", "kind": "transit", "id": ids[1], "version": 1, "values": {"airport_name": JFK}},
        {"op": "delete", "kind": "transit", "id": ids[2], "version": 1},
        {"op": "create", "kind": "scheduledbus", "values": {"airport_name": JFK}},
        {"op": "restore", "kind": "transit", "id": ids[2]},
    ]
    answer = program.post("/api/v1/bulk", {"operations": operations}, Idempotency_Key="b")
    assert answer.status_int == 200, answer.text
    assert [result["version"] for result in answer.json["results"]] == [2, 3, 2, 1, 1, 1]
    assert site.row("transit", ids[0])["place"] == "Bay 2"
    batch = [entry for entry in site.entries() if entry["batch"] == answer.json["batch"]]
    assert len(batch) == 6
    assert {entry["token"] for entry in batch} == {"nightly"}
    assert program.post("/api/v1/bulk", {"operations": operations}, Idempotency_Key="b").json == answer.json


def test_a_bulk_request_is_done_as_a_whole_or_not_at_all(site: Site, program: Program) -> None:
    ids = fill(program, 3)
    program.delete(f"/api/v1/transit/{ids[2]}", If_Match='"1"')
    good = {"op": "delete", "kind": "transit", "id": ids[0], "version": 1}
    bad: list[tuple[dict[str, Any], int]] = [
        ({"op": "delete", "kind": "transit", "id": ids[1], "version": 2}, 412),
        ({"op": "update", "kind": "transit", "id": 10**18, "version": 1, "values": {}}, 404),
        ({"op": "update", "kind": "transit", "id": 10**30, "version": 1, "values": {}}, 404),
        ({"op": "delete", "kind": "transit", "id": ids[2], "version": 1}, 404),
        ({"op": "restore", "kind": "transit", "id": ids[1]}, 409),
        ({"op": "create", "kind": "transit", "values": {"airport_name": "x"}}, 422),
    ]
    before = facts(site)
    answer = program.post("/api/v1/bulk", {"operations": [good, *(operation for operation, _ in bad)]})
    failures = is_problem(answer, 422)["failures"]
    assert [(failure["index"], failure["status"]) for failure in failures] == [
        (number, status) for number, (_, status) in enumerate(bad, 1)
    ]
    assert facts(site) == before


@pytest.mark.parametrize(
    "operations",
    [
        None,
        [],
        {},
        "x",
        [1],
        [{}],
        [{"op": "purge", "kind": "transit", "id": 1}],
        [{"op": ["delete"], "kind": "transit"}],
        [{"op": "delete", "kind": "plane", "id": 1, "version": 1}],
        [{"op": "delete", "kind": {}, "id": 1, "version": 1}],
        [{"op": "delete", "kind": "transit", "id": "1", "version": 1}],
        [{"op": "delete", "kind": "transit", "id": True, "version": 1}],
        [{"op": "delete", "kind": "transit", "id": 1}],
        [{"op": "create", "kind": "transit", "values": []}],
        [{"op": "create", "kind": "transit", "values": {}, "id": 1}],
        [{"op": "delete", "kind": "transit", "id": 1, "version": 1}] * 1001,
    ],
)
def test_a_bulk_request_of_the_wrong_form_is_refused(program: Program, operations: Any) -> None:
    assert is_problem(program.post("/api/v1/bulk", {"operations": operations}), 422)["errors"]


def test_a_thousand_operations_are_done_at_once(site: Site, program: Program) -> None:
    ids = fill(program, 1000)
    assert len(set(ids)) == 1000
    operations = [
        {"op": "update", "kind": "transit", "id": key, "version": 1, "values": {"company_name": "Zebra"}} for key in ids
    ]
    assert program.post("/api/v1/bulk", {"operations": operations}).status_int == 200
    assert len(read_all(program, "/api/v1/transit?limit=1000&q=zebra")) == 1000


def test_only_a_bulk_request_gets_more_time_of_the_database_up_to_its_commit(site: Site, program: Program) -> None:
    seconds: list[float] = []
    budget = site.registry["settings"].request_budget
    operation = {"op": "create", "kind": "transit", "values": {"airport_name": JFK}}

    def note(connection: object) -> None:
        seconds.append(deadline.left())

    event.listen(site.engine, "commit", note)
    try:
        assert program.post("/api/v1/transit", operation["values"]).status_int == 201
        assert max(seconds) <= budget
        assert program.post("/api/v1/bulk", {"operations": [operation]}).status_int == 200
        assert budget < max(seconds) <= db.BULK_BUDGET
    finally:
        event.remove(site.engine, "commit", note)


# Reference data and the log


def test_airports_cities_and_states(program: Program) -> None:
    assert program.get("/api/v1/airports/jfk").json["airport_name"] == JFK
    assert program.get("/api/v1/airports/KJFK").json["code"] == "JFK"
    assert program.get("/api/v1/airports?q=heathrow").json["items"][0]["code"] == "LHR"
    codes = [airport["code"] for airport in read_all(program, "/api/v1/airports?limit=1000")]
    assert len(codes) > 7000
    assert codes == sorted(set(codes))
    assert "New York" in str(program.get("/api/v1/airports/JFK/cities").json["items"])
    assert {"code": "US-NY", "name": "New York"} in program.get("/api/v1/airports/JFK/states").json["items"]
    is_problem(program.get("/api/v1/airports/XXXX"), 404)


def test_the_activity_log_and_its_filters(program: Program) -> None:
    fill(program, 5)
    created(program, "scheduledbus")
    assert [entry["id"] for entry in read_all(program, "/api/v1/activity?limit=2")] == [6, 5, 4, 3, 2, 1]
    assert len(read_all(program, "/api/v1/activity?kind=transit&limit=2")) == 5
    is_problem(program.get("/api/v1/activity?from=yesterday"), 422)
    is_problem(program.get("/api/v1/activity?record_id=x"), 422)
    is_problem(program.get("/api/v1/activity?record_id=%201"), 422)  # no other number of the API takes a blank


# The feed


def test_the_feed_gives_each_change_once_in_order_with_the_record_as_it_is(program: Program) -> None:
    assert program.get("/api/v1/changes").json["items"] == []
    ids = fill(program, 5)
    program.patch(f"/api/v1/transit/{ids[0]}", {"place": "Bay 3"}, If_Match='"1"')
    program.delete(f"/api/v1/transit/{ids[1]}", If_Match='"1"')
    seen, after = [], 0
    while True:
        page = program.get(f"/api/v1/changes?after={after}&limit=3").json
        if not page["items"]:
            break
        seen += page["items"]
        after = page["last"]
    assert [item["id"] for item in seen] == [1, 2, 3, 4, 5, 6, 7]
    assert seen[0]["record"]["place"] == "Bay 3"
    assert seen[1]["record"] is None
    assert seen[0]["changes"]["company_name"] == {"old": None, "new": "Line 0"}


def test_a_number_that_the_feed_has_not_reached_is_refused(program: Program) -> None:
    fill(program, 2)
    assert program.get("/api/v1/changes?after=2").json["last"] == 2
    for after in ("3", "9" * 30, "-1", "x", "1.0"):
        is_problem(program.get(f"/api/v1/changes?after={after}"), 422)


def test_an_archived_part_of_the_feed_is_gone(site: Site, program: Program) -> None:
    fill(program, 3)
    with db.transaction(site.engine) as dbsession:
        archive(dbsession, keyring(site.registry["settings"].audit_secrets), datetime.now(UTC), lambda line: None)
    fill(program, 1)
    assert is_problem(program.get("/api/v1/changes"), 410)["first"] == 4
    assert is_problem(program.get("/api/v1/changes?after=2"), 410)["first"] == 4
    assert [item["id"] for item in program.get("/api/v1/changes?after=3").json["items"]] == [4]
