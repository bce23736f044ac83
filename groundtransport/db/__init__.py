"""The database: engines, sessions, transactions and column types for SQLite and PostgreSQL."""

from dataclasses import replace

import pyramid_tm
from pyramid.config import Configurator

from groundtransport.db.base import AnyRow, AnySelect, Base, Id, UTCDateTime, now, table_of
from groundtransport.db.engine import (
    autocommit_engine,
    bulk_engine,
    database_timeout,
    index_build_engine,
    is_pooled,
    make_engine,
    read_engine,
    without_time_limit,
    write_engine,
)
from groundtransport.db.postgresql import plan_options
from groundtransport.db.replica import Replica
from groundtransport.db.request_transaction import SAFE_METHODS, dbsession, is_leader_away, is_write, tween, veto
from groundtransport.db.session import limit_lock_wait, make_session, transaction, transaction_data
from groundtransport.db.timeouts import BULK_BUDGET

__all__ = [
    "BULK_BUDGET",
    "SAFE_METHODS",
    "AnyRow",
    "AnySelect",
    "Base",
    "Id",
    "Replica",
    "UTCDateTime",
    "autocommit_engine",
    "bulk_engine",
    "database_timeout",
    "index_build_engine",
    "is_pooled",
    "is_write",
    "limit_lock_wait",
    "make_engine",
    "make_session",
    "now",
    "plan_options",
    "read_engine",
    "table_of",
    "transaction",
    "transaction_data",
    "tween",
    "without_time_limit",
    "write_engine",
]
ATTEMPTS = 3


def includeme(config: Configurator) -> None:
    settings = config.registry["settings"]
    engine = config.registry["engine"] = make_engine(settings, for_requests=True)
    config.registry["replica"] = None
    if settings.replica_url:
        standby = make_engine(replace(settings, database_url=settings.replica_url), for_requests=True)
        config.registry["replica"] = Replica(standby, engine, settings.replica_max_lag)
    config.add_settings(
        {
            "tm.manager_hook": pyramid_tm.explicit_manager,
            "tm.activate_hook": is_write,
            # Without the veto, pyramid_tm commits what was flushed before a returned 4xx.
            "tm.commit_veto": veto,
            # Annotating loads the user with a query, for static files too.
            "tm.annotate_user": False,
        }
    )
    config.include("pyramid_tm")
    # Serialization failures and deadlocks are retried.
    config.add_settings({"retry.attempts": ATTEMPTS})
    config.include("pyramid_retry")
    config.add_request_method(dbsession, "dbsession", reify=True)
    config.add_request_method(is_leader_away, "is_leader_away", reify=True)
