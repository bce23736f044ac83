"""Tokens on every URL of the service by every method, and hostile requests: never a 500, never HTML, never a change."""

from typing import Any
from urllib.parse import quote

import pytest

from groundtransport.cli.permissions import Endpoint, api_endpoints, endpoints
from groundtransport.security import Role
from groundtransport.web.request_guard import HEADERS
from tests.api import Program, make_token
from tests.endpoints import METHODS, Examples, facts
from tests.functional.test_api import created
from tests.site import Site

pytestmark = [pytest.mark.usefixtures("cheaply"), pytest.mark.slow]
JUNK = ["", "'", "' OR 1=1 --", "<script>", "${7*7}", "%s%n", "../..", "9" * 30, "-1", "1e309", "٣", "null", "[]", "\0"]
JUNK += ["\u202e", "𝕏" * 300, "a\u0007b", "{}", "true", 'W/"1"']
BODIES = [
    b"",
    b"{}",
    b"[]",
    b"null",
    b'{"airport_name": "x"}',
    b'{"operations": [{}]}',
    b"\xff",
    b'{"\\u0000": "\\u0000"}',
]
BODIES += [b'{"to_version": 99999999999999999999}', b'{"to_version": "1"}', b'{"to_version": true}', b"{" * 2000]


@pytest.fixture(autouse=True)
def _unlimited(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site.registry["token_leases"], "limit", 0)


class Places:
    """Fills the braces of the API's paths with records that exist."""

    def __init__(self, site: Site) -> None:
        self.editor = Program(site, make_token(site, Role.EDITOR, name="the tests' own"))

    def fill(self, url: str) -> str:
        kind = url.split("/")[3] if url.count("/") > 2 else ""
        if "{merged}" in url:
            return url.replace("{merged}", Examples(self.editor.site).merged(kind))
        if "{id}" in url or "{deleted}" in url:
            record_id = created(self.editor, kind)["id"]
            if "{deleted}" in url:
                self.editor.delete(f"/api/v1/{kind}/{record_id}", If_Match='"1"')
            url = url.replace("{id}", str(record_id)).replace("{deleted}", str(record_id))
        return url.replace("{code}", "JFK")


def body_of(endpoint: Endpoint) -> Any:
    return {} if endpoint.method in ("POST", "PUT", "PATCH") else None


def unharmed(answer: Any, *where: object) -> None:
    """Check what holds for every answer of the API."""
    assert answer.status_int < 500, (*where, answer.text)
    assert answer.content_type in ("application/json", "application/problem+json") or not answer.body, where
    assert (answer.content_type == "application/problem+json") == (answer.status_int >= 400), where
    assert all(answer.headers.getall(name) == [value] for name, value in HEADERS.items()), where
    assert "Set-Cookie" not in answer.headers, where


def test_each_cell_of_the_table_is_true_for_tokens(site: Site) -> None:
    places, requests = Places(site), 0
    programs: dict[Role | None, Program] = {role: Program(site, make_token(site, role)) for role in Role}
    programs[None] = Program(site)
    for endpoint in api_endpoints(site.registry):
        for role, program in programs.items():
            url = places.fill(endpoint.url)
            before = facts(site)
            answer = program.send(endpoint.method, url, body_of(endpoint))
            where = (endpoint, role, answer.status)
            unharmed(answer, *where)
            if role in endpoint.roles or not endpoint.permission:
                refused = (401, 403, 405) if endpoint.url.endswith("{merged}") else (401, 403, 404, 405)
                assert answer.status_int not in refused, where  # a merged record is a 404 that names its survivor
            else:
                assert answer.status_int == (403 if role else 401), where
                assert facts(site) == before, where
            requests += 1
    assert requests > 100


def test_a_token_opens_no_page_by_any_method(site: Site) -> None:
    examples, requests = Examples(site), 0
    program = Program(site, make_token(site, Role.ADMINISTRATOR))
    for endpoint in endpoints(site.registry):
        if endpoint.url.startswith("/admin"):
            url = examples.fill(endpoint.url)
            before = facts(site)
            answer = program.send(endpoint.method, url, body_of(endpoint))
            assert answer.status_int == 303, (endpoint, answer.status)
            assert answer.location.startswith("http://localhost/login?"), endpoint
            assert facts(site) == before, endpoint
            requests += 1
    assert requests > 50


def test_a_session_opens_nothing_of_the_api_by_any_method(site: Site) -> None:
    places = Places(site)
    for endpoint in api_endpoints(site.registry):
        if endpoint.permission:
            url = places.fill(endpoint.url)
            before = facts(site)
            client = site.client()
            headers = {"X-CSRF-Token": client.csrf, "If-Match": '"1"'}
            answer = client.app.request(url, method=endpoint.method, headers=headers, body=b"", expect_errors=True)
            assert answer.status_int == 401, endpoint
            assert facts(site) == before, endpoint


def test_hostile_requests_get_a_problem_and_change_nothing(site: Site) -> None:
    places, requests = Places(site), 0
    program = Program(site, make_token(site, Role.EDITOR))
    for endpoint in api_endpoints(site.registry):
        url = places.fill(endpoint.url)
        before = facts(site)
        for number, junk in enumerate(JUNK):
            query = "&".join(
                f"{name}={quote(junk)}" for name in ("q", "cursor", "limit", "sort", "after")[number % 3 :]
            )
            unharmed(program.send(endpoint.method, f"{url}?{query}", b"[]"), endpoint, query)
            header = junk if junk.isascii() and junk.isprintable() else "\u00e9"
            names = (
                "If_Match",
                "If_None_Match",
                "Idempotency_Key",
                "Prefer",
                "Accept",
                "Origin",
                "Content_Type",
                "Authorization",
            )
            unharmed(program.send(endpoint.method, url, b"[", **{names[number % len(names)]: header}), endpoint, header)
            requests += 2
        for body in BODIES:
            if endpoint.method != "GET" and "{deleted}" not in endpoint.url and not endpoint.url.endswith("restore"):
                unharmed(program.send(endpoint.method, url, body, If_Match='"7"'), endpoint, body)
        assert facts(site) == before, endpoint
    for method in (*METHODS, "OPTIONS", "TRACE"):
        unharmed(program.send(method, "/api/v1/me", b"{}"), method)
    assert requests > 500
