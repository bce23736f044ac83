"""``Idempotency-Key`` (draft-ietf-httpapi-idempotency-key-header-07): a POST that is repeated is done once.

The answer is stored in the transaction of the change, so both exist or neither. An answer that refused the request is
not stored: nothing was done. Of two requests at once the second waits for the unique key, fails and is answered anew.
"""

import hashlib
import json
import re
from datetime import timedelta
from functools import wraps

from pyramid.response import Response
from sqlalchemy import delete, insert, select
from sqlalchemy.exc import IntegrityError

from groundtransport.accounts.tokens.models import StoredAnswer
from groundtransport.api.problems import ApiProblem
from groundtransport.db import now
from groundtransport.i18n import _
from groundtransport.request import Request, View
from groundtransport.resources import Node

KEPT = timedelta(days=1)
REMOVED_AT_ONCE = 100  # old answers that a request removes at most
HEADERS = ("Content-Type", "Location", "ETag", "Preference-Applied")
_KEY = re.compile(r'"?([\x21\x23-\x7e]{1,255})"?', re.ASCII)
BAD_KEY = _("Idempotency-Key must hold 1 to 255 visible ASCII characters.")
OTHER_REQUEST = _("This Idempotency-Key was sent with another request before.")


def idempotent(view: View) -> View:
    """Return the view of a POST that answers a repeated request with the first answer.

    It raises ApiProblem for a malformed key (400), and for a key that came with another request (422).
    """

    @wraps(view)
    def once(context: Node, request: Request) -> Response:
        text = request.headers.get("Idempotency-Key")
        if text is None:
            return view(context, request)
        if not (match := _KEY.fullmatch(text)):
            raise ApiProblem(400, BAD_KEY)
        key_hash = hashlib.sha256(match[1].encode()).hexdigest()
        return _stored_answer(request, key_hash) or _store(view, context, request, key_hash)

    return once


def _store(view: View, context: Node, request: Request, key_hash: str) -> Response:
    """Return the view's answer, and store it."""
    response = view(context, request)
    headers = {name: response.headers[name] for name in HEADERS if name in response.headers}
    values = {"status": response.status_int, "headers": headers, "body": response.text if response.body else ""}
    _remove_old(request)
    try:
        request.dbsession.execute(insert(StoredAnswer).values(**_names(request, key_hash), **values, created_at=now()))
    except IntegrityError:
        request.tm.abort()  # the other request was first
        request.tm.begin()
        stored = _stored_answer(request, key_hash)
        if stored is None:
            raise
        return stored
    return response


def _stored_answer(request: Request, key_hash: str) -> Response | None:
    """Return the stored answer. Raise ApiProblem (422) if the key came with another request."""
    token_id = request.token_limits.token_id
    query = select(StoredAnswer).where(StoredAnswer.token_id == token_id, StoredAnswer.key_hash == key_hash)
    stored = request.dbsession.scalar(query.where(StoredAnswer.created_at > now() - KEPT))
    if stored is None:
        return None
    if stored.request_hash != _request_hash(request):
        raise ApiProblem(422, OTHER_REQUEST)
    response = Response(stored.body.encode(), status=stored.status)
    response.headers.pop("Content-Type", None)
    response.headers.update(stored.headers)
    response.headers["Idempotent-Replayed"] = "true"
    return response


def _names(request: Request, key_hash: str) -> dict[str, object]:
    return {
        "token_id": request.token_limits.token_id,
        "key_hash": key_hash,
        "request_hash": _request_hash(request),
    }


def _request_hash(request: Request) -> str:
    """Return a hash of what makes two requests the same: method, URL, conditions and body."""
    parts = [request.method, request.path_qs, request.headers.get("If-Match", ""), request.headers.get("Prefer", "")]
    return hashlib.sha256(json.dumps(parts).encode() + request.body).hexdigest()


def _remove_old(request: Request) -> None:
    """Delete answers whose day is over. Rows that another request is deleting are skipped."""
    key = (StoredAnswer.token_id, StoredAnswer.key_hash)
    old = select(*key).where(StoredAnswer.created_at <= now() - KEPT).limit(REMOVED_AT_ONCE)
    rows = request.dbsession.execute(old.with_for_update(skip_locked=True)).all()
    for row in rows:
        request.dbsession.execute(delete(StoredAnswer).where(*(c == v for c, v in zip(key, row, strict=True))))
