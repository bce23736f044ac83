"""Rows of text into records. It knows no file format and no terminal."""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import colander
import phonenumbers
from pyramid.registry import Registry
from sqlalchemy.orm import Session

from groundtransport.airports import lookup
from groundtransport.airports.models import Airport
from groundtransport.airports.names import code_of
from groundtransport.db import bulk_engine, read_engine, transaction
from groundtransport.events import Actor
from groundtransport.i18n import translated
from groundtransport.records.fields import Place
from groundtransport.records.forms import values_of, warnings_of
from groundtransport.records.kind import Kind
from groundtransport.records.writer import Writer

log = logging.getLogger(__name__)

CHUNK = 2_000  # rows a transaction: few enough that others can write in between
SCHEMAS = 1_000  # airports whose bound schema is kept

_BAD_BYTES = re.compile("[\udc80-\udcff]")  # as they were read: see csvfile.open_text

Row = Mapping[str, str]


@dataclass
class Counts:
    created: int = 0
    refused: int = 0
    doubtful: int = 0
    first_warning: str = ""


class Importer:
    """Creates records of one kind from rows that map field names to texts; unknown names are ignored."""

    def __init__(self, registry: Registry, kind: Kind, actor: Actor) -> None:
        self.registry, self.kind, self.actor = registry, kind, actor
        self.counts = Counts()
        self._schemas: dict[str, colander.MappingSchema] = {}
        self._dbsession: Session | None = None  # of the chunk at hand
        phonenumbers.enable_pattern_cache()  # a file of the whole world needs more patterns than Python keeps

    def run(self, rows: Iterable[Row]) -> Iterator[tuple[Row, str]]:
        """Create a record of each row; yield every row with "" or with what is wrong with it.

        While the database writes rows, a second thread reads the next ones: it takes ``rows`` further.
        """
        rows = iter(rows)
        with ThreadPoolExecutor(1) as reader:
            ahead = reader.submit(self._read_chunk, rows)
            while outcome := ahead.result():
                ahead = reader.submit(self._read_chunk, rows)
                good = [values for _, _, values in outcome if values is not None]
                with transaction(bulk_engine(self.registry["engine"])) as dbsession:
                    Writer(dbsession, self.registry.notify, self.kind, self.actor).create_all(good)
                self.counts.created += len(good)
                self.counts.refused += len(outcome) - len(good)
                yield from ((row, error) for row, error, _ in outcome)

    def _read_chunk(self, rows: Iterator[Row]) -> list[tuple[Row, str, dict[str, Any] | None]]:
        """Return the next rows, each with what is wrong with it and its values."""
        with Session(read_engine(self.registry["engine"])) as self._dbsession:
            return [(row, *self._read(row)) for row in islice(rows, CHUNK)]

    def _read(self, row: Row) -> tuple[str, dict[str, Any] | None]:
        """Return "" and a row's values, or what is wrong with it and None."""
        texts = {name: row[name] for name in self.kind.fields if row.get(name)}
        if any(_BAD_BYTES.search(text) for text in texts.values() if not text.isascii()):
            return "The row is not valid UTF-8.", None
        schema = self._schema_at(texts.get("airport_name", ""))
        try:
            values = values_of(schema.bindings["place"], schema.deserialize(texts))
        except colander.Invalid as invalid:
            return " ".join(translated(message) for child in invalid.children for message in child.messages()), None
        for warning in warnings_of(schema, values):
            self.counts.doubtful += 1
            self.counts.first_warning = self.counts.first_warning or translated(warning)
        return "", values

    def _schema_at(self, airport_name: str) -> colander.MappingSchema:
        """Return the schema of a record at that airport. The last thousand are kept: binding takes long."""
        key = code_of(airport_name) or ""
        schema = self._schemas.pop(key, None) or self._bind(airport_name)
        self._schemas[key] = schema  # the newest last
        if len(self._schemas) > SCHEMAS:
            del self._schemas[next(iter(self._schemas))]
        return schema

    def _bind(self, airport_name: str) -> colander.MappingSchema:
        assert self._dbsession is not None
        airport = lookup.by_airport_name(self._dbsession, airport_name)
        if airport is None:
            return self.kind.schema().bind(place=Place(self.registry["settings"].default_country))
        return self.kind.schema().bind(place=Place(airport.country, airport, partial(self._cities, airport)))

    def _cities(self, airport: Airport) -> lookup.Cities:
        assert self._dbsession is not None
        return lookup.cities(self._dbsession, airport)
