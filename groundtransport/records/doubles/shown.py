"""Pairs of possible doubles as pages show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from groundtransport.i18n import _
from groundtransport.records.duplicates.models import DuplicatePair
from groundtransport.records.edit.hints import REASONS
from groundtransport.records.kind import Kind, label_of
from groundtransport.records.model import RecordColumns
from groundtransport.request import Request

ALL_REASONS = {**REASONS, "near": _("similar name"), "source": _("same source")}


@dataclass(frozen=True)
class ShownPair:
    """Two records side by side. ``fields`` are a field's title and both its texts, "" for none."""

    rows: tuple[RecordColumns, RecordColumns]
    labels: tuple[str, str]
    score: int
    reasons: list[str]
    fields: list[tuple[str, str, str]]

    @property
    def is_across(self) -> bool:
        """True if the records are at two airports."""
        return self.rows[0].airport_id != self.rows[1].airport_id


def shown_pairs(request: Request, kind: Kind, pairs: Sequence[DuplicatePair]) -> list[ShownPair]:
    """Return the pairs whose rows exist; a rejected pair may have a deleted record."""
    ids = {number for pair in pairs for number in (pair.first_id, pair.second_id)}
    rows = {row.id: row for row in request.dbsession.scalars(select(kind.model).where(kind.model.id.in_(ids)))}
    whole = [pair for pair in pairs if pair.first_id in rows and pair.second_id in rows]
    return [_shown(request, kind, pair, rows) for pair in whole]


def _shown(request: Request, kind: Kind, pair: DuplicatePair, rows: Mapping[int, RecordColumns]) -> ShownPair:
    both = rows[pair.first_id], rows[pair.second_id]
    labels = [label_of(kind, {name: getattr(row, name) for name in kind.fields}, row.id) for row in both]
    reasons = [request.translate(ALL_REASONS[name]) for name in pair.reasons.split(",") if name in ALL_REASONS]
    return ShownPair(both, (labels[0], labels[1]), pair.score, reasons, _fields(request, kind, both))


def _fields(request: Request, kind: Kind, both: tuple[RecordColumns, RecordColumns]) -> list[tuple[str, str, str]]:
    """Return the fields that the list shows, and those that differ, except the airport."""
    fields = []
    for name, node in kind.fields.items():
        one, other = (getattr(row, name) for row in both)
        if name != "airport_name" and (one, other) != (None, None) and (name in kind.columns or one != other):
            texts = [request.translate(node.shown(value)) if value is not None else "" for value in (one, other)]
            fields.append((node.title, texts[0], texts[1]))
    return fields
