"""The base class of contexts, the contexts from the two roots down except those of records, and the inherited ACLs."""

import re
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from pyramid.authorization import DENY_ALL, Allow, Authenticated

from groundtransport.request import Request
from groundtransport.security import Permission, Role

ID = re.compile(r"[0-9]{1,18}", re.ASCII)  # the longest that the databases' integers hold
READING = (Permission.VIEW,)
WRITING = (Permission.CREATE, Permission.EDIT, Permission.DELETE, Permission.RESTORE, Permission.IMPORT)
SHARING = (Permission.VIEWS,)
PEOPLE = (Permission.USERS_READ, Permission.USERS, Permission.SECURITY)
ADMINISTRATION = (*PEOPLE, Permission.NOTES, Permission.AIRPORTS, Permission.WEBHOOKS_READ, Permission.WEBHOOKS)


class Node:
    """A context: base class of the tree."""

    __name__: str = ""
    __parent__: "Node | None" = None
    __acl__: ClassVar[list[object]] = []

    def __init__(self, request: Request, name: str = "", parent: "Node | None" = None) -> None:
        self.request, self.__name__, self.__parent__ = request, name, parent


def find_permitted(context: Node, permission: Permission, find: Callable[[], Any]) -> Any:
    """Return the row that ``find`` finds, None without the permission; raise KeyError if there is no such row.

    Without the permission every name is forbidden, so that the response does not reveal which ones exist.
    """
    if not context.request.has_permission(permission, context):
        return None
    row = find()
    if row is None:
        raise KeyError
    return row


class Root(Node):
    """``/``: sign-in, health checks, and the parent of Admin."""

    def __getitem__(self, name: str) -> "Admin":
        if name != "admin":
            raise KeyError(name)
        return Admin(self.request, name, self)


def acl_of_records(request: Request) -> list[object]:
    """Return the ACL of Admin and of Api."""
    return [
        (Allow, f"role:{Role.VIEWER}", READING),
        (Allow, f"role:{Role.EDITOR}", READING + WRITING + SHARING),
        (Allow, f"role:{Role.ADMINISTRATOR}", READING + WRITING + SHARING + ADMINISTRATION),
        *((Allow, f"role:{name}", Permission.EXPORT) for name in request.registry["settings"].export_roles),
        (Allow, Authenticated, (Permission.OWN_READ, Permission.OWN)),
        DENY_ALL,
    ]


class Admin(Node):
    """``/admin``: the dashboard, and the parent of all pages that need a sign-in."""

    def __acl__(self) -> list[object]:  # type: ignore[override]  # the ini grants exports
        return acl_of_records(self.request)

    def __getitem__(self, name: str) -> Node:
        kind = self.request.registry["kinds"].get(name)
        if kind:
            return kind.collection(self.request, kind, self)
        return PLACES[name](self.request, name, self)


class Activity(Node):
    """``/admin/activity``: the log of changes to records."""


class Airports(Node):
    """``/admin/airports``: the search of the airport field, and the parent of airports."""

    def __getitem__(self, code: str) -> "Airport":
        airport = self.request.find_airport(code)
        if airport is None:
            raise KeyError(code)
        return Airport(self.request, airport, self)


class Airport(Node):
    """``/admin/airports/<code>``: an airport, its cities and states."""

    def __init__(self, request: Request, airport: Any, parent: Airports) -> None:
        super().__init__(request, airport.code, parent)
        self.airport = airport


class Imports(Node):
    """``/admin/imports``: the imports of files, and the parent of each."""

    def __getitem__(self, name: str) -> "Import":
        if not ID.fullmatch(name):
            raise KeyError(name)
        batch = find_permitted(self, Permission.IMPORT, lambda: self.request.find_import(int(name)))
        return Import(self.request, name, batch, self)


class Import(Node):
    """``/admin/imports/<id>``: an import; ``batch`` is None without the permission to see it."""

    def __init__(self, request: Request, name: str, batch: Any, parent: Imports) -> None:
        super().__init__(request, name, parent)
        self.batch = batch


class Profile(Node):
    """``/admin/profile``: the user's own account."""

    def __getitem__(self, name: str) -> "OwnSecondFactor":
        if name != "second-factor":
            raise KeyError(name)
        return OwnSecondFactor(self.request, name, self)


class OwnSecondFactor(Node):
    """``/admin/profile/second-factor``: the user's own authenticator app and recovery codes."""


class Users(Node):
    """``/admin/users``: the accounts of all users."""

    def __getitem__(self, name: str) -> "User":
        user = find_permitted(self, Permission.USERS_READ, lambda: self.request.find_user(name))
        return User(self.request, name, user, self)


class User(Node):
    """``/admin/users/<name>``: a user's account; ``user`` is None without the permission to see it."""

    def __init__(self, request: Request, name: str, user: Any, parent: Users) -> None:
        super().__init__(request, name if user is None else user.name, parent)
        self.user = user


class Security(Node):
    """``/admin/security``: the log of events of accounts, sessions and permissions."""


class Webhooks(Node):
    """``/admin/webhooks``: the webhooks, and the parent of each."""

    def __getitem__(self, name: str) -> "Webhook":
        if not ID.fullmatch(name):
            raise KeyError(name)
        webhook = find_permitted(self, Permission.WEBHOOKS_READ, lambda: self.request.find_webhook(int(name)))
        return Webhook(self.request, name, webhook, self)


class Webhook(Node):
    """``/admin/webhooks/<id>``: a webhook; ``webhook`` is None without the permission to see it."""

    def __init__(self, request: Request, name: str, webhook: Any, parent: Webhooks) -> None:
        super().__init__(request, name, parent)
        self.webhook = webhook


class Review(Node):
    """``/admin/review``: the queue of records that are due to be verified."""

    __parent__: Admin


class Session(Node):
    """``/admin/session``: the remaining time of the session, for the scripts of forms."""


class Api(Node):
    """``/api/v1``: the root of the API, whose views belong to the route ``API_ROUTE``.

    Its children are those of Admin that hold records or reference data, with the same ACLs.
    """

    def __acl__(self) -> list[object]:  # type: ignore[override]  # the ini grants exports
        return acl_of_records(self.request)

    def __init__(self, request: Request) -> None:
        super().__init__(request, "v1", Node(request, "api", Root(request)))

    def __getitem__(self, name: str) -> Node:
        kind = self.request.registry["kinds"].get(name)
        if kind:
            return kind.collection(self.request, kind, self)
        return API_PLACES[name](self.request, name, self)


API_ROUTE = "api"
PLACES: dict[str, type[Node]] = {
    "activity": Activity,
    "airports": Airports,
    "imports": Imports,
    "profile": Profile,
    "review": Review,
    "security": Security,
    "users": Users,
    "session": Session,
    "webhooks": Webhooks,
}
API_PLACES: dict[str, type[Node]] = {"activity": Activity, "airports": Airports}


class Child(NamedTuple):
    """The class of a context's children, the pattern of their names, and the name that tables of URLs show."""

    context: type[Node]
    pattern: re.Pattern[str]
    label: str


_ANY = re.compile(r".*", re.DOTALL)
CHILDREN: dict[type[Node], Child] = {
    Airports: Child(Airport, _ANY, "{code}"),
    Imports: Child(Import, ID, "{import}"),
    Profile: Child(OwnSecondFactor, re.compile("second-factor"), "second-factor"),
    Users: Child(User, _ANY, "{name}"),
    Webhooks: Child(Webhook, ID, "{webhook}"),
}
