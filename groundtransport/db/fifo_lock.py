"""A fair lock: who comes first goes first. SQLite's own waiting is a lottery, in which some writers never win."""

import threading
from collections import deque


class FIFOLock:
    """Lets one through at a time, in the order of arrival."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._taken = False

    def enter(self, wait: float) -> bool:
        """Wait up to ``wait`` seconds for one's turn; return whether it came."""
        with self._mutex:
            if not self._taken:
                self._taken = True
                return True
            turn = threading.Event()
            self._waiting.append(turn)
        if turn.wait(wait):
            return True
        with self._mutex:
            if turn.is_set():  # it came just as we gave up
                return True
            self._waiting.remove(turn)
            return False

    def leave(self) -> None:
        """Let the next one through."""
        with self._mutex:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False
