"""Tween that has the replica answer requests for records, lists, the overview, the activity log and exports.

Users and sessions are read from the leader. A user sees what they wrote: the response to a write sets a cookie with the
leader's position in its log, and until the replica has replayed it, the leader answers this user. The API has no
cookies: there the replica answers tokens that are read only.
"""

import re
from collections.abc import Callable

from pyramid.response import Response

from groundtransport.db import Replica, is_write
from groundtransport.request import Registry, Request
from groundtransport.resources import Activity, Admin, Collection, Record, class_at
from groundtransport.security import is_api
from groundtransport.web.cookies import cookie_name, set_cookie
from groundtransport.web.urls import segments

COOKIE = "groundtransport-position"
TREES = (("admin",), ("api",))  # health probes must not wait for the leader
OVERVIEW: tuple[list[str], ...] = ([], ["search"])  # the view names of Admin that show records
_POSITION = re.compile(r"[0-9]{1,19}", re.ASCII)
Handler = Callable[[Request], Response]


def tween(handler: Handler, registry: Registry) -> Handler:
    replica = registry["replica"]
    if replica is None:
        return handler

    def choose_server(request: Request) -> Response:
        if is_write(request):
            return with_position(request, handler(request), replica)
        if segments(request)[:1] not in TREES:
            return handler(request)
        if not request.is_leader_away and may_read(request):
            replica.bind(request.dbsession, position_of(request))
        return handler(request)

    return choose_server


def with_position(request: Request, response: Response, replica: Replica) -> Response:
    """Return the response of a write with the cookie that tells from when on the replica has it."""
    if response.status_int < 400 and not is_api(request):
        set_cookie(request, response, COOKIE, str(replica.position()), max_age=2 * replica.max_lag)
    return response


def position_of(request: Request) -> int:
    """Return the position of the leader's log after the last write from this browser; 0 without one."""
    text = request.cookies.get(cookie_name(request, COOKIE), "")
    return int(text) if _POSITION.fullmatch(text) else 0


def may_read(request: Request) -> bool:
    """Return True if the replica may answer a request that only reads: by its path, and in the API by its token."""
    path = segments(request)
    if is_api(request):
        token = request.identity.token if request.identity else None
        if token is None or not token.is_read_only:
            return False
        path = ("admin", *path[2:])
    context_class, rest = class_at(path, request.registry["kinds"])
    return issubclass(context_class, (Collection, Record, Activity)) or (context_class is Admin and rest in OVERVIEW)
