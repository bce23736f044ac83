"""Request methods of the views of a context class."""

from typing import Any

from pyramid.interfaces import IRequest
from pyramid.registry import Registry


def view_methods(registry: Registry, context: type, name: str) -> set[str]:
    """Return the request methods of the views of a context class and view name; an empty set without a view."""
    methods: set[str] = set()
    for entry in registry.introspector.get_category("views"):
        view = entry["introspectable"]
        if view["name"] == name and _is_for(view["context"], context) and not view["exception_only"]:
            methods.update(_as_tuple(view["request_methods"]))
    return methods | {"HEAD"} if "GET" in methods else methods


def _as_tuple(methods: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (methods,) if isinstance(methods, str) else methods or ()


def _is_for(registered: Any, context: type) -> bool:
    return isinstance(registered, type) and registered is not IRequest and issubclass(context, registered)
