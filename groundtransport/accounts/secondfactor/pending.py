"""A sign-in that waits for its second step: which browser, whose, for how long.

It is no session: it opens nothing, lasts minutes, and is used up by the right code.
"""

from datetime import timedelta

from pyramid.request import Request
from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.orm import Session

from groundtransport.accounts.models import AdminUser, SignInTry
from groundtransport.accounts.secondfactor.models import PendingSignIn
from groundtransport.db import now

LASTS = timedelta(minutes=5)


def begin(request: Request, user: AdminUser, try_id: int) -> None:
    """Let this browser, under a new id, owe a code of that person; written with the session."""
    session = request.session
    session.renew()
    values = {"token_hash": session.token_hash, "user_id": user.id, "epoch": user.session_epoch, "try_id": try_id}

    def write(connection: Connection) -> None:
        connection.execute(delete(PendingSignIn).where(PendingSignIn.at <= now() - LASTS))
        connection.execute(insert(PendingSignIn).values(values))

    session.also(write)


def find(request: Request) -> tuple[PendingSignIn, AdminUser] | None:
    """Return what this browser's sign-in waits for, and whose it is; read past the request's transaction."""
    if not request.session.presented:
        return None
    query = (
        select(PendingSignIn, AdminUser)
        .join(AdminUser, AdminUser.id == PendingSignIn.user_id)
        .where(
            PendingSignIn.token_hash == request.session.token_hash,
            PendingSignIn.at > now() - LASTS,
            PendingSignIn.epoch == AdminUser.session_epoch,
            AdminUser.disabled_at.is_(None),
        )
    )
    with Session(request.registry["engine"], expire_on_commit=False) as dbsession:
        found = dbsession.execute(query).one_or_none()
        return (found[0], found[1]) if found else None


def use_up(dbsession: Session, waiting: PendingSignIn) -> bool:
    """End the waiting; False where another request did so before."""
    mine = PendingSignIn.token_hash == waiting.token_hash
    return len(dbsession.execute(delete(PendingSignIn).where(mine).returning(PendingSignIn.user_id)).all()) == 1


def forget_try(request: Request, waiting: PendingSignIn) -> None:
    """Take back the try that gave the password: it was no failure."""
    request.session.also(lambda connection: connection.execute(delete(SignInTry).where(SignInTry.id == waiting.try_id)))
