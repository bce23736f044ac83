"""The database: engines, sessions, transactions and column types for SQLite and PostgreSQL."""

import pyramid_tm
from pyramid.config import Configurator

from groundtransport.db.base import Base, Id, UTCDateTime, now
from groundtransport.db.engine import (
    autocommit_engine,
    bulk_engine,
    index_build_engine,
    make_engine,
    read_engine,
    write_engine,
)
from groundtransport.db.request_transaction import SAFE_METHODS, dbsession, is_write, tween, veto
from groundtransport.db.session import limit_lock_wait, make_session, transaction, transaction_data
from groundtransport.db.timeouts import BUDGET, LOCK, STATEMENT

__all__ = [
    "BUDGET",
    "LOCK",
    "SAFE_METHODS",
    "STATEMENT",
    "Base",
    "Id",
    "UTCDateTime",
    "autocommit_engine",
    "bulk_engine",
    "index_build_engine",
    "is_write",
    "limit_lock_wait",
    "make_engine",
    "make_session",
    "now",
    "read_engine",
    "transaction",
    "transaction_data",
    "tween",
    "write_engine",
]
ATTEMPTS = 3


def includeme(config: Configurator) -> None:
    config.registry["engine"] = make_engine(config.registry["settings"], for_requests=True)
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
