"""One task after the other, and none kept by a slow one."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from groundtransport.server.dispatcher import TaskDispatcher

LONG = 60.0  # seconds; no test waits for it


class Task:
    """What the threads do: ``work``, and then it is told to be done."""

    def __init__(self, work: Callable[[], object] = lambda: None) -> None:
        self.work, self.done = work, threading.Event()

    def service(self) -> None:
        try:
            self.work()
        finally:
            self.done.set()


@pytest.fixture
def lane() -> Iterator[TaskDispatcher]:
    made = TaskDispatcher(4, patience=LONG)
    yield made
    made.shutdown()


def test_one_is_done_at_a_time_in_the_order_of_arrival(lane: TaskDispatcher) -> None:
    begun: list[int] = []
    inside: list[int] = []
    most: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        inside.append(number)
        most.append(len(inside))
        time.sleep(0.001)
        inside.remove(number)

    tasks = [Task(lambda number=number: work(number)) for number in range(50)]  # type: ignore[misc]  # bound now
    for task in tasks:
        lane.add_task(task)
    assert all(task.done.wait(30) for task in tasks)
    assert (begun, max(most)) == (list(range(50)), 1)


def test_a_slow_one_is_overtaken_and_its_end_lets_nobody_in(lane: TaskDispatcher) -> None:
    gates = [threading.Event() for _ in range(2)]
    tasks = [Task(lambda gate=gate: gate.wait(30)) for gate in gates] + [Task()]  # type: ignore[misc]  # bound now
    for task in tasks:
        lane.add_task(task)
    lane.overtake()
    time.sleep(0.05)
    assert len(lane.queue) == 2, "the first is not slow yet"
    lane.patience = 0.0
    lane.overtake()
    while len(lane.queue) == 2:
        time.sleep(0.001)
    lane.patience = LONG

    gates[0].set()
    assert tasks[0].done.wait(30)
    assert not tasks[2].done.wait(0.2), "the second is at work"
    gates[1].set()
    assert tasks[2].done.wait(30)


def test_what_raises_is_logged_and_the_next_one_is_done(lane: TaskDispatcher, caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise LookupError

    tasks = [Task(fail), Task()]
    for task in tasks:
        lane.add_task(task)
    assert tasks[1].done.wait(30)
    assert "Exception when servicing" in caplog.text


def test_when_all_threads_are_slow_the_next_is_done_by_the_first_that_is_free() -> None:
    lane, gate = TaskDispatcher(2, patience=0.0), threading.Event()
    tasks = [Task(lambda: gate.wait(30)), Task(lambda: gate.wait(30)), Task()]
    for task in tasks:
        lane.add_task(task)
    while len(lane.queue) > 1:
        lane.overtake()
    lane.overtake()
    gate.set()
    assert tasks[2].done.wait(30)
    lane.shutdown()


def test_a_wider_lane_lets_as_many_work() -> None:
    lane, gate = TaskDispatcher(4, 2, LONG), threading.Event()
    tasks = [Task(lambda: gate.wait(30)), Task(), Task(), Task(lambda: gate.wait(30)), Task()]
    for task in tasks:
        lane.add_task(task)
    assert tasks[1].done.wait(30)
    assert tasks[2].done.wait(30)
    assert not tasks[4].done.wait(0.2), "two are at work"
    gate.set()
    assert tasks[4].done.wait(30)
    lane.shutdown()


def test_the_thread_that_worked_last_works_next(lane: TaskDispatcher) -> None:
    names: list[str] = []
    for _ in range(20):
        while lane.active_count:  # until all wait
            time.sleep(0.001)
        task = Task(lambda: names.append(threading.current_thread().name))
        lane.add_task(task)
        assert task.done.wait(30)
    assert len(set(names)) == 1
