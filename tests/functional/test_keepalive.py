"""``/admin/session``: how long one is signed in, for the scripts of a form."""

from datetime import datetime, timedelta
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select, update

from groundtransport import db
from groundtransport.accounts.models import AdminSession
from groundtransport.security import Role
from tests.site import JFK, Client, Site

IDLE, ABSOLUTE = timedelta(minutes=30), timedelta(hours=12)
EXACT = timedelta(seconds=0)


def began(site: Site, ago: timedelta = EXACT, seen: timedelta = EXACT) -> datetime:
    """Move the beginning and the last use of every session back; return the moment that they count from."""
    moment = db.now()
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(update(AdminSession).values(created_at=moment - ago, seen_at=moment - seen))
    return moment


def end(client: Client) -> datetime:
    return datetime.fromisoformat(client.get("/admin/session").json["expires_at"])


def test_it_tells_the_token_and_the_end_and_who(site: Site, client: Client) -> None:
    answer = client.get("/admin/session")

    assert answer.content_type == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    assert set(answer.json) == {"csrf_token", "expires_at"}
    assert answer.headers["X-Signed-In-As"] == "the-administrator"
    response = client.post("/admin/transit", {"airport_name": JFK}, X_CSRF_Token=answer.json["csrf_token"])
    assert response.status_int == 303


@pytest.mark.parametrize(
    ("ago", "seen", "left"),
    [
        (timedelta(minutes=20), timedelta(minutes=20), timedelta(minutes=10)),
        (ABSOLUTE - timedelta(minutes=5), timedelta(0), timedelta(minutes=5)),
    ],
)
def test_the_end_is_the_sooner_of_idle_and_absolute(
    site: Site, client: Client, ago: timedelta, seen: timedelta, left: timedelta
) -> None:
    moment = began(site, ago, seen)

    assert end(client) == moment + left


def test_asking_puts_off_no_end(site: Site, client: Client) -> None:
    moment = began(site, seen=timedelta(minutes=20))

    assert {end(client) for _ in range(3)} == {moment - timedelta(minutes=20) + IDLE}
    assert site.scalar(select(AdminSession.seen_at)) == moment - timedelta(minutes=20)


def test_staying_puts_off_the_idle_end(site: Site, client: Client) -> None:
    moment = began(site, seen=timedelta(minutes=20))

    answer = client.post("/admin/session")

    assert answer.status_int == 200
    assert datetime.fromisoformat(answer.json["expires_at"]) >= moment + IDLE
    assert end(client) >= moment + IDLE


def test_staying_does_not_put_off_the_absolute_end(site: Site, client: Client) -> None:
    moment = began(site, ABSOLUTE - timedelta(minutes=5), timedelta(minutes=4))

    client.post("/admin/session")

    assert end(client) == moment + timedelta(minutes=5)


def test_staying_needs_the_token(site: Site, client: Client) -> None:
    assert client.post("/admin/session", X_CSRF_Token="wrong").status_int == 400


def test_every_role_may_ask(site: Site) -> None:
    for role in Role:
        assert site.client(role).get("/admin/session").status_int == 200


def test_who_is_signed_out_is_sent_to_the_sign_in(site: Site, client: Client) -> None:
    began(site, seen=timedelta(minutes=31))

    answer = client.get("/admin/session", Accept="application/json")

    assert answer.status_int == 303
    assert (urlsplit(answer.location).path, urlsplit(answer.location).query) == ("/login", "next=/admin")


def test_the_page_after_a_sign_in_in_another_tab(client: Client) -> None:
    page = client.get("/admin/session/again")

    assert page.status_int == 200
    assert "signed in again" in page.html.find("h1").get_text()
