"""Tokens of the API: creating, listing and revoking them, and what a token opens."""

import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from groundtransport import db
from groundtransport.accounts import users
from groundtransport.accounts.models import AdminUser
from groundtransport.accounts.tokens import limits, secret_text
from groundtransport.accounts.tokens.models import ApiToken
from groundtransport.db import now
from groundtransport.security import Role
from tests.api import Program, make_token
from tests.site import PASSWORD, Client, Site

pytestmark = pytest.mark.usefixtures("cheaply")
ME = "/api/v1/me"
FORM = {"name": "web site", "role": "viewer", "days": "30", "current": PASSWORD}


def shown_token(answer: Any) -> str:
    result = re.search(r"gt_[0-9A-Za-z]{38}", answer.text)
    assert result, answer.text
    return result[0]


def rows(site: Site) -> list[Any]:
    with site.engine.connect() as connection:
        return list(connection.execute(select(ApiToken.__table__).order_by(ApiToken.id)))


# Creating


def test_a_person_creates_a_token_that_is_shown_once_and_stored_as_a_hash(site: Site) -> None:
    client = site.client(Role.EDITOR)
    answer = client.post(
        "/admin/profile/tokens", {**FORM, "role": "editor", "kind": "transit", "networks": "127.0.0.0/8"}
    )
    assert answer.status_int == 200
    text = shown_token(answer)
    (row,) = rows(site)
    assert secret_text.is_well_formed(text)
    assert (row.token_hash, row.hint) == (secret_text.hash_of(text), text[-4:])
    assert (row.role, row.kinds, row.networks, row.created_by) == ("editor", ["transit"], ["127.0.0.0/8"], "the-editor")
    assert timedelta(days=29) < row.expires_at - now() < timedelta(days=30)
    page = client.get("/admin/profile/tokens").text
    assert "web site" in page
    assert text not in page
    assert [event["details"]["token"] for event in site.events("token created")] == ["web site"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "x" * 65),
        ("role", "administrator"),
        ("role", "king"),
        ("days", "0"),
        ("days", "366"),
        ("days", "٣"),
        ("days", ""),
        ("networks", "here"),
        ("networks", "192.0.2.0/33"),
        ("kind", "plane"),
        ("current", "wrong"),
    ],
)
def test_a_wrong_field_is_refused_and_what_was_typed_stays(site: Site, field: str, value: str) -> None:
    client = site.client(Role.EDITOR)
    answer = client.post("/admin/profile/tokens", {**FORM, field: value})
    assert answer.status_int == 422
    assert rows(site) == []
    assert field == "name" or 'value="web site"' in answer.text


def test_two_live_tokens_of_a_user_have_different_names(site: Site) -> None:
    client = site.client(Role.EDITOR)
    assert client.post("/admin/profile/tokens", FORM).status_int == 200
    assert client.post("/admin/profile/tokens", FORM).status_int == 422


def test_an_administrator_makes_a_service_account_that_cannot_sign_in(site: Site) -> None:
    client = site.client()
    answer = client.post("/admin/users", {"name": "feed-reader", "role": "editor", "service": "1"})
    assert answer.location == "http://localhost/admin/users/feed-reader/tokens"
    text = shown_token(
        client.post("/admin/users/feed-reader/tokens", {"name": "nightly", "role": "viewer", "days": "90"})
    )
    assert Program(site, text).get(ME).json["user"] == "feed-reader"
    for password in ("", "!", PASSWORD):
        answer = site.anonymous().post("/login", {"username": "feed-reader", "password": password})
        assert answer.status_int == 422
    refused = client.post("/admin/users/feed-reader/password", {})
    assert refused.status_int == 422
    assert "service account" in refused.text


def test_a_service_account_is_no_last_administrator(site: Site) -> None:
    with db.transaction(site.engine) as dbsession:
        users.add_service(dbsession, "robot", Role.ADMINISTRATOR)
        the_only = users.find_locked(dbsession, "the-administrator")
        assert the_only is not None
        with pytest.raises(users.UserRefused):
            users.disable(dbsession, the_only)


def test_an_administrator_cannot_make_a_token_of_a_person_and_can_revoke_theirs(site: Site) -> None:
    text = make_token(site, Role.EDITOR)
    client = site.client()
    assert client.post("/admin/users/the-editor/tokens", {**FORM, "name": "mine"}).status_int == 422
    (row,) = rows(site)
    assert client.post("/admin/users/the-editor/revoke-token", {"token": str(row.id)}).status_int == 303
    assert Program(site, text).get(ME).status_int == 401
    assert [event["about"] for event in site.events("token revoked")] == ["the-editor"]


def test_nobody_revokes_the_token_of_somebody_else(site: Site) -> None:
    make_token(site, Role.EDITOR)
    (row,) = rows(site)
    site.client(Role.VIEWER).post("/admin/profile/revoke-token", {"token": str(row.id)})
    assert rows(site)[0].revoked_at is None


# Using


def test_a_token_names_its_user_and_itself(site: Site) -> None:
    answer = Program(site, make_token(site, Role.EDITOR, name="nightly")).get(ME)
    assert answer.status_int == 200
    assert (answer.json["user"], answer.json["role"], answer.json["token"]["name"]) == (
        "the-editor",
        "editor",
        "nightly",
    )
    assert rows(site)[0].used_at is not None


def test_no_token_gets_401_and_how_to_send_one(site: Site) -> None:
    answer = site.anonymous().get(ME, Accept="text/html")
    assert answer.status_int == 401
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="groundtransport"'
    assert answer.content_type == "application/problem+json"
    assert site.events("token refused") == []


def break_token(site: Site, how: str, text: str) -> str:
    changes: dict[str, dict[str, Any]] = {
        "expired": {"expires_at": now() - timedelta(seconds=1)},
        "revoked": {"revoked_at": now()},
        "network": {"networks": ["192.0.2.0/24"]},
    }
    with db.transaction(site.engine) as dbsession:
        if how in changes:
            dbsession.execute(update(ApiToken).values(changes[how]))
        if how == "disabled":
            dbsession.execute(update(AdminUser).where(AdminUser.name == "the-editor").values(disabled_at=now()))
    return {"malformed": text[:-1] + ("a" if text[-1] != "a" else "b"), "unknown": secret_text.generate()}.get(
        how, text
    )


@pytest.mark.parametrize("how", ["malformed", "unknown", "expired", "revoked", "network", "disabled"])
def test_an_invalid_token_gets_401_and_an_event(site: Site, how: str) -> None:
    text = break_token(site, how, make_token(site, Role.EDITOR))
    try:
        answer = Program(site, text).get(ME)
    finally:
        with db.transaction(site.engine) as dbsession:
            dbsession.execute(update(AdminUser).values(disabled_at=None))
    assert answer.status_int == 401
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
    assert [event["details"]["because"] for event in site.events("token refused")] == [how]
    assert text not in str(site.events())


def test_the_tokens_of_a_disabled_person_end_for_good(site: Site, pat: AdminUser) -> None:
    text = make_token(site, name="nightly", user="pat")
    client = site.client()
    client.post("/admin/users/pat/disable")
    assert Program(site, text).get(ME).status_int == 401
    client.post("/admin/users/pat/enable")
    assert Program(site, text).get(ME).status_int == 401


def test_a_token_loses_what_its_user_loses(site: Site, pat: AdminUser) -> None:
    text = make_token(site, Role.EDITOR, user="pat")
    site.client().post("/admin/users/pat/role", {"role": "viewer"})
    assert Program(site, text).get(ME).json["role"] == "viewer"


def test_a_cookie_opens_nothing_below_api_and_a_token_nothing_below_admin(site: Site) -> None:
    text = make_token(site, Role.ADMINISTRATOR)
    assert site.client().get(ME).status_int == 401
    for path in ("/admin", "/admin/transit?ajax=1", "/admin/users", "/api/../admin/transit", "/admin/../api/v1/me"):
        answer = Program(site, text).get(path)
        assert answer.status_int in (303, 404), path
    for path in ("/api/v1/../../admin/transit", "/api/v1/../v1/me", "/api/v1/%2e%2e/%2e%2e/admin"):
        assert site.client().get(path).status_int == 401, path


def test_a_token_costs_at_most_one_statement_a_request(site: Site) -> None:
    program, statements = Program(site, make_token(site, Role.EDITOR)), site.registry["metrics"].statements._value
    nothing = "/api/v1/transit/99999999"  # its look-up is the second statement
    for number in range(3):  # the first one takes a lease of the limit
        for method, path, count in (("GET", ME, 1), ("GET", nothing, 2), ("DELETE", nothing, 2)):
            before = statements.get()
            program.send(method, path)
            assert statements.get() - before == count, (number, method, path)


# The limit of requests


@pytest.fixture
def limited(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A site whose tokens have 40 requests a minute, in the same minute for the whole test."""
    monkeypatch.setattr(limits.time, "time", lambda: 1_800_000_030.0)
    leases = limits.Leases(40)
    monkeypatch.setitem(site.registry, "token_leases", leases)
    return site


def test_a_token_over_its_limit_gets_429_and_when_to_try_again(limited: Site) -> None:
    program = Program(limited, make_token(limited, Role.VIEWER))
    answers = [program.get(ME) for _ in range(41)]
    assert [answer.status_int for answer in answers] == [200] * 40 + [429]
    assert answers[0].headers["RateLimit"] == '"token";r=39;t=30'
    assert answers[0].headers["RateLimit-Policy"] == '"token";q=40;w=60'
    assert answers[-1].headers["Retry-After"] == "30"
    assert answers[-1].content_type == "application/problem+json"
    assert Program(limited, make_token(limited, Role.VIEWER, name="other")).get(ME).status_int == 200


def test_workers_share_the_limit(limited: Site) -> None:
    program = Program(limited, make_token(limited, Role.VIEWER))
    workers = [limits.Leases(40), limits.Leases(40), limits.Leases(40)]
    count = 0
    for number in range(60):
        limited.registry["token_leases"] = workers[number % 3]
        count += program.get(ME).status_int == 200
    assert count == 40


def test_threads_that_take_a_lease_at_the_same_time_lose_no_request() -> None:
    leases, window = limits.Leases(600), limits.current_window()
    leases.put("hash", window, 30)
    lease = leases.put("hash", window, 60)
    assert (lease.permits, lease.unleased) == (58, 540)
    assert leases.put("hash", window + 1, 30).permits == 29


def test_the_pages_of_tokens_need_the_permission(site: Site, pat: AdminUser) -> None:
    client: Client = site.client(Role.EDITOR)
    assert client.get("/admin/users/pat/tokens").location.startswith("http://localhost/login?")
