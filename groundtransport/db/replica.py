"""The replica: a standby server that answers requests that only read, when it is current or the leader is away."""

import logging
import time
from collections import deque

import pyramid_retry
from psycopg.errors import SerializationFailure
from sqlalchemy import Engine, ExceptionContext, event, text
from sqlalchemy.exc import DBAPIError, TimeoutError
from sqlalchemy.orm import Session

from groundtransport.cache import CACHE_OF
from groundtransport.db import deadline, postgresql
from groundtransport.db.engine import read_engine

log = logging.getLogger(__name__)

CONTACT = 0.8  # seconds in which the leader or the replica must tell its position
PAUSE = 2  # seconds without another attempt after one of them did not
INTERVAL = 1  # seconds between two positions of the leader
UNKNOWN = 2**63 - 1  # a position that no replica has replayed

# Positions in the write-ahead log, as numbers of bytes. The leader's includes commits that do not wait for the disk.
_WRITTEN = text("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint")
# A replica that was promoted replays nothing any more.
_REPLAYED = text(
    "SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END"
    " - '0/0')::bigint"
)


class Replica:
    """What a process knows of the replica and of the leader. Thread-safe.

    ``engine`` reads from the replica. The replica is current if it has replayed what the leader had written
    ``max_lag`` seconds ago; the standby's own clock does not tell, because an idle leader writes nothing.
    """

    def __init__(self, engine: Engine, leader: Engine, max_lag: int) -> None:
        event.listen(engine, "handle_error", _retry_conflicts)
        self.engine = read_engine(engine.execution_options(**{CACHE_OF: leader.pool}))
        self.max_lag = max_lag
        self._leader = read_engine(leader)
        self._positions: deque[tuple[float, int]] = deque(maxlen=max_lag // INTERVAL + 1)  # of the leader, by time
        self._leader_away_until = 0.0
        self._replica_away_until = 0.0

    def is_leader_away(self) -> bool:
        """Return True if the leader does not tell its position in time; it is asked again after PAUSE seconds.

        Each request asks: a paused server keeps its connections, and the request would wait for all its time.
        """
        if time.monotonic() < self._leader_away_until:
            return True
        was_away = self._leader_away_until > 0
        if was_away:
            self._leader_away_until = time.monotonic() + PAUSE  # one thread asks, the others read from the replica
        at = time.monotonic()
        try:
            with deadline.until(min(deadline.current(), at + CONTACT)), self._leader.connect() as connection:
                written = int(connection.execute(_WRITTEN).scalar_one())
        except DBAPIError as error:
            self._leader_away_until = time.monotonic() + PAUSE
            if not was_away:
                log.warning("the leader is away, and the replica answers: %s", error)
            return True
        self._leader_away_until = 0.0
        if not self._positions or at - self._positions[-1][0] >= INTERVAL:
            self._positions.append((at, written))
        return False

    def position(self) -> int:
        """Return the position up to which the leader has written; UNKNOWN if it does not answer."""
        try:
            with self._leader.connect() as connection:
                return int(connection.execute(_WRITTEN).scalar_one())
        except (DBAPIError, TimeoutError):
            log.warning("the position of the leader could not be read", exc_info=True)
            return UNKNOWN

    def bind(self, dbsession: Session, position: int) -> None:
        """Have a session read from the replica if that is current and has replayed up to ``position``.

        The session asks on the connection, and in the transaction, with which it reads on: another one may lead to
        another standby, which is behind.
        """
        if time.monotonic() < self._replica_away_until:
            return
        leader = dbsession.bind
        dbsession.close()  # gives the leader's connection back
        dbsession.bind = self.engine
        if not self._is_current(dbsession, position):
            dbsession.close()
            dbsession.bind = leader

    def _is_current(self, dbsession: Session, position: int) -> bool:
        """Return True if the session's server has replayed ``position``, and is at most ``max_lag`` seconds behind."""
        try:
            with deadline.until(min(deadline.current(), time.monotonic() + CONTACT)):
                connection = dbsession.connection()
                replayed = int(connection.execute(_REPLAYED).scalar_one())
        except (DBAPIError, TimeoutError) as error:
            self._replica_away_until = time.monotonic() + PAUSE
            log.warning("the replica is away, and the leader answers: %s", error)
            return False
        postgresql.renew_deadline(connection)
        since = time.monotonic() - self.max_lag
        is_recent = any(at >= since and written <= replayed for at, written in tuple(self._positions))
        return is_recent and position <= replayed


def _retry_conflicts(context: ExceptionContext) -> None:
    """Have a request tried again whose statement the standby ended because the leader removed rows that it read."""
    if isinstance(context.original_exception, SerializationFailure) and context.sqlalchemy_exception is not None:
        pyramid_retry.mark_error_retryable(context.sqlalchemy_exception)
