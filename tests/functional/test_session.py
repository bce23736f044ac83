"""Signing in and out, what ends a session, and the rule that it is looked up anew with every request."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from argon2 import PasswordHasher
from sqlalchemy import select, update

from groundtransport import db
from groundtransport.accounts import passwords, users
from groundtransport.accounts.models import AdminSession, AdminUser
from groundtransport.security import Role
from tests.site import JFK, PASSWORD, Client, Site

OTHER_PASSWORD = "a short ride to the harbor"
COOKIE = "groundtransport"
Change = Callable[[Any, AdminUser], None]


@pytest.fixture(autouse=True)
def cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Sign in without the cost that a stolen hash should have."""
    monkeypatch.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    passwords._nobody.cache_clear()
    yield
    passwords._nobody.cache_clear()


@pytest.fixture
def pat(site: Site) -> AdminUser:
    """An editor whose account a test may change."""
    with db.transaction(site.engine) as dbsession:
        user = users.add(dbsession, "pat", Role.EDITOR, PASSWORD, one_time=False)
        dbsession.flush()
        dbsession.expunge(user)
        return user


def change(site: Site, what: Change) -> None:
    with db.transaction(site.engine) as dbsession:
        what(dbsession, users.find(dbsession, "pat"))


def sign_in(client: Client, name: str = "pat", password: str = PASSWORD, target: str = "", **headers: str) -> Any:
    fields = {"username": name, "password": password, "next": target}
    return client.post("/login", fields, **headers)


def with_cookie(site: Site, token: str) -> Client:
    """Return another browser that holds this cookie."""
    client = site.anonymous()
    client.app.set_cookie(COOKIE, token)
    return client


def is_signed_in(client: Client) -> bool:
    answer = client.get("/admin")
    return answer.status_int == 200


# Signing in


def test_the_right_password_opens_the_door_to_the_page_that_was_asked_for(site: Site, pat: AdminUser) -> None:
    client = site.anonymous()
    refused = client.get("/admin/transit?q=alpha&page_no=2")

    form = next(form for form in client.get(refused.location).forms.values() if "password" in form.fields)
    form["username"], form["password"] = "Pat", PASSWORD
    answer = form.submit()

    assert (answer.status_int, answer.location) == (303, "http://localhost/admin/transit?q=alpha&page_no=2")
    assert client.get(answer.location).status_int == 200


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_every_refusal_reads_the_same_and_hashes_once(
    site: Site, pat: AdminUser, monkeypatch: pytest.MonkeyPatch, accept: str
) -> None:
    with db.transaction(site.engine) as dbsession:
        users.disable(dbsession, users.add(dbsession, "gone", Role.EDITOR, PASSWORD, one_time=False))
    calls: list[str] = []
    verify = PasswordHasher.verify

    def counting(self: PasswordHasher, *args: Any) -> Any:
        calls.append("verify")
        return verify(self, *args)

    sign_in(site.anonymous(), "warm", "up")
    monkeypatch.setattr(PasswordHasher, "verify", counting)
    texts, hashed = set(), []
    for name, password in (("pat", "wrong"), ("nobody", PASSWORD), ("gone", PASSWORD), ("", ""), ("pat", "x" * 5000)):
        client = site.anonymous()
        calls.clear()
        answer = sign_in(client, name, password, Accept=accept)
        hashed.append(len(calls))
        assert answer.status_int == 422
        assert not is_signed_in(client)
        text = answer.html.find(role="alert").get_text() if accept == "text/html" else answer.json["detail"]
        texts.add(text)

    assert len(texts) == 1
    assert hashed == [1] * 5


def test_a_refused_sign_in_keeps_the_name_and_not_the_password(site: Site, pat: AdminUser) -> None:
    answer = sign_in(site.anonymous(), "pat", "wrong password", "/admin/transit")

    form = next(form for form in answer.forms.values() if "password" in form.fields)
    assert (form["username"].value, form["password"].value, form["next"].value) == ("pat", "", "/admin/transit")
    assert "wrong password" not in answer.text


def test_a_sign_in_begins_a_session_under_a_new_id(site: Site, pat: AdminUser) -> None:
    client = site.anonymous()
    client.get("/login")
    planted = client.app.cookies[COOKIE]

    sign_in(client)

    assert client.app.cookies[COOKIE] != planted
    first = client.app.cookies[COOKIE]
    sign_in(client)
    assert client.app.cookies[COOKIE] != first
    assert not is_signed_in(with_cookie(site, planted))
    assert not is_signed_in(with_cookie(site, first))
    assert is_signed_in(with_cookie(site, client.app.cookies[COOKIE]))


TARGETS = [
    "//evil.example",
    "///evil.example",
    "https://evil.example/",
    "http:evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/%09/evil.example",
    "javascript:alert(1)",
    "@evil.example",
    ".evil.example",
    ":80@evil.example/",
    " //evil.example",
    "/\r\nSet-Cookie: a=b",
    "/admin\0",
    "//",
    "/..//evil.example",
    "/é",
]


def test_a_sign_in_never_leads_elsewhere(site: Site, pat: AdminUser) -> None:
    for target in TARGETS:
        offered = site.anonymous().get("/login", {"next": target})
        assert offered.status_int == 200
        client = site.anonymous()
        answer = sign_in(client, target=target)
        parts = urlsplit(answer.location)
        assert (answer.status_int, parts.scheme, parts.netloc) == (303, "http", "localhost"), target
        assert not parts.path.startswith("//"), target
        assert not re.search(r"[\x00-\x20\\]", answer.location), target
        assert "a=b" not in str(answer.headers.getall("Set-Cookie"))
        assert is_signed_in(client)


# Signing out


def test_signing_out_kills_the_cookie_for_good(site: Site, pat: AdminUser) -> None:
    client = site.anonymous()
    sign_in(client)
    thief = with_cookie(site, client.app.cookies[COOKIE])
    assert is_signed_in(thief)

    answer = client.post("/logout")

    assert answer.status_int == 303
    assert COOKIE not in client.app.cookies
    assert not is_signed_in(thief)


def test_signing_out_ends_this_session_alone(site: Site, pat: AdminUser) -> None:
    here, there = site.anonymous(), site.anonymous()
    sign_in(here)
    sign_in(there)

    here.post("/logout")

    assert (is_signed_in(here), is_signed_in(there)) == (False, True)


# One-time passwords


def test_a_one_time_password_opens_nothing_but_its_own_replacement(site: Site, kind: str) -> None:
    with db.transaction(site.engine) as dbsession:
        users.add(dbsession, "pat", Role.ADMINISTRATOR, PASSWORD, one_time=True)
    client = site.anonymous()
    sign_in(client)

    for answer in (client.get("/admin"), client.get(f"/admin/{kind}?ajax=1"), client.get("/admin/nope")):
        assert (answer.status_int, answer.location) == (303, "http://localhost/admin/profile")
    assert client.post(f"/admin/{kind}", {"airport_name": JFK}).status_int == 303
    assert site.count(site.kinds[kind].model) == 0

    same = client.post("/admin/profile", {"current": PASSWORD, "password": PASSWORD, "repeated": PASSWORD})
    assert same.status_int == 422
    new = {"current": PASSWORD, "password": OTHER_PASSWORD, "repeated": OTHER_PASSWORD}
    assert client.post("/admin/profile", new).status_int == 303
    assert is_signed_in(client)
    assert sign_in(site.anonymous(), password=PASSWORD).status_int == 422
    assert sign_in(site.anonymous(), password=OTHER_PASSWORD).status_int == 303


@pytest.mark.parametrize(
    ("current", "password", "repeated"),
    [
        ("wrong", OTHER_PASSWORD, OTHER_PASSWORD),
        (PASSWORD, OTHER_PASSWORD, "another one altogether"),
        (PASSWORD, "short", "short"),
        (PASSWORD, "", ""),
        (PASSWORD, "a" * 20, "a" * 20),
    ],
)
def test_a_bad_new_password_changes_nothing(
    site: Site, pat: AdminUser, current: str, password: str, repeated: str
) -> None:
    client = site.anonymous()
    sign_in(client)

    answer = client.post("/admin/profile", {"current": current, "password": password, "repeated": repeated})

    assert answer.status_int == 422
    assert is_signed_in(client)
    assert sign_in(site.anonymous()).status_int == 303


# What ends a session

ENDINGS: dict[str, Change] = {
    "another role": lambda dbsession, user: users.set_role(dbsession, user, Role.VIEWER),
    "a disabled account": users.disable,
    "a new password": lambda dbsession, user: users.set_password(user, OTHER_PASSWORD, one_time=False),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_session_ends_everywhere_with(site: Site, pat: AdminUser, ending: str) -> None:
    clients = [site.anonymous(), site.anonymous()]
    for client in clients:
        sign_in(client)

    change(site, ENDINGS[ending])

    assert [is_signed_in(client) for client in clients] == [False, False]
    answer = clients[0].app.post("/admin/transit", {"airport_name": JFK}, expect_errors=True)
    assert urlsplit(answer.location).path == "/login"


def test_changing_ones_own_password_ends_ones_other_sessions(site: Site, pat: AdminUser) -> None:
    here, there = site.anonymous(), site.anonymous()
    sign_in(here)
    sign_in(there)
    before = here.app.cookies[COOKIE]

    here.post("/admin/profile", {"current": PASSWORD, "password": OTHER_PASSWORD, "repeated": OTHER_PASSWORD})

    assert (is_signed_in(here), is_signed_in(there)) == (True, False)
    assert here.app.cookies[COOKIE] != before


@pytest.mark.parametrize(
    ("column", "minutes", "lives"),
    [
        ("seen_at", 29, True),
        ("seen_at", 31, False),
        ("created_at", 12 * 60 - 1, True),
        ("created_at", 12 * 60 + 1, False),
    ],
)
def test_a_session_ends_when_idle_and_at_the_latest_after_its_limit(
    site: Site, client: Client, column: str, minutes: int, lives: bool
) -> None:
    then = db.now() - timedelta(minutes=minutes)
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(update(AdminSession).values({column: then}))

    assert is_signed_in(client) is lives


def test_using_a_session_keeps_it_alive(site: Site, client: Client) -> None:
    for _ in range(3):
        with db.transaction(site.engine) as dbsession:
            dbsession.execute(update(AdminSession).values(seen_at=db.now() - timedelta(minutes=20)))
        assert is_signed_in(client)


def test_the_role_is_read_with_every_request(site: Site, pat: AdminUser) -> None:
    client = site.anonymous()
    sign_in(client)
    assert client.get("/admin/transit/create").status_int == 200

    change(site, lambda dbsession, user: setattr(user, "role", Role.VIEWER))

    answer = client.get("/admin/transit/create")
    assert urlsplit(answer.location).path == "/login"
    assert client.get("/admin/transit").status_int == 200


def test_only_a_hash_of_the_cookie_is_stored(site: Site, pat: AdminUser) -> None:
    client = site.anonymous()
    sign_in(client)

    stored = site.scalar(select(AdminSession.token_hash))

    assert len(stored) == 64
    assert client.app.cookies[COOKIE] not in stored
