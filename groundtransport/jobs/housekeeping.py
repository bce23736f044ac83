"""Regular work of the runners: heartbeats, jobs at fixed intervals, and the removal of old jobs."""

import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Engine, delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from groundtransport.db import now, write_engine
from groundtransport.jobs import queue
from groundtransport.jobs.models import ACTIVE, Job, JobWorker
from groundtransport.jobs.run import HandlerEntry, JobRun

PURGE = "purge jobs"
PURGE_EVERY = 24 * 60 * 60  # seconds
KEEP = timedelta(days=30)  # how long a finished job stays in the table
SEEN_EVERY = 30  # seconds between two heartbeats of an idle runner
ALIVE = timedelta(seconds=3 * SEEN_EVERY)


def note_worker(engine: Engine, owner: str, started_at: datetime, handlers: Mapping[str, HandlerEntry]) -> None:
    """Store that a runner is alive, and add the regular jobs that are due."""
    dialect = sqlite if engine.dialect.name == "sqlite" else postgresql
    seen = {"owner": owner, "started_at": started_at, "seen_at": now()}
    with write_engine(engine, durable=False).begin() as connection:
        statement = dialect.insert(JobWorker).values(seen)
        connection.execute(statement.on_conflict_do_update(index_elements=["owner"], set_={"seen_at": seen["seen_at"]}))
        for name, entry in handlers.items():
            if entry.every:
                queue.add_once(connection, name, f"{name} {int(time.time() // entry.every)}")


def forget_worker(engine: Engine, owner: str) -> None:
    """Remove a runner that ends."""
    with write_engine(engine).begin() as connection:
        connection.execute(delete(JobWorker).where(JobWorker.owner == owner))


def workers(dbsession: Session) -> Sequence[JobWorker]:
    """Return the runners that ended by a crash or are alive, the last seen first."""
    return dbsession.scalars(select(JobWorker).order_by(JobWorker.seen_at.desc())).all()


def is_alive(dbsession: Session) -> bool:
    """Return True if a runner has stored a heartbeat lately."""
    return dbsession.scalar(select(JobWorker.owner).where(JobWorker.seen_at > now() - ALIVE).limit(1)) is not None


def purge_jobs(run: JobRun) -> None:
    """Remove jobs that ended more than KEEP ago, and runners that were last seen then."""
    oldest = now() - KEEP
    with run.transaction() as dbsession:
        dbsession.execute(delete(Job).where(Job.state.not_in(ACTIVE), Job.created_at < oldest))
        dbsession.execute(delete(JobWorker).where(JobWorker.seen_at < oldest))
