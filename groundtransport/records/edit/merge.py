"""Three-way merge of two concurrent edits of a record. Does not use the database."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from groundtransport.events import Values


@dataclass(frozen=True)
class Clash:
    """A field that both sides changed to different values. ``before`` is None if the log does not hold it."""

    name: str
    mine: object
    theirs: object
    before: object


@dataclass(frozen=True)
class Merge:
    """The result: ``values`` of both sides, mine in a clash; ``only_theirs``: fields that only they changed."""

    values: Values
    only_theirs: tuple[str, ...]
    clashes: tuple[Clash, ...]
    knows_before: bool = True


def three_way(
    names: Iterable[str], before: Mapping[str, object] | None, mine: Mapping[str, object], theirs: Mapping[str, object]
) -> Merge:
    """Merge the named fields. Without ``before``, every difference is a clash."""
    values, only_theirs, clashes = {}, [], []
    for name in names:
        values[name] = mine[name]
        if mine[name] == theirs[name]:
            continue
        if before is not None and mine[name] == before[name]:
            values[name] = theirs[name]
            only_theirs.append(name)
        elif before is None or theirs[name] != before[name]:
            clashes.append(Clash(name, mine[name], theirs[name], before[name] if before else None))
    return Merge(values, tuple(only_theirs), tuple(clashes), before is not None)
