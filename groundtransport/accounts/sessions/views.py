"""Open sessions of a user: list them, and end one or all others."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pyramid.httpexceptions import HTTPSeeOther
from pyramid.response import Response
from pyramid.view import view_config, view_defaults
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from groundtransport.accounts import users
from groundtransport.accounts.models import AdminSession, AdminUser
from groundtransport.accounts.sessions.rows import LIVE, live_since
from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.resources import Profile
from groundtransport.security import Permission
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record
from groundtransport.web.client import browser_of
from groundtransport.web.form_data import submitted

PAGE_SIZE = 25


@dataclass(frozen=True)
class SessionPage:
    """A page of a user's open sessions; ``number`` counts from 1 to ``last``, ``total`` all of them."""

    sessions: Sequence[AdminSession]
    number: int
    last: int
    total: int


def page_of(request: Request, user_id: int, this: str = "") -> SessionPage:
    """Return the page of number ``page_no`` in the URL: past the end the last one; the first if it is no number.

    The session whose public id is ``this`` comes first, then those that were used last.
    """
    live = (AdminSession.user_id == user_id, *LIVE)
    since = live_since(request.registry["settings"])
    user = AdminUser.id == AdminSession.user_id
    count = select(func.count()).select_from(AdminSession).join(AdminUser, user).where(*live)
    total = request.dbsession.scalar(count, since) or 0
    last = max(1, math.ceil(total / PAGE_SIZE))
    number = min(last, _number(request.GET.get("page_no", "")))
    order = ((AdminSession.public_id == this).desc(), AdminSession.seen_at.desc(), AdminSession.public_id)
    query = select(AdminSession).join(AdminUser, user).where(*live).order_by(*order)
    query = query.offset((number - 1) * PAGE_SIZE).limit(PAGE_SIZE)
    return SessionPage(request.dbsession.scalars(query, since).all(), number, last, total)


def _number(text: str) -> int:
    return max(1, int(text[:18])) if text.isascii() and text.isdigit() else 1


def end_session(dbsession: Session, user_id: int, public_id: str) -> bool:
    """Delete one session of a user; return False if there is none with that public id."""
    is_named = (AdminSession.user_id == user_id, AdminSession.public_id == public_id.replace("\0", ""))
    return dbsession.scalar(delete(AdminSession).where(*is_named).returning(AdminSession.public_id)) is not None


def end_other_sessions(dbsession: Session, user: AdminUser, public_id: str) -> None:
    """End all sessions and edit links of a user except one session, including a sign-in that is not committed yet."""
    users.end_sessions(user)
    is_excepted = AdminSession.public_id == public_id
    dbsession.execute(delete(AdminSession).where(AdminSession.user_id == user.id, ~is_excepted))
    dbsession.execute(update(AdminSession).where(is_excepted).values(epoch=user.session_epoch))


@view_defaults(context=Profile, name="sessions", renderer="groundtransport:accounts/templates/own_sessions.jinja2")
class OwnSessions:
    """The open sessions of the signed-in user."""

    def __init__(self, context: Profile, request: Request) -> None:
        self.context, self.request = context, request

    @view_config(request_method="GET", permission=Permission.OWN_READ)
    def show(self) -> dict[str, object]:
        """Render a page of the sessions, the current one first."""
        request = self.request
        this = request.session.public_id
        page = page_of(request, request.user.user_id, this)
        return {"page": page, "this": this, "browser_of": browser_of}

    @view_config(request_method="POST", permission=Permission.OWN)
    def end(self) -> Response:
        """End the session whose public id is the field ``session``; without that field, all other sessions."""
        public_id = submitted(self.request, ("session",)).get("session", "")
        if public_id == self.request.session.public_id:
            record(self.request, Event.SIGN_OUT)
            self.request.session.sign_out()
            return HTTPSeeOther(self.request.application_url + "/login")
        text = self._end_one(public_id) if public_id else self._end_others()
        self.request.session.flash({"text": self.request.translate(text)})
        return HTTPSeeOther(self.request.application_url + self.request.context_path(self.context, "sessions"))

    def _end_one(self, public_id: str) -> str:
        if end_session(self.request.dbsession, self.request.user.user_id, public_id):
            record(self.request, Event.SESSION_ENDED, session=public_id)
        return _("That session was ended.")

    def _end_others(self) -> str:
        user = users.find_locked(self.request.dbsession, self.request.user.name)
        assert user is not None  # they are signed in, and nobody is ever deleted
        end_other_sessions(self.request.dbsession, user, self.request.session.public_id)
        record(self.request, Event.SESSION_ENDED, session="all others")
        return _("All your other sessions were ended.")
