"""Verify the bearer token of a request, by one statement, which also takes a lease of the rate limit if needed."""

import logging
import re
from dataclasses import dataclass

from sqlalchemy import BigInteger, BindParameter, Engine, Integer, Update, bindparam, case, select, update
from sqlalchemy.exc import OperationalError

from groundtransport.accounts.models import AdminUser
from groundtransport.accounts.tokens import secret_text
from groundtransport.accounts.tokens.issuing import is_inside, lower_role
from groundtransport.accounts.tokens.limits import Lease, Leases, current_window, lease_size
from groundtransport.accounts.tokens.models import ApiToken
from groundtransport.db import AnyRow, AnySelect, autocommit_engine, is_write, now, table_of, write_engine
from groundtransport.request import Request
from groundtransport.security import Identity, Role, TokenLimits
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record
from groundtransport.web.client import client_ip_of
from groundtransport.web.short_transaction import remaining_time

log = logging.getLogger(__name__)

_BEARER = re.compile(r"bearer +([\x21-\x7e]+) *", re.IGNORECASE | re.ASCII)
_TOKENS = table_of(ApiToken)
_USERS = table_of(AdminUser)
_OF_TOKEN = tuple(
    _TOKENS.c[name]
    for name in ("id", "user_id", "name", "role", "kinds", "is_read_only", "networks", "expires_at", "revoked_at")
)
_OF_USER = tuple(
    _USERS.c[name].label(f"user_{name}") for name in ("name", "full_name", "role", "session_epoch", "disabled_at")
)


@dataclass(frozen=True)
class TokenCheck:
    """The result of a verification: the identity, or None; ``refusal`` is the reason, "" without a token.

    ``lease`` is the state of the rate limit; None if no limit applies.
    """

    identity: Identity | None = None
    refusal: str = ""
    lease: Lease | None = None

    @property
    def is_over_limit(self) -> bool:
        """True if the token is valid and has reached its rate limit."""
        return self.lease is not None and self.lease.permits < 0


def token_check(request: Request) -> TokenCheck:
    """``request.token_check``: verify the token of the ``Authorization`` header, and spend one request of its limit.

    A missing or refused token raises nothing: see TokenCheck. Each refusal is recorded in the security log.
    """
    text = request.headers.get("Authorization", "")
    if not text:
        return TokenCheck()
    match = _BEARER.fullmatch(text)
    if not match or not secret_text.is_well_formed(match[1]):
        return _refuse(request, "malformed")
    token_hash, leases = secret_text.hash_of(match[1]), request.registry["token_leases"]
    lease = leases.spend(token_hash)
    row, lease = (_read(request, token_hash), lease) if lease else _read_and_lease(request, leases, token_hash)
    if row is None:
        return _refuse(request, "unknown")
    if reason := _why_invalid(request, row):
        return _refuse(request, reason, row)
    if lease.permits < 0:
        record(request, Event.TOKEN_REFUSED, user=_Account(row.user_id, row.user_name), because="rate", token=row.name)
    return TokenCheck(_identity(row), lease=lease if leases.limit else None)


@dataclass(frozen=True)
class _Account:
    id: int
    name: str


def _refuse(request: Request, because: str, row: AnyRow | None = None) -> TokenCheck:
    account = _Account(row.user_id, row.user_name) if row else None
    details = {"token": row.name} if row else {}
    record(request, Event.TOKEN_REFUSED, user=account, because=because, **details)
    return TokenCheck(refusal=because)


def _why_invalid(request: Request, row: AnyRow) -> str:
    """Return why a token of the table is refused; "" if it is valid."""
    if row.revoked_at is not None:
        return "revoked"
    if row.user_disabled_at is not None:
        return "disabled"
    if row.expires_at <= now():
        return "expired"
    return "" if is_inside(client_ip_of(request), row.networks) else "network"


def _identity(row: AnyRow) -> Identity:
    role = lower_role(Role(row.role), Role(row.user_role))
    limits = TokenLimits(row.id, row.name, frozenset(row.kinds), row.is_read_only)
    full_name = row.user_full_name or ""
    return Identity(row.user_id, row.user_name, role, row.user_session_epoch, full_name=full_name, token=limits)


def _select() -> AnySelect:
    user = _USERS.c.id == _TOKENS.c.user_id
    return select(*_OF_TOKEN, *_OF_USER).join(_USERS, user).where(_TOKENS.c.token_hash == bindparam("its_hash"))


def _update() -> Update:
    """Return the statement that adds ``size`` to the count of a token's window, and returns what ``_select`` does.

    A window that is older than the row's counts towards the row's: the clocks of two machines may differ.
    """
    window: BindParameter[int] = bindparam("window", type_=BigInteger())
    size: BindParameter[int] = bindparam("size", type_=Integer())
    is_new = _TOKENS.c.rate_window < window
    of_user = _USERS.c.id == _TOKENS.c.user_id
    user = [select(column).where(of_user).scalar_subquery().label(column.name) for column in _OF_USER]
    return (
        update(_TOKENS)
        .where(_TOKENS.c.token_hash == bindparam("its_hash"))
        .values(
            rate_window=case((is_new, window), else_=_TOKENS.c.rate_window),
            rate_count=case((is_new, size), else_=_TOKENS.c.rate_count + size),
            used_at=bindparam("at"),
        )
        .returning(*_OF_TOKEN, *user, _TOKENS.c.rate_count)
    )


_SELECT, _UPDATE = _select(), _update()


def _read(request: Request, token_hash: str) -> AnyRow | None:
    """Return the token with its user; outside the request's transaction if the request writes."""
    if not is_write(request):
        return request.dbsession.connection().execute(_SELECT, {"its_hash": token_hash}).one_or_none()
    with autocommit_engine(request.registry["engine"]).connect() as connection:
        return connection.execute(_SELECT, {"its_hash": token_hash}).one_or_none()


def _read_and_lease(request: Request, leases: Leases, token_hash: str) -> tuple[AnyRow | None, Lease]:
    """Return the token with its user, and a new lease.

    While the database is locked or its leader is away, the request is not counted.
    """
    window = current_window()
    if request.is_leader_away:
        return _read(request, token_hash), Lease(window, 0, leases.limit)
    values = {"its_hash": token_hash, "window": window, "size": lease_size(leases.limit), "at": now()}
    try:
        with _lease_engine(request).begin() as connection:
            row = connection.execute(_UPDATE, values).one_or_none()
    except OperationalError:
        log.warning("request %s: the use of a token was not counted", request.id, exc_info=True)
        return _read(request, token_hash), Lease(window, 0, leases.limit)
    # Invented tokens must not fill the memory: only tokens of the table have leases.
    return row, leases.put(token_hash, window, row.rate_count) if row else Lease(window, 0, 0)


def _lease_engine(request: Request) -> Engine:
    """Return the engine that takes a lease by one statement alone; on PostgreSQL the lease waits for the disk."""
    engine = request.registry["engine"]
    if engine.dialect.name == "sqlite":
        return write_engine(engine, remaining_time(request), durable=False)
    return autocommit_engine(engine)


def token_identity(request: Request) -> Identity | None:
    """``request.token_identity``: the user of the request's token; None without a valid token."""
    check: TokenCheck = request.token_check
    return check.identity
