"""``groundtransport permissions``: the table of permissions by URL, method and role, read from the application."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import click
from pyramid.authorization import ACLHelper, Authenticated, Everyone
from pyramid.paster import get_app
from pyramid.security import NO_PERMISSION_REQUIRED

from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.request import Registry, Request
from groundtransport.resources import (
    API_PLACES,
    API_ROUTE,
    CHILDREN,
    PLACES,
    Admin,
    Airports,
    Api,
    DeletedRecord,
    MergedRecord,
    Node,
    Root,
)
from groundtransport.security import Role

HEAD = """# Permissions

Every URL by every method, made by `make docs` from the views and the grants of the running application;
`tests/functional/test_permission_table.py` checks that this page is current, and requests each cell over HTTP.
HEAD is as GET; every other method is a 405. A user without the permission is redirected to `/login`, and nothing is
changed.
`{id}` is a live record, `{deleted}` a deleted one. Below `/api` the role is that of the token: without a token the
answer is 401, without the permission 403. A token can be limited further, to reading and to some kinds. `/public/v1`
needs neither sign-in nor token; it is a 404 unless `groundtransport.public_kinds` names kinds.

| URL | method | permission | """


@dataclass(frozen=True, order=True)
class Endpoint:
    """A path and a method, the permission they require ("" if no sign-in is needed), and the roles that have it."""

    url: str
    method: str
    permission: str
    roles: tuple[Role, ...]


def endpoints(registry: Registry) -> list[Endpoint]:
    """Return the paths and methods of the pages, sorted; raise LookupError for a context that CHILDREN lacks."""
    return _endpoints(registry, dict(_places(registry)), None)


def api_endpoints(registry: Registry) -> list[Endpoint]:
    """Return the paths and methods of the API, sorted; raise LookupError for a context that CHILDREN lacks."""
    return _endpoints(registry, dict(_api_places(registry)), API_ROUTE)


def _endpoints(registry: Registry, places: dict[str, Node], route_name: str | None) -> list[Endpoint]:
    result = set()
    for view, methods, permission in _views(registry, route_name):
        contexts = {url: node for url, node in places.items() if isinstance(node, view["context"])}
        if not contexts:
            raise LookupError(f"Add {view['context'].__name__} to CHILDREN of groundtransport.resources.tree")
        for place, node in contexts.items():
            url = f"{place.rstrip('/')}/{view['name']}".rstrip("/") or "/"
            result |= {_endpoint(url, method, permission, node) for method in methods}
    return sorted(result)


def _endpoint(url: str, method: str, permission: str, node: Node) -> Endpoint:
    if permission == NO_PERMISSION_REQUIRED:
        return Endpoint(url, method, "", tuple(Role))
    acl = ACLHelper()
    allowed = [role for role in Role if acl.permits(node, [Everyone, Authenticated, f"role:{role}"], permission)]
    return Endpoint(url, method, str(permission), tuple(allowed))


def _views(registry: Registry, route_name: str | None) -> Iterator[tuple[Any, set[str], str]]:
    """Yield the views of the resource tree, of a route or of none, with their methods and permission."""
    for entry in registry.introspector.get_category("views"):
        view = entry["introspectable"]
        context = view["context"]
        if view["exception_only"] or view["route_name"] != route_name:
            continue
        if not (isinstance(context, type) and issubclass(context, Node)):
            continue
        methods = view["request_methods"]
        methods = {methods} if isinstance(methods, str) else set(methods)
        permission = next(item["value"] for item in entry["related"] if item.category_name == "permissions")
        yield view, methods - {"HEAD"}, permission


def _places(registry: Registry) -> Iterator[tuple[str, Node]]:
    """Yield the path and a context of each resource in the tree. The contexts have parents and ACLs, but no row."""
    root = _node(Root, None)
    root.request.registry = registry
    admin = _node(Admin, root)
    yield "/", root
    yield "/admin", admin
    placed: dict[type[Node], tuple[str, Node]] = {}
    for name, place in PLACES.items():
        placed[place] = (f"/admin/{name}", _node(place, admin))
    for above, child in CHILDREN.items():
        url, parent = placed[above]
        placed[child.context] = (f"{url}/{child.label}", _node(child.context, parent))
    yield from placed.values()
    yield from _kind_places(registry, "/admin", admin)


def _api_places(registry: Registry) -> Iterator[tuple[str, Node]]:
    """Yield the path and a context of each resource of the API, as ``_places`` does."""
    root = _node(Api, None)
    root.request.registry = registry
    yield "/api/v1", root
    for name, place in API_PLACES.items():
        yield f"/api/v1/{name}", _node(place, root)
    airport = CHILDREN[Airports]
    yield f"/api/v1/airports/{airport.label}", _node(airport.context, _node(Airports, root))
    yield from _kind_places(registry, "/api/v1", root)


def _kind_places(registry: Registry, path: str, parent: Node) -> Iterator[tuple[str, Node]]:
    for kind in registry["kinds"].values():
        collection = _node(kind.collection, parent, kind=kind)
        yield f"{path}/{kind.name}", collection
        yield f"{path}/{kind.name}/{{id}}", _node(kind.record, collection, kind=kind)
        yield f"{path}/{kind.name}/{{deleted}}", _node(DeletedRecord, collection, kind=kind)
        yield f"{path}/{kind.name}/{{merged}}", _node(MergedRecord, collection, kind=kind)


def _node(place: type[Node], parent: Node | None, **values: object) -> Node:
    """Return a context without a lookup: only its class and its parents matter here."""
    node = place.__new__(place)
    node.request, node.__parent__ = parent.request if parent else Request.blank("/"), parent
    vars(node).update(values)
    return node


def as_markdown(table: list[Endpoint]) -> str:
    """Return the table as the Markdown page docs/permissions.md."""
    rows = [HEAD + " | ".join(Role) + " |", "|---|---|---|" + "---|" * len(Role)]
    for endpoint in table:
        cells = ["yes" if role in endpoint.roles else "–" for role in Role]
        permission = endpoint.permission or "none: no sign-in"
        rows.append(f"| `{endpoint.url}` | {endpoint.method} | {permission} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


@click.command()
@pass_command_context
def permissions(context: CommandContext) -> None:
    """Print the permissions of each role as a table in Markdown."""
    registry = get_app(str(context.ini)).registry
    click.echo(as_markdown([*endpoints(registry), *api_endpoints(registry)]), nl=False)
