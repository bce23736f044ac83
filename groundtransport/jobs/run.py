"""What a job's handler gets: the parameters, and transactions that hold the job's lease."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyramid.registry import Registry
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from groundtransport import db
from groundtransport.jobs import queue
from groundtransport.json_types import JsonObject


class Stopped(Exception):
    """A person stopped the job. A handler lets it pass."""


class Ending(Exception):
    """The process is about to end; another runner continues the job. A handler lets it pass."""


class LeaseLost(Exception):
    """Another runner has taken the job over, because this one stored no heartbeat in time. A handler lets it pass."""


class JobRun:
    """One execution of a job.

    A handler does all its writing in ``transaction``, in steps of less than a second. It may be executed again after a
    crash, so it stores how far it has come, in the same transaction as the step.
    """

    def __init__(self, registry: Registry, claim: queue.Claim, owner: str, ending: threading.Event) -> None:
        self.registry, self.claim, self.owner, self.ending = registry, claim, owner, ending
        self.done, self.total = 0, None  # type: int, int | None

    @property
    def engine(self) -> Engine:
        """The engine of the application."""
        engine: Engine = self.registry["engine"]
        return engine

    @property
    def parameters(self) -> JsonObject:
        """The parameters with which the job was added."""
        return dict(self.claim.parameters)

    @contextmanager
    def transaction(self, engine: Engine | None = None) -> Iterator[Session]:
        """Yield the session of a transaction that holds the lease, and store ``done`` and ``total`` with it.

        Raise Stopped, Ending or LeaseLost, before anything is written.
        """
        if self.ending.is_set():
            raise Ending
        with db.transaction(engine or self.engine) as dbsession:
            is_to_stop = queue.renew(dbsession, self.claim.job_id, self.owner)
            if is_to_stop is None:
                raise LeaseLost(f"job {self.claim.job_id}")
            if is_to_stop:
                raise Stopped
            yield dbsession
            queue.advance(dbsession, self.claim.job_id, self.done, self.total)


Handler = Callable[[JobRun], object]


@dataclass(frozen=True)
class HandlerEntry:
    """A registered handler; ``every`` is the number of seconds between two jobs that are added by themselves, or 0."""

    function: Handler
    every: int = 0
