"""Permissions, roles, the identity of a request, the security policy, CSRF tokens, and keys derived from the secret.

Nothing here queries: the identity comes from the session, the ACLs from the resource tree.
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
    """Permissions of views. VIEW, USERS_READ, SECURITY and OWN_READ are for pages that change nothing."""

    VIEW = "view"  # see lists, records and the activity log
    CREATE = "create"  # add a record
    EDIT = "edit"  # change a record
    DELETE = "delete"  # delete a record; it can be restored
    RESTORE = "restore"  # restore a deleted record
    USERS_READ = "users:read"  # see users' accounts and sessions
    USERS = "users"  # add and change users' accounts, end their sessions
    SECURITY = "security"  # see the security log
    OWN_READ = "own:read"  # see one's own profile
    OWN = "own"  # change one's own password and preferences, sign out


class Role(StrEnum):
    VIEWER = "viewer"
    EDITOR = "editor"
    ADMINISTRATOR = "administrator"


@dataclass(frozen=True)
class Identity:
    """The signed-in user. ``epoch`` is incremented when all sessions of the user are ended."""

    user_id: int
    name: str
    role: Role
    epoch: int
    must_change_password: bool = False
    preferences: Mapping[str, str] = field(default_factory=dict, compare=False)
    full_name: str = ""
    # The role requires a second factor and the user has not set one up.
    must_enrol: bool = False

    @property
    def shown_name(self) -> str:
        """The name to display; the logs refer to ``name``."""
        return self.full_name or self.name


class SecurityPolicy:
    """Security policy: the session identifies the user, the ACLs of the resource tree grant permissions."""

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
    """CSRF tokens computed from the session's token: no storage is needed, and they expire with the session."""

    def get_csrf_token(self, request: Request) -> str:
        tokens: dict[str, str] = vars(request).setdefault("csrf_tokens", {})  # a page needs one for each of its forms
        session_id = request.session.token
        if session_id not in tokens:
            tokens[session_id] = self._token(request.registry["settings"].secrets[0], request)
        return tokens[session_id]

    new_csrf_token = get_csrf_token

    def check_csrf_token(self, request: Request, supplied_token: str) -> bool:
        # Pyramid checks the Origin header for https only, so it is checked here.
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
    """Return True if the request has no Origin header, or one that equals the scheme, host and port of its URL."""
    origin = request.headers.get("Origin")
    return origin is None or origin == request.host_url


@lru_cache(maxsize=64)
def derive(secret: bytes, info: str) -> bytes:
    """Return a key of 32 bytes for the purpose ``info``: HKDF-SHA256 (RFC 5869) with an empty salt, one block."""
    extracted = hmac.new(bytes(32), secret, "sha256").digest()
    return hmac.new(extracted, info.encode() + b"\x01", "sha256").digest()


_EDIT_KEY = re.compile(r"[0-9a-f]{32}", re.ASCII)


def edit_keys(secret: bytes, identity: Identity, kind: str) -> Callable[[int], str]:
    """Return a function that maps a record id to the ``key`` of its edit link, for one user and kind.

    The key is the MD5 hash of an HMAC-SHA-256. It is an integrity check of links, in addition to permissions
    (decision 7).
    """
    message = json.dumps([1, identity.user_id, identity.epoch, kind, None], separators=(",", ":"))
    prefix_mac = hmac.new(derive(secret, "edit-link/v1"), message.removesuffix("null]").encode(), "sha256")

    def key(record_id: int) -> str:
        mac = prefix_mac.copy()
        mac.update(b"%d]" % record_id)
        return hashlib.md5(mac.digest(), usedforsecurity=False).hexdigest()

    return key


def edit_key(secret: bytes, identity: Identity, kind: str, record_id: int) -> str:
    """Return the ``key`` of the edit link of one record."""
    return edit_keys(secret, identity, kind)(record_id)


def edit_key_is_right(
    secrets: tuple[bytes, ...], given: list[str], identity: Identity, kind: str, record_id: int
) -> bool:
    """Return True if ``given``, all values of the query parameter ``key``, is exactly one value, the correct key."""
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
