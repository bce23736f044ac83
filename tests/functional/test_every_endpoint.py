"""Hostile requests to every URL by every method: never a 500, never a change, and all security headers."""

from collections.abc import Callable
from itertools import product
from typing import Any
from urllib.parse import quote

import pytest

from groundtransport.cli.permissions import Endpoint, endpoints
from groundtransport.web.request_guard import HEADERS
from tests.endpoints import FORM, METHODS, Examples, ask, facts
from tests.site import JFK, Client, Site

# Signing out is fair; it would only take the client from the test.
LEFT_OUT = ("/logout",)
JUNK = [
    "",
    "'",
    "' OR 1=1 --",
    '"><script>alert(1)</script>',
    "{{7*7}}",
    "${7*7}",
    "%s%s%n",
    "../../etc/passwd",
    "\\..\\..",
    "\r\nSet-Cookie: evil=1",
    "http://evil.example/",
    "//evil.example",
    "javascript:alert(1)",
    "-1",
    "9" * 30,
    "9223372036854775808",
    "1e309",
    "NaN",
    "٣",
    "null",
    "[]",
    "\u202e\u200b",
    "𝕏" * 300,
    "\u0000",
    "a\u0007b",
    "\ud7ff\uffff",
]
QUERY = ["q", "sort", "page_no", "page_size", "key", "ajax", "id", "airport", "next", "version", "airport_code"]
QUERY += [
    "draw",
    "start",
    "length",
    "order[0][column]",
    "order[0][dir]",
    "columns[0][data]",
    "search[value]",
    "deleted",
]
FIELDS = ["airport_name", "company_name", "status", "company_link", "version", "form_token", "list_state", "_method"]
FIELDS += ["to_version", "username", "password", "current", "repeated", "next", "id", "deleted_at", "csrf_token"]
HEADER_NAMES = [
    "Accept",
    "Referer",
    "Cookie",
    "If_None_Match",
    "If_Modified_Since",
    "Range",
    "X_Request_Id",
    "Accept_Language",
]
HEADER_NAMES += ["X_HTTP_Method_Override", "X_Forwarded_Host", "X_Original_URL", "Content_Language", "User_Agent"]
ODD = ["\u00e9", "x" * 4000, "*/*;q=2, ;;,", "bytes=9-1", "' OR 1=1", "http://evil.example/"]
BOUNDARY = "xyzzy"
JSON_TYPES = ("application/json", "application/problem+json")  # always UTF-8 (RFC 8259)


pytestmark = [pytest.mark.usefixtures("cheaply"), pytest.mark.slow]


def all_endpoints(site: Site) -> list[Endpoint]:
    return [endpoint for endpoint in endpoints(site.registry) if endpoint.url not in LEFT_OUT]


def unharmed(answer: Any, *where: object) -> None:
    """What must be true of every answer."""
    assert answer.status_int < 500, (*where, answer.status)
    assert answer.location is None or answer.location.startswith("http://localhost/"), (*where, answer.location)
    for name, value in HEADERS.items():
        assert answer.headers.getall(name) == [value], (*where, name)
    assert answer.headers["Cache-Control"] == "no-store", where
    assert "Server" not in answer.headers, where
    cookies = answer.headers.getall("Set-Cookie")
    assert all(cookie.startswith(("groundtransport=", "groundtransport-")) for cookie in cookies), (*where, cookies)
    assert all("HttpOnly" in cookie and "SameSite=Lax" in cookie and "Domain" not in cookie for cookie in cookies)
    assert "Traceback" not in answer.text, where


def test_every_answer_to_anybody_carries_every_header(site: Site) -> None:
    examples, asked = Examples(site), 0
    for endpoint, client in product(all_endpoints(site), (site.anonymous(), site.client())):
        address = examples.fill(endpoint.url)
        for accept in ("text/html", "application/json"):
            unharmed(ask(client, endpoint.method, address, Accept=accept), endpoint, accept)
            unharmed(ask(client, "PATCH", address, Accept=accept), endpoint, accept)
            asked += 2
    for address in (
        "/nope",
        "/admin/nope",
        "/admin/transit/0",
        "/static/nope.css",
        "/static",
        "/favicon.ico",
        "/.git/config",
    ):
        unharmed(ask(site.client(), "GET", address), address)
    assert asked > 250


def test_over_https_every_answer_demands_https_for_a_year(site: Site) -> None:
    examples = Examples(site)
    https = {"wsgi.url_scheme": "https", "HTTP_HOST": "localhost"}
    for endpoint in all_endpoints(site):
        address = examples.fill(endpoint.url)
        answer = site.anonymous().app.request(address, method=endpoint.method, environ=dict(https), expect_errors=True)
        assert "max-age=31536000" in answer.headers["Strict-Transport-Security"], endpoint
        assert answer.location is None or answer.location.startswith("https://localhost/"), endpoint
        for cookie in answer.headers.getall("Set-Cookie"):
            assert cookie.startswith("__Host-groundtransport"), cookie
            assert {"Path=/", "secure", "HttpOnly", "SameSite=Lax"} <= set(cookie.split("; ")), cookie
            assert "Domain" not in cookie


def test_every_answer_names_its_type_and_charset(site: Site, client: Client) -> None:
    examples = Examples(site)
    for endpoint in all_endpoints(site):
        answer = ask(client, endpoint.method, examples.fill(endpoint.url))
        client = site.client() if endpoint.method != "GET" else client
        kind = answer.headers.get("Content-Type", "")
        assert not answer.body or "charset=utf-8" in kind.lower() or kind in JSON_TYPES, (endpoint, kind)


def test_signing_out_clears_what_the_browser_kept(client: Client) -> None:
    answer = client.post("/logout")

    assert answer.headers["Clear-Site-Data"] == '"storage"'
    removed = answer.headers["Set-Cookie"]
    assert removed.startswith("groundtransport=;")
    assert {"Max-Age=0", "Path=/", "HttpOnly", "SameSite=Lax"} <= set(removed.split("; "))
    assert "Clear-Site-Data" not in client.get("/login").headers


# Writes that must be refused, each in a way of its own


def form(**fields: str) -> bytes:
    return "&".join(f"{name}={quote(value)}" for name, value in fields.items()).encode()


GOOD = form(airport_name=JFK, company_name="Evil", to_version="1")
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"


def file_in_place_of(name: str) -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"; filename="evil.txt"\r\n\r\n'
    return f"{head}text\r\n--{BOUNDARY}--\r\n".encode()


FORGERIES: dict[str, Callable[[Client, str, str], Any]] = {
    "no token": lambda c, m, a: ask(c, m, a, GOOD, X_CSRF_Token=""),
    "a foreign token": lambda c, m, a: ask(c, m, a, GOOD, X_CSRF_Token=c.site.client().csrf),
    "a token in the query": lambda c, m, a: ask(c, m, f"{a}?csrf_token={c.csrf}", GOOD, X_CSRF_Token=""),
    "a token that is no text": lambda c, m, a: ask(c, m, a, GOOD, X_CSRF_Token="\u00e9"),
    "another origin": lambda c, m, a: ask(c, m, a, GOOD, Origin="https://evil.example"),
    "a look-alike origin": lambda c, m, a: ask(c, m, a, GOOD, Origin="http://localhost.evil.example"),
    "no origin to speak of": lambda c, m, a: ask(c, m, a, GOOD, Origin="null"),
    "another host": lambda c, m, a: ask(c, m, a, GOOD, Host="evil.example"),
    "a host with a tail": lambda c, m, a: ask(c, m, a, GOOD, Host="localhost:80@evil.example"),
    "a broken body": lambda c, m, a: ask(c, m, a, GOOD + b"&place=%ff"),
    "a broken query": lambda c, m, a: ask(c, m, f"{a}?x=%ff", GOOD),
    "another charset": lambda c, m, a: ask(
        c, m, a, GOOD, Content_Type="application/x-www-form-urlencoded; charset=utf-7"
    ),
    "a packed body": lambda c, m, a: ask(c, m, a, GOOD, Content_Encoding="gzip"),
    "a body without end": lambda c, m, a: ask(c, m, a, b"airport_name=" + b"x" * (2 * 1024 * 1024)),
}


def test_no_forged_write_gets_in_anywhere(site: Site) -> None:
    examples, asked = Examples(site), 0
    for endpoint in all_endpoints(site):
        if endpoint.method == "GET":
            continue
        address = examples.fill(endpoint.url)
        before = facts(site)
        known = site.client()
        for number, (name, forged) in enumerate(FORGERIES.items()):
            for client in (known, site.anonymous())[: 2 if number % 5 == 0 else 1]:
                answer = forged(client, endpoint.method, address)
                unharmed(answer, endpoint, name)
                signed_out = answer.status_int == 303 and answer.location.startswith("http://localhost/login?")
                assert answer.status_int in (400, 413, 415) or signed_out, (endpoint, name, answer.status)
                asked += 1
        assert facts(site) == before, endpoint
    assert asked > 250


def test_junk_in_every_field_of_every_write_is_no_error_of_ours(site: Site) -> None:
    examples, asked = Examples(site), 0
    client = site.client()
    token, before = client.csrf, facts(site)
    for endpoint, (number, name) in product(all_endpoints(site), enumerate(FIELDS)):
        if endpoint.method == "GET":
            continue
        junk, other = JUNK[number % len(JUNK)], JUNK[(number * 7 + len(endpoint.url)) % len(JUNK)]
        bodies = [
            (form(**{"airport_name": JFK, name: junk}), FORM),
            (GOOD + f"&{name}=a&{name}=b".encode(), FORM),
            (form(**{name: other}), FORM),
            (file_in_place_of(name), MULTIPART),
        ]
        for body, kind in bodies[number % 4 :: 4]:
            address = examples.fill(endpoint.url)
            before = facts(site) if "{" in endpoint.url else before
            answer = ask(client, endpoint.method, address, body, Content_Type=kind, X_CSRF_Token=token)
            unharmed(answer, endpoint, body)
            after = facts(site)
            # A new one-time password is the one write that a page answers (decision 21).
            is_done = answer.status_int == 303 or (answer.status_int == 200 and endpoint.permission == "users")
            assert is_done or after == before, (endpoint, body, answer.status)
            assert "/login" not in (answer.location or ""), "the session is gone"
            asked, before = asked + 1, after
    assert asked > 250


def test_junk_in_every_query_is_no_error_of_ours_and_writes_nothing(site: Site, client: Client) -> None:
    examples, asked = Examples(site), 0
    for endpoint in all_endpoints(site):
        if endpoint.method != "GET":
            continue
        address = examples.fill(endpoint.url)
        before = facts(site)
        for number, junk in enumerate(JUNK):
            names = [QUERY[(number + step) % len(QUERY)] for step in (0, 5, 11)]
            query = "&".join(f"{name}={quote(junk)}" for name in names)
            whole = (query, f"{query}&{names[0]}=again", f"ajax=1&{query}")[number % 3]
            unharmed(ask(client, "GET", f"{address}?{whole}"), endpoint, whole)
            asked += 1
        for number, name in enumerate(HEADER_NAMES):
            value = ODD[(number + len(endpoint.url)) % len(ODD)]
            fresh = site.client() if name == "Cookie" else client
            unharmed(ask(fresh, "GET", address, **{name: value}), endpoint, name, value)
            asked += 1
        assert facts(site) == before, endpoint
    assert asked > 500


def test_junk_in_the_path_is_not_there(site: Site, client: Client, kind: str) -> None:
    before = facts(site)
    for number, junk in enumerate(JUNK):
        for place in ("/{}", "/admin/{}", f"/admin/{kind}/{{}}", f"/admin/{kind}/{{}}/edit", "/admin/airports/{}"):
            for method in ("GET", METHODS[1 + number % 4]):
                answer = ask(client, method, place.format(quote(junk, safe="")))
                unharmed(answer, method, place, junk)
                assert answer.status_int in (200, 303, 400, 404, 405, 422), (method, place, junk)
    assert facts(site) == before
