"""What one request of somebody who is not signed in may cost: processor time beside that of a plain request.

A password that is checked costs more on purpose: these are bounded by the throttle (docs/security.md).
"""

import time
from collections.abc import Callable
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from waitress.adjustments import Adjustments
from webob import Request

import groundtransport
from groundtransport import db, settings
from groundtransport.accounts import users
from groundtransport.accounts.models import AdminSession
from groundtransport.accounts.sessions.rows import hash_of, new_token
from groundtransport.db import migrations
from groundtransport.security import Role
from groundtransport.server.parser import Parser
from groundtransport.settings import ANONYMOUS_BODY_LIMIT
from tests.site import ENVIRON, PASSWORD, app_settings

pytestmark = pytest.mark.slow

FORM = "application/x-www-form-urlencoded"
PARTS = "multipart/form-data; boundary=xyzzy"
HEADERS = 60_000  # bytes: the server takes 64 KiB of them, the request line included
RATIO = 150  # of the sign-in page, which takes 0.3 ms: 45 ms
TRIES = 3  # of which the quickest counts: other processes take from the caches

# What a client may send, by name: the path with its query, and the environment besides.
GETS: dict[str, tuple[str, dict[str, str]]] = {
    "escaped query": ("/login?a=" + "%41" * (HEADERS // 3), {}),
    "many names in the query": ("/login?" + "a=1&" * (HEADERS // 4), {}),
    "escaped way back": ("/login?next=/" + "%C3%A9" * (HEADERS // 6), {}),
    "long way back": ("/login?next=/" + "a/" * (HEADERS // 2), {}),
    "deep path": ("/" + "a/" * (HEADERS // 2), {}),
    "deep path inside": ("/admin/" + "a/" * (HEADERS // 2), {}),
    "path up and down": ("/" + "a/../" * (HEADERS // 5), {}),
    "path of slashes": ("/" * HEADERS, {}),
    "escaped path": ("/" + "%C3%A9" * (HEADERS // 6), {}),
    "escaped path inside": ("/admin/" + "%C3%A9" * (HEADERS // 6), {}),
    "broken path": ("/admin/" + "%ff" * (HEADERS // 3), {}),
    "static path": ("/static/" + "a/" * (HEADERS // 2), {}),
    "query inside": ("/admin/transit?q=" + "%C3%A9" * (HEADERS // 6), {}),
    "many names inside": ("/admin/transit?" + "a=1&" * (HEADERS // 4), {}),
    "cookies of ours": ("/login", {"HTTP_COOKIE": "groundtransport=a; " * (HEADERS // 19)}),
    "cookies of many names": (
        "/login",
        {"HTTP_COOKIE": ";".join(f"groundtransport-{'a' * (n % 50)}=b" for n in range(1_500))},
    ),
    "foreign cookies": ("/login", {"HTTP_COOKIE": "a=b; " * (HEADERS // 5)}),
    "cookie that is none": ("/login", {"HTTP_COOKIE": 'a="' + "x" * HEADERS}),
    "forms that wait": ("/login", {"HTTP_COOKIE": "groundtransport-form=" + ("A" * 43 + ".") * (HEADERS // 44)}),
    "languages": ("/login", {"HTTP_ACCEPT_LANGUAGE": "en;q=0.1," * (HEADERS // 9)}),
    "languages within the limit": ("/login", {"HTTP_ACCEPT_LANGUAGE": "a-a," * 250}),
    "media types within the limit": ("/login", {"HTTP_ACCEPT": "a/b;q=0.1," * 100}),
    "media types": ("/no", {"HTTP_ACCEPT": "a/b;" + "q=0." * (HEADERS // 4)}),
    "tags": ("/static/base.css", {"HTTP_IF_NONE_MATCH": 'W/"' + 'x",W/"' * 100}),
    "ranges": ("/static/base.css", {"HTTP_RANGE": "bytes=" + "0-1," * (HEADERS // 4)}),
    "date": ("/static/base.css", {"HTTP_IF_MODIFIED_SINCE": "Mon, " * (HEADERS // 5)}),
    "origin": ("/login", {"HTTP_ORIGIN": "http://" + "a" * HEADERS}),
    "browser": ("/login", {"HTTP_USER_AGENT": "Safari/ " * (HEADERS // 8)}),
    "host": ("/login", {"HTTP_HOST": "a." * (HEADERS // 2)}),
    "credentials": ("/admin", {"HTTP_AUTHORIZATION": "Basic " + "A" * HEADERS}),
}
FILE_PART = b'--xyzzy\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
LINES = b"\r\n" * 1_000_000
BODIES: dict[str, tuple[str, str, bytes]] = {
    f"{name} to {path}": (path, kind, body)
    for path in ("/login", "/admin/transit", "/logout", "/no", "/admin/profile")
    for name, kind, body in (
        ("line breaks in parts", PARTS, LINES),
        ("few line breaks in parts", PARTS, LINES[:ANONYMOUS_BODY_LIMIT]),
        ("lines of parts", PARTS, b"--xyzzy\r\n\r\n" * 5_000),
        ("parts", PARTS, b'--xyzzy\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n' * 1_000),
        ("escapes", FORM, b"a=" + b"%41" * 700_000),
        ("escapes within the limit", FORM, b"a=" + b"%41" * (ANONYMOUS_BODY_LIMIT // 3 - 1)),
        ("escapes without type", "", b"a=" + b"%C3%A9" * (ANONYMOUS_BODY_LIMIT // 6 - 1)),
        ("fields", FORM, b"a=1&" * 500_000),
        ("fields within the limit", FORM, b"a=%41&" * 4_999),
        ("fields of no value", FORM, b"&" * 4_999),
        ("a name", FORM, b"username=" + b"x" * (ANONYMOUS_BODY_LIMIT - 9)),
        ("a stamp", FORM, b"form_owner=1." + b"0" * (ANONYMOUS_BODY_LIMIT - 13)),
        ("a method", FORM, b"_method=PUT&" * 4_999),
        ("json", "application/json", b"[" * ANONYMOUS_BODY_LIMIT),
        ("a text", "text/plain", b"x" * 2_000_000),
    )
}
# A file that somebody signed in sends to the path of an import: the forms that cost a parser most. Each is refused.
IMPORT = "/admin/transit/import"
UPLOADS: dict[str, tuple[str, bytes]] = {
    "line breaks in parts": (PARTS, LINES),
    "parts": (PARTS, b'--xyzzy\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n' * 5_000),
    "parts without a head": (PARTS, b"--xyzzy\r\n\r\n" * 100_000),
    "headers of a part": (PARTS, b"--xyzzy\r\n" + b"X: y\r\n" * 100_000),
    "a long header": (PARTS, b"--xyzzy\r\nContent-Disposition: form-data; " + b'a="b";' * 200_000),
    "a long boundary": (PARTS + "y" * HEADERS, LINES),
    "almost the boundary": (PARTS, FILE_PART + b"\r\n--xyzz" * 200_000),
    "a text in place of a file": (PARTS, FILE_PART.replace(b"filename", b"x") + b"%41" * 700_000),
    "a file without end": (PARTS, FILE_PART + b"a,b\r\n" * 300_000),
    "fields": (FORM, b"a=%41&" * 300_000),
}


CHUNKED = b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
HEAD = b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\n"
WHOLE: dict[str, bytes] = {
    "chunks of one byte": CHUNKED + b"1\r\na\r\n" * 300_000,
    "a chunk with a long head": CHUNKED + b"1;" + b"x" * 2_000_000,
    "a trailer without end": CHUNKED + b"0\r\n" + b"a: b\r\n" * 300_000,
    "many headers": HEAD + b"".join(b"X-%d: x\r\n" % n for n in range(5_000)) + b"\r\n",
    "one header many times": HEAD + b"X-Many: x\r\n" * 5_000 + b"\r\n",
    "a folded header": HEAD + b"X: a\r\n" + b" b\r\n" * 12_000 + b"\r\n",
    "blanks": HEAD + b"X: " + (b" " * 99 + b"x") * 600 + b"\r\n\r\n",
    "codings": HEAD + b"Transfer-Encoding: " + b"chunked," * 7_000 + b"\r\n\r\n",
    "a long body": HEAD + b"Content-Length: 2000000\r\n\r\n" + b"x" * 2_000_000,
}


def cost(ask: Callable[[], object]) -> float:
    """Return the seconds of processor time of a call, the quickest of some."""
    result = []
    for _ in range(TRIES):
        started = time.process_time()
        ask()
        result.append(time.process_time() - started)
    return min(result)


def asking(app: Any, target: str, environ: dict[str, str], kind: str = "", body: bytes = b"") -> Callable[[], object]:
    """Return what sends a request, a POST if it has a body, to the application, as its server would."""
    path, _, query = target.partition("?")

    def ask() -> None:
        whole = {
            **Request.blank("/", method="POST" if body else "GET").environ,
            "HTTP_HOST": "localhost",
            "REMOTE_ADDR": "192.0.2.1",
            "REQUEST_URI": target,
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": query,
            "wsgi.input": BytesIO(body),
            "CONTENT_LENGTH": str(len(body)),
            "CONTENT_TYPE": kind,
            **environ,
        }
        statuses: list[str] = []
        answer = app(whole, lambda status, headers, error=None: statuses.append(status))
        b"".join(answer)
        getattr(answer, "close", int)()  # of a file
        assert statuses[0] < "500", target[:50]

    return ask


def reading(sent: bytes) -> Callable[[], object]:
    """Return what reads a request from the wire, in pieces as they come, until it is complete or refused."""

    def read() -> None:
        parser = Parser(Adjustments(max_request_body_size=4 * 1024 * 1024, max_request_header_size=65_536))
        for start in range(0, len(sent), 8_192):
            piece = sent[start : start + 8_192]
            while piece and not parser.completed:
                piece = piece[parser.received(piece) :]
        parser.close()

    return read


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The application on an empty database: no request here gets as far as what is in it."""
    ini = app_settings(f"sqlite:///{tmp_path_factory.mktemp('cost')}/data.sqlite")
    engine = db.make_engine(settings.read(ini, ENVIRON))
    migrations.upgrade(engine)
    engine.dispose()
    return groundtransport.main({}, **ini)


@pytest.fixture(scope="module")
def cookie(app: Any) -> str:
    """The cookie of an editor's session."""
    token = new_token(app.registry["settings"].secrets)
    with db.transaction(app.registry["engine"]) as dbsession:
        user = users.add(dbsession, "the-editor", Role.EDITOR, PASSWORD, one_time=False)
        dbsession.flush()
        dbsession.add(AdminSession(token_hash=hash_of(token), user_id=user.id, epoch=user.session_epoch, data={}))
    return token


@pytest.fixture(scope="module")
def most(app: Any) -> float:
    """The seconds that a request may cost."""
    plain = asking(app, "/login", {})
    plain()  # the first one compiles templates
    return RATIO * cost(plain)


def too_costly(most: float, requests: dict[str, Callable[[], object]]) -> dict[str, float]:
    return {name: seconds for name, ask in requests.items() if (seconds := cost(ask)) > most}


def test_no_address_and_no_header_costs_much(app: Any, most: float) -> None:
    assert too_costly(most, {name: asking(app, *request) for name, request in GETS.items()}) == {}


def test_no_body_of_a_stranger_costs_much(app: Any, most: float) -> None:
    requests = {name: asking(app, path, {}, kind, body) for name, (path, kind, body) in BODIES.items()}
    uploads = {f"{name} to an import": asking(app, IMPORT, {}, *upload) for name, upload in UPLOADS.items()}

    assert too_costly(most, requests | uploads) == {}


def test_no_upload_of_a_signed_in_person_costs_much(app: Any, most: float, cookie: str) -> None:
    environ = {"HTTP_COOKIE": f"groundtransport={cookie}"}
    page = Request.blank(IMPORT, headers={"Host": "localhost", "Cookie": environ["HTTP_COOKIE"]}).get_response(app)
    assert page.status_int == 200, "the session is one"
    requests = {name: asking(app, IMPORT, environ, *upload) for name, upload in UPLOADS.items()}

    assert too_costly(most, requests) == {}


def test_nothing_costs_much_while_it_is_received(most: float) -> None:
    assert too_costly(most, {name: reading(sent) for name, sent in WHOLE.items()}) == {}
