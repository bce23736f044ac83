"""Which methods the views of a place in the tree answer."""

from typing import Any

from pyramid.interfaces import IRequest
from pyramid.registry import Registry


def view_methods(registry: Registry, context: type, name: str) -> set[str]:
    """Return the methods that the views of this name answer for a class of contexts; none where there is no view."""
    methods: set[str] = set()
    for entry in registry.introspector.get_category("views"):
        view = entry["introspectable"]
        if view["name"] == name and _is_for(view["context"], context) and not view["exception_only"]:
            methods.update(_as_tuple(view["request_methods"]))
    return methods | {"HEAD"} if "GET" in methods else methods


def _as_tuple(methods: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (methods,) if isinstance(methods, str) else methods or ()


def _is_for(wanted: Any, context: type) -> bool:
    return isinstance(wanted, type) and wanted is not IRequest and issubclass(context, wanted)
