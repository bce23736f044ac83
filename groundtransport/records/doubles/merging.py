"""Merge two records of a kind: one survives with the chosen values, the other one is deleted and names it."""

from collections.abc import Mapping
from dataclasses import dataclass

from groundtransport.events import Value
from groundtransport.records.duplicates.pairs import PairKeeper
from groundtransport.records.fields import CityField, Field, StateField
from groundtransport.records.kind import SOURCE, Kind
from groundtransport.records.model import RecordColumns
from groundtransport.records.writer import Writer


@dataclass(frozen=True)
class Choice:
    """A field of two records. ``preferred`` is the id of the record whose value is chosen unless a user decides."""

    node: Field
    one: Value
    other: Value
    preferred: int

    @property
    def is_same(self) -> bool:
        return bool(self.one == self.other)

    def value_of(self, is_one: bool) -> Value:  # noqa: FBT001  # which of two
        """Return the value of the first or of the second record."""
        return self.one if is_one else self.other


def choices(kind: Kind, one: RecordColumns, other: RecordColumns, survivor_id: int) -> list[Choice]:
    """Return the fields that a user chooses, except those that both leave empty.

    The airport and the source are the survivor's: imports find it by the source of either record. At two airports its
    city and state are the survivor's too, because they must be valid there.
    """
    is_one_place = one.airport_id == other.airport_id
    chosen = []
    for name, node in kind.fields.items():
        of_airport = name == "airport_name" or (isinstance(node, CityField | StateField) and not is_one_place)
        values = getattr(one, name), getattr(other, name)
        if not of_airport and node.group != SOURCE and values != (None, None):
            chosen.append(Choice(node, *values, _preferred(one, other, values, survivor_id)))
    return chosen


def better(kind: Kind, one: RecordColumns, other: RecordColumns) -> int:
    """Return the id of the record that should survive: with more fields, else the older one, whose URL is known."""
    filled = {row.id: sum(getattr(row, name) is not None for name in kind.fields) for row in (one, other)}
    return min(filled, key=lambda record_id: (-filled[record_id], record_id))


def _preferred(one: RecordColumns, other: RecordColumns, values: tuple[Value, Value], survivor_id: int) -> int:
    """Return whose value is better: the only one, else that of the record that was changed last."""
    if None in values:
        return one.id if values[1] is None else other.id
    if one.updated_at == other.updated_at:
        return survivor_id
    return max((one, other), key=lambda row: row.updated_at).id


def merge(writer: Writer, survivor: RecordColumns, other: RecordColumns, values: Mapping[str, Value]) -> None:
    """Delete ``other``, give the survivor the chosen values, and compare it with the doubles that the other one had.

    Raise StaleDataError if another transaction has changed one of them.
    """
    writer.delete(other, merged_into=survivor.id)
    writer.update(survivor, {**writer.values(survivor), **values})
    PairKeeper(writer.dbsession, writer.kind).add({survivor.id: writer.values(survivor)})
