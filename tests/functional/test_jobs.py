"""Background jobs: each is executed once, by one runner at a time, and survives the end of its runner."""

import signal
import threading
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import OperationalError
from transaction import TransactionManager

from groundtransport import db
from groundtransport.jobs import HandlerEntry, JobRun, LeaseLost, housekeeping, queue, runner
from groundtransport.jobs.models import Job, JobState
from groundtransport.jobs.runner import BackgroundRunner, Runner
from tests.shell import Shell
from tests.site import Site

NAME = "count"


def add(site: Site, **parameters: Any) -> int:
    with db.transaction(site.engine) as dbsession:
        return queue.add(dbsession, NAME, parameters)


def job(site: Site, job_id: int) -> Any:
    with site.engine.connect() as connection:
        return connection.execute(select(Job.__table__).where(Job.id == job_id)).one()


@pytest.fixture
def handle(site: Site, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[JobRun], object]], None]:
    """Register the handler of the jobs of this test."""

    def register(function: Callable[[JobRun], object], every: int = 0) -> None:
        monkeypatch.setitem(site.registry["job_handlers"], NAME, HandlerEntry(function, every))

    return register


def expire(site: Site, job_id: int) -> None:
    """Let the lease of a job run out, as after the crash of its runner."""
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(update(Job).where(Job.id == job_id).values(leased_until=db.now() - timedelta(seconds=1)))


def test_a_job_is_executed_once_with_its_parameters_and_its_progress_is_stored(site: Site, handle: Any) -> None:
    seen = []

    def count(run: JobRun) -> None:
        run.done, run.total = 3, 7
        with run.transaction():
            seen.append(run.parameters["number"])

    handle(count)
    job_id = add(site, number=4)

    assert Runner(site.registry).run_pending() == 1
    assert Runner(site.registry).run_pending() == 0
    assert seen == [4]
    row = job(site, job_id)
    assert (row.state, row.done, row.total, row.attempts) == (JobState.DONE, 3, 7, 0)
    assert row.finished_at is not None


def test_a_panic_of_a_library_in_rust_ends_its_job_alone(site: Site, handle: Any) -> None:
    class PanicException(BaseException):
        """As pyo3 raises it: no Exception."""

    def panic(run: JobRun) -> None:
        raise PanicException("capacity overflow")

    handle(panic)
    job_id = add(site)
    assert Runner(site.registry).run_pending() == 1
    assert job(site, job_id).state == JobState.FAILED


def test_a_job_of_a_transaction_that_is_rolled_back_does_not_exist(site: Site, handle: Any) -> None:
    handle(lambda run: pytest.fail("executed"))
    tm = TransactionManager(explicit=True)
    tm.begin()
    queue.add(db.make_session(site.engine, tm), NAME)
    tm.abort()

    assert Runner(site.registry).run_pending() == 0


def test_of_several_runners_one_executes_each_job(site: Site, handle: Any) -> None:
    seen: Counter[int] = Counter()
    handle(lambda run: seen.update([run.claim.job_id]))
    ids = [add(site) for _ in range(30)]
    runners = [Runner(site.registry) for _ in range(4)]
    threads = [threading.Thread(target=one.run_pending) for one in runners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen == Counter(ids)


def test_a_job_whose_runner_gives_no_sign_is_taken_over_and_the_first_runner_writes_no_more(
    site: Site, handle: Any
) -> None:
    lost = []

    def first(run: JobRun) -> None:
        expire(site, run.claim.job_id)
        handle(lambda run: None)
        assert Runner(site.registry).run_pending() == 1
        try:
            with run.transaction():
                pytest.fail("written without a lease")
        except LeaseLost:
            lost.append(run.claim.job_id)
            raise

    handle(first)
    job_id = add(site)
    Runner(site.registry).run_pending()

    assert lost == [job_id]
    assert job(site, job_id).state == JobState.DONE


def test_a_job_that_waits_is_stopped_at_once_and_a_running_one_before_its_next_step(site: Site, handle: Any) -> None:
    steps = []

    def work(run: JobRun) -> None:
        for step in range(3):
            with run.transaction():
                steps.append(step)
            with db.transaction(site.engine) as dbsession:
                queue.stop(dbsession, run.claim.job_id)

    handle(work)
    waiting, running = add(site), add(site)
    with db.transaction(site.engine) as dbsession:
        queue.stop(dbsession, waiting)
    Runner(site.registry).run_pending()

    assert steps == [0]
    assert [job(site, one).state for one in (waiting, running)] == [JobState.STOPPED] * 2


def test_a_runner_that_ends_leaves_the_job_to_another(site: Site, handle: Any) -> None:
    steps = []
    ending = Runner(site.registry)

    def work(run: JobRun) -> None:
        for step in range(2):
            with run.transaction():
                steps.append(step)
            ending.end()

    handle(work)
    job_id = add(site)
    ending.run_pending()
    assert job(site, job_id).state == JobState.WAITING

    Runner(site.registry).run_pending()
    assert steps == [0, 0, 1]
    assert job(site, job_id).state == JobState.DONE


def test_an_error_fails_the_job_and_an_error_of_the_database_repeats_it(
    site: Site, handle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(run: JobRun) -> None:
        raise ZeroDivisionError

    handle(fail)
    failed = add(site)
    Runner(site.registry).run_pending()
    assert (job(site, failed).state, job(site, failed).message) == (JobState.FAILED, runner.FAILED)

    monkeypatch.setattr(queue, "RETRY", timedelta(0))
    tries = []

    def lose_connection(run: JobRun) -> None:
        tries.append(1)
        raise OperationalError("SELECT", {}, Exception("away"))

    handle(lose_connection)
    lost = add(site)
    Runner(site.registry).run_pending()
    assert len(tries) == queue.ATTEMPTS
    assert job(site, lost).state == JobState.FAILED


def test_a_job_that_kills_its_runners_without_advancing_fails(site: Site, handle: Any) -> None:
    handle(lambda run: pytest.fail("begun too often"))
    job_id = add(site)
    for _ in range(queue.ATTEMPTS):
        assert queue.take(site.engine, "dead", [NAME])
        expire(site, job_id)
    Runner(site.registry).run_pending()

    assert job(site, job_id).state == JobState.FAILED


def test_the_lease_of_a_long_step_is_renewed(site: Site, handle: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "BEAT", 0.02)

    def wait(run: JobRun) -> None:
        before = job(site, run.claim.job_id).leased_until
        pause = threading.Event()
        for _ in range(500):
            if job(site, run.claim.job_id).leased_until > before:
                return
            pause.wait(0.02)
        pytest.fail("the lease was not renewed")

    handle(wait)
    job_id = add(site)
    Runner(site.registry).run_pending()

    assert job(site, job_id).state == JobState.DONE


def test_a_regular_job_is_added_once_in_its_interval_whoever_looks(site: Site, handle: Any) -> None:
    handle(lambda run: None, every=3600)
    for owner in ("one", "two", "one"):
        housekeeping.note_worker(site.engine, owner, db.now(), site.registry["job_handlers"])

    with site.engine.connect() as connection:
        assert connection.scalars(select(Job.name).where(Job.name == NAME)).all() in ([NAME], [NAME] * 2)  # at the hour
    with db.transaction(site.engine) as dbsession:
        assert {worker.owner for worker in housekeeping.workers(dbsession)} == {"one", "two"}
        assert housekeeping.is_alive(dbsession)


def test_old_jobs_are_purged_and_active_ones_stay(site: Site, handle: Any) -> None:
    old, active = add(site), add(site)
    long_ago = db.now() - 2 * housekeeping.KEEP
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(update(Job).values(created_at=long_ago))
        dbsession.execute(update(Job).where(Job.id == old).values(state=JobState.DONE))
        queue.add(dbsession, housekeeping.PURGE)
    Runner(site.registry).run_pending()

    with site.engine.connect() as connection:
        assert active in connection.scalars(select(Job.id)).all()
        assert old not in connection.scalars(select(Job.id)).all()


def test_the_thread_executes_a_job_without_waiting_for_its_next_look(
    site: Site, handle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "POLL", 60.0)
    executed = threading.Event()
    handle(lambda run: executed.set())
    background = BackgroundRunner(site.registry)
    background.start()
    try:
        add(site)
        assert executed.wait(10)
        add(site)  # the runner is idle now, or about to be
    finally:
        background.end(10)
    assert not background.thread.is_alive()
    with db.transaction(site.engine) as dbsession:
        assert not housekeeping.workers(dbsession)


def test_the_handler_of_a_signal_never_waits_for_its_own_thread(
    small_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sets events, and an event's lock is held for an instant by the thread that waits for it."""
    handlers: dict[int, Callable[..., object]] = {}
    monkeypatch.setattr(signal, "signal", handlers.__setitem__)

    def run(_runner: Runner) -> None:
        assert threading.current_thread() is not threading.main_thread()
        handlers[signal.SIGTERM](signal.SIGTERM, None)

    monkeypatch.setattr(Runner, "run", run)
    assert "Executing jobs" in Shell(tmp_path, small_database_url)("worker")
