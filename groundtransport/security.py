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

from pyramid.authorization import ACLHelper, Authenticated, Everyone
from pyramid.config import Configurator
from pyramid.interfaces import ICSRFStoragePolicy
from pyramid.request import Request
from pyramid.security import Denied
from pyramid.util import strings_differ
from zope.interface import implementer

NAME_MAX = 64  # characters of a user name


class Permission(StrEnum):
    """Permissions of views. Those in READING are for pages that change nothing."""

    VIEW = "view"  # see lists, records and the activity log
    CREATE = "create"  # add a record
    EDIT = "edit"  # change a record
    DELETE = "delete"  # delete a record; it can be restored
    RESTORE = "restore"  # restore a deleted record
    EXPORT = "export"  # save a list of records or the activity log as a file
    IMPORT = "import"  # import files of records, and undo an import
    VIEWS = "views"  # save, change and delete views of lists for all users
    NOTES = "notes"  # delete notes of others
    AIRPORTS = "airports"  # edit an airport
    USERS_READ = "users:read"  # see users' accounts and sessions
    USERS = "users"  # add and change users' accounts, end their sessions
    SECURITY = "security"  # see the security log
    WEBHOOKS_READ = "webhooks:read"  # see webhooks and their deliveries
    WEBHOOKS = "webhooks"  # add, change and remove webhooks
    OWN_READ = "own:read"  # see one's own profile
    OWN = "own"  # change one's own password and preferences, sign out


class Role(StrEnum):
    """The roles, from the lowest to the highest. The values are stored."""

    VIEWER = "viewer"
    EDITOR = "editor"
    ADMINISTRATOR = "administrator"


READING = frozenset(
    {Permission.VIEW, Permission.USERS_READ, Permission.SECURITY, Permission.WEBHOOKS_READ, Permission.OWN_READ}
)


@dataclass(frozen=True)
class TokenLimits:
    """An API token, and the limits that it sets to its user's role. ``kinds`` is empty for all kinds."""

    token_id: int
    name: str
    kinds: frozenset[str] = frozenset()
    is_read_only: bool = False

    def permits(self, context: object, permission: str) -> bool:
        """Return True if the token's own limits do not exclude a permission on a context of the resource tree."""
        kind = getattr(context, "kind", None)
        return (permission in READING or not self.is_read_only) and (kind is None or self.permits_kind(kind.name))

    def permits_kind(self, name: str) -> bool:
        """Return True if the token is not limited to other kinds."""
        return not self.kinds or name in self.kinds


@dataclass(frozen=True)
class Identity:
    """The signed-in user, or the user of an API token, with the role that the token has.

    ``epoch`` is incremented when all sessions of the user are ended.
    """

    user_id: int
    name: str
    role: Role
    epoch: int
    must_change_password: bool = False
    preferences: Mapping[str, str] = field(default_factory=dict, compare=False)
    full_name: str = ""
    # The role requires a second factor and the user has not set one up.
    must_enrol: bool = False
    token: TokenLimits | None = None

    @property
    def shown_name(self) -> str:
        """The name to display; the logs refer to ``name``."""
        return self.full_name or self.name


def is_api(request: Request) -> bool:
    """Return True if the path is ``/api`` or below it, where tokens identify, and cookies do not.

    The path is compared as it was sent, as the route of the API compares it: ``..`` leads neither into it nor out.
    """
    path: str = request.environ.get("PATH_INFO", "")
    return path == "/api" or path.startswith("/api/")


def is_public(request: Request) -> bool:
    """Return True if the path is below ``/public``, where no user is identified; compared as it was sent."""
    path: str = request.environ.get("PATH_INFO", "")
    return path.startswith("/public/")


def known_identity(request: Request) -> Identity | None:
    """Return the identity of a request if it was read before, else None; never query the database."""
    known: Identity | None = vars(request).get("token_identity") if is_api(request) else request.session.known_identity
    return known


class TokenDenied(Denied):
    """The token's own limits exclude ``permission``."""

    def __new__(cls, permission: str) -> "TokenDenied":
        denied: TokenDenied = super().__new__(cls, "The token does not permit %s", permission)
        denied.permission = permission
        return denied


class SecurityPolicy:
    """Security policy: the session identifies the user, the ACLs of the resource tree grant permissions.

    Below ``/api`` a bearer token identifies the user, and nothing else does. Its limits apply besides the ACLs.
    """

    def identity(self, request: Request) -> Identity | None:
        identity: Identity | None = request.token_identity if is_api(request) else request.session.identity
        return identity

    def authenticated_userid(self, request: Request) -> str | None:
        identity = self.identity(request)
        return str(identity.user_id) if identity else None

    def permits(self, request: Request, context: object, permission: str) -> object:
        identity = self.identity(request)
        principals = [Everyone]
        if identity and identity.token and not identity.token.permits(context, permission):
            return TokenDenied(permission)
        if identity:
            principals += [Authenticated, f"role:{identity.role}"]
        return ACLHelper().permits(context, principals, permission)

    def remember(self, request: Request, userid: str, **kw: object) -> list[tuple[str, str]]:
        raise TypeError("signing in is request.session.sign_in(user): a session is a row, not a header")

    def forget(self, request: Request, **kw: object) -> list[tuple[str, str]]:
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
    secrets: tuple[bytes, ...], keys: list[str], identity: Identity, kind: str, record_id: int
) -> bool:
    """Return True if ``keys``, all values of the query parameter ``key``, is exactly one value, the correct key."""
    if len(keys) != 1 or not _EDIT_KEY.fullmatch(keys[0]):
        return False
    return any(
        hmac.compare_digest(edit_key(secret, identity, kind, record_id).encode(), keys[0].encode())
        for secret in secrets
    )


def includeme(config: Configurator) -> None:
    config.set_security_policy(SecurityPolicy())
    config.set_csrf_storage_policy(SessionCSRF())
    config.set_default_csrf_options(require_csrf=True, check_origin=False)
