"""Hostile requests by chance: each the right 4xx with problem details, never a change.

``HOSTILE_REQUESTS`` is their number, ``HOSTILE_SEEDS`` are other seeds, with commas.
"""

import os
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from groundtransport import db
from groundtransport.accounts.models import AdminUser
from groundtransport.accounts.tokens.models import ApiToken
from groundtransport.db import now
from groundtransport.security import Role
from groundtransport.web.request_guard import HEADERS
from tests.api import Program, make_token
from tests.endpoints import facts
from tests.functional.test_api import created
from tests.hostile import USED_KEY, Attacker, Hostile
from tests.site import Site

pytestmark = [pytest.mark.usefixtures("cheaply"), pytest.mark.slow]
REQUESTS = int(os.environ.get("HOSTILE_REQUESTS", "600"))
SEEDS = [int(text) for text in os.environ.get("HOSTILE_SEEDS", "22").split(",")]
CHECKED_EACH = 50  # requests
PLACES = (
    "transit?limit=1",
    "transit?limit=1&status=active",
    "transit?limit=1&sort=company_name",
    "scheduledbus?limit=1",
)
PLACES += ("activity?limit=1", "activity?limit=1&actor=the-editor", "airports?limit=1")


def refused_tokens(site: Site) -> list[str]:
    """Return a token of each kind that is refused, and some of other services."""
    changes: list[dict[str, Any]] = [
        {"expires_at": now() - timedelta(seconds=1)},
        {"revoked_at": now()},
        {"networks": ["192.0.2.0/24"]},
    ]
    texts = []
    for values in changes:
        texts.append(make_token(site, Role.EDITOR))
        with db.transaction(site.engine) as dbsession:
            newest = dbsession.query(ApiToken).order_by(ApiToken.id.desc()).first()
            dbsession.execute(update(ApiToken).where(ApiToken.id == newest.id).values(values))
    texts.append(make_token(site, Role.EDITOR, user="pat"))
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(update(AdminUser).where(AdminUser.name == "pat").values(disabled_at=now()))
    valid = make_token(site, Role.EDITOR)
    altered = valid[:-1] + ("a" if valid[-1] != "a" else "b")
    return [*texts, altered, valid.upper(), valid[:-1], valid + "a", "ghp_" + "a" * 36, "eyJhbGciOiJub25lIn0.e30.", "x"]


def attacker(site: Site, program: Program, seed: int) -> Attacker:
    """Return the attacker of a site with a few records."""
    records = [created(program, kind, status="active") for kind in ("transit",) * 3]
    for _ in range(2):
        created(program, "scheduledbus")
    first = program.post("/api/v1/transit", {"airport_name": "JFK (JFK)"}, Idempotency_Key=USED_KEY)
    assert first.status_int == 201
    cursors = {place: program.get(f"/api/v1/{place}").json["next"].partition("cursor=")[2] for place in PLACES}
    return Attacker(seed, records[0]["id"], refused_tokens(site), cursors)


def send(program: Program, request: Hostile) -> Any:
    headers = {name.replace("-", "_"): value for name, value in request.headers.items()}
    return program.send(request.method, request.path, request.body, **headers)


def check(answer: Any, request: Hostile) -> None:
    """Check the status, and that the answer is a problem document that names what is wrong."""
    where = (
        request.name,
        request.method,
        request.path[:300],
        (request.body or b"")[:300],
        request.headers,
        answer.text[:300],
    )
    assert answer.status_int in request.statuses, (answer.status_int, request.statuses, *where)
    assert all(answer.headers.getall(name) == [value] for name, value in HEADERS.items()), where
    assert "Set-Cookie" not in answer.headers, where
    assert ("WWW-Authenticate" in answer.headers) == (answer.status_int == 401), where
    if request.method == "HEAD":
        return
    assert answer.content_type == "application/problem+json", where
    document = answer.json
    assert document["status"] == answer.status_int, where
    assert all(
        document[name] and isinstance(document[name], str) for name in ("type", "title", "detail", "instance")
    ), where
    if request.error:
        assert request.error in document["errors"], where


@pytest.mark.usefixtures("pat")
@pytest.mark.parametrize("seed", SEEDS)
def test_hostile_requests_are_refused_for_the_right_reason(
    site: Site, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site.registry["token_leases"], "limit", 0)
    program, nobody = Program(site, make_token(site, Role.EDITOR)), Program(site)
    hostile = attacker(site, program, seed)
    before, names = facts(site), set()
    for number in range(REQUESTS):
        request = hostile.draw()
        check(send(program if request.has_token else nobody, request), request)
        names.add(request.name)
        if number % CHECKED_EACH == 0:
            assert facts(site) == before, request
    assert facts(site) == before
    assert len(names) >= len(hostile.kinds)
