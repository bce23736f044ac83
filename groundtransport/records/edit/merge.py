"""Two people changed one record: what only one side changed is merged, the rest is asked. No database here."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Clash:
    """A field that both sides changed, each in their own way. ``before`` is None where the log no longer tells."""

    name: str
    mine: Any
    theirs: Any
    before: Any


@dataclass(frozen=True)
class Merge:
    """``values`` hold both sides' changes, mine where they clash; ``taken`` names the fields that only they changed."""

    values: dict[str, Any]
    taken: tuple[str, ...]
    clashes: tuple[Clash, ...]
    knows_before: bool = True


def three_way(
    names: Iterable[str], before: Mapping[str, Any] | None, mine: Mapping[str, Any], theirs: Mapping[str, Any]
) -> Merge:
    """Merge the fields of those names; without ``before``, every difference is a clash."""
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
