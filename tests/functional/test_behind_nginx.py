"""The service as docs/deploy.md puts it up: production.ini, behind nginx with deploy/nginx.conf, over TLS."""

import asyncio
import ctypes
import re
import socket
import ssl
import statistics
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from http.client import RemoteDisconnected
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urlencode

import pytest
from bs4 import BeautifulSoup

from groundtransport import db, settings
from groundtransport.accounts import users
from groundtransport.db import migrations
from groundtransport.security import Role
from groundtransport.web.request_guard import HEADERS
from tests.proxy import Proxy, in_front_of
from tests.serving import Raw, Server, read_answer, running
from tests.site import ENVIRON, PASSWORD, app_settings

pytestmark = pytest.mark.slow

FORM = "application/x-www-form-urlencoded"
COOKIE = "__Host-groundtransport"
SLOW = 500
ONCE = [*HEADERS, "Strict-Transport-Security", "Cache-Control"]


def deny_writable_code() -> None:
    """What ``MemoryDenyWriteExecute=yes`` of the unit does (prctl PR_SET_MDWE; kernels before 6.3 let it pass)."""
    ctypes.CDLL(None).prctl(65, 1, 0, 0, 0)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("service")
    url = f"sqlite:///{folder}/data.sqlite"
    engine = db.make_engine(settings.read(app_settings(url), ENVIRON))
    migrations.upgrade(engine)
    with db.transaction(engine) as dbsession:
        users.add(dbsession, "the-administrator", Role.ADMINISTRATOR, PASSWORD, one_time=False)
    engine.dispose()
    result = Server(folder, url)
    result.start(deny_writable_code)
    with running(result):
        yield result


@pytest.fixture(scope="module")
def proxy(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with in_front_of(server.port, tmp_path_factory.mktemp("nginx")) as result:
        yield result


def cookie_of(answer: Raw) -> SimpleCookie:
    return SimpleCookie(answer.headers["Set-Cookie"])


def sign_in(proxy: Proxy) -> tuple[Raw, str]:
    """Sign in, and return the answer and the ``Cookie`` header from then on."""
    page = proxy.get("/login")
    visitor = f"{COOKIE}={cookie_of(page)[COOKIE].value}"
    token = BeautifulSoup(page.body, "html.parser").find("input", {"name": "csrf_token"})["value"]
    form = urlencode({"username": "the-administrator", "password": PASSWORD, "csrf_token": token})
    origin = f"https://localhost:{proxy.port}"
    answer = proxy.ask("POST", "/login", form, Cookie=visitor, Content_Type=FORM, Origin=origin)
    return answer, f"{COOKIE}={cookie_of(answer)[COOKIE].value}" if answer.headers["Set-Cookie"] else ""


@pytest.fixture(scope="module")
def cookie(proxy: Proxy) -> str:
    return sign_in(proxy)[1]


def test_a_sign_in_over_tls_gives_a_cookie_for_this_host_alone(proxy: Proxy) -> None:
    answer, cookie = sign_in(proxy)

    assert answer.status == 303
    assert answer.headers["Location"] == f"https://localhost:{proxy.port}/admin"
    morsel = cookie_of(answer)[COOKIE]
    assert (morsel["secure"], morsel["httponly"], morsel["path"], morsel["domain"]) == (True, True, "/", "")
    assert morsel["samesite"] == "Lax"
    assert proxy.get("/admin/profile", Cookie=cookie).status == 200


def test_plain_http_is_sent_to_https_and_to_nowhere_else(proxy: Proxy) -> None:
    def plain(host: str) -> Raw:
        with socket.create_connection(("127.0.0.1", proxy.plain_port), 10) as connection:
            connection.sendall(f"GET /admin?a=b HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            return read_answer(connection)

    assert plain("localhost").headers["Location"] == "https://localhost/admin?a=b"
    assert plain("evil.example").status == 0  # closed without a word


PAGES = {
    "/login": 200,
    "/admin": 303,
    "/admin/nope": 303,
    "/nope": 404,
    "/healthz": 200,
    "/static/base.css": 200,
    "/static/nope.css": 404,
    "/%00": 400,
    "/login?next=%ff": 400,
    "/login?x=" + "x" * 20_000: 414,
}


@pytest.mark.parametrize(("address", "status"), PAGES.items(), ids=[address[:20] for address in PAGES])
def test_every_answer_has_each_header_once_whoever_made_it(proxy: Proxy, address: str, status: int) -> None:
    answer = proxy.get(address)

    assert answer.status == status
    made_by_nginx = status == 414 or address == "/%00"
    for name in ONCE:
        optional = made_by_nginx and name.startswith("Cross-Origin")
        assert len(answer.headers.get_all(name, [])) == 1 or optional, (name, answer.headers.items())
    is_kept = address == "/static/base.css"
    assert ("max-age=31536000" if is_kept else "no-store") in answer.headers["Cache-Control"]
    assert answer.headers["Server"] == "nginx", "no version"


def test_a_signed_in_page_keeps_its_headers(proxy: Proxy, cookie: str) -> None:
    answer = proxy.get("/admin/profile", Cookie=cookie)

    assert {name: answer.headers.get_all(name) for name in HEADERS} == {name: [HEADERS[name]] for name in HEADERS}
    assert "includeSubDomains" in answer.headers["Strict-Transport-Security"]


def test_what_a_client_says_of_its_own_way_here_is_not_believed(proxy: Proxy) -> None:
    forged_headers = {
        "X_Forwarded_Proto": "http",
        "X_Forwarded_Host": "evil.example",
        "Forwarded": "host=evil.example;proto=http",
    }
    answer = proxy.get("/admin", **forged_headers)

    assert answer.headers["Location"].startswith(f"https://localhost:{proxy.port}/login")
    with pytest.raises(RemoteDisconnected):
        proxy.get("/login", Host="evil.example")


def test_another_name_is_not_even_greeted(proxy: Proxy) -> None:
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", proxy.port), 10) as raw:  # noqa: PT011  # whichever
        proxy.tls.wrap_socket(raw, server_hostname="evil.example")


def test_old_tls_is_refused(proxy: Proxy) -> None:
    def version(at_most: ssl.TLSVersion) -> str | None:
        context = ssl.create_default_context(cafile=str(proxy.folder / "fullchain.pem"))
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version, context.maximum_version = ssl.TLSVersion.MINIMUM_SUPPORTED, at_most
        raw = socket.create_connection(("127.0.0.1", proxy.port), 10)
        with raw, context.wrap_socket(raw, server_hostname="localhost") as connection:
            return connection.version()

    assert version(ssl.TLSVersion.MAXIMUM_SUPPORTED) == "TLSv1.3"
    assert version(ssl.TLSVersion.TLSv1_2) == "TLSv1.2"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with pytest.raises(OSError, match=r"(?i)ssl|protocol|alert"):
            version(ssl.TLSVersion.TLSv1_1)


def test_pages_with_tokens_are_not_packed_and_files_are(proxy: Proxy, cookie: str) -> None:
    page = proxy.get("/admin/profile", Cookie=cookie, Accept_Encoding="gzip")
    file = proxy.get("/static/base.css", Accept_Encoding="gzip")

    assert b"csrf_token" in page.body
    assert page.headers["Content-Encoding"] is None
    assert file.headers["Content-Encoding"] == "gzip"
    assert len(file.body) < len(proxy.get("/static/base.css").body) / 2


def test_a_body_over_the_limit_gets_the_page_that_says_so(proxy: Proxy, cookie: str) -> None:
    answer = proxy.ask("POST", "/admin/profile", "x" * (2 * 1024 * 1024 + 1), Cookie=cookie, Content_Type=FORM)

    assert answer.status == 413
    assert b"2048 KiB" in answer.body


@pytest.mark.parametrize(
    ("address", "length", "status"),
    [
        ("/login", 65_537, 413),
        ("/login", 65_536, 400),
        ("/admin/transit", 65_537, 413),
        ("/admin/transit", 65_540, 413),
        ("/admin/transit", 70_000, 413),
        ("/admin/transit", 2_000_000, 413),
        ("/admin/transit", 65_536, 303),
        ("/admin/transit", 9_999, 303),
    ],
)
def test_who_brings_no_session_sends_little(proxy: Proxy, address: str, length: int, status: int) -> None:
    foreign = "a=b; __Host-groundtransport-browser=x"
    answer = proxy.ask("POST", address, "x" * length, Cookie=foreign, Content_Type=FORM)

    assert answer.status == status
    assert answer.headers["X-Request-Id"] if status != 413 else b"nginx" in answer.body


def test_who_brings_a_session_sends_more(proxy: Proxy, cookie: str) -> None:
    answer = proxy.ask("POST", "/admin/profile", "x" * 70_000, Cookie=f"a=b; {cookie}", Content_Type=FORM)

    assert (answer.status, b"nginx" in answer.body) == (400, False)


def test_the_log_names_the_request_and_no_key(proxy: Proxy, cookie: str) -> None:
    key, referer = "0123456789abcdef" * 2, f"https://localhost:{proxy.port}/admin/transit/1/edit?key=" + "f" * 32
    for address in (f"/admin/transit/1/edit?key={key}&page_no=3", f"/admin/transit/2/edit?a=b&key={key}"):
        answer = proxy.get(address, Cookie=cookie, Referer=referer)

    lines = proxy.logged(answer.headers["X-Request-Id"])
    assert f'"GET /admin/transit/2/edit?a=b&key=-" {answer.status} ' in lines[-1]
    assert lines[-1].endswith(answer.headers["X-Request-Id"])
    assert "/admin/transit/1/edit?key=-&page_no=3" in lines[-2]
    assert not [line for line in lines if key in line or "f" * 32 in line]


# A crowd of slow clients

BEGINNINGS = (
    b"GET /login HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
    b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n",
    b"GET /static/vendor/dataTables.min.js HTTP/1.1\r\nHost: localhost\r\n\r\n",
)


class SlowClients(threading.Thread):
    """Slow clients: a third drips headers, a third a body, a third hardly reads. Who is cut off comes again."""

    def __init__(self, proxy: Proxy) -> None:
        super().__init__(daemon=True)
        self.proxy, self.leave, self.connected = proxy, threading.Event(), 0

    def run(self) -> None:
        asyncio.run(self._everybody())

    async def _everybody(self) -> None:
        await asyncio.gather(*(self._one(number) for number in range(SLOW)))

    async def _one(self, number: int) -> None:
        while not self.leave.is_set():
            with suppress(OSError):
                await self._hold(number)

    async def _hold(self, number: int) -> None:
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        raw.setblocking(False)
        await asyncio.get_running_loop().sock_connect(raw, ("127.0.0.1", self.proxy.port))
        reader, writer = await asyncio.open_connection(
            sock=raw, ssl=self.proxy.tls, server_hostname="localhost", limit=512
        )
        writer.write(BEGINNINGS[number % len(BEGINNINGS)])
        await writer.drain()
        self.connected += 1
        try:
            while not self.leave.is_set():
                await asyncio.sleep(0.5)
                if number % len(BEGINNINGS) == 2:
                    await reader.read(16)
                else:
                    writer.write(b"x")
                    await writer.drain()
        finally:
            self.connected -= 1
            writer.transport.abort()


def test_five_hundred_slow_clients_do_not_slow_the_others(proxy: Proxy, cookie: str) -> None:
    def visit() -> float:
        began = time.monotonic()
        assert proxy.get("/admin/profile", Cookie=cookie).status == 200
        return time.monotonic() - began

    alone = [visit() for _ in range(20)]
    slow_clients = SlowClients(proxy)
    slow_clients.start()
    try:
        end = time.monotonic() + 60
        while slow_clients.connected < SLOW:
            assert time.monotonic() < end, "the slow clients did not get in"
        among = [visit() for _ in range(300)]
        assert slow_clients.connected > SLOW * 0.9
    finally:
        slow_clients.leave.set()
        slow_clients.join(10)

    for name, times in (("alone", alone), (f"among {SLOW} slow clients", among)):
        worst, median = max(times) * 1000, statistics.median(times) * 1000
        print(f"\n; a page through nginx, {name}: median {median:.0f} ms, worst {worst:.0f} ms", end="")
    assert max(among) < 5, "the aim is one second; a busy machine gets five"


# The service away


def test_while_the_service_restarts_files_are_served_and_pages_fail_safely(server: Server, proxy: Proxy) -> None:
    file = proxy.get("/static/base.css")
    server.process.terminate()
    assert server.process.wait(10) == 0

    page = proxy.get("/login")
    cached = proxy.get("/static/base.css")
    server.start()

    assert page.status == 502
    assert page.headers["Cache-Control"] == "no-store"
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert (cached.status, cached.body) == (200, file.body)
    assert proxy.get("/login").status == 200


def test_the_unit_of_several_workers_is_the_other_one_with_a_port() -> None:
    folder = Path(__file__).parents[2] / "deploy"
    one, several = (
        [line for line in (folder / name).read_text().splitlines() if not line.startswith(("#", "Description="))]
        for name in ("groundtransport.service", "groundtransport@.service")
    )
    (added,) = set(several) - set(one)
    assert set(one) <= set(several)
    names = [word.partition("=")[0] for word in added.removeprefix("Environment=").split()]
    assert names == ["GROUNDTRANSPORT_LISTEN", "GROUNDTRANSPORT_MONITOR", "GROUNDTRANSPORT_WORKER"]


def test_the_unit_starts_what_is_there_and_locks_the_rest() -> None:
    unit = (Path(__file__).parents[2] / "deploy" / "groundtransport.service").read_text()
    result = dict(re.findall(r"^(\w+)=(.*)$", unit, re.MULTILINE))

    assert result["User"] == "groundtransport"
    assert result["ExecStart"].endswith("pserve /etc/groundtransport/production.ini")
    assert (result["NoNewPrivileges"], result["ProtectSystem"], result["CapabilityBoundingSet"]) == (
        "yes",
        "strict",
        "",
    )
    assert int(result["TimeoutStopSec"]) > 10, "longer than the server's own patience"
