"""Limit the sign-in attempts of a user, of a network, and of a user from a network.

Attempts are counted in the database, so the limits hold across processes and restarts. An attempt is counted before the
password is hashed, in a transaction of its own that is serialized per key, so that parallel guesses cannot exceed a
limit; success removes it. An undecided attempt counts too, but does not refuse others: an attempt over the limit waits
until the undecided ones are decided. Without the database, no attempt is accepted.

A browser that has signed in as the user before has a limit of its own, so that an attacker cannot lock a user out
(OWASP, "Slow Down Online Guessing Attacks with Device Cookies").
"""

import hashlib
import hmac
import math
import re
import secrets
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from pyramid.response import Response
from sqlalchemy import ColumnElement, Connection, Engine, delete, func, insert, select, update

from groundtransport.accounts.models import SignInTry
from groundtransport.db import now, write_engine
from groundtransport.i18n import DOMAIN
from groundtransport.request import Request
from groundtransport.security import derive
from groundtransport.web.client import client_ip_of, network_of
from groundtransport.web.cookies import cookie_name, set_cookie

COOKIE = "groundtransport-browser"
WINDOW = timedelta(minutes=5)
LIMITS = {"pair": 10, "network": 50, "person": 50}  # failures in a window, by the column of SignInTry
REMEMBERED = timedelta(days=365)  # life of the cookie of a known browser
_BROWSER = re.compile(r"([A-Za-z0-9_-]{22})\.([0-9a-f]{64})", re.ASCII)
CHECKED_WITHIN = timedelta(seconds=10)  # an attempt that is undecided for longer is a failure: its process died
TIMEOUT = 3.0  # seconds that an attempt waits for undecided ones
PAUSE = 0.05  # seconds between two queries for them


class Throttled(Exception):
    """There were too many attempts. The next one is accepted at the time ``until``."""

    def __init__(self, until: datetime) -> None:
        super().__init__(until)
        self.until = until

    @property
    def seconds(self) -> int:
        """Seconds until the next attempt is accepted, at least 1."""
        return max(1, math.ceil((self.until - now()).total_seconds()))


@dataclass(frozen=True)
class Attempt:
    """A counted sign-in attempt. The caller must call ``succeeded`` or ``failed``.

    ``number`` is the id of its row, ``pair`` its key for the limit of user and network, ``browser`` the id of a known
    browser or "".
    """

    request: Request
    name: str
    number: int
    pair: str
    browser: str

    def succeeded(self) -> None:
        """Remove the attempt and the failures of the pair, and set the cookie of a known browser.

        Written with the session. Call it only after the second factor, too, was verified: otherwise guesses of its
        codes would not be counted.
        """
        self.request.session.add_write(self._forget)
        self.request.add_response_callback(self._remember)

    def failed(self) -> None:
        """Mark the attempt as failed. Written with the session."""
        decided = update(SignInTry).where(SignInTry.id == self.number).values(is_decided=True)
        self.request.session.add_write(lambda connection: connection.execute(decided))

    def _forget(self, connection: Connection) -> None:
        connection.execute(delete(SignInTry).where(SignInTry.id == self.number))
        # The failures still count for the network and for the user.
        connection.execute(update(SignInTry).where(SignInTry.pair == self.pair).values(pair=None))

    def _remember(self, request: Request, response: Response) -> None:
        browser = self.browser or secrets.token_urlsafe(16)
        mac = _keyed(request.registry["settings"].secrets[0], "browser", self.name, browser)
        value = f"{browser}.{mac}"
        set_cookie(request, response, COOKIE, value, max_age=REMEMBERED, samesite="Strict")


def admit(request: Request, name: str) -> Attempt:
    """Count an attempt to sign in under a normalized user name; raise Throttled if a limit is reached.

    Must be called before the request's own transaction begins: on SQLite the two would deadlock.
    """
    engine: Engine = request.registry["engine"]
    browser = known_browser(request, name)
    keys = _keys(request, name, browser)
    with engine.connect() as connection:
        _check(connection, keys)  # refuses a flood without a write lock
    end = time.monotonic() + TIMEOUT
    while (number := _count(engine, keys)) is None:
        if time.monotonic() > end:
            raise Throttled(now())
        time.sleep(PAUSE)
    return Attempt(request, name, number, keys["pair"], browser)


def _count(engine: Engine, keys: dict[str, str]) -> int | None:
    """Insert an attempt and return its id.

    Return None if undecided attempts would exceed a limit with it; raise Throttled if failures reach a limit.
    """
    with write_engine(engine).begin() as connection:
        _wait_for_turn(connection, keys)
        _check(connection, keys)
        if any(_reached(connection, column, key) for column, key in keys.items()):
            return None
        # Rows that another attempt is deleting are skipped, so that this one does not wait.
        old = select(SignInTry.id).where(SignInTry.at <= now() - WINDOW).with_for_update(skip_locked=True)
        connection.execute(delete(SignInTry).where(SignInTry.id.in_(old)))
        return connection.scalars(insert(SignInTry).values(at=now(), **keys).returning(SignInTry.id)).one()


def message(request: Request, throttled: Throttled) -> str:
    """Return the translated message that says when the next attempt is accepted."""
    minutes = math.ceil(throttled.seconds / 60)
    text = request.localizer.pluralize(
        "Too many failed tries. Try again in ${minutes} minute, at ${time} UTC.",
        "Too many failed tries. Try again in ${minutes} minutes, at ${time} UTC.",
        minutes,
        domain=DOMAIN,
        mapping={"minutes": minutes, "time": throttled.until.strftime("%H:%M:%S")},
    )
    return str(text)


def known_browser(request: Request, name: str) -> str:
    """Return the random id of a browser that has signed in as that user before; "" for an unknown browser."""
    match = _BROWSER.fullmatch(request.cookies.get(cookie_name(request, COOKIE), ""))
    if not match:
        return ""
    macs = [_keyed(secret, "browser", name, match[1]) for secret in request.registry["settings"].secrets]
    return match[1] if any(hmac.compare_digest(mac, match[2]) for mac in macs) else ""


def _keys(request: Request, name: str, browser: str) -> dict[str, str]:
    """Return the keys under which an attempt is counted, by the column of SignInTry."""
    secret, network = request.registry["settings"].secrets[0], network_of(client_ip_of(request))
    if browser:
        return {"pair": _keyed(secret, "known", name, browser)}
    person = _keyed(secret, "person", name)
    return {"pair": _keyed(secret, "pair", name, network), "network": network, "person": person}


def _keyed(secret: bytes, *parts: str) -> str:
    """Return an HMAC of the parts. User input is stored only hashed: it may be a password in the wrong field."""
    text = "\0".join(parts).encode(errors="replace")
    return hmac.new(derive(secret, "throttle/v1"), text, "sha256").hexdigest()


def _wait_for_turn(connection: Connection, keys: dict[str, str]) -> None:
    """Serialize the transactions that count attempts with a common key. The locks' order excludes deadlocks."""
    # On SQLite, BEGIN IMMEDIATE has locked the database already.
    if connection.dialect.name == "postgresql":
        for number in sorted(map(_lock_of, keys.values())):
            connection.execute(select(func.pg_advisory_xact_lock(number)))


def _lock_of(key: str) -> int:
    """Return the number of PostgreSQL's advisory lock for a key."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], signed=True)


def _check(connection: Connection, keys: dict[str, str]) -> None:
    """Raise Throttled if failures reach a limit."""
    is_failure = SignInTry.is_decided | (SignInTry.at <= now() - CHECKED_WITHIN)
    reached = [at for column, key in keys.items() if (at := _reached(connection, column, key, is_failure))]
    if reached:
        raise Throttled(max(reached) + WINDOW)


def _reached(connection: Connection, column: str, key: str, *conditions: ColumnElement[bool]) -> datetime | None:
    """Return the time of the oldest of the attempts that reach the limit of a key; None if they are fewer.

    The next attempt is accepted when this one leaves the window.
    """
    same = (getattr(SignInTry, column) == key, SignInTry.at > now() - WINDOW, *conditions)
    newest_first = select(SignInTry.at).where(*same).order_by(SignInTry.at.desc())
    return connection.scalar(newest_first.offset(LIMITS[column] - 1).limit(1))
