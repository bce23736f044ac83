"""The uploaded file of an import: on disk while a job reads it, and what was recognised of it as JSON."""

import hashlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.airports.models import Airport
from groundtransport.db import read_engine
from groundtransport.json_types import JsonObject
from groundtransport.request import Registry
from groundtransport.transfer.imports import store
from groundtransport.transfer.reading.file_reader import FileReader
from groundtransport.transfer.reading.gtfs import AirportPosition
from groundtransport.transfer.reading.limits import Limits
from groundtransport.transfer.reading.source_file import FileRow, Format, SourceFile

ON_DISK = Path()  # stands for the path of a file that is not on disk
_BLOCK = 1 << 20


@contextmanager
def on_disk(registry: Registry, import_id: int) -> Iterator[Path]:
    """Yield the path of a temporary file with the uploaded file; jobs read it from any machine."""
    with tempfile.NamedTemporaryFile(prefix="groundtransport-import-") as target:
        with Session(read_engine(registry["engine"])) as dbsession:
            store.write_file(dbsession, import_id, target)
        yield Path(target.name)


def file_reader(registry: Registry) -> FileReader:
    """Return the reader of files within the limits of the ini."""

    def airports() -> Sequence[AirportPosition]:
        with Session(read_engine(registry["engine"])) as dbsession:
            rows = dbsession.scalars(select(Airport).where(Airport.withdrawn_at.is_(None)))
            return [AirportPosition(one.airport_name, one.latitude, one.longitude) for one in rows]

    return FileReader(Limits.of(registry["settings"]), airports)


def count_lines(path: Path) -> int:
    """Return the number of line breaks of a file, an estimate of its rows."""
    with path.open("rb") as content:
        return sum(block.count(b"\n") for block in iter(lambda: content.read(_BLOCK), b""))


def to_json(file: SourceFile) -> dict[str, object]:
    """Return a recognised file as JSON values, without its path."""
    data = {**vars(file), "format": file.format.value, "sample": [[row.line, list(row.cells)] for row in file.sample]}
    del data["path"]
    return data


def from_json(data: JsonObject, path: Path = ON_DISK) -> SourceFile:
    """Return the recognised file that ``to_json`` made, at a path."""
    sample = tuple(FileRow(line, tuple(cells)) for line, cells in data["sample"])
    file = SourceFile(path, data["filename"], Format(data["format"]), tuple(data["header"]), sample)
    more = {name: data[name] for name in ("header_line", "encoding", "is_guessed", "delimiter", "sheet")}
    return replace(file, sheets=tuple(data["sheets"]), **more)


def header_digest(header: Sequence[str]) -> str:
    """Return a digest by which a file with the same columns is known again."""
    return hashlib.sha256(json.dumps(list(header)).encode()).hexdigest()
