"""Request a link as a person's browser would: HEAD, GET, redirects; one request at a time to a host, after robots.txt.

Each request, also that of a redirect, goes through ``outgoing.send``, which connects to public addresses only.
"""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from urllib.parse import quote, urljoin, urlsplit

from groundtransport import outgoing
from groundtransport.links import robots
from groundtransport.outgoing import Failure
from groundtransport.settings import Settings

REDIRECTS_MAX = 5  # RFC 9309 asks for five at least for robots.txt
PAUSE = 1.0  # seconds between two requests to a host
PERMITTED_IN_PATH = "%/:=&?~+!$,;'@()*[]"
_PRINTABLE = re.compile(r"[!-~]+", re.ASCII)

# In place of a Failure
ROBOTS = "robots"
REDIRECTS = "redirects"


@dataclass(frozen=True)
class Visit:
    """The last answer, from ``url``, or why there was none; ``headers`` has names in lower case."""

    url: str
    status: int | None = None
    failure: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def target(self) -> str:
        """The ``Location`` of a redirect, else ""."""
        is_redirect = self.status in (301, 302, 303, 307, 308)
        return self.headers.get("location", "") if is_redirect else ""


def request_url(link: str) -> str:
    """Return the URL of a link in ASCII and without a fragment. Raise ValueError if it has none."""
    parts = urlsplit(link)
    host = parts.hostname or ""
    if not host or len(host) > 253 or "@" in parts.netloc:
        raise ValueError(link)
    name = f"[{host}]" if ":" in host else host.encode("idna").decode()
    netloc = f"{name}:{parts.port}" if parts.port else name
    path, query = (quote(part, safe=PERMITTED_IN_PATH) for part in (parts.path or "/", parts.query))
    url = f"{parts.scheme}://{netloc}{path}" + (f"?{query}" if query else "")
    if not _PRINTABLE.fullmatch(url):
        raise ValueError(link)
    return url


def host_of(url: str) -> str:
    """Return the host of a link, in ASCII; "" if it has none."""
    try:
        return urlsplit(request_url(url)).hostname or ""
    except ValueError:
        return ""


@dataclass
class Turn:
    """Whose turn it is at a host: the lock, and the time of ``time.monotonic`` from which the next request may go."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    next_at: float = 0.0


class Visitor:
    """Requests links, for the threads of one process. It keeps the robots.txt of each server."""

    def __init__(self, settings: Settings, pause: float = PAUSE) -> None:
        self.user_agent, self.allow_private, self.pause = settings.links_user_agent, settings.links_private, pause
        self._lock = threading.Lock()
        self._turns: dict[str, Turn] = {}
        self._robots: dict[str, robots.Rules | Visit] = {}

    def visit(self, link: str) -> Visit:
        """Return the answer to a link: that to HEAD if it is no page, else that to GET.

        Many servers refuse HEAD, and only a body tells the title, so HEAD saves the body of anything but a page.
        """
        try:
            url = request_url(link)
        except ValueError:
            return Visit(link, failure=Failure.URL)
        head = self._follow("HEAD", url)
        return self._follow("GET", head.url) if _needs_get(head) else head

    def _follow(self, method: str, url: str) -> Visit:
        """Request a URL and follow redirects, as far as robots.txt permits."""
        for _ in range(REDIRECTS_MAX + 1):
            visit = self._permitted(method, url)
            if not visit.target:
                return visit
            try:
                url = request_url(urljoin(url, visit.target))
            except ValueError:
                break
        return Visit(url, failure=REDIRECTS)

    def _permitted(self, method: str, url: str) -> Visit:
        """Request a URL if robots.txt permits it; a server whose robots.txt fails gets no further request."""
        rules = self._rules(url)
        if isinstance(rules, Visit):
            return replace(rules, url=url)
        parts = urlsplit(url)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        return self._request(method, url) if rules.permits(path) else Visit(url, failure=ROBOTS)

    def _rules(self, url: str) -> robots.Rules | Visit:
        """Return the rules of a URL's server, or its answer to robots.txt if that is an error (RFC 9309, 2.3.1)."""
        origin = urljoin(url, "/")
        if origin not in self._robots:
            self._robots[origin] = self._fetch_rules(f"{origin}robots.txt")
        return self._robots[origin]

    def _fetch_rules(self, url: str) -> robots.Rules | Visit:
        visit = first = self._request("GET", url)
        for _ in range(REDIRECTS_MAX):
            if not visit.target:
                break
            try:
                visit = self._request("GET", request_url(urljoin(visit.url, visit.target)))
            except ValueError:
                return robots.Rules()
        if visit.status == HTTPStatus.OK:
            return robots.parse(visit.body.decode(errors="replace"), self.user_agent)
        is_down = first.failure or (visit.status or 0) >= HTTPStatus.INTERNAL_SERVER_ERROR
        return replace(visit, body=b"") if is_down else robots.Rules()

    def _request(self, method: str, url: str) -> Visit:
        """Send a request when it is the host's turn."""
        headers = {"User-Agent": self.user_agent, "Accept": "*/*"}
        with self._turn(urlsplit(url).hostname or ""):
            try:
                answer = outgoing.send(method, url, None, headers, allow_private=self.allow_private, allow_http=True)
            except outgoing.RequestFailed as error:
                return Visit(url, failure=error.failure)
        names = {name.lower(): value for name, value in answer.headers.items()}
        return Visit(url, answer.status, headers=names, body=answer.body)

    @contextmanager
    def _turn(self, host: str) -> Iterator[None]:
        """Wait until no other thread sends a request to the host, and its pause is over."""
        with self._lock:
            turn = self._turns.setdefault(host, Turn())
        with turn.lock:
            time.sleep(max(0.0, turn.next_at - time.monotonic()))
            try:
                yield
            finally:
                turn.next_at = time.monotonic() + self.pause


def _needs_get(head: Visit) -> bool:
    """Return True if the answer to HEAD does not tell enough."""
    if head.status is None:
        return head.failure in (Failure.CONNECTION, Failure.TIME)
    kind = head.headers.get("content-type", "")
    return head.status >= HTTPStatus.BAD_REQUEST or not kind or "html" in kind.lower()
