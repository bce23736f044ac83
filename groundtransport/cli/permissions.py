"""``groundtransport permissions``: the table of permissions by URL, method and role, read from the application."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import click
from pyramid.authorization import ACLHelper, Authenticated, Everyone
from pyramid.paster import get_app
from pyramid.registry import Registry
from pyramid.request import Request
from pyramid.security import NO_PERMISSION_REQUIRED

from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.resources import (
    PLACES,
    Admin,
    Airport,
    Airports,
    DeletedRecord,
    Node,
    OwnSecondFactor,
    Profile,
    Root,
    User,
    Users,
)
from groundtransport.security import Role

# The resources below a child of Admin: the parent, and the name in the table.
BELOW: dict[type[Node], tuple[type[Node], str]] = {
    Airport: (Airports, "{code}"),
    OwnSecondFactor: (Profile, "second-factor"),
    User: (Users, "{name}"),
}

HEAD = """# Who may do what

Every address by every method, made by `make docs` from the views and the grants of the running application;
`tests/functional/test_permission_table.py` holds that this page is current, and asks each cell over HTTP.
HEAD goes with GET; every other method is a 405. Who may not is sent to `/login`, and nothing is changed.
`{id}` is a live record, `{deleted}` a deleted one.

| address | method | permission | """


@dataclass(frozen=True, order=True)
class Door:
    """A path and a method, the permission they require ("" if no sign-in is needed), and the roles that have it."""

    address: str
    method: str
    permission: str
    roles: tuple[Role, ...]


def doors(registry: Registry) -> list[Door]:
    """Return all paths and methods of an application, sorted; raise LookupError for a view of an unknown resource."""
    result = set()
    places = dict(_places(registry))
    for view, methods, permission in _views(registry):
        standing = {address: node for address, node in places.items() if isinstance(node, view["context"])}
        if not standing:
            raise LookupError(f"Say in BELOW where {view['context'].__name__} stands")
        for place, node in standing.items():
            address = f"{place.rstrip('/')}/{view['name']}".rstrip("/") or "/"
            result |= {_door(address, method, permission, node) for method in methods}
    return sorted(result)


def _door(address: str, method: str, permission: str, node: Node) -> Door:
    if permission == NO_PERMISSION_REQUIRED:
        return Door(address, method, "", tuple(Role))
    acl = ACLHelper()
    allowed = [role for role in Role if acl.permits(node, [Everyone, Authenticated, f"role:{role}"], permission)]
    return Door(address, method, str(permission), tuple(allowed))


def _views(registry: Registry) -> Iterator[tuple[Any, set[str], str]]:
    """Yield the views of the resource tree with their methods and permission."""
    for entry in registry.introspector.get_category("views"):
        view = entry["introspectable"]
        context = view["context"]
        if view["exception_only"] or not (isinstance(context, type) and issubclass(context, Node)):
            continue
        methods = view["request_methods"]
        methods = {methods} if isinstance(methods, str) else set(methods)
        permission = next(item["value"] for item in entry["related"] if item.category_name == "permissions")
        yield view, methods - {"HEAD"}, permission


def _places(registry: Registry) -> Iterator[tuple[str, Node]]:
    """Yield the path and a context of each resource in the tree. The contexts have parents and ACLs, but no row."""
    root = _node(Root, None)
    admin = _node(Admin, root)
    yield "/", root
    yield "/admin", admin
    placed: dict[type[Node], tuple[str, Node]] = {}
    for name, place in PLACES.items():
        placed[place] = (f"/admin/{name}", _node(place, admin))
    for place, (above, name) in BELOW.items():
        address, parent = placed[above]
        placed[place] = (f"{address}/{name}", _node(place, parent))
    yield from placed.values()
    for kind in registry["kinds"].values():
        collection = _node(kind.collection, admin, kind=kind)
        yield f"/admin/{kind.name}", collection
        yield f"/admin/{kind.name}/{{id}}", _node(kind.record, collection, kind=kind)
        yield f"/admin/{kind.name}/{{deleted}}", _node(DeletedRecord, collection, kind=kind)


def _node(place: type[Node], parent: Node | None, **values: Any) -> Node:
    """Return a context without a lookup: only its class and its parents matter here."""
    node = place.__new__(place)
    node.request, node.__parent__ = Request.blank("/"), parent
    vars(node).update(values)
    return node


def as_markdown(table: list[Door]) -> str:
    """Return the table as the Markdown page docs/permissions.md."""
    rows = [HEAD + " | ".join(Role) + " |", "|---|---|---|" + "---|" * len(Role)]
    for door in table:
        cells = ["yes" if role in door.roles else "–" for role in Role]
        permission = door.permission or "none: no sign-in"
        rows.append(f"| `{door.address}` | {door.method} | {permission} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


@click.command()
@pass_command_context
def permissions(context: CommandContext) -> None:
    """Print the permissions of each role as a table in Markdown."""
    click.echo(as_markdown(doors(get_app(str(context.ini)).registry)), nl=False)
