"""Create, list and revoke tokens."""

import ipaddress
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select, update
from sqlalchemy.orm import Session
from translationstring import TranslationString

from groundtransport.accounts.errors import Refused
from groundtransport.accounts.models import AdminUser
from groundtransport.accounts.tokens import secret_text
from groundtransport.accounts.tokens.models import TOKEN_NAME_MAX, ApiToken
from groundtransport.db import now
from groundtransport.i18n import _
from groundtransport.security import Role
from groundtransport.text import parse_number

DAYS, DAYS_MAX = 90, 365  # life of a token: usual, and at most
TOKENS_MAX = 20  # live tokens of one user
NETWORKS_MAX = 20  # of one token
RANKS = {role: rank for rank, role in enumerate(Role)}


NOT_OPEN = _("Only the user can create a token of this account.")


class TokenRefused(Refused):
    """The token cannot be created. ``field`` names the field of the form that is wrong."""

    def __init__(self, field: str, text: TranslationString) -> None:
        super().__init__(text)
        self.field = field


@dataclass(frozen=True)
class TokenRequest:
    """The submitted form of a new token, as texts; ``kinds`` is empty for all kinds, ``days`` the days it is valid."""

    name: str
    role: str
    kinds: tuple[str, ...] = ()
    is_read_only: bool = False
    days: str = str(DAYS)
    networks: str = ""


@dataclass(frozen=True)
class Maker:
    """The user who creates a token: name and role. No token has a role above it."""

    name: str
    role: Role


def create(
    dbsession: Session, user: AdminUser, maker: Maker, token_request: TokenRequest, kinds: Collection[str]
) -> tuple[ApiToken, str]:
    """Create a token of ``user`` and return its row and its text, which is stored nowhere.

    ``kinds`` are the names of all kinds. Raise TokenRefused if a field is invalid.
    """
    live = [token for token in tokens_of(dbsession, user.id) if token.is_live]
    if len(live) >= TOKENS_MAX:
        raise TokenRefused("name", _("There are ${n} tokens already. Revoke one first.", mapping={"n": TOKENS_MAX}))
    text = secret_text.generate()
    token = ApiToken(
        user_id=user.id,
        name=_name(token_request.name, {token.name for token in live}),
        token_hash=secret_text.hash_of(text),
        hint=text[-secret_text.HINT :],
        role=_role(token_request.role, maker, user),
        kinds=_kinds(token_request.kinds, kinds),
        is_read_only=token_request.is_read_only,
        networks=parse_networks(token_request.networks),
        created_by=maker.name,
        expires_at=now() + timedelta(days=_days(token_request.days)),
        rate_window=0,
        rate_count=0,
    )
    dbsession.add(token)
    dbsession.flush()
    return token, text


def is_open_to_others(user: AdminUser) -> bool:
    """Return True if administrators may create tokens of an account: for a service account that is not disabled."""
    return user.is_service and user.disabled_at is None


def roles_up_to(role: Role) -> list[Role]:
    """Return the roles that are not above a role."""
    return [lower for lower in Role if RANKS[lower] <= RANKS[role]]


def lower_role(first: Role, second: Role) -> Role:
    """Return the lower of two roles."""
    return min(first, second, key=lambda role: RANKS[role])


def _name(text: str, names_in_use: Collection[str]) -> str:
    name = " ".join(text.split())
    if not name or len(name) > TOKEN_NAME_MAX or not name.isprintable():
        raise TokenRefused("name", _("Name the token, with at most ${n} characters.", mapping={"n": TOKEN_NAME_MAX}))
    if name in names_in_use:
        raise TokenRefused("name", _("There is a token of this name already."))
    return name


def _role(text: str, maker: Maker, user: AdminUser) -> str:
    if text not in roles_up_to(lower_role(maker.role, Role(user.role))):
        raise TokenRefused("role", _("Choose a role that is not above yours."))
    return text


def _kinds(names: tuple[str, ...], kind_names: Collection[str]) -> list[str]:
    if unknown := sorted(set(names) - set(kind_names)):
        raise TokenRefused("kinds", _("There is no kind ${name}.", mapping={"name": unknown[0]}))
    return [] if set(names) == set(kind_names) else sorted(set(names))


def _days(text: str) -> int:
    days = parse_number(text, 3)
    if days is None or not 1 <= days <= DAYS_MAX:
        raise TokenRefused("days", _("A token is valid for 1 to ${n} days.", mapping={"n": DAYS_MAX}))
    return days


def parse_networks(text: str) -> list[str]:
    """Return the networks of a text, separated by blanks or commas, in CIDR notation; raise TokenRefused."""
    parts = text.replace(",", " ").split()
    if len(parts) > NETWORKS_MAX:
        raise TokenRefused("networks", _("A token has at most ${n} networks.", mapping={"n": NETWORKS_MAX}))
    try:
        return [str(ipaddress.ip_network(part, strict=False)) for part in parts]
    except ValueError:
        raise TokenRefused(
            "networks", _("Write networks such as 192.0.2.0/24 or 2001:db8::/32, separated by blanks.")
        ) from None


def is_inside(address: str, networks: Sequence[str]) -> bool:
    """Return True if a client IP is in one of the networks, or if there are none."""
    if not networks:
        return True
    try:
        ip = ipaddress.ip_address(address.strip("[]"))
    except ValueError:
        return False
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return any(ip in ipaddress.ip_network(network) for network in networks)


def tokens_of(dbsession: Session, user_id: int) -> Sequence[ApiToken]:
    """Return the tokens of a user that were not revoked, newest first, expired ones too."""
    query = select(ApiToken).where(ApiToken.user_id == user_id, ApiToken.revoked_at.is_(None))
    return dbsession.scalars(query.order_by(ApiToken.id.desc())).all()


def revoke(dbsession: Session, user_id: int, token_id: int) -> str:
    """End a token of a user at once; return its name, "" if there is none with that id."""
    is_named = (ApiToken.user_id == user_id, ApiToken.id == token_id, ApiToken.revoked_at.is_(None))
    query = update(ApiToken).where(*is_named).values(revoked_at=now()).returning(ApiToken.name)
    return dbsession.scalar(query) or ""


def revoke_all(dbsession: Session, user_id: int) -> None:
    """End all tokens of a user for good."""
    dbsession.execute(
        update(ApiToken).where(ApiToken.user_id == user_id, ApiToken.revoked_at.is_(None)).values(revoked_at=now())
    )
