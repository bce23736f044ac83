"""The number of rows of a transaction, so that other writers wait for a fraction of a second."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

LEAST, MOST = 25, 1000  # rows of a transaction
SECONDS = 0.25  # that a transaction is meant to take


class Pace:
    """Adapts the number of rows to the time that the last transaction took."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    @contextmanager
    def measure(self) -> Iterator[int]:
        """Yield the number of rows of the next transaction; adapt it to the duration of the block."""
        started = time.monotonic()
        yield self.rows
        share = SECONDS / max(time.monotonic() - started, 0.001)
        self.rows = round(min(MOST, max(LEAST, self.rows * min(2, share))))
