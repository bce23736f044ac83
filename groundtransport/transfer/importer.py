"""Create records from rows of texts, independently of the file format and of the user interface."""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

import colander
import phonenumbers
from sqlalchemy.orm import Session

from groundtransport.airports.names import bracketed, code_of
from groundtransport.db import bulk_engine, read_engine, transaction
from groundtransport.events import Actor
from groundtransport.i18n import translated
from groundtransport.records.derived import mark_at
from groundtransport.records.fields import OtherPlaces
from groundtransport.records.forms import values_of, warnings_of
from groundtransport.records.kind import Kind
from groundtransport.records.writer import Writer
from groundtransport.request import Registry
from groundtransport.transfer.planning.schemas import Schemas

log = logging.getLogger(__name__)

CHUNK = 2_000  # rows per transaction; other writers wait for one transaction at most

_BAD_BYTES = re.compile("[\udc80-\udcff]")  # surrogates: see reading/csv_rows.py

Row = Mapping[str, str]


@dataclass
class Counts:
    """The numbers of created and refused rows and of doubtful values, and the first warning."""

    created: int = 0
    refused: int = 0
    doubtful: int = 0
    first_warning: str = ""


class Importer:
    """Creates records of one kind from rows, which map field names to texts. Unknown names are ignored."""

    def __init__(self, registry: Registry, kind: Kind, actor: Actor) -> None:
        self.registry, self.kind, self.actor = registry, kind, actor
        self.counts = Counts()
        self._schemas = Schemas(kind, registry["settings"].default_country, OtherPlaces.DOUBTFUL)
        phonenumbers.enable_pattern_cache()  # a worldwide file needs more patterns than the cache of ``re`` holds

    def run(self, rows: Iterable[Row]) -> Iterator[tuple[Row, str]]:
        """Create a record from each row; yield each row with its error message, "" if it was created.

        A second thread reads and validates the next chunk while the database writes the current one, so ``rows`` is
        advanced by that thread.
        """
        rows = iter(rows)
        with ThreadPoolExecutor(1) as reader:
            ahead = reader.submit(self._read_chunk, rows)
            while chunk := ahead.result():
                ahead = reader.submit(self._read_chunk, rows)
                valid = [values for _, _, values in chunk if values is not None]
                with transaction(bulk_engine(self.registry["engine"])) as dbsession:
                    Writer(dbsession, self.registry.notify, self.kind, self.actor).create_all(valid)
                self.counts.created += len(valid)
                self.counts.refused += len(chunk) - len(valid)
                yield from ((row, error) for row, error, _ in chunk)

    def _read_chunk(self, rows: Iterator[Row]) -> list[tuple[Row, str, dict[str, object] | None]]:
        """Return the next CHUNK rows, each with its error message and its values."""
        with Session(read_engine(self.registry["engine"])) as dbsession:
            return [(row, *self._read(dbsession, row)) for row in islice(rows, CHUNK)]

    def _read(self, dbsession: Session, row: Row) -> tuple[str, dict[str, object] | None]:
        """Return "" and the values of a valid row, or an error message and None."""
        texts = {name: row[name] for name in self.kind.fields if row.get(name)}
        if any(_BAD_BYTES.search(text) for text in texts.values() if not text.isascii()):
            return "The row is not valid UTF-8.", None
        if airport_name := texts.get("airport_name"):
            texts["airport_name"] = bracketed(airport_name)
        schema = self._schemas.at(dbsession, code_of(texts.get("airport_name", "")) or "")
        place = schema.bindings["place"]
        try:
            values = values_of(place, schema.deserialize(texts))
        except colander.Invalid as invalid:
            return " ".join(translated(message) for child in invalid.children for message in child.messages()), None
        for warning in warnings_of(schema, values):
            self.counts.doubtful += 1
            self.counts.first_warning = self.counts.first_warning or translated(warning)
        return "", values | mark_at(self.kind, values, lambda: place.cities)
