"""Rows of text into records. It knows no file format and no terminal."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import colander
from pyramid.registry import Registry
from sqlalchemy.orm import Session

from groundtransport.db import transaction
from groundtransport.events import Actor
from groundtransport.records.forms import find_place, values_of, warnings_of
from groundtransport.records.kind import Kind
from groundtransport.records.writer import Writer

log = logging.getLogger(__name__)

CHUNK = 200  # rows a transaction: few enough that others can write in between

Row = Mapping[str, str]


class RowRefused(ValueError):
    """The row is no record; the message says why, field by field."""


@dataclass
class Counts:
    created: int = 0
    refused: int = 0
    warnings: list[str] = field(default_factory=list)


class Importer:
    """Creates records of one kind from rows that map field names to texts; unknown names are ignored."""

    def __init__(self, registry: Registry, kind: Kind, actor: Actor) -> None:
        self.registry, self.kind, self.actor = registry, kind, actor
        self.counts = Counts()

    def run(self, rows: Iterable[Row]) -> Iterator[tuple[Row, str]]:
        """Create a record of each row; yield every row with "" or with what is wrong with it."""
        rows = iter(rows)
        while chunk := [row for _, row in zip(range(CHUNK), rows, strict=False)]:
            with transaction(self.registry["engine"]) as dbsession:
                outcome = [(row, self._outcome(dbsession, row)) for row in chunk]
            self.counts.created += sum(not error for _, error in outcome)
            self.counts.refused += sum(bool(error) for _, error in outcome)
            yield from outcome

    def _outcome(self, dbsession: Session, row: Row) -> str:
        try:
            self._create(dbsession, row)
        except RowRefused as refused:
            return str(refused)
        return ""

    def _create(self, dbsession: Session, row: Row) -> None:
        texts = {name: row[name] for name in self.kind.fields if row.get(name)}
        if any("\udc80" <= char <= "\udcff" for text in texts.values() for char in text):
            raise RowRefused("The row is not valid UTF-8.")
        country = self.registry["settings"].default_country
        place = find_place(dbsession, texts.get("airport_name", ""), country)
        schema = self.kind.schema().bind(place=place)
        values = values_of(place, _deserialize(schema, texts))
        Writer(dbsession, self.registry.notify, self.kind, self.actor).create(values)
        self.counts.warnings += warnings_of(schema, values)


def _deserialize(schema: colander.MappingSchema, texts: Mapping[str, str]) -> dict[str, Any]:
    try:
        values: dict[str, Any] = schema.deserialize(texts)
    except colander.Invalid as invalid:
        raise RowRefused(" ".join(message for child in invalid.children for message in child.messages())) from None
    return values
