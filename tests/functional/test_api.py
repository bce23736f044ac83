"""The API: a record's life, conditions, preferences, repeated requests, and what bad input gets."""

import json
from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import update

from groundtransport import db
from groundtransport.accounts.tokens.models import StoredAnswer
from groundtransport.audit.integrity.verify import verify
from groundtransport.security import Role
from groundtransport.signing import keyring
from tests.api import Program, make_token
from tests.endpoints import facts
from tests.site import HEATHROW, JFK, Site

pytestmark = pytest.mark.usefixtures("cheaply")
READ_ONLY = {"id", "airport_code", "version", "validity", "verified_at", "verified_by", "created_at", "updated_at"}


@pytest.fixture
def program(site: Site) -> Program:
    """A program with the rights of an editor."""
    return Program(site, make_token(site, Role.EDITOR, name="nightly"))


def created(program: Program, kind: str = "transit", **fields: Any) -> dict[str, Any]:
    answer = program.post(f"/api/v1/{kind}", {"airport_name": JFK, "company_name": "Alpha", **fields})
    assert answer.status_int == 201, answer.text
    return answer.json


def is_problem(answer: Any, status: int) -> dict[str, Any]:
    """Return the problem details of an answer that refuses a request."""
    assert answer.status_int == status, answer.text
    assert answer.content_type == "application/problem+json"
    assert answer.json["status"] == status
    assert answer.json["title"]
    assert answer.json["detail"]
    return answer.json


# The life of a record


def test_the_life_of_a_record(site: Site, program: Program, kind: str) -> None:
    answer = program.post(f"/api/v1/{kind}", {"airport_name": "somewhere (JFK)", "company_name": "Alpha"})
    assert answer.status_int == 201
    record, url = answer.json, answer.headers["Location"]
    assert url == f"http://localhost/api/v1/{kind}/{record['id']}"
    assert answer.headers["ETag"] == '"1"'
    assert (record["airport_name"], record["airport_code"], record["version"]) == (JFK, "JFK", 1)
    assert set(record) == READ_ONLY | {*site.kinds[kind].fields, *site.kinds[kind].marks}
    assert datetime.fromisoformat(record["created_at"]).tzinfo is not None

    answer = program.patch(url, {"company_name": "Beta", "zip_code": "11430"}, If_Match='"1"')
    assert (answer.status_int, answer.headers["ETag"]) == (200, '"2"')
    answer = program.patch(url, {"zip_code": None}, If_Match='"2"')
    assert (answer.json["company_name"], answer.json["zip_code"]) == ("Beta", None)

    answer = program.put(url, {**answer.json, "company_name": "Gamma"}, If_Match='"3"')
    assert (answer.status_int, answer.json["company_name"], answer.json["version"]) == (200, "Gamma", 4)
    answer = program.put(url, {"airport_name": HEATHROW}, If_Match='"4"')
    assert (answer.json["company_name"], answer.json["airport_code"]) == (None, "LHR")

    assert program.delete(url, If_Match='"5"').status_int == 204
    is_problem(program.get(url), 404)
    answer = program.post(f"{url}/restore")
    assert (answer.status_int, answer.json["version"]) == (200, 5)
    answer = program.post(f"{url}/restore", {"to_version": 2}, If_Match='"5"')
    assert (answer.json["company_name"], answer.json["version"]) == ("Beta", 6)

    history = program.get(f"{url}/history").json["items"]
    actions = [entry["action"] for entry in history]
    assert actions == ["update", "restore", "delete", "update", "update", "update", "update", "create"]
    assert {(entry["actor"], entry["token"]) for entry in history} == {("the-editor", "nightly")}
    with db.transaction(site.engine) as dbsession:
        verify(dbsession, keyring(site.registry["settings"].audit_secrets))
    page = site.client().get(f"/admin/{kind}/{record['id']}/history").text
    assert "nightly" in page


def test_a_change_of_nothing_keeps_the_version(program: Program) -> None:
    record = created(program)
    answer = program.patch(f"/api/v1/transit/{record['id']}", {"company_name": "Alpha"}, If_Match='"1"')
    assert (answer.status_int, answer.json) == (200, record)


def test_a_preference_for_no_body_is_applied(program: Program) -> None:
    answer = program.post("/api/v1/transit", {"airport_name": JFK}, Prefer="return=minimal")
    assert (answer.status_int, answer.body) == (204, b"")
    assert answer.headers["Preference-Applied"] == "return=minimal"
    url = answer.headers["Location"]
    answer = program.patch(url, {"place": "Bay 3"}, If_Match=answer.headers["ETag"], Prefer='return="minimal"')
    assert (answer.status_int, answer.body, answer.headers["ETag"]) == (204, b"", '"2"')


def test_an_unchanged_record_is_not_sent_again(program: Program) -> None:
    url = f"/api/v1/transit/{created(program)['id']}"
    answer = program.get(url)
    assert answer.headers["Cache-Control"] == "private, no-cache"
    for tag in ('"1"', 'W/"1"', '"7", "1"', "*"):
        answer = program.get(url, If_None_Match=tag)
        assert (answer.status_int, answer.body, answer.headers["ETag"]) == (304, b"", '"1"')
    assert program.get(url, If_None_Match='"2"').status_int == 200
    is_problem(program.get(url, If_None_Match="1"), 400)


@pytest.mark.parametrize(
    ("tag", "status"),
    [(None, 428), ("*", 428), ('"2"', 412), ('W/"1"', 412), ('""', 412), ("1", 400), ('"1', 400), ('"1" "2"', 400)],
)
def test_a_write_names_the_version_that_it_replaces(site: Site, program: Program, tag: str | None, status: int) -> None:
    url = f"/api/v1/transit/{created(program)['id']}"
    before, headers = facts(site), {"If_Match": tag} if tag else {}
    for answer in (
        program.put(url, {"airport_name": JFK}, **headers),
        program.patch(url, {"place": "Bay 3"}, **headers),
        program.delete(url, **headers),
    ):
        is_problem(answer, status)
    assert facts(site) == before


# Repeated requests


def test_a_repeated_post_is_done_once_and_answered_the_same(site: Site, program: Program) -> None:
    body = {"airport_name": JFK, "company_name": "Once"}
    first = program.post("/api/v1/transit", body, Idempotency_Key='"8e03978e"')
    again = program.post("/api/v1/transit", body, Idempotency_Key='"8e03978e"')
    assert (again.status_int, again.json) == (201, first.json)
    assert [again.headers[name] for name in ("ETag", "Location")] == [
        first.headers[name] for name in ("ETag", "Location")
    ]
    assert again.headers["Idempotent-Replayed"] == "true"
    assert site.count(site.kinds["transit"].model) == 1
    is_problem(program.post("/api/v1/transit", {**body, "place": "x"}, Idempotency_Key='"8e03978e"'), 422)
    is_problem(program.post("/api/v1/scheduledbus", body, Idempotency_Key='"8e03978e"'), 422)
    other = Program(site, make_token(site, Role.EDITOR))
    assert other.post("/api/v1/transit", body, Idempotency_Key='"8e03978e"').json["id"] != first.json["id"]


def test_a_refused_post_may_be_repeated_with_the_same_key(site: Site, program: Program) -> None:
    is_problem(program.post("/api/v1/transit", {"company_name": "x"}, Idempotency_Key="k"), 422)
    assert program.post("/api/v1/transit", {"airport_name": JFK}, Idempotency_Key="k").status_int == 201
    is_problem(program.post("/api/v1/transit", {"airport_name": JFK}, Idempotency_Key="two words"), 400)


def test_an_answer_is_kept_for_a_day(site: Site, program: Program) -> None:
    body = {"airport_name": JFK}
    first = program.post("/api/v1/transit", body, Idempotency_Key="k").json
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(update(StoredAnswer).values(created_at=datetime.fromisoformat("2026-01-01T00:00:00+00:00")))
    assert program.post("/api/v1/transit", body, Idempotency_Key="k").json["id"] != first["id"]


# Who may


def test_the_role_and_the_limits_of_a_token_hold(site: Site, program: Program) -> None:
    record = created(program)
    url = f"/api/v1/transit/{record['id']}"
    viewer = Program(site, make_token(site, Role.VIEWER))
    reader = Program(site, make_token(site, Role.EDITOR, is_read_only=True))
    other = Program(site, make_token(site, Role.EDITOR, kinds=("scheduledbus",)))
    for limited in (viewer, reader):
        assert limited.get(url).status_int == 200
        is_problem(limited.post("/api/v1/transit", {"airport_name": JFK}), 403)
        is_problem(limited.delete(url, If_Match='"1"'), 403)
        is_problem(limited.post("/api/v1/bulk", {"operations": []}), 403)
    for answer in (other.get(url), other.get("/api/v1/transit"), other.get(f"{url}/history")):
        is_problem(answer, 403)
    operation = {"op": "delete", "kind": "transit", "id": record["id"], "version": 1}
    refused = is_problem(other.post("/api/v1/bulk", {"operations": [operation]}), 422)
    assert [failure["status"] for failure in refused["failures"]] == [403]
    assert other.get("/api/v1/activity").json["items"] == []
    assert other.get("/api/v1/changes").json == {**other.get("/api/v1/changes").json, "items": [], "last": 1}
    assert other.get("/api/v1/me").json["token"]["kinds"] == ["scheduledbus"]
    assert len(site.events("denied")) == 9


# Bad input


BODIES = [
    (b"", 400),
    (b"{", 400),
    (b"nonsense", 400),
    (b"\xff\xfe{}", 400),
    (b"\xef\xbb\xbf{}", 400),
    (b'{"company_name": "\\ud800"}', 400),
    (b'{"company_name": NaN}', 400),
    (b'{"company_name": -Infinity}', 400),
    (b'{"company_name": 1e999}', 400),
    (b'{"company_name": ' + b"9" * 5000 + b"}", 400),
    (b'{"company_name": "a", "company_name": "b"}', 400),
    (b'{"place": ' + b"[" * 100 + b"]" * 100 + b"}", 400),
    (b"[" * 100_000, 400),
    (b"[]", 422),
    (b'"text"', 422),
    (b"null", 422),
    (b"12", 422),
]


@pytest.mark.parametrize(("body", "status"), BODIES, ids=[str(number) for number in range(len(BODIES))])
def test_a_bad_body_is_refused(site: Site, program: Program, body: bytes, status: int) -> None:
    url, before = f"/api/v1/transit/{created(program)['id']}", facts(site)
    for method, path in (("POST", "/api/v1/transit"), ("PUT", url), ("PATCH", url), ("POST", "/api/v1/bulk")):
        is_problem(program.send(method, path, body, If_Match='"1"'), status)
        assert facts(site) == before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("colour", "red"),
        ("deleted_at", None),
        ("search_text", "x"),
        ("form_token", "x"),
        ("airport_id", 1),
        ("id", 1),
        ("version", "1"),
        ("created_at", "2026-11-23T00:00:00Z"),
        ("company_name", 12),
        ("company_name", ["a"]),
        ("company_name", {"a": 1}),
        ("company_name", True),
        ("company_name", "x" * 201),
        ("company_name", "a\0b"),
        ("company_name", "a\nb"),
        ("company_phone1", "call us"),
        ("company_link", "javascript:alert(1)"),
        ("status", "Active"),
        ("status", "open"),
        ("state", "Nowhere"),
        ("airport_name", "Nowhere (XXX)"),
        ("airport_name", None),
        ("airport_name", 5),
    ],
)
def test_a_bad_member_is_named(site: Site, program: Program, name: str, value: Any) -> None:
    record = created(program)
    url, before = f"/api/v1/transit/{record['id']}", facts(site)
    if name == "id":
        value = record["id"] + 1
    whole = {"airport_name": JFK, name: value}
    answers = [program.post("/api/v1/transit", whole), program.put(url, whole, If_Match='"1"')]
    for answer in [*answers, program.patch(url, {name: value}, If_Match='"1"')]:
        assert list(is_problem(answer, 422)["errors"]) == [name]
    operations = [{"op": "create", "kind": "transit", "values": whole}]
    refused = is_problem(program.post("/api/v1/bulk", {"operations": operations}), 422)
    assert list(refused["failures"][0]["errors"]) == [name]
    assert facts(site) == before


def test_an_unknown_parameter_of_the_url_is_named(site: Site, program: Program) -> None:
    """A program that misspells a parameter must not get all records, or a change without its condition."""
    url, body = f"/api/v1/transit/{created(program)['id']}", {"airport_name": JFK}
    before = facts(site)
    answers = [
        program.get("/api/v1/me?colour=1"),
        program.get(f"{url}?colour=1"),
        program.get(f"{url}?colour=1&colour=2"),
    ]
    answers += [program.post("/api/v1/transit?colour=1", body), program.put(f"{url}?colour=1", body, If_Match='"1"')]
    answers += [program.delete(f"{url}?colour=1", If_Match='"1"'), program.post("/api/v1/bulk?colour=1", {})]
    for answer in answers:
        assert list(is_problem(answer, 422)["errors"]) == ["colour"]
    assert facts(site) == before


def test_every_bad_member_is_named_at_once(program: Program) -> None:
    answer = program.post("/api/v1/transit", {"colour": 1, "size": 2})
    assert set(is_problem(answer, 422)["errors"]) == {"colour", "size"}
    answer = program.post("/api/v1/transit", {"company_phone1": "x y", "company_link": "ftp://a.b"})
    assert set(is_problem(answer, 422)["errors"]) == {"airport_name", "company_phone1", "company_link"}


def test_other_types_than_json_are_refused(site: Site, program: Program) -> None:
    url = f"/api/v1/transit/{created(program)['id']}"
    for kind in ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "text/json"):
        is_problem(program.post("/api/v1/transit", b"airport_name=x&_method=DELETE", Content_Type=kind), 415)
        is_problem(program.put(url, b"{}", Content_Type=kind, If_Match='"1"'), 415)
    is_problem(program.post("/api/v1/transit", {"airport_name": JFK}, Content_Encoding="gzip"), 415)
    for accept in ("text/html", "image/png", "application/json;q=0"):
        is_problem(program.get(url, Accept=accept), 406)
    for accept in ("*/*", "application/*", "text/html, application/json;q=0.1", "application/problem+json"):
        assert program.get(url, Accept=accept).status_int == 200


def test_a_body_that_is_too_large_is_refused(site: Site, program: Program) -> None:
    body = json.dumps({"airport_name": JFK, "company_name": "x" * 10_000_000}).encode()
    is_problem(program.post("/api/v1/transit", body), 413)
    is_problem(Program(site).post("/api/v1/transit", body), 413)


def test_paths_that_lead_nowhere(program: Program) -> None:
    for path in ("/api", "/api/", "/api/v1", "/api/v2/transit", "/api/v1/", "/api/v1/plane", "/api/v1/users"):
        is_problem(program.get(path), 404)
    for number in ("9" * 30, "0", "-1", "1.5", "%D9%A3", "1%00", "x", "99999999"):
        is_problem(program.get(f"/api/v1/transit/{number}"), 404)
        is_problem(program.delete(f"/api/v1/transit/{number}", If_Match='"1"'), 404)
    is_problem(program.get("/api/v1/transit/%ff"), 400)
    for path in ("/api/v1/transit/create", "/api/v1/transit/1/edit", "/api/v1/transit/similar", "/api/v1/profile"):
        is_problem(program.get(path), 404)
    number = created(program)["id"]
    for path in ("me/x", "changes/x", f"transit/{number}/history/2", "airports/JFK/cities/x", "openapi.json/x"):
        is_problem(program.get(f"/api/v1/{path}"), 404)
    is_problem(program.post(f"/api/v1/transit/{number}/verify/x", None, If_Match='"1"'), 404)
    assert program.get(f"/api/v1/transit/{number}").json["verified_at"] is None


def test_other_methods_get_405_and_those_that_there_are(program: Program) -> None:
    url = f"/api/v1/transit/{created(program)['id']}"
    answer = program.post(url, {})
    is_problem(answer, 405)
    assert answer.headers["Allow"] == "DELETE, GET, HEAD, PATCH, PUT"
    is_problem(program.put("/api/v1/transit", {}), 405)
    is_problem(program.post("/api/v1/me", {}), 405)


def test_the_same_source_twice_is_a_conflict(site: Site, program: Program) -> None:
    created(program, source="operator", source_id="7")
    before = facts(site)
    is_problem(program.post("/api/v1/transit", {"airport_name": JFK, "source": "operator", "source_id": "7"}), 409)
    assert facts(site) == before


# CORS


def test_no_other_origin_may_call_the_api_unless_the_ini_names_it(site: Site, program: Program) -> None:
    asked = {"Origin": "https://www.example.org", "Access_Control_Request_Method": "GET"}
    assert "Access-Control-Allow-Origin" not in program.get("/api/v1/me", Origin="https://www.example.org").headers
    assert "Access-Control-Allow-Origin" not in Program(site).send("OPTIONS", "/api/v1/me", **asked).headers


def test_an_origin_of_the_ini_may_call_the_api(site: Site) -> None:
    other = Site.__new__(Site)
    other.app_settings = {**site.app_settings, "groundtransport.api_origins": "https://www.example.org"}
    other.start()
    program = Program(other, make_token(site, Role.VIEWER))
    asked = {"Origin": "https://www.example.org", "Access_Control_Request_Method": "GET"}
    preflight = Program(other).send("OPTIONS", "/api/v1/me", **asked)
    assert preflight.status_int == 204
    assert "Authorization" in preflight.headers["Access-Control-Allow-Headers"]
    answer = program.get("/api/v1/me", Origin="https://www.example.org")
    assert answer.headers["Access-Control-Allow-Origin"] == "https://www.example.org"
    assert "Access-Control-Allow-Credentials" not in answer.headers
    assert "Access-Control-Allow-Origin" not in program.get("/api/v1/me", Origin="https://evil.example").headers
    other.engine.dispose()
