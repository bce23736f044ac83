"""The options of an import, and the plan of each row. All types convert to JSON values and back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import reduce

from groundtransport.events import Values
from groundtransport.json_types import Json
from groundtransport.transfer.plan_json import text_from_json, text_to_json

# What a column can hold besides a field of the kind.
ID = "id"
AIRPORT_CODE = "airport_code"  # IATA or ICAO, used where ``airport_name`` names no code


VERIFIED_AT = "verified_at"  # a date or time; an earlier one than the record's is ignored
FURTHER_COLUMNS = (ID, AIRPORT_CODE, VERIFIED_AT)


class Match(StrEnum):
    """How a row finds its record: by ``id``, by source and source id, by airport, company and route, or not at all."""

    ID = "id"
    SOURCE = "source"
    PLACE = "place"
    NEVER = "never"


class Outcome(StrEnum):
    """What an import does with a row. ``SKIPPED``: left out by a person, or by ``can_add`` or ``can_update``."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    DOUBLE = "double"  # another row of the file stands for the same record
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Decisions:
    """What a person decided about rows and cells.

    ``left_out`` holds lines. A dropped cell counts as one that the file lacks: ``dropped_cells`` holds pairs of line
    and field, ``dropped_reasons`` pairs of field and ``CellProblem.code``. ``replacements`` maps pairs of field and
    cell text to another text, in every row.
    """

    left_out: frozenset[int] = frozenset()
    dropped_cells: frozenset[tuple[int, str]] = frozenset()
    dropped_reasons: frozenset[tuple[str, str]] = frozenset()
    replacements: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def to_json(self) -> Json:
        """Return the decisions as JSON values."""
        return {
            "left_out": sorted(self.left_out),
            "dropped_cells": [list(cell) for cell in sorted(self.dropped_cells)],
            "dropped_reasons": [list(reason) for reason in sorted(self.dropped_reasons)],
            "replacements": [[*key, text] for key, text in self.replacements.items()],
        }

    @classmethod
    def from_json(cls, data: Json) -> "Decisions":
        """Return the decisions that ``to_json`` made."""
        return cls(
            frozenset(data["left_out"]),
            frozenset((line, name) for line, name in data["dropped_cells"]),
            frozenset((name, code) for name, code in data["dropped_reasons"]),
            {(name, value): text for name, value, text in data["replacements"]},
        )


@dataclass(frozen=True)
class ImportOptions:
    """How the rows of a file become records.

    ``mapping`` gives the field of each column, by its index from 0; None or absent for a column that is ignored. A
    field is a name of ``Kind.fields`` or of FURTHER_COLUMNS. ``defaults`` holds the texts of fields, such as
    ``source``, for rows that have none.
    """

    mapping: Mapping[int, str | None]
    match: Match = Match.NEVER
    can_add: bool = True
    can_update: bool = False
    clears_empty_cells: bool = False
    joins_lines: bool = False  # of cells whose field has one line
    defaults: Mapping[str, str] = field(default_factory=dict)
    decisions: Decisions = field(default_factory=Decisions)

    def to_json(self) -> Json:
        """Return the options as JSON values."""
        return {
            "mapping": {str(index): name for index, name in self.mapping.items()},
            "match": self.match.value,
            "can_add": self.can_add,
            "can_update": self.can_update,
            "clears_empty_cells": self.clears_empty_cells,
            "joins_lines": self.joins_lines,
            "defaults": dict(self.defaults),
            "decisions": self.decisions.to_json(),
        }

    @classmethod
    def from_json(cls, data: Json) -> "ImportOptions":
        """Return the options that ``to_json`` made, in this release or an earlier one."""
        names = ("can_add", "can_update", "clears_empty_cells", "joins_lines", "defaults")
        more = {name: data[name] for name in names if name in data}
        mapping = {int(index): name for index, name in data["mapping"].items()}
        return cls(mapping, Match(data["match"]), **more, decisions=Decisions.from_json(data["decisions"]))


@dataclass(frozen=True)
class CellProblem:
    """Why a cell, or the whole row (``field`` is ""), cannot be imported.

    ``column`` is the index of the column from 0, None if the value is not from the file. ``reason`` is a translatable
    text. ``proposals`` are texts to put in place of ``value``, the nearest first.
    """

    field: str
    column: int | None
    value: str
    reason: str
    can_drop: bool = False  # the row is valid without this cell
    proposals: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """The reason without its values: equal for all cells that are refused for the same reason."""
        return str(self.reason)  # of a translation string: its message id

    def to_json(self) -> Json:
        """Return the problem as JSON values."""
        return [
            self.field,
            self.column,
            self.value,
            text_to_json(self.reason),
            self.can_drop,
            list(self.proposals),
        ]

    @classmethod
    def from_json(cls, data: Json) -> "CellProblem":
        """Return the problem that ``to_json`` made."""
        name, column, value, reason, can_drop, proposals = data
        return cls(name, column, value, text_from_json(reason), can_drop, tuple(proposals))


@dataclass(frozen=True)
class Counts:
    """The numbers of rows by outcome, of new and changed rows with doubts, and of new rows like a live record."""

    outcomes: Mapping[Outcome, int]
    doubtful: int = 0
    similar: int = 0

    @classmethod
    def none(cls) -> "Counts":
        """Return the counts of no row."""
        return cls(dict.fromkeys(Outcome, 0))

    def plus(self, row: "PlannedRow") -> "Counts":
        """Return the counts with one row more."""
        outcomes = {**self.outcomes, row.outcome: self.outcomes[row.outcome] + 1}
        return Counts(outcomes, self.doubtful + bool(row.doubts), self.similar + bool(row.similar))

    def plus_all(self, rows: Iterable["PlannedRow"]) -> "Counts":
        """Return the counts with more rows."""
        return reduce(Counts.plus, rows, self)


@dataclass(frozen=True)
class Doubt:
    """A warning about a valid value, as the form shows it after saving; ``reason`` is a translatable text."""

    field: str
    reason: str


@dataclass(frozen=True)
class PlannedRow:
    """What an import does with a row of a file, and why.

    ``values`` is what the writer gets (every field, ``airport_id`` and ``airport_code``) of a new or changed record,
    else None. ``record_id`` and ``version`` are of the record that the row matches. ``changes`` maps changed fields to
    their old and new values. ``similar`` holds ids of live records that may be the same as a new one. ``doubles`` are
    the other lines of the file that stand for the same record.
    """

    line: int
    cells: tuple[str, ...]
    outcome: Outcome
    record_id: int | None = None
    version: int | None = None
    values: Values | None = None
    changes: Mapping[str, tuple[object, object]] = field(default_factory=dict)
    problems: tuple[CellProblem, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    similar: tuple[int, ...] = ()
    doubles: tuple[int, ...] = ()

    def to_json(self) -> Json:
        """Return the row as JSON values."""
        return {
            "line": self.line,
            "cells": list(self.cells),
            "outcome": self.outcome.value,
            "record_id": self.record_id,
            "version": self.version,
            "values": None if self.values is None else dict(self.values),
            "changes": {name: list(pair) for name, pair in self.changes.items()},
            "problems": [problem.to_json() for problem in self.problems],
            "doubts": [[doubt.field, text_to_json(doubt.reason)] for doubt in self.doubts],
            "similar": list(self.similar),
            "doubles": list(self.doubles),
        }

    @classmethod
    def from_json(cls, data: Json) -> "PlannedRow":
        """Return the row that ``to_json`` made."""
        return cls(
            data["line"],
            tuple(data["cells"]),
            Outcome(data["outcome"]),
            data["record_id"],
            data["version"],
            data["values"],
            {name: (old, new) for name, (old, new) in data["changes"].items()},
            tuple(CellProblem.from_json(problem) for problem in data["problems"]),
            tuple(Doubt(name, text_from_json(reason)) for name, reason in data["doubts"]),
            tuple(data["similar"]),
            tuple(data["doubles"]),
        )
