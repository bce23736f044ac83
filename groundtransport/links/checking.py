"""Check links: all that are due, in several threads, or those of one record."""

import secrets
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial

from pyramid.registry import Registry

from groundtransport.db import now
from groundtransport.jobs import JobRun
from groundtransport.links import due, results
from groundtransport.links.judging import is_due, judge
from groundtransport.links.visiting import PAUSE, Visitor, host_of
from groundtransport.records.kind import Kind
from groundtransport.records.links import link_fields

THREADS = 8  # hosts whose links one process checks at a time
SOON = timedelta(minutes=1)  # a result that is not older is not renewed, so that two clicks request a link once
JOB = "check link"


class LinkChecker:
    """Checks links. ``clock`` returns the time by which results and leases are measured."""

    def __init__(self, registry: Registry, clock: Callable[[], datetime] = now, pause: float = PAUSE) -> None:
        self.engine, self.clock = registry["engine"], clock
        self.kinds: Mapping[str, Kind] = registry["kinds"]
        self.visitor = Visitor(registry["settings"], pause)
        self.owner = secrets.token_hex(16)
        self.ending = threading.Event()

    def check_due(self, older_than: timedelta, kind_name: str | None = None, limit: int | None = None) -> Counter[str]:
        """Check the links that are due, of a kind or of all, at most ``limit``; return the numbers of the states."""
        results.remove(self.engine, due.void(self.engine, self.kinds))
        chosen = {name: kind for name, kind in self.kinds.items() if kind_name in (None, name)}
        by_host: dict[str, list[str]] = {}
        for link in due.due_links(self.engine, chosen, self.clock(), older_than, limit):
            by_host.setdefault(host_of(link), []).append(link)
        return self._check_hosts(by_host, older_than)

    def _check_hosts(self, by_host: Mapping[str, list[str]], older_than: timedelta) -> Counter[str]:
        states: Counter[str] = Counter()
        with ThreadPoolExecutor(THREADS, "links") as pool:
            try:
                for each in pool.map(partial(self.check_host, older_than=older_than), by_host, by_host.values()):
                    states += each
            except BaseException:
                self.ending.set()  # else the other hosts would be checked before the error is seen
                raise
        return states

    def check_host(self, host: str, links: list[str], older_than: timedelta) -> Counter[str]:
        """Check links of one host, unless another process is at it; return the numbers of the states."""
        states: Counter[str] = Counter()
        try:
            for link in links:
                if self.ending.is_set() or not results.claim(self.engine, host, self.owner, self.clock()):
                    break
                if state := self._check(link, older_than):
                    states[state] += 1
        finally:
            results.release(self.engine, host, self.owner)
        return states

    def _check(self, link: str, older_than: timedelta) -> str:
        """Store the result of a link for all records that hold it, and return the state; "" if no record does.

        The link is requested if it is still due, which it is not if another process has checked it meanwhile.
        """
        holders, before = due.holders(self.engine, self.kinds, link)
        if not holders:
            return ""
        if before and not is_due(before, self.clock(), older_than):
            result = results.result_of(before)
        else:
            result = judge(link, self.visitor.visit(link), before, self.clock())
        results.store(self.engine, link, holders, result)
        return result.state


def check_record(run: JobRun) -> None:
    """Check the links of one record: the handler of the job JOB with the parameters ``kind`` and ``record_id``."""
    checker = LinkChecker(run.registry)
    kind = checker.kinds[str(run.parameters["kind"])]
    with run.transaction() as dbsession:
        row = dbsession.get(kind.model, run.parameters["record_id"])
        links = [getattr(row, name) for name in link_fields(kind)] if row else []
    for link in dict.fromkeys(filter(None, links)):
        checker.check_host(host_of(link), [link], SOON)
