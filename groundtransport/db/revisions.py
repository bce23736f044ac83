"""The revision files of migrations, read without Alembic, and the order in which a release applies them.

Each revision is marked by ``PHASE``: ``"expand"`` if the release before works with the schema that it makes, or
``"contract"`` if it does not. ``init --expand`` applies the former while workers of the release before are running,
``init --contract`` the latter when all are renewed.
"""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from groundtransport.json_types import Json, JsonObject

EXPAND, CONTRACT = "expand", "contract"
_HEADER = {"revision", "down_revision", "branch_labels", "depends_on", "PHASE"}


@dataclass(frozen=True)
class Revision:
    """A revision file. ``before`` are the revisions that it follows or depends on; ``phase`` is "" if unmarked."""

    name: str
    down: frozenset[str]
    before: frozenset[str]
    phase: str


@dataclass(frozen=True)
class Schema:
    """The schema that the code works with: all revisions in the version locations, by their names."""

    revisions: Mapping[str, Revision]

    @property
    def heads(self) -> frozenset[str]:
        """The revisions that no other revision follows or depends on."""
        return self._last(frozenset(self.revisions))

    @property
    def expanded(self) -> frozenset[str]:
        """The revisions that the code needs: the heads, without the contracting revisions at the end."""
        needed = set(self.heads)
        while contracting := {name for name in needed if self.revisions[name].phase == CONTRACT}:
            needed -= contracting
            needed |= {name for head in contracting for name in self.revisions[head].down}
        return self._last(self.applied(needed))

    @property
    def contracts(self) -> frozenset[str]:
        """The contracting revisions."""
        return frozenset(name for name, revision in self.revisions.items() if revision.phase == CONTRACT)

    def applied(self, current: Iterable[str]) -> frozenset[str]:
        """Return all known revisions in a database whose table ``alembic_version`` holds ``current``."""
        found: set[str] = set()
        left = [name for name in current if name in self.revisions]
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                left += self.revisions[name].before
        return frozenset(found)

    def unknown(self, current: Iterable[str]) -> frozenset[str]:
        """Return the revisions in ``current`` that the code does not know: those of a newer release."""
        return frozenset(current) - set(self.revisions)

    def is_expanded(self, current: frozenset[str]) -> bool:
        """Return True if a database at the revisions ``current`` has all that the code needs.

        A newer release's database has: its revisions follow ours.
        """
        return bool(self.unknown(current)) or self.expanded <= self.applied(current)

    def _last(self, names: frozenset[str]) -> frozenset[str]:
        return names - {name for other in names for name in self.revisions[other].before}


def read_schema(folders: Iterable[Path]) -> Schema:
    """Return the revisions of the files in some folders."""
    headers = [header_of(file) for folder in folders for file in sorted(folder.glob("*.py"))]
    ids = {label: header["revision"] for header in headers for label in _names(header.get("branch_labels"))}
    revisions = {}
    for header in headers:
        down = frozenset(_names(header.get("down_revision")))
        before = frozenset(ids.get(name, name) for name in (*down, *_names(header.get("depends_on"))))
        revisions[header["revision"]] = Revision(header["revision"], down, before, header.get("PHASE") or "")
    return Schema(revisions)


def header_of(file: Path) -> JsonObject:
    """Return those of the constants in ``_HEADER`` that a revision file assigns, by name."""
    header = {}
    for node in ast.parse(file.read_text(encoding="utf-8"), str(file)).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant | ast.Tuple | ast.List):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(target, ast.Name) and target.id in _HEADER:
                header[target.id] = ast.literal_eval(node.value)
    return header


def _names(value: Json) -> list[str]:
    """Return the names in a header constant, which is None, a name, or a sequence of names."""
    return [value] if isinstance(value, str) else list(value or ())
