"""The class of the context at a path, found without queries: for redirects of users who are not signed in."""

from collections.abc import Mapping, Sequence

from groundtransport.resources.records import Collection, KindDeclaration, Record
from groundtransport.resources.tree import CHILDREN, ID, PLACES, Admin, Node, Root


def class_at(path: Sequence[str], kinds: Mapping[str, KindDeclaration]) -> tuple[type[Node], list[str]]:
    """Return the context class of a path, without queries, and the remaining segments of the path."""
    context_class: type[Node] = Root
    rest = list(path)
    while rest and (child := _class_below(context_class, rest[0], kinds)):
        context_class, rest = child, rest[1:]
    return context_class, rest


def _class_below(parent: type[Node], name: str, kinds: Mapping[str, KindDeclaration]) -> type[Node] | None:
    """Return the class of a child context; None if the name is not a child's (it may be a view name)."""
    if parent is Root:
        return Admin if name == "admin" else None
    if parent is Admin:
        return kinds[name].collection if name in kinds else PLACES.get(name)
    if issubclass(parent, Collection):
        return Record if ID.fullmatch(name) else None
    child = CHILDREN.get(parent)
    return child.context if child and child.pattern.fullmatch(name) else None
