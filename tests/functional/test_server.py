"""The server as a process: it ends without losing a request, and what it says itself carries what every answer does."""

import re
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from bs4 import BeautifulSoup
from sqlalchemy import func, select

from groundtransport import db, settings
from groundtransport.db import migrations
from groundtransport.server.runner import serve
from groundtransport.settings import SettingsError
from tests.integrity import session_of
from tests.serving import Server, read_answer, running
from tests.site import ENVIRON, JFK, Site, app_settings

pytestmark = pytest.mark.slow

INIS = ("development.ini", "production.ini")
FORM = "application/x-www-form-urlencoded"


@pytest.fixture(params=["production.ini"])
def server(request: pytest.FixtureRequest, site: Site, tmp_path: Path) -> Iterator[Server]:
    result = Server(tmp_path, site.url, request.param)
    result.start()
    with running(result):
        yield result


def creation(server: Server, site: Site) -> bytes:
    """Return a whole request that makes a record."""
    cookie = f"groundtransport={session_of(site, 'the-editor')}"
    page = server.ask("GET", "/login", Cookie=cookie)[1]
    token = BeautifulSoup(page, "html.parser").find("input", {"name": "csrf_token"})["value"]
    body = urlencode({"airport_name": JFK, "company_name": "Alpha", "csrf_token": token})
    head = f"POST /admin/transit HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\nContent-Type: {FORM}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


def records(site: Site) -> int:
    return site.scalar(select(func.count()).select_from(site.kinds["transit"].model))


def until_refused(server: Server) -> None:
    """Wait until the door is closed."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            server.connect().close()
        except ConnectionRefusedError:
            return
        except ConnectionResetError:  # the door closed in the very middle of the handshake
            continue
        time.sleep(0.02)
    pytest.fail("new connections are still taken")


@pytest.mark.parametrize(
    ("server", "number"),
    [("production.ini", signal.SIGTERM), ("development.ini", signal.SIGINT)],
    indirect=["server"],
)
def test_a_request_that_is_being_received_is_answered_before_the_end(
    site: Site, server: Server, number: signal.Signals
) -> None:
    request = creation(server, site)
    with server.connect() as slow, server.connect() as idle:
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert read_answer(idle).status == 200
        slow.sendall(request[:-30])
        assert server.ask("GET", "/healthz")[0] == 200  # the server has read what came before

        server.process.send_signal(number)
        until_refused(server)
        assert idle.recv(1) == b""  # nothing is asked on it: closed
        slow.sendall(request[-30:])

        assert read_answer(slow).status == 303
        assert slow.recv(1) == b""
    assert server.process.wait(10) == 0
    assert records(site) == 1
    assert "Traceback" not in server.log.read_text()


def test_a_request_that_waits_for_the_database_is_answered_before_the_end(site: Site, server: Server) -> None:
    request = creation(server, site)
    with server.connect() as slow:
        with db.write_engine(site.engine).begin() as connection:
            connection.exec_driver_sql("UPDATE audit_head SET number = number")  # every write ends up waiting for it
            slow.sendall(request)
            assert server.ask("GET", "/healthz")[0] == 200
            server.process.send_signal(signal.SIGTERM)
            server.process.send_signal(signal.SIGTERM)  # as of one who kills a whole process group
            until_refused(server)

        assert read_answer(slow).status == 303
    assert server.process.wait(10) == 0
    assert records(site) == 1


def is_readable(connection: socket.socket) -> bool:
    """Return True if an answer, or its beginning, has arrived."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection, selectors.EVENT_READ)
        return bool(selector.select(timeout=0))


def test_probes_are_answered_while_every_thread_is_busy(site: Site, server: Server) -> None:
    request = creation(server, site)
    threads = int(re.search(r"^threads = (\d+)", server.ini.read_text(), re.MULTILINE)[1])
    with ExitStack() as connections:
        waiting = [connections.enter_context(server.connect()) for _ in range(threads + 1)]
        with db.write_engine(site.engine).begin() as connection:
            connection.exec_driver_sql("UPDATE audit_head SET number = number")  # every save waits for this row
            for client in waiting:
                client.sendall(request)

            assert [server.ask("GET", probe)[0] for probe in ("/healthz", "/readyz")] == [200, 200]
            assert not any(is_readable(client) for client in waiting)

        assert {read_answer(client).status for client in waiting} <= {303, 429, 503}


def test_who_never_ends_their_request_does_not_keep_the_server(site: Site, server: Server) -> None:
    with server.connect() as slow:
        slow.sendall(creation(server, site)[:-30])
        server.process.send_signal(signal.SIGTERM)
        # Who stops a service waits ten seconds, and here a busy machine gets some more.
        assert server.process.wait(15) == 0
    assert records(site) == 0


def test_who_stands_in_the_door_is_let_in(server: Server) -> None:
    waiting = [server.connect() for _ in range(20)]
    for connection in waiting:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    server.process.send_signal(signal.SIGTERM)

    assert [read_answer(connection).status for connection in waiting] == [200] * 20
    assert server.process.wait(10) == 0
    for connection in waiting:
        connection.close()


def test_before_the_door_closes_clients_are_sent_elsewhere(site: Site, server: Server) -> None:
    """For ``drain`` seconds: /readyz says so, and no connection is kept that a proxy might write to when it closes."""
    request = creation(server, site)
    with server.connect() as first_connection, server.connect() as other:
        for connection in (first_connection, other):
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            answer = read_answer(connection)
            assert (answer.status, answer.headers["Connection"]) == (200, None)
        server.process.send_signal(signal.SIGTERM)
        while (ready := server.raw(b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")).status == 200:
            pass
        first_connection.sendall(request)
        answer = read_answer(first_connection)

        assert ready.status == 503
        assert (answer.status, answer.headers["Connection"]) == (303, "close")
        assert first_connection.recv(1) == b""
        assert other.recv(1) == b""  # when the door is closed
    assert server.process.wait(10) == 0
    assert records(site) == 1


@pytest.mark.parametrize("drain", ["-1", "six", "6", ""])
def test_a_drain_that_is_no_number_of_seconds_stops_the_start(drain: str) -> None:
    with pytest.raises(SettingsError, match="drain must be a whole number from 0 to 5"):
        serve(None, drain=drain)


# Limits: the database has no say in them


@pytest.fixture(scope="module", params=INIS)
def running_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that the tests below share."""
    folder = tmp_path_factory.mktemp("standing")
    url = f"sqlite:///{folder}/data.sqlite"
    engine = db.make_engine(settings.read(app_settings(url), ENVIRON))
    migrations.upgrade(engine)
    engine.dispose()
    result = Server(folder, url, request.param)
    result.start()
    with running(result):
        yield result


def is_plain_and_safe(headers: Any) -> bool:
    """Whether an answer has no banner, and may be neither kept nor framed."""
    result = {name.lower(): value for name, value in headers.items()}
    return (
        not {"server", "via", "x-powered-by"} & set(result)
        and result["cache-control"] == "no-store"
        and result["x-content-type-options"] == "nosniff"
        and "frame-ancestors 'none'" in result["content-security-policy"]
    )


HEAD = b"GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (HEAD + b"X-Long: " + b"x" * 70_000 + b"\r\n\r\n", 431),
        (HEAD + b"X-Many: x\r\n" * 7_000 + b"\r\n", 431),
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 431),
        (POST + b"Content-Length: 60000000\r\n\r\n", 413),
        (POST + b"Content-Length: -1\r\n\r\n", 400),
        (POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (POST + b"Content-Length: " + b"1" * 5_000 + b"\r\n\r\n", 400),
        (POST + b"Transfer-Encoding: gzip\r\n\r\nabcd", 501),
        (POST + b"Content-Length: 4\r\nTransfer-Encoding: gzip\r\n\r\nabcd", 400),
        (POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (POST + b"transfer-encoding:chunked\r\nCONTENT-LENGTH:4\r\n\r\n0\r\n\r\n", 400),
        (POST + b"Content-Length: 4\r\nTransfer-Encoding:\r\n\r\nabcd", 400),
        (POST.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 12_000, 413),
        (POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (HEAD + b"No colon here\r\n\r\n", 400),
        (HEAD + b"X-Blank:" + b" " * 60_000 + b"x\r\n\r\n", 400),
        (HEAD + b"X-Folded:\r\n" + b" " * 30_000 + b"\r\n" + b"\t" * 30_000 + b"x\r\n\r\n", 400),
        (HEAD + b"Space : a\r\n\r\n", 400),
        (b"NONSENSE\r\n\r\n", 400),
        (b"GET /login HTTP/1.1\nHost: 127.0.0.1\r\n\r\n", 400),
        (b"get /login HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 400),
        (b"GET /login HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400),
        (b"GET /login HTTP/1.1\r\n\r\n", 400),
        (HEAD + b"Host: evil.example\r\n\r\n", 400),
        (b"TRACE /login HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 405),
        (b"CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 400),
        (b"GET http://evil.example/login HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 400),
        (b"GET http://127.0.0.1/login HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400),
        (b"GET http://127.0.0.1/login HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 200),
        (b"OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 404),
        (POST + b"Content-Encoding: gzip\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nabcd", 415),
    ],
    ids=lambda value: value[:50].decode(errors="replace") if isinstance(value, bytes) else str(value),
)
def test_what_is_no_decent_request_is_refused(running_server: Server, sent: bytes, status: int) -> None:
    started = time.monotonic()
    answer = running_server.raw(sent)

    assert answer.status == status
    assert time.monotonic() - started < 5
    assert is_plain_and_safe(answer.headers)
    assert not {b"evil", b"waitress", b"Traceback"} & set(answer.body.split())
    assert running_server.ask("GET", "/healthz")[0] == 200


def test_a_body_of_two_lengths_closes_the_connection(running_server: Server) -> None:
    """What follows is no second request: a proxy in front may have taken it for a part of the first."""
    two = b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    with running_server.connect() as connection:
        connection.sendall(POST + two + b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        received = b""
        while piece := connection.recv(65_536):
            received += piece

    assert received.startswith(b"HTTP/1.0 400 ")
    assert received.count(b"HTTP/1.") == 1
    assert b"Connection: close" in received


def test_a_body_over_the_limit_is_refused_with_a_page(running_server: Server) -> None:
    body = b"username=" + b"x" * (2 * 1024 * 1024)
    answer = running_server.raw(POST + f"Content-Type: {FORM}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)

    assert answer.status == 413
    assert b"<html" in answer.body


def test_who_announces_a_body_and_has_none_is_answered(running_server: Server) -> None:
    started = time.monotonic()

    assert running_server.raw(HEAD + b"Expect: 100-continue\r\n\r\n").status == 200
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("header", [b'For: 1.2.3.4, "x', b"Proto: gopher", b"Proto: https, http"])
def test_a_proxys_word_that_makes_no_sense_is_refused_as_all_else_is(running_server: Server, header: bytes) -> None:
    answer = running_server.raw(HEAD + b"X-Forwarded-" + header + b"\r\n\r\n")

    assert answer.status == (400 if running_server.ini.name == "production.ini" else 200)
    assert is_plain_and_safe(answer.headers)


def test_a_hundred_and_fifty_slow_connections_leave_room_for_others(running_server: Server) -> None:
    slow = [running_server.connect() for _ in range(150)]
    for connection in slow:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow:")

    assert running_server.ask("GET", "/login")[0] == 200
    for connection in slow:
        connection.close()


def test_forwarded_headers_are_believed_of_the_configured_proxy_alone(running_server: Server) -> None:
    header = b"X-Forwarded-Proto: https\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Host: evil.example\r\n"
    request = (
        b"GET /admin HTTP/1.1\r\nHost: 127.0.0.1\r\n" + header + b"Forwarded: proto=https;host=evil.example\r\n\r\n"
    )

    by_proxy = running_server.raw(request)
    with socket.create_connection(("127.0.0.1", running_server.port), 15, ("127.0.0.2", 0)) as stranger:
        stranger.sendall(request)
        by_stranger = read_answer(stranger)

    has_proxy = running_server.ini.name == "production.ini"
    assert by_proxy.headers["Location"].startswith("https://127.0.0.1/login" if has_proxy else "http://127.0.0.1/login")
    assert ("Strict-Transport-Security" in by_proxy.headers) is has_proxy
    assert by_stranger.headers["Location"].startswith("http://127.0.0.1/login")
    assert "Strict-Transport-Security" not in by_stranger.headers


# The start


def refused_start(folder: Path, url: str, listen: str) -> str:
    """Return what a server says that cannot listen there; it must end by itself, with 1."""
    server = Server(folder, url)
    server.ini.write_text(server.ini.read_text().replace(f"127.0.0.1:{server.port}", listen))
    words = [sys.executable, "-W", "ignore", "-m", "pyramid.scripts.pserve", str(server.ini)]
    command = subprocess.run(words, env=server.environ, capture_output=True, text=True, timeout=60)
    assert command.returncode == 1
    assert "Serving on" not in command.stdout
    assert "Traceback" not in command.stdout + command.stderr
    return command.stderr.partition("\n")[2]  # after pserve's own "Starting server in PID ..."


@pytest.mark.parametrize("port", ["99999", "65536", "0", "-1", "abc", "", "1" * 5000])
def test_a_port_that_is_none_is_named(tmp_path: Path, port: str) -> None:
    header = refused_start(tmp_path, f"sqlite:///{tmp_path}/data.sqlite", f"127.0.0.1:{port}")
    assert header == f"Cannot listen on 127.0.0.1:{port}: a port is a number from 1 to 65535.\n"


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        header = refused_start(tmp_path, f"sqlite:///{tmp_path}/data.sqlite", where)
    assert header.startswith(f"Cannot listen on {where}: another program uses that port")
    assert len(header.splitlines()) == 1


@pytest.mark.parametrize(
    ("listen", "reason"),
    [("192.0.2.1:6543", "does not have that address"), ("127.0.0.1:6543\nthread = 8", "Unknown adjustment")],
)
def test_another_bad_setting_of_the_server_is_named(tmp_path: Path, listen: str, reason: str) -> None:
    header = refused_start(tmp_path, f"sqlite:///{tmp_path}/data.sqlite", listen)
    assert reason in header
    assert len(header.splitlines()) == 1


def test_serving_is_said_when_it_serves(server: Server) -> None:
    header = f"Serving on http://127.0.0.1:{server.port}, until Ctrl+C or SIGTERM\n"
    assert header in server.log.read_text()
