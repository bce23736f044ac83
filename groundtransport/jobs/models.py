"""The tables of jobs and of the processes that execute them."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import JSON, Index, String, Text, false
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base, Id, UTCDateTime, now
from groundtransport.json_types import JsonObject

NAME_MAX = 64
OWNER_MAX = 100


class JobState(StrEnum):
    """The state of a job; the values are stored. A job whose lease has run out is RUNNING and is taken over."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # its handler raised an error
    STOPPED = "stopped"  # a person stopped it


ACTIVE = (JobState.WAITING, JobState.RUNNING)


class Job(Base):
    """A job: a handler's name and its parameters. The runner that holds the lease executes it."""

    __tablename__ = "job"
    __table_args__ = (Index(None, "state", "run_after"),)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(NAME_MAX))
    # Of two jobs with one key, only the first is added.
    key: Mapped[str | None] = mapped_column(String(100), unique=True)
    parameters: Mapped[JsonObject] = mapped_column(JSON, default=dict)
    state: Mapped[str] = mapped_column(String(8), default=JobState.WAITING)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)
    created_by: Mapped[str] = mapped_column(String(64), default="")
    run_after: Mapped[datetime] = mapped_column(UTCDateTime, default=now)
    # The runner that executes it, and the time until which no other may.
    owner: Mapped[str | None] = mapped_column(String(OWNER_MAX))
    leased_until: Mapped[datetime | None] = mapped_column(UTCDateTime)
    # How often it was begun since it last advanced.
    attempts: Mapped[int] = mapped_column(default=0)
    is_to_stop: Mapped[bool] = mapped_column(default=False, server_default=false())
    done: Mapped[int] = mapped_column(default=0)
    total: Mapped[int | None]
    message: Mapped[str] = mapped_column(Text, default="")
    finished_at: Mapped[datetime | None] = mapped_column(UTCDateTime)

    @property
    def is_active(self) -> bool:
        """True if the job waits or runs."""
        return self.state in ACTIVE


class JobWorker(Base):
    """A runner of jobs, and when it was last alive."""

    __tablename__ = "job_worker"

    owner: Mapped[str] = mapped_column(String(OWNER_MAX), primary_key=True)
    started_at: Mapped[datetime] = mapped_column(UTCDateTime)
    seen_at: Mapped[datetime] = mapped_column(UTCDateTime, index=True)
