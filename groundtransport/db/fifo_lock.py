"""A fair lock. SQLite grants its own lock in random order, so that a writer may never get it."""

import threading
from collections import deque


class FIFOLock:
    """A lock that threads get in the order in which they asked for it."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._is_held = False

    def acquire(self, timeout: float) -> bool:
        """Take the lock; return False if it was not free within ``timeout`` seconds."""
        with self._mutex:
            if not self._is_held:
                self._is_held = True
                return True
            turn = threading.Event()
            self._waiting.append(turn)
        if turn.wait(timeout):
            return True
        with self._mutex:
            if turn.is_set():  # granted between the timeout and here
                return True
            self._waiting.remove(turn)
            return False

    def release(self) -> None:
        """Release the lock to the thread that has waited longest."""
        with self._mutex:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._is_held = False
