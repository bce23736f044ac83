"""Pending sign-ins: the password was verified, the code is missing.

A pending sign-in is no session: it authenticates nothing, expires after minutes, and is deleted by the right code.
"""

from datetime import timedelta

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.orm import Session

from groundtransport.accounts.models import AdminUser, SignInTry
from groundtransport.accounts.secondfactor.models import PendingSignIn
from groundtransport.db import now
from groundtransport.request import Request

LIFETIME = timedelta(minutes=5)


def begin(request: Request, user: AdminUser, try_id: int) -> None:
    """Store a pending sign-in of a user under a new session id. Written with the session."""
    session = request.session
    session.renew()
    values = {"token_hash": session.token_hash, "user_id": user.id, "epoch": user.session_epoch, "try_id": try_id}

    def write(connection: Connection) -> None:
        connection.execute(delete(PendingSignIn).where(PendingSignIn.at <= now() - LIFETIME))
        connection.execute(insert(PendingSignIn).values(values))

    session.add_write(write)


def find(request: Request) -> tuple[PendingSignIn, AdminUser] | None:
    """Return this browser's pending sign-in and its user; None if there is none. Reads outside the transaction."""
    if not request.session.presented:
        return None
    query = (
        select(PendingSignIn, AdminUser)
        .join(AdminUser, AdminUser.id == PendingSignIn.user_id)
        .where(
            PendingSignIn.token_hash == request.session.token_hash,
            PendingSignIn.at > now() - LIFETIME,
            PendingSignIn.epoch == AdminUser.session_epoch,
            AdminUser.disabled_at.is_(None),
        )
    )
    with Session(request.registry["engine"], expire_on_commit=False) as dbsession:
        row = dbsession.execute(query).one_or_none()
        return (row[0], row[1]) if row else None


def consume(dbsession: Session, sign_in: PendingSignIn) -> bool:
    """Delete the pending sign-in; return False if another request has deleted it."""
    is_this_one = PendingSignIn.token_hash == sign_in.token_hash
    return len(dbsession.execute(delete(PendingSignIn).where(is_this_one).returning(PendingSignIn.user_id)).all()) == 1


def forget_attempt(request: Request, sign_in: PendingSignIn) -> None:
    """Remove the counted attempt of the password step. Written with the session."""
    statement = delete(SignInTry).where(SignInTry.id == sign_in.try_id)
    request.session.add_write(lambda connection: connection.execute(statement))
