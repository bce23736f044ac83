"""Requests to servers that people name: public addresses only, the checked address, limits of time and size."""

import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groundtransport import outgoing
from groundtransport.outgoing import ANSWER_MAX, BadUrl, Failure, RequestFailed, Target, addresses, client, parse_url
from tests import receiver as servers
from tests.receiver import Behaviour, Receiver

GETADDRINFO = socket.getaddrinfo


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        yield server


def failure(url: str, *, allow_private: bool = True) -> Failure:
    with pytest.raises(RequestFailed) as caught:
        outgoing.send("POST", url, b"{}", allow_private=allow_private)
    return caught.value.failure


# URLs and addresses


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://example.org", Target(True, "example.org", 443, "/")),
        ("https://example.org:8443/a/b?c=d", Target(True, "example.org", 8443, "/a/b?c=d")),
        ("https://[2606:4700::1111]/x", Target(True, "2606:4700::1111", 443, "/x")),
        ("https://EXAMPLE.org./", Target(True, "example.org.", 443, "/")),
    ],
)
def test_the_parts_of_a_url(url: str, target: Target) -> None:
    assert parse_url(url, allow_private=False) == target


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "http://example.org/",
        "file:///etc/passwd",
        "gopher://example.org/",
        "https://",
        "https:///path",
        "https://example.org:x/",
        "https://example.org:0/",
        "https://example.org:70000/",
        "https://user:password@example.org/",
        "https://example.org/#part",
        "https://example.org/ü",
        "https://exämple.org/",
        "https://example.org/a b",
        "https://example.org/\r\nHost: other",
        "https://example.org\\@127.0.0.1/",
        "https://-example.org/",
        "https://[::1",
        "https://127.0.0.1/",
        "https://[::1]/",
        f"https://example.org/{'x' * 2000}",
    ],
)
def test_a_url_that_is_not_one_of_a_public_server_is_refused(url: str) -> None:
    with pytest.raises(BadUrl):
        parse_url(url, allow_private=False)
    assert failure(url, allow_private=False) == Failure.URL


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "168.63.129.16",
        "192.0.0.192",
        "0.0.0.0",
        "255.255.255.255",
        "224.0.0.1",
        "198.18.0.1",
        "203.0.113.1",
        "240.0.0.1",
        "::",
        "::1",
        "::ffff:8.8.8.8",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "2001:0:1::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "ff02::1",
        "2001:db8::1",
    ],
)
def test_no_connection_goes_to_an_address_that_is_not_public(address: str) -> None:
    assert not addresses.is_permitted(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111"])
def test_connections_go_to_public_addresses(address: str) -> None:
    assert addresses.is_permitted(address)


def test_http_is_permitted_where_the_caller_says_so() -> None:
    target = Target(False, "example.org", 80, "/")
    assert parse_url("http://example.org/", allow_private=False, allow_http=True) == target
    with pytest.raises(BadUrl):
        parse_url("http://127.0.0.1/", allow_private=False, allow_http=True)


@pytest.mark.parametrize("host", ["localhost", "127.1", "2130706433", "0x7f.0.0.1", "017700000001"])
def test_a_name_or_number_that_leads_to_loopback_is_refused(host: str) -> None:
    assert failure(f"https://{host}/", allow_private=False) in (Failure.ADDRESS, Failure.NAME)


def answer_with(monkeypatch: pytest.MonkeyPatch, *ips: str) -> list[str]:
    """Let the name server answer with these addresses; return the hosts that were looked up."""
    asked: list[str] = []

    def getaddrinfo(host: str, port: int, *words: Any, **options: Any) -> list[Any]:
        if host in ips:
            return GETADDRINFO(host, port, *words, **options)
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in ips]

    monkeypatch.setattr(addresses.socket, "getaddrinfo", getaddrinfo)
    return asked


def test_one_private_address_of_several_refuses_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_with(monkeypatch, "8.8.8.8", "10.0.0.1")
    monkeypatch.setattr(client.socket, "create_connection", lambda *_: pytest.fail("connected"))
    assert failure("https://example.org/", allow_private=False) == Failure.ADDRESS


def test_the_connection_goes_to_the_address_that_was_checked(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name is resolved once, so a second answer of the name server leads nowhere."""
    asked = answer_with(monkeypatch, "127.0.0.1")
    connected = []
    create_connection = socket.create_connection

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        connected.append(address[0])
        return create_connection(address, timeout)

    monkeypatch.setattr(client.socket, "create_connection", connect)
    url = f"http://receiver.example:{receiver.port}/hook"
    assert outgoing.send("POST", url, b"{}", allow_private=True).status == 204
    assert (asked, connected) == (["receiver.example"], ["127.0.0.1"])
    assert receiver.received[0].headers["host"] == f"receiver.example:{receiver.port}"


def test_a_name_without_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def getaddrinfo(*_: object, **__: object) -> None:
        raise socket.gaierror

    monkeypatch.setattr(addresses.socket, "getaddrinfo", getaddrinfo)
    assert failure("https://example.org/") == Failure.NAME


def test_the_next_address_is_tried_if_the_first_refuses(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    answer_with(monkeypatch, "127.0.0.2", "127.0.0.1")  # the receiver listens on 127.0.0.1 alone
    assert outgoing.send("GET", f"http://two.example:{receiver.port}/", allow_private=True).status == 204


# Answers


def test_a_request_and_its_answer(receiver: Receiver) -> None:
    receiver.answer = servers.status(418, "X-Tea: green", body=b"short and stout")
    answer = outgoing.send("POST", receiver.url("/a?b=c"), b"body", {"X-Sent": "1"}, allow_private=True)
    assert (answer.status, answer.headers["X-Tea"], answer.body) == (418, "green", b"short and stout")
    (received,) = receiver.received
    assert (received.line, received.headers["x-sent"], received.body) == ("POST /a?b=c HTTP/1.1", "1", b"body")


def test_a_redirect_is_not_followed(receiver: Receiver) -> None:
    receiver.answer = servers.status(302, f"Location: {receiver.url('/elsewhere')}")
    assert outgoing.send("POST", receiver.url(), b"{}", allow_private=True).status == 302
    assert [received.line for received in receiver.received] == ["POST /hook HTTP/1.1"]


def test_of_an_answer_without_end_the_beginning_is_read(receiver: Receiver) -> None:
    receiver.answer = servers.send_much
    assert len(outgoing.send("POST", receiver.url(), b"{}", allow_private=True).body) == ANSWER_MAX


@pytest.mark.parametrize("behaviour", [servers.hang_up, servers.talk_nonsense])
def test_no_answer(receiver: Receiver, behaviour: Behaviour) -> None:
    receiver.answer = behaviour
    assert failure(receiver.url()) == Failure.CONNECTION


@pytest.mark.parametrize("behaviour", [servers.stay_silent, servers.never_finish])
def test_a_slow_answer_is_cut_off(receiver: Receiver, behaviour: Behaviour, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "TIMEOUT", 0.1)
    receiver.answer = behaviour
    assert failure(receiver.url()) == Failure.TIME


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert failure(f"http://127.0.0.1:{port}/") == Failure.CONNECTION


# TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate of receiver.example, signed by itself, in one file."""
    folder = tmp_path_factory.mktemp("tls")
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test"
    more = ["-addext", "subjectAltName=DNS:receiver.example", "-keyout", "key.pem", "-out", "certificate.pem"]
    subprocess.run([*words.split(), *more], cwd=folder, check=True, capture_output=True)
    file = folder / "both.pem"
    file.write_text((folder / "key.pem").read_text() + (folder / "certificate.pem").read_text())
    return file


@pytest.fixture
def secure(certificate: Path) -> Iterator[Receiver]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with Receiver(context) as server:
        yield server


def test_a_certificate_that_nobody_vouches_for_is_refused(secure: Receiver) -> None:
    assert failure(secure.url()) == Failure.TLS
    assert secure.received == []


def test_the_certificate_must_name_the_host(
    secure: Receiver, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusting = ssl.create_default_context(cafile=str(certificate))
    monkeypatch.setattr(client, "tls_context", lambda: trusting)
    answer_with(monkeypatch, "127.0.0.1")
    url = f"https://receiver.example:{secure.port}/hook"
    assert outgoing.send("POST", url, b"{}", allow_private=True).status == 204
    assert failure(url.replace("receiver", "other")) == Failure.TLS
    assert len(secure.received) == 1
