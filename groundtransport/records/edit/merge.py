"""Three-way merge of two concurrent edits of a record. Does not use the database."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Clash:
    """A field that both sides changed to different values. ``before`` is None if the log does not hold it."""

    name: str
    mine: Any
    theirs: Any
    before: Any


@dataclass(frozen=True)
class Merge:
    """The result: ``values`` of both sides, mine in a clash; ``taken``: fields that only they changed."""

    values: dict[str, Any]
    taken: tuple[str, ...]
    clashes: tuple[Clash, ...]
    knows_before: bool = True


def three_way(
    names: Iterable[str], before: Mapping[str, Any] | None, mine: Mapping[str, Any], theirs: Mapping[str, Any]
) -> Merge:
    """Merge the named fields. Without ``before``, every difference is a clash."""
    values, taken, clashes = {}, [], []
    for name in names:
        values[name] = mine[name]
        if mine[name] == theirs[name]:
            continue
        if before is not None and mine[name] == before[name]:
            values[name] = theirs[name]
            taken.append(name)
        elif before is None or theirs[name] != before[name]:
            clashes.append(Clash(name, mine[name], theirs[name], before[name] if before else None))
    return Merge(values, tuple(taken), tuple(clashes), before is not None)
