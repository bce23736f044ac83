"""The resource tree: ``/admin/<kind>/<id>`` as contexts with ACLs.

``__getitem__`` raises KeyError for an unknown name and no other error. Contexts contain ORM rows; they are not rows.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

from pyramid.authorization import DENY_ALL, Allow, Authenticated
from pyramid.request import Request
from sqlalchemy import Select, bindparam, select

from groundtransport.db import SAFE_METHODS
from groundtransport.db.functions import advisory_lock
from groundtransport.security import Permission, Role

_ID = re.compile(r"[0-9]{1,18}", re.ASCII)
READING = (Permission.VIEW,)
WRITING = (Permission.CREATE, Permission.EDIT, Permission.DELETE, Permission.RESTORE)
PEOPLE = (Permission.USERS_READ, Permission.USERS, Permission.SECURITY)


class Node:
    """A context: base class of the tree."""

    __name__: str = ""
    __parent__: "Node | None" = None
    __acl__: ClassVar[list[Any]] = []

    def __init__(self, request: Request, name: str = "", parent: "Node | None" = None) -> None:
        self.request, self.__name__, self.__parent__ = request, name, parent


class Root(Node):
    """``/``: sign-in, health checks, and the parent of Admin."""

    def __getitem__(self, name: str) -> "Admin":
        if name != "admin":
            raise KeyError(name)
        return Admin(self.request, name, self)


class Admin(Node):
    """``/admin``: the dashboard, and the parent of all pages that need a sign-in."""

    __acl__: ClassVar[list[Any]] = [
        (Allow, f"role:{Role.VIEWER}", READING),
        (Allow, f"role:{Role.EDITOR}", READING + WRITING),
        (Allow, f"role:{Role.ADMINISTRATOR}", READING + WRITING + PEOPLE),
        (Allow, Authenticated, (Permission.OWN_READ, Permission.OWN)),
        DENY_ALL,
    ]

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
    """``/admin/airports/<code>``: the cities and states of an airport."""

    def __init__(self, request: Request, airport: Any, parent: Airports) -> None:
        super().__init__(request, airport.code, parent)
        self.airport = airport


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
        # Without the permission every name is forbidden, so the response does not reveal which accounts exist.
        is_open = bool(self.request.has_permission(Permission.USERS_READ, self))
        user = self.request.find_user(name) if is_open else None
        if is_open and user is None:
            raise KeyError(name)
        return User(self.request, name, user, self)


class User(Node):
    """``/admin/users/<name>``: a user's account; ``user`` is None without the permission to see it."""

    def __init__(self, request: Request, name: str, user: Any, parent: Users) -> None:
        super().__init__(request, name if user is None else user.name, parent)
        self.user = user


class Security(Node):
    """``/admin/security``: the log of events of accounts, sessions and permissions."""


class Session(Node):
    """``/admin/session``: the remaining time of the session, for the scripts of forms."""


PLACES: dict[str, type[Node]] = {
    "activity": Activity,
    "airports": Airports,
    "profile": Profile,
    "security": Security,
    "users": Users,
    "session": Session,
}


class Collection(Node):
    """``/admin/<kind>``: the records of one kind."""

    # View names that return JSON or an HTML fragment: a sign-in does not return to them.
    partial: ClassVar[frozenset[str]] = frozenset({"phone", "similar"})

    def __init__(self, request: Request, kind: Any, parent: Node) -> None:
        super().__init__(request, kind.name, parent)
        self.kind = kind

    def __acl__(self) -> list[Any]:  # type: ignore[override]  # a kind declares its grants
        return list(self.kind.grants)

    def __getitem__(self, name: str) -> "AnyRecord":
        row = self._row(int(name)) if _ID.fullmatch(name) else None
        if row is None:
            raise KeyError(name)
        return (DeletedRecord if row.is_deleted else self.kind.record)(self.request, row, self)

    def get(self, name: str) -> "AnyRecord | None":
        """Return the record with an id, live or deleted; None if there is none."""
        try:
            return self[name]
        except KeyError:
            return None

    def live(self, name: str) -> "Record":
        """Return the live record with an id; raise KeyError if there is none or it is deleted."""
        record = self[name]
        if not isinstance(record, Record):
            raise KeyError(name)
        return record

    def _row(self, record_id: int) -> Any:
        query = record_by_id(self.kind.model, write=self.request.method not in SAFE_METHODS)
        return self.request.dbsession.scalar(query, {"record_id": record_id})


@cache
def record_by_id(model: Any, *, write: bool) -> Select[Any]:
    """Return the SELECT of a record by the bind parameter ``record_id``; with ``write``, it locks the row."""
    query = select(model).where(model.id == bindparam("record_id"))
    # The second of two writers waits and then reads what the first wrote.
    return query.where(advisory_lock(model.id)).with_for_update() if write else query


class AnyRecord(Node):
    """``/admin/<kind>/<id>``: a record, live or deleted; the context of the few views for both."""

    __parent__: Collection

    def __init__(self, request: Request, row: Any, parent: Collection) -> None:
        super().__init__(request, str(row.id), parent)
        self.row = row
        self.kind = parent.kind


class Record(AnyRecord):
    """A live record."""


class DeletedRecord(AnyRecord):
    """A deleted record. It has only a history and can be restored."""


def class_at(path: Sequence[str], kinds: Mapping[str, Any]) -> tuple[type[Node], list[str]]:
    """Return the context class of a path, without queries, and the remaining segments of the path."""
    context_class: type[Node] = Root
    rest = list(path)
    while rest and (child := _class_below(context_class, rest[0], kinds)):
        context_class, rest = child, rest[1:]
    return context_class, rest


def _class_below(parent: type[Node], name: str, kinds: Mapping[str, Any]) -> type[Node] | None:
    """Return the class of a child context; None if the name is not a child's (it may be a view name)."""
    if parent is Root:
        return Admin if name == "admin" else None
    if parent is Admin:
        return kinds[name].collection if name in kinds else PLACES.get(name)
    if issubclass(parent, Collection):
        return Record if _ID.fullmatch(name) else None
    if parent is Profile:
        return OwnSecondFactor if name == "second-factor" else None
    children: dict[type[Node], type[Node]] = {Airports: Airport, Users: User}
    return children.get(parent)


def includeme(config: Any) -> None:
    config.set_root_factory(Root)
