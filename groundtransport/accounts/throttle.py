"""How often one may try to sign in: the limits are counted in the database, so they hold over processes and restarts.

A try is counted before anything is hashed, in a transaction of its own that holds one try of a person and an address at
a time, so parallel guesses cannot race past; only success takes it back. As long as it is being checked, it counts, but
refuses nobody: who would be one too many waits for the answer. Without the database there is no try at all.
A browser that has signed in as a person before is counted by itself, so that nobody can lock a colleague out for good
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

from pyramid.request import Request
from pyramid.response import Response
from sqlalchemy import ColumnElement, Connection, Engine, delete, func, insert, select, update

from groundtransport.accounts.models import SignInTry
from groundtransport.db import now, write_engine
from groundtransport.i18n import DOMAIN
from groundtransport.security import derive
from groundtransport.web.client import client_ip_of, network_of

WINDOW = timedelta(minutes=5)
LIMITS = {"pair": 10, "network": 50, "person": 50}  # failures in a window
REMEMBERED = timedelta(days=365)  # how long a browser is known
_BROWSER = re.compile(r"([A-Za-z0-9_-]{22})\.([0-9a-f]{64})", re.ASCII)
CHECKED_WITHIN = timedelta(seconds=10)  # a try without an answer after that counts as a failure: its process has died
PATIENCE = 3.0  # seconds that a try waits for the answers to others
PAUSE = 0.05  # seconds between two looks


class Throttled(Exception):
    """Too many tries; ``until`` says when the next one is taken."""

    def __init__(self, until: datetime) -> None:
        super().__init__(until)
        self.until = until

    @property
    def seconds(self) -> int:
        return max(1, math.ceil((self.until - now()).total_seconds()))


@dataclass(frozen=True)
class Try:
    """One try of a person. It counts until it succeeds; ``succeeded`` or ``failed`` must tell how it ended."""

    request: Request
    name: str
    number: int
    pair: str
    browser: str

    def succeeded(self) -> None:
        """Forget the pair's failures, and know this browser again: written together with the session.

        Only once everything was right, a second factor included: else guesses of that one would go uncounted.
        """
        self.request.session.also(self._forget)
        self.request.add_response_callback(self._remember)

    def failed(self) -> None:
        """Let the try refuse others; written together with the session."""
        decided = update(SignInTry).where(SignInTry.id == self.number).values(is_decided=True)
        self.request.session.also(lambda connection: connection.execute(decided))

    def _forget(self, connection: Connection) -> None:
        connection.execute(delete(SignInTry).where(SignInTry.id == self.number))
        # They still count for the address and for the person.
        connection.execute(update(SignInTry).where(SignInTry.pair == self.pair).values(pair=None))

    def _remember(self, request: Request, response: Response) -> None:
        browser = self.browser or secrets.token_urlsafe(16)
        mac = _keyed(request.registry["settings"].secrets[0], "browser", self.name, browser)
        response.set_cookie(
            cookie_name(request),
            f"{browser}.{mac}",
            max_age=REMEMBERED,
            path="/",
            httponly=True,
            samesite="Strict",
            secure=request.scheme == "https",
        )


def admit(request: Request, name: str) -> Try:
    """Count a try to sign in under a (normal) user name; raise Throttled for one too many.

    It must come before the request's own transaction has begun: on SQLite they would wait for each other.
    """
    engine: Engine = request.registry["engine"]
    browser = known_browser(request, name)
    keys = _keys(request, name, browser)
    with engine.connect() as connection:
        _check(connection, keys)  # a flood stops here, and holds up no writer
    end = time.monotonic() + PATIENCE
    while (number := _count(engine, keys)) is None:
        if time.monotonic() > end:
            raise Throttled(now())
        time.sleep(PAUSE)
    return Try(request, name, number, keys["pair"], browser)


def _count(engine: Engine, keys: dict[str, str]) -> int | None:
    """Count a try, and return its number; None where too many others are being checked; raise Throttled."""
    with write_engine(engine).begin() as connection:
        _wait_for_turn(connection, keys)
        _check(connection, keys)
        if any(_reached(connection, column, key) for column, key in keys.items()):
            return None
        # Not those that another try is about to remove: it need not be waited for.
        old = select(SignInTry.id).where(SignInTry.at <= now() - WINDOW).with_for_update(skip_locked=True)
        connection.execute(delete(SignInTry).where(SignInTry.id.in_(old)))
        return connection.scalars(insert(SignInTry).values(at=now(), **keys).returning(SignInTry.id)).one()


def in_words(request: Request, throttled: Throttled) -> str:
    """Return when the next try is taken, for people."""
    minutes = math.ceil(throttled.seconds / 60)
    text = request.localizer.pluralize(
        "Too many failed tries. Try again in ${minutes} minute, at ${time} UTC.",
        "Too many failed tries. Try again in ${minutes} minutes, at ${time} UTC.",
        minutes,
        domain=DOMAIN,
        mapping={"minutes": minutes, "time": throttled.until.strftime("%H:%M:%S")},
    )
    return str(text)


def cookie_name(request: Request) -> str:
    return f"{'__Host-' if request.scheme == 'https' else ''}groundtransport-browser"


def known_browser(request: Request, name: str) -> str:
    """Return the random id of a browser that has signed in as that person before; "" for another."""
    match = _BROWSER.fullmatch(request.cookies.get(cookie_name(request), ""))
    if not match:
        return ""
    macs = [_keyed(secret, "browser", name, match[1]) for secret in request.registry["settings"].secrets]
    return match[1] if any(hmac.compare_digest(mac, match[2]) for mac in macs) else ""


def _keys(request: Request, name: str, browser: str) -> dict[str, str]:
    """Return what a try counts for, by the column that holds it."""
    secret, network = request.registry["settings"].secrets[0], network_of(client_ip_of(request))
    if browser:
        return {"pair": _keyed(secret, "known", name, browser)}
    person = _keyed(secret, "person", name)
    return {"pair": _keyed(secret, "pair", name, network), "network": network, "person": person}


def _keyed(secret: bytes, *parts: str) -> str:
    """Return a hash of what was typed and the rest: a password in the wrong field does not reach the database."""
    text = "\0".join(parts).encode(errors="replace")
    return hmac.new(derive(secret, "throttle/v1"), text, "sha256").hexdigest()


def _wait_for_turn(connection: Connection, keys: dict[str, str]) -> None:
    """Let one try of the same person, or of the same address, be counted at a time. The order excludes deadlocks."""
    # SQLite has its lock from BEGIN IMMEDIATE on.
    if connection.dialect.name == "postgresql":
        for number in sorted(map(_lock_of, keys.values())):
            connection.execute(select(func.pg_advisory_xact_lock(number)))


def _lock_of(key: str) -> int:
    """Return the number of a key's advisory lock in PostgreSQL."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], signed=True)


def _check(connection: Connection, keys: dict[str, str]) -> None:
    """Raise Throttled when one of the limits is reached by failures."""
    is_failure = SignInTry.is_decided | (SignInTry.at <= now() - CHECKED_WITHIN)
    reached = [at for column, key in keys.items() if (at := _reached(connection, column, key, is_failure))]
    if reached:
        raise Throttled(max(reached) + WINDOW)


def _reached(connection: Connection, column: str, key: str, *conditions: ColumnElement[bool]) -> datetime | None:
    """Return the time of the oldest of the tries that reach a limit; the limit is free again when it has passed."""
    same = (getattr(SignInTry, column) == key, SignInTry.at > now() - WINDOW, *conditions)
    newest = select(SignInTry.at).where(*same).order_by(SignInTry.at.desc())
    return connection.scalar(newest.offset(LIMITS[column] - 1).limit(1))
