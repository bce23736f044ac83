"""Searches whose time is over before it began."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from groundtransport.records.search import result_cache, time_limit
from tests.site import Site


def stop_searches(site: Site, monkeypatch: pytest.MonkeyPatch, *, for_good: bool = False) -> None:
    """Let the time of every search be over until its last short while, or for good."""
    usual = time_limit.Budget.limit
    steps = 3 if site.engine.dialect.name == "sqlite" else 1  # of a search, before that
    monkeypatch.setattr(time_limit, "EXTRA_SECONDS", 60.0)
    result_cache.forget(site.engine)

    @contextmanager
    def limit(self: Any, **more: Any) -> Iterator[None]:
        self.tries = getattr(self, "tries", 0) + 1
        if for_good or self.tries <= steps:
            raise time_limit.OutOfTime
        with usual(self, **more):
            yield

    monkeypatch.setattr(time_limit.Budget, "limit", limit)
