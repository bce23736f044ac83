"""A user whose account a test may change, and the browsers in which they sign in."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from argon2 import PasswordHasher

from groundtransport import db
from groundtransport.accounts import passwords, users
from groundtransport.accounts.models import AdminUser
from groundtransport.security import Role
from tests.site import PASSWORD, Client, Site

COOKIE = "groundtransport"


@contextmanager
def cheap_hashes() -> Iterator[None]:
    """Let passwords be hashed without the cost that a stolen hash should have."""
    costly, passwords._hasher = passwords._hasher, PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    passwords._dummy_hash.cache_clear()
    try:
        yield
    finally:
        passwords._hasher = costly
        passwords._dummy_hash.cache_clear()


def add_pat(site: Site) -> AdminUser:
    """Add pat, an editor."""
    with db.transaction(site.engine) as dbsession:
        user = users.add(dbsession, "pat", Role.EDITOR, PASSWORD, one_time=False)
        dbsession.flush()
        dbsession.expunge(user)
        return user


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
