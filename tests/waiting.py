"""Waiting for a condition."""

import time
from collections.abc import Callable


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until a condition is true, for a minute at most."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)
