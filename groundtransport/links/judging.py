"""Judge the answer to a link: working, dead, moved and so on. Nothing is stored here."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Protocol

from groundtransport.links import reading
from groundtransport.links.visiting import ROBOTS, Visit, host_of, request_url
from groundtransport.outgoing import Failure
from groundtransport.records.links import LinkState

DEAD_AFTER = timedelta(days=1)  # between the first failure and the one that makes a link dead
SERIES = timedelta(days=7)  # a failure longer after the one before begins a new series
RETRY = DEAD_AFTER  # after which a link that failed is due again

# Statuses by which servers refuse programs: they do not say that a person finds nothing there.
REFUSED = (401, 403, 407, 429, 451, 999)
REFUSED_FAILURE = "refused"  # in place of a Failure


class Check(Protocol):
    """An earlier result of the same link."""

    @property
    def state(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def checked_at(self) -> datetime: ...
    @property
    def failures(self) -> int: ...
    @property
    def failing_since(self) -> datetime | None: ...


@dataclass(frozen=True)
class Result:
    """The result of a check: the columns of LinkCheck with the same names."""

    state: str
    status: int | None
    failure: str
    final_url: str
    title: str
    language: str
    checked_at: datetime
    failures: int = 0
    failing_since: datetime | None = None


def is_due(before: Check | None, at: datetime, older_than: timedelta) -> bool:
    """Return True if a link must be requested: its result is older than that, or it failed a day ago."""
    if before is None:
        return True
    pause = min(RETRY, older_than) if before.state == LinkState.FAILING else older_than
    return before.checked_at <= at - pause


def judge(link: str, visit: Visit, before: Check | None, at: datetime) -> Result:
    """Return the result of a check; ``before`` is the last one of the same link."""
    page = reading.read(visit.body, _header(visit, "content-type"), _header(visit, "content-language"))
    state, failure = _state(link, visit, page, before)
    language = page.language or (before.language if before else "")
    result = Result(state, visit.status, failure, visit.url, page.title, language, at)
    return _failed(result, before) if state == LinkState.FAILING else result


def _header(visit: Visit, name: str) -> str:
    return visit.headers.get(name, "")


def _state(link: str, visit: Visit, page: reading.Page, before: Check | None) -> tuple[LinkState, str]:
    """Return the state and the failure; any failure is FAILING, also that of a dead link."""
    if visit.failure:
        return _state_of_failure(link, visit), visit.failure
    if visit.status in REFUSED:
        return LinkState.SKIPPED, REFUSED_FAILURE
    if visit.status is None or not HTTPStatus.OK <= visit.status < HTTPStatus.MULTIPLE_CHOICES:
        return LinkState.FAILING, ""
    if page.is_parked:
        return LinkState.PARKED, ""
    if _site(visit.url) != _site(link):
        return LinkState.MOVED, ""
    is_other = before is not None and before.language and page.language and before.language != page.language
    return LinkState.LANGUAGE if is_other else LinkState.WORKING, ""


def _state_of_failure(link: str, visit: Visit) -> LinkState:
    if visit.failure == Failure.TLS:
        return LinkState.CERTIFICATE
    is_refused_here = visit.failure in (Failure.URL, Failure.ADDRESS) and not _is_redirected(link, visit)
    return LinkState.SKIPPED if visit.failure == ROBOTS or is_refused_here else LinkState.FAILING


def _is_redirected(link: str, visit: Visit) -> bool:
    try:
        return visit.url not in (link, request_url(link))
    except ValueError:
        return False


def _site(url: str) -> str:
    """Return the host of a URL without ``www.``."""
    return host_of(url).rstrip(".").removeprefix("www.")


def _failed(result: Result, before: Check | None) -> Result:
    """Return a failure with the number of those before it, as DEAD if these are enough."""
    at, failures, since = result.checked_at, 1, result.checked_at
    if before and before.failing_since and (before.state == LinkState.DEAD or at - before.checked_at <= SERIES):
        failures, since = before.failures + 1, before.failing_since
    state = LinkState.DEAD if at - since >= DEAD_AFTER else LinkState.FAILING
    values = {**vars(result), "state": state, "failures": failures, "failing_since": since}
    return Result(**values)
