"""Request methods of the views of a context class."""

from pyramid.interfaces import IRequest

from groundtransport.request import Registry


def view_methods(registry: Registry, context: type, name: str, route_name: str | None = None) -> set[str]:
    """Return the request methods of the views of a context class and view name; an empty set without a view.

    ``route_name`` is the name of the route of the API for its views, None for all others.
    """
    methods: set[str] = set()
    for entry in registry.introspector.get_category("views"):
        view = entry["introspectable"]
        if (
            view["route_name"] == route_name
            and view["name"] == name
            and _is_for(view["context"], context)
            and not view["exception_only"]
        ):
            methods.update(_as_tuple(view["request_methods"]))
    return methods | {"HEAD"} if "GET" in methods else methods


def _as_tuple(methods: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (methods,) if isinstance(methods, str) else methods or ()


def _is_for(registered: object, context: type) -> bool:
    return isinstance(registered, type) and registered is not IRequest and issubclass(context, registered)
