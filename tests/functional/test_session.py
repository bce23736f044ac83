"""What ends a session, and the rule that it is looked up anew with every request."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import event, select, update

from groundtransport import db
from groundtransport.accounts import users
from groundtransport.accounts.models import AdminSession, AdminUser
from groundtransport.db.transaction_options import options_of
from groundtransport.security import Role
from tests.functional.people import COOKIE, add_pat, is_signed_in, sign_in, with_cookie
from tests.site import JFK, PASSWORD, Client, Site

OTHER_PASSWORD = "a short ride to the harbor"
Change = Callable[[Any, AdminUser], None]


pytestmark = pytest.mark.usefixtures("cheaply")


@pytest.fixture
def pat(site: Site) -> AdminUser:
    """An editor whose account a test may change."""
    return add_pat(site)


def change(site: Site, what: Change) -> None:
    with db.transaction(site.engine) as dbsession:
        what(dbsession, users.find(dbsession, "pat"))


# Signing in

PLANTED = "A" * 42 + "E"


def test_a_planted_cookie_is_not_taken_over(site: Site, pat: AdminUser) -> None:
    """Not for the form's token, which whoever planted the cookie could compute, and not for the session."""
    client = with_cookie(site, PLANTED)

    page = client.get("/login")

    before = client.app.cookies[COOKIE]
    assert before != PLANTED
    token = page.html.find("input", {"name": "csrf_token"})["value"]
    refused = with_cookie(site, PLANTED)
    assert sign_in(refused, X_CSRF_Token=token).status_int == 400
    assert sign_in(client, X_CSRF_Token=token).status_int == 303
    assert client.app.cookies[COOKIE] not in (PLANTED, before)
    assert is_signed_in(client)
    assert not is_signed_in(with_cookie(site, PLANTED))
    assert not is_signed_in(with_cookie(site, before))


def test_a_cookie_of_ours_stays_until_the_sign_in(site: Site, pat: AdminUser) -> None:
    """So that the sign-in page can stand open in two tabs."""
    client = site.anonymous()
    first, second = client.csrf, client.csrf
    assert first == second

    before = client.app.cookies[COOKIE]
    assert sign_in(client, X_CSRF_Token=first).status_int == 303
    assert client.app.cookies[COOKIE] != before
    assert not is_signed_in(with_cookie(site, before))


# Signing out


def test_signing_out_kills_the_cookie_for_good(site: Site, pat: AdminUser) -> None:
    client = site.anonymous()
    sign_in(client)
    other_client = with_cookie(site, client.app.cookies[COOKIE])
    assert is_signed_in(other_client)

    answer = client.post("/logout")

    assert answer.status_int == 303
    assert COOKIE not in client.app.cookies
    assert not is_signed_in(other_client)


def test_signing_out_ends_this_session_alone(site: Site, pat: AdminUser) -> None:
    here, there = site.anonymous(), site.anonymous()
    sign_in(here)
    sign_in(there)

    here.post("/logout")

    assert (is_signed_in(here), is_signed_in(there)) == (False, True)


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


def test_only_what_must_last_waits_for_the_disk(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message may be lost in a power cut; a sign-in, a sign-out and a record may not."""
    transactions: list[bool] = []

    def count_transaction(connection: Any) -> None:
        options = options_of(connection)
        if options.begin == "IMMEDIATE":
            transactions.append(options.durable)

    event.listen(site.engine, "begin", count_transaction)
    try:
        client = site.client(Role.EDITOR)
        transactions.clear()
        client.create("transit", company_name="Alpha")
        assert transactions == [True], "the record, and its message with it"
        transactions.clear()
        client.get("/admin")  # takes the message away
        assert transactions == [False]
        transactions.clear()
        client.post("/logout")
        assert transactions
        assert all(transactions)
    finally:
        event.remove(site.engine, "begin", count_transaction)
