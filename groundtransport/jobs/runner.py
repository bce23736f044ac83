"""Execute jobs, one at a time: in a thread of the server or in the command ``groundtransport worker``."""

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pyramid.registry import Registry
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from groundtransport.db import now, write_engine
from groundtransport.jobs import queue
from groundtransport.jobs.housekeeping import SEEN_EVERY, forget_worker, note_worker
from groundtransport.jobs.models import OWNER_MAX, JobState
from groundtransport.jobs.run import Ending, HandlerEntry, JobRun, LeaseLost, Stopped

log = logging.getLogger(__name__)

POLL = 1.0  # seconds between two looks for a job that another process added
BEAT = 5.0  # seconds between two renewals of the lease of the running job
FAILED = "The job failed: see the process log of the worker."


class Runner:
    """Executes the jobs of the registered handlers."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.engine = registry["engine"]
        self.handlers: dict[str, HandlerEntry] = registry["job_handlers"]
        self.ending = threading.Event()
        self.started_at = now()
        self.owner = f"{socket.gethostname()[:60]}:{os.getpid()}:{secrets.token_hex(4)}"[:OWNER_MAX]

    def run_pending(self) -> int:
        """Execute jobs until none is due; return how many were executed."""
        count = 0
        while not self.ending.is_set() and (claim := queue.take(self.engine, self.owner, self.handlers)):
            self._execute(claim)
            count += 1
        return count

    def run_one(self, job_id: int) -> None:
        """Execute one job that waits, for a command; a job that another runner has taken is left to it."""
        if claim := queue.take(self.engine, self.owner, self.handlers, job_id):
            self._execute(claim)

    def run(self) -> None:
        """Execute jobs until ``end`` is called. An error of the database is logged, and it is tried again."""
        next_sign, is_away = 0.0, False
        while not self.ending.is_set():
            try:
                if time.monotonic() >= next_sign:
                    note_worker(self.engine, self.owner, self.started_at, self.handlers)
                    next_sign = time.monotonic() + SEEN_EVERY
                self.run_pending()
                is_away = False
            except SQLAlchemyError as error:
                if not is_away:
                    log.warning("jobs: the database cannot be used, trying again: %s", error)
                is_away = True
            queue.added.wait(POLL)
            queue.added.clear()
        with suppress(SQLAlchemyError):
            forget_worker(self.engine, self.owner)

    def end(self) -> None:
        """Let ``run`` return; a running job ends before its next transaction, and waits for another runner."""
        self.ending.set()
        queue.added.set()

    def _execute(self, claim: queue.Claim) -> None:
        """Execute a job and store how it ended."""
        run = JobRun(self.registry, claim, self.owner, self.ending)
        try:
            if claim.attempts > queue.ATTEMPTS:
                raise RuntimeError(f"{claim.name} was begun {queue.ATTEMPTS} times without advancing")
            with self._heartbeat(claim):
                self.handlers[claim.name].function(run)
            queue.finish(self.engine, claim.job_id, self.owner, JobState.DONE)
        except Stopped:
            queue.finish(self.engine, claim.job_id, self.owner, JobState.STOPPED)
        except Ending:
            queue.give_back(self.engine, claim, self.owner, at_once=True)
        except LeaseLost:
            log.warning("job %d (%s) was taken over by another runner", claim.job_id, claim.name)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of a library in Rust is no Exception, and would end the thread
            self._end_in_error(claim, error)

    def _end_in_error(self, claim: queue.Claim, error: BaseException) -> None:
        """Try a job again after an error of the database; let it fail after any other, or too many."""
        if isinstance(error, DBAPIError) and claim.attempts < queue.ATTEMPTS:
            log.warning("job %d (%s) will be tried again: %s", claim.job_id, claim.name, error)
            queue.give_back(self.engine, claim, self.owner, at_once=False)
            return
        log.error("job %d (%s) failed", claim.job_id, claim.name, exc_info=error)
        queue.finish(self.engine, claim.job_id, self.owner, JobState.FAILED, FAILED)

    @contextmanager
    def _heartbeat(self, claim: queue.Claim) -> Iterator[None]:
        """Renew the lease of a job, and store the runner's heartbeat, while the block runs."""
        over = threading.Event()

        def beat() -> None:
            while not over.wait(BEAT):
                with suppress(SQLAlchemyError):  # a step of the job holds a lock; it renews the lease itself
                    note_worker(self.engine, self.owner, self.started_at, self.handlers)
                    with write_engine(self.engine, BEAT).begin() as connection:
                        queue.renew(connection, claim.job_id, self.owner)

        thread = threading.Thread(target=beat, name="job heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


class BackgroundRunner:
    """A runner in a daemon thread: a job that does not end in time is taken over when its lease runs out."""

    def __init__(self, registry: Registry) -> None:
        self.runner = Runner(registry)
        self.thread = threading.Thread(target=self.runner.run, name="jobs", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self.thread.start()

    def end(self, timeout: float) -> None:
        """End the runner, and wait up to ``timeout`` seconds for its current step."""
        self.runner.end()
        self.thread.join(max(0.0, timeout))
        if self.thread.is_alive():
            log.warning("the current step of a job was not finished in time; the job will be taken over")
