"""Add jobs, take them with a lease, and finish them. The statements are the same on both databases."""

import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import ColumnElement, Connection, Engine, and_, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from groundtransport.db import autocommit_engine, now, write_engine
from groundtransport.jobs.models import Job, JobState

LEASE = timedelta(seconds=20)  # without a heartbeat, after which another runner takes the job over
ATTEMPTS = 5  # of a job that does not advance
RETRY = timedelta(seconds=5)  # after the first attempt, twice that after the second, and so on

added = threading.Event()  # set when this process has added a job, so that its own runner need not poll


@dataclass(frozen=True)
class Claim:
    """A job that a runner has taken, and how often it was begun since it last advanced."""

    job_id: int
    name: str
    parameters: Mapping[str, object]
    created_by: str
    attempts: int


def add(
    dbsession: Session,
    name: str,
    parameters: Mapping[str, object] | None = None,
    *,
    created_by: str = "",
    total: int = 0,
) -> int:
    """Add a job in the session's transaction and return its id. It runs after the commit."""
    values = {"name": name, "parameters": dict(parameters or {}), "created_by": created_by, "total": total or None}
    job_id: int = dbsession.execute(insert(Job).values(values).returning(Job.id)).scalar_one()
    dbsession.info["tm"].get().addAfterCommitHook(lambda _committed: added.set())
    return job_id


def add_once(connection: Connection, name: str, key: str) -> None:
    """Add a job without parameters unless there was one with this key."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    connection.execute(dialect.insert(Job).values(name=name, key=key).on_conflict_do_nothing())


def take(engine: Engine, owner: str, names: Collection[str], job_id: int | None = None) -> Claim | None:
    """Take the oldest job that is due, waiting or left by a dead runner; None if there is none.

    With ``job_id``, take no other job.
    """
    is_due = _is_due(names) if job_id is None else and_(Job.id == job_id, _is_due(names))
    with autocommit_engine(engine).connect() as connection:  # reads without a lock while there is nothing to do
        if connection.scalar(select(Job.id).where(is_due).limit(1)) is None:
            return None
    # PostgreSQL skips jobs that another runner is about to take; SQLite has one writer at a time.
    oldest = select(Job.id).where(is_due).order_by(Job.id).limit(1).with_for_update(skip_locked=True)
    lease = {"state": JobState.RUNNING, "owner": owner, "leased_until": now() + LEASE, "attempts": Job.attempts + 1}
    statement = update(Job).where(Job.id == oldest.scalar_subquery()).values(lease)
    columns = (Job.id, Job.name, Job.parameters, Job.created_by, Job.attempts)
    with write_engine(engine).begin() as connection:
        row = connection.execute(statement.returning(*columns)).one_or_none()
    return Claim(*row) if row else None


def _is_due(names: Collection[str]) -> ColumnElement[bool]:
    at = now()
    waits = and_(Job.state == JobState.WAITING, Job.run_after <= at)
    is_left = and_(Job.state == JobState.RUNNING, Job.leased_until < at)
    return and_(Job.name.in_(names), or_(waits, is_left))


def renew(connection: Connection | Session, job_id: int, owner: str) -> bool | None:
    """Prolong the lease of a job; return whether it is to be stopped, None if ``owner`` no longer holds the lease.

    In the same transaction nobody else can take the job.
    """
    is_own = (Job.id == job_id, Job.owner == owner, Job.state == JobState.RUNNING)
    statement = update(Job).where(*is_own).values(leased_until=now() + LEASE)
    row = connection.execute(statement.returning(Job.is_to_stop)).one_or_none()
    return bool(row[0]) if row else None


def advance(connection: Connection | Session, job_id: int, done: int, total: int | None) -> None:
    """Store the progress of a job."""
    connection.execute(update(Job).where(Job.id == job_id).values(done=done, total=total, attempts=0))


def finish(engine: Engine, job_id: int, owner: str, state: JobState, message: str = "") -> None:
    """Store the end of a job, unless ``owner`` no longer holds its lease."""
    values = {"state": state, "message": message, "finished_at": now(), "leased_until": None}
    with write_engine(engine).begin() as connection:
        connection.execute(update(Job).where(Job.id == job_id, Job.owner == owner).values(values))


def give_back(engine: Engine, claim: Claim, owner: str, *, at_once: bool) -> None:
    """Let a job wait for a runner, at once or after a pause that grows with the attempts."""
    run_after = now() if at_once else now() + RETRY * claim.attempts
    values = {"state": JobState.WAITING, "owner": None, "leased_until": None, "run_after": run_after}
    with write_engine(engine).begin() as connection:
        connection.execute(update(Job).where(Job.id == claim.job_id, Job.owner == owner).values(values))


def stop(dbsession: Session, job_id: int) -> None:
    """Stop a job: at once if it waits; a running one ends before its next transaction."""
    waiting = update(Job).where(Job.id == job_id, Job.state == JobState.WAITING)
    dbsession.execute(waiting.values(state=JobState.STOPPED, finished_at=now()))
    dbsession.execute(update(Job).where(Job.id == job_id, Job.state == JobState.RUNNING).values(is_to_stop=True))
