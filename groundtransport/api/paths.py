"""The operations of the API: each registered view at each of its paths."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from groundtransport.api.view import Operation
from groundtransport.records.kind import Kind
from groundtransport.request import Registry
from groundtransport.resources import API_PLACES, API_ROUTE, Airport, Api, DeletedRecord


@dataclass(frozen=True)
class PathOperation:
    """An operation at a path relative to ``/api/v1``; ``kind`` is None if it belongs to no kind."""

    path: str
    method: str
    name: str  # of the view function
    summary: str
    operation: Operation
    kind: Kind | None


def operations(registry: Registry) -> list[PathOperation]:
    """Return the operations, without HEAD and OPTIONS. A live record's come before those of a deleted one."""
    by_path: dict[tuple[str, str], PathOperation] = {}
    for path, context_class, kind in _places(registry):
        for view, method in _views(registry, context_class):
            url = "/".join(filter(None, (path, view["name"]))) or "/"
            callable_ = view["callable"]
            summary = str(callable_.__doc__).strip().split("\n")[0].replace("``", "")
            one = PathOperation(f"/{url}", method, callable_.__name__, summary, callable_.operation, kind)
            by_path.setdefault((one.path, method), one)
    return list(by_path.values())


def _places(registry: Registry) -> Iterator[tuple[str, type, Kind | None]]:
    """Yield the path, the context class and the kind of each resource."""
    yield "", Api, None
    for kind in registry["kinds"].values():
        yield kind.name, kind.collection, kind
        yield f"{kind.name}/{{id}}", kind.record, kind
        yield f"{kind.name}/{{id}}", DeletedRecord, kind
    yield from ((name, place, None) for name, place in API_PLACES.items())
    yield "airports/{code}", Airport, None


def _views(registry: Registry, context_class: type) -> Iterator[tuple[Any, str]]:
    """Yield the views of a context class that the OpenAPI document describes, with each method."""
    for entry in registry.introspector.get_category("views"):
        view = entry["introspectable"]
        operation = getattr(view["callable"], "operation", None)
        if view["route_name"] != API_ROUTE or operation is None or operation.is_hidden:
            continue
        if issubclass(context_class, view["context"]):
            methods = view["request_methods"]
            yield from (
                (view, method) for method in (methods if isinstance(methods, tuple) else (methods,)) if method != "HEAD"
            )
