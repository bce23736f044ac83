"""How often one may try to sign in: the limits are counted in the database, so they hold over processes and restarts.

A try is counted before anything is hashed, in a transaction of its own that holds one try at a time, so parallel
guesses cannot race past; only success takes it back. Without the database there is no try at all.
A browser that has signed in as a person before is counted by itself, so that nobody can lock a colleague out for good
(OWASP, "Slow Down Online Guessing Attacks with Device Cookies").
"""

import hmac
import math
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from pyramid.request import Request
from pyramid.response import Response
from sqlalchemy import Connection, Engine, delete, func, insert, select, update

from groundtransport.accounts.models import SignInTry
from groundtransport.db import now, write_engine
from groundtransport.i18n import DOMAIN
from groundtransport.security import derive
from groundtransport.web.client import client_ip_of, network_of

WINDOW = timedelta(minutes=5)
LIMITS = {"pair": 10, "network": 50, "person": 50}  # failures in a window
REMEMBERED = timedelta(days=365)  # how long a browser is known
_BROWSER = re.compile(r"([A-Za-z0-9_-]{22})\.([0-9a-f]{64})", re.ASCII)
_TURN = 0x67747468  # of PostgreSQL's advisory locks: any number that nobody else takes


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
    """One try of a person, counted as a failure until it succeeds."""

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
    with write_engine(engine).begin() as connection:
        _wait_for_turn(connection)
        _check(connection, keys)
        connection.execute(delete(SignInTry).where(SignInTry.at <= now() - WINDOW))
        number = connection.scalars(insert(SignInTry).values(at=now(), **keys).returning(SignInTry.id)).one()
    return Try(request, name, number, keys["pair"], browser)


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


def _wait_for_turn(connection: Connection) -> None:
    # SQLite has its lock from BEGIN IMMEDIATE on.
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_TURN)))


def _check(connection: Connection, keys: dict[str, str]) -> None:
    """Raise Throttled when one of the limits is reached."""
    reached = [at for column, key in keys.items() if (at := _reached(connection, column, key))]
    if reached:
        raise Throttled(max(reached) + WINDOW)


def _reached(connection: Connection, column: str, key: str) -> datetime | None:
    """Return the time of the oldest of the failures that reach a limit; the limit is free again when it has passed."""
    same = (getattr(SignInTry, column) == key, SignInTry.at > now() - WINDOW)
    newest = select(SignInTry.at).where(*same).order_by(SignInTry.at.desc())
    return connection.scalar(newest.offset(LIMITS[column] - 1).limit(1))
