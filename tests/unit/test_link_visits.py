"""Requests for links, to servers with every fault: redirects, robots.txt, and never an inner address."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from groundtransport.links import visiting
from groundtransport.links.judging import Result, judge
from groundtransport.links.visiting import REDIRECTS_MAX, Visitor
from groundtransport.outgoing import addresses
from groundtransport.outgoing import client as outgoing_client
from groundtransport.records.links import LinkState
from tests import receiver as servers
from tests.receiver import Receiver, page, redirect, status

GETADDRINFO = socket.getaddrinfo
AT = datetime(2026, 5, 4, tzinfo=UTC)


class Web:
    """The receiver under the names of ``servers.public_names``, and a visitor of its pages."""

    def __init__(self, receiver: Receiver) -> None:
        self.receiver, self.pages = receiver, receiver.pages
        settings: Any = SimpleNamespace(links_user_agent="groundtransport-links", links_private=False)
        self.visitor = Visitor(settings, pause=0)

    def url(self, path: str = "/", host: str = "a.example") -> str:
        return f"http://{host}:{self.receiver.port}{path}"

    def result(self, link: str) -> Result:
        return judge(link, self.visitor.visit(link), None, AT)

    @property
    def got(self) -> list[str]:
        return self.receiver.pages_got


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    servers.lead_names_to_loopback(monkeypatch)
    with Receiver() as receiver:
        receiver.pages["/robots.txt"] = status(404)
        yield Web(receiver)


def test_a_page_is_read_by_head_and_get(web: Web) -> None:
    web.pages["/"] = page("<html lang=en><title>Airport &amp; City Shuttle</title>")
    link = web.url()
    assert web.result(f"{link}#times") == Result("working", 200, "", link, "Airport & City Shuttle", "en", AT)
    assert web.got == ["HEAD /", "GET /"]
    assert {got.headers["user-agent"] for got in web.receiver.received} == {"groundtransport-links"}


def test_get_follows_a_refused_head_and_is_spared_for_a_file(web: Web) -> None:
    web.pages |= {"HEAD /a": status(405), "GET /a": page(), "/b": status(200, "Content-Type: application/pdf")}
    assert web.result(web.url("/a")).state == LinkState.WORKING
    assert web.result(web.url("/b")).state == LinkState.WORKING
    assert web.got == ["HEAD /a", "GET /a", "HEAD /b"]


@pytest.mark.parametrize(
    ("behaviour", "failure"),
    [
        (servers.hang_up, "connection"),
        (servers.talk_nonsense, "connection"),
        (servers.stay_silent, "time"),
        (servers.never_finish, "time"),
    ],
)
def test_a_server_that_does_not_answer(
    web: Web, behaviour: servers.Behaviour, failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outgoing_client, "TIMEOUT", 0.2)
    web.pages |= {"HEAD /": servers.hang_up, "GET /": behaviour}
    found = web.result(web.url())
    assert (found.state, found.failure, found.status) == (LinkState.FAILING, failure, None)


def test_a_host_without_address(web: Web) -> None:
    found = web.result("http://gone.example/")
    assert (found.state, found.failure) == (LinkState.FAILING, "name")


def test_of_a_page_without_end_the_beginning_is_read(web: Web) -> None:
    web.pages |= {"HEAD /": page(), "GET /": servers.send_much}
    assert web.result(web.url()).state == LinkState.WORKING


def test_a_link_to_another_site(web: Web) -> None:
    web.pages |= {
        "/same": redirect(web.url("/new", "www.a.example")),
        "/other": redirect(web.url("/new", "b.example")),
        "/new": page("<title>New"),
    }
    assert web.result(web.url("/same")).state == LinkState.WORKING
    found = web.result(web.url("/other"))
    assert (found.state, found.final_url, found.title) == (LinkState.MOVED, web.url("/new", "b.example"), "New")


def test_redirects_without_end_or_to_no_page(web: Web) -> None:
    web.pages["/"] = redirect("/")
    assert web.result(web.url()).failure == "redirects"
    assert web.got == ["HEAD /"] * (REDIRECTS_MAX + 1)
    for target in ("mailto:a@b.example", "http://a\x00b/", "//", "http://[", "http://u:p@a.example/"):
        web.pages["/to"] = redirect(target)
        assert web.result(web.url("/to")).failure == "redirects", target
    web.pages["/to"] = redirect("file:///etc/passwd")
    assert web.result(web.url("/to")).state == LinkState.FAILING


def test_parked_domains(web: Web) -> None:
    web.pages["/sale"] = page("<title>This domain is for sale")
    assert web.result(web.url("/sale")).state == LinkState.PARKED


# What is not requested


@pytest.mark.parametrize("host", [*servers.INNER, "169.254.169.254", "127.0.0.2"])
def test_no_request_goes_to_an_inner_address(web: Web, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    connected = []
    create_connection = socket.create_connection

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        connected.append(address[0])
        return create_connection(address, timeout)

    monkeypatch.setattr(outgoing_client.socket, "create_connection", connect)
    web.pages["/"] = redirect(f"http://{host}:{web.receiver.port}/secret")
    assert web.result(f"http://{host}/").state == LinkState.SKIPPED
    assert connected == []
    assert web.result(web.url()).state == LinkState.FAILING
    assert set(connected) == {"127.0.0.1"}
    assert web.got == ["HEAD /"]


def test_a_name_that_leads_elsewhere_the_second_time(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS rebinding: each request resolves anew, and connects to the address that was checked."""
    answers = iter(["127.0.0.1", "127.0.0.1", "10.0.0.1"])  # robots.txt, HEAD, GET

    def getaddrinfo(host: str, port: int, *_: object, **options: object) -> list[Any]:
        if host == "127.0.0.1":  # from the connection
            return GETADDRINFO(host, port, *_, **options)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    monkeypatch.setattr(addresses.socket, "getaddrinfo", getaddrinfo)
    web.pages["/"] = page()
    found = web.result(web.url())
    assert (found.state, found.failure) == (LinkState.SKIPPED, "address")
    assert web.got == ["HEAD /"]
    assert next(answers, None) is None


def test_robots_txt_is_read_once_and_obeyed(web: Web) -> None:
    text = b"User-agent: *\nDisallow: /private"
    web.pages |= {"/robots.txt": redirect("/r"), "/r": status(200, body=text), "/open": redirect("/private/x")}
    web.pages["/"] = page()
    found = web.result(web.url("/private"))
    assert (found.state, found.failure) == (LinkState.SKIPPED, "robots")
    assert web.result(web.url("/open")).failure == "robots"
    assert web.result(web.url()).state == LinkState.WORKING
    assert web.got == ["GET /r", "HEAD /open", "HEAD /", "GET /"]
    assert len(web.receiver.received) == 5


def test_a_server_whose_robots_txt_fails_gets_no_further_request(web: Web) -> None:
    web.pages["/robots.txt"] = status(503)
    found = web.result(web.url())
    assert (found.state, found.status, found.final_url) == (LinkState.FAILING, 503, web.url())
    assert web.got == []


def test_one_request_at_a_time_to_a_host_with_a_pause(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where links of several hosts lead to it."""
    pauses: list[float] = []
    monkeypatch.setattr(visiting, "time", SimpleNamespace(sleep=pauses.append, monotonic=lambda: 0.0))
    web.visitor.pause = 5
    web.pages |= {f"/{n}": redirect(web.url("/x", "target.example")) for n in range(4)} | {"/x": page()}
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: web.result(web.url(f"/{n}", f"from-{n}.example")), range(4)))
    at_target = [got for got in web.receiver.received if got.headers["host"].startswith("target")]
    # No host but the target gets more than robots.txt and a HEAD; each first request to a host is without a pause.
    assert sorted(pauses) == [0.0] * 5 + [5.0] * (4 + len(at_target) - 1)
