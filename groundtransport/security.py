"""Who may do what: permissions, the identity of a request, the security policy, and the keys derived from the secret.

Nothing here queries: the identity comes from the session, the grants from the tree.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

from pyramid.authorization import ACLHelper, Authenticated, Everyone
from pyramid.interfaces import ICSRFStoragePolicy
from pyramid.request import Request
from pyramid.util import strings_differ
from zope.interface import implementer

NAME_MAX = 64  # characters of a user name


class Permission(StrEnum):
    """What a view can ask for. VIEW, USERS_READ, SECURITY and OWN_READ guard pages that change nothing."""

    VIEW = "view"  # see lists, records and the activity log
    CREATE = "create"  # add a record
    EDIT = "edit"  # change a record
    DELETE = "delete"  # take a record out of the lists
    RESTORE = "restore"  # bring a deleted record back
    USERS_READ = "users:read"  # see people's accounts and sessions
    USERS = "users"  # make and change people's accounts, end their sessions
    SECURITY = "security"  # see the security log
    OWN_READ = "own:read"  # one's own pages
    OWN = "own"  # one's own password, preferences and sign-out


class Role(StrEnum):
    VIEWER = "viewer"
    EDITOR = "editor"
    ADMINISTRATOR = "administrator"


@dataclass(frozen=True)
class Identity:
    """The signed-in person. ``epoch`` counts the times that all their sessions were ended."""

    user_id: int
    name: str
    role: Role
    epoch: int
    must_change_password: bool = False
    preferences: Mapping[str, str] = field(default_factory=dict, compare=False)
    full_name: str = ""
    # The role asks for a second factor, and the person has none yet.
    must_enrol: bool = False

    @property
    def shown_name(self) -> str:
        """What people read; the logs refer to ``name``."""
        return self.full_name or self.name


class SecurityPolicy:
    """Pyramid's security policy: the session names the person, the tree's ACLs decide."""

    def identity(self, request: Request) -> Identity | None:
        identity: Identity | None = request.session.identity
        return identity

    def authenticated_userid(self, request: Request) -> str | None:
        identity = self.identity(request)
        return str(identity.user_id) if identity else None

    def permits(self, request: Request, context: Any, permission: str) -> Any:
        identity = self.identity(request)
        principals = [Everyone]
        if identity:
            principals += [Authenticated, f"role:{identity.role}"]
        return ACLHelper().permits(context, principals, permission)

    def remember(self, request: Request, userid: str, **kw: Any) -> list[tuple[str, str]]:
        raise TypeError("signing in is request.session.sign_in(user): a session is a row, not a header")

    def forget(self, request: Request, **kw: Any) -> list[tuple[str, str]]:
        raise TypeError("signing out is request.session.sign_out()")


@implementer(ICSRFStoragePolicy)
class SessionCSRF:
    """A CSRF token that is computed from the session's secret id, so that it needs no storage and dies with it."""

    def get_csrf_token(self, request: Request) -> str:
        made: dict[str, str] = vars(request).setdefault("csrf_tokens", {})  # a page asks for each of its forms
        session_id = request.session.token
        if session_id not in made:
            made[session_id] = self._token(request.registry["settings"].secrets[0], request)
        return made[session_id]

    new_csrf_token = get_csrf_token

    def check_csrf_token(self, request: Request, supplied_token: str) -> bool:
        # The Origin is asked here, not by Pyramid, which looks at it on https only.
        if not origin_is_ours(request) or not request.session.presented:
            return False
        if not (isinstance(supplied_token, str) and supplied_token.isascii()):
            return False
        secrets = request.registry["settings"].secrets
        return any(not strings_differ(self._token(secret, request), supplied_token) for secret in secrets)

    @staticmethod
    def _token(secret: bytes, request: Request) -> str:
        return hmac.new(derive(secret, "csrf/v1"), request.session.token.encode(), "sha256").hexdigest()


def origin_is_ours(request: Request) -> bool:
    """Whether the request's Origin, when it states one, is the address that it was sent to."""
    origin = request.headers.get("Origin")
    return origin is None or origin == request.host_url


@lru_cache(maxsize=64)
def derive(secret: bytes, info: str) -> bytes:
    """Return a key of 32 bytes for one use alone: HKDF-SHA256 (RFC 5869) with an empty salt, one block."""
    extracted = hmac.new(bytes(32), secret, "sha256").digest()
    return hmac.new(extracted, info.encode() + b"\x01", "sha256").digest()


_EDIT_KEY = re.compile(r"[0-9a-f]{32}", re.ASCII)


def edit_keys(secret: bytes, identity: Identity, kind: str) -> Callable[[int], str]:
    """Return what gives the ``key`` of an edit link: an MD5 hash of an HMAC-SHA-256, for one person and kind.

    It is an integrity check on links and never the only guard (docs/decisions.md).
    """
    message = json.dumps([1, identity.user_id, identity.epoch, kind, None], separators=(",", ":"))
    begun = hmac.new(derive(secret, "edit-link/v1"), message.removesuffix("null]").encode(), "sha256")

    def key(record_id: int) -> str:
        mac = begun.copy()
        mac.update(b"%d]" % record_id)
        return hashlib.md5(mac.digest(), usedforsecurity=False).hexdigest()

    return key


def edit_key(secret: bytes, identity: Identity, kind: str, record_id: int) -> str:
    """Return the ``key`` of one edit link."""
    return edit_keys(secret, identity, kind)(record_id)


def edit_key_is_right(
    secrets: tuple[bytes, ...], given: list[str], identity: Identity, kind: str, record_id: int
) -> bool:
    """Whether ``given``, all values of the query's ``key``, is the one right key."""
    if len(given) != 1 or not _EDIT_KEY.fullmatch(given[0]):
        return False
    return any(
        hmac.compare_digest(edit_key(secret, identity, kind, record_id).encode(), given[0].encode())
        for secret in secrets
    )


def includeme(config: Any) -> None:
    config.set_security_policy(SecurityPolicy())
    config.set_csrf_storage_policy(SessionCSRF())
    config.set_default_csrf_options(require_csrf=True, check_origin=False)
