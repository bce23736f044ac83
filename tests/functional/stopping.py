"""Searches whose time limit is reached at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from groundtransport.records.search import time_limit


def stop_searches(monkeypatch: pytest.MonkeyPatch, *, for_good: bool = False) -> None:
    """Let the time of every search be over until its last short while, or for good."""
    usual = time_limit.Budget.limit
    monkeypatch.setattr(time_limit, "EXTRA_SECONDS", 60.0)

    @contextmanager
    def limit(self: Any, **more: Any) -> Iterator[None]:
        self.tries = getattr(self, "tries", 0) + 1
        if for_good or self.tries == 1:
            raise time_limit.OutOfTime
        with usual(self, **more):
            yield

    monkeypatch.setattr(time_limit.Budget, "limit", limit)
