"""Waitress' threads, of which one or two work at a time as long as each request is quick.

Python runs one thread at a time anyway. Requests that take turns with every question to the database are finished none
sooner, and all together later (decision 49, docs/decisions/performance.md).
"""

import itertools
import threading
import time

from waitress.task import ThreadedTaskDispatcher

PATIENCE = 0.025  # seconds: most requests take less, and one that waits for its database shall not keep the others


class LIFOQueue:
    """Where idle threads wait, under ``lock``. Who came last goes first: the processor holds yet what it works with.

    threading.Condition lets the one go that waited longest.
    """

    def __init__(self, lock: threading.Lock) -> None:
        self.lock = lock
        self._waiting: list[threading.Lock] = []

    def wait(self) -> None:
        gate = threading.Lock()
        gate.acquire()
        self._waiting.append(gate)
        self.lock.release()
        try:
            gate.acquire()
        finally:
            self.lock.acquire()

    def notify(self) -> None:
        if self._waiting:
            self._waiting.pop().release()

    def notify_all(self) -> None:
        while self._waiting:
            self.notify()


class TaskDispatcher(ThreadedTaskDispatcher):
    """Begins tasks in the order of arrival, ``width`` at a time; who takes longer than ``patience`` is overtaken."""

    def __init__(self, threads: int, width: int = 1, patience: float = PATIENCE) -> None:
        super().__init__()
        self.queue_cv = LIFOQueue(self.lock)
        self.width, self.patience = width, patience
        self._numbers = itertools.count()
        self._at_work: dict[int, float] = {}  # tasks by number, the oldest first: when they began
        self.set_thread_count(threads)

    @property
    def is_free(self) -> bool:
        return len(self._at_work) < self.width

    @property
    def is_waited_for(self) -> bool:
        """Whether ``overtake`` has something to look at."""
        return bool(self.queue)

    def add_task(self, task: object) -> None:
        with self.lock:
            self.queue.append(task)
            if self.is_free:
                self.queue_cv.notify()

    def overtake(self) -> None:
        """Let the next one begin, if the oldest at work is slow; called again and again by the server's loop."""
        with self.lock:
            if not self.queue or self.is_free:
                return
            oldest, since = next(iter(self._at_work.items()))
            if time.monotonic() - since > self.patience:
                del self._at_work[oldest]
                self.queue_cv.notify()

    def handler_thread(self, thread_no: int) -> None:
        """Do one task after the other: waitress' own, but for the lane."""
        while True:
            with self.lock:
                while not (self.queue and self.is_free) and self.stop_count == 0:
                    self.active_count -= 1
                    self.queue_cv.wait()
                    self.active_count += 1
                if self.stop_count > 0:
                    self.active_count -= 1
                    self.stop_count -= 1
                    self.threads.discard(thread_no)
                    self.thread_exit_cv.notify()
                    return
                task = self.queue.popleft()
                number = next(self._numbers)
                self._at_work[number] = time.monotonic()
            try:
                task.service()
            except BaseException:
                self.logger.exception("Exception when servicing %r", task)
            with self.lock:
                self._at_work.pop(number, None)  # not there any more: overtaken
