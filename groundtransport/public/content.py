"""The active records of a kind that are valid today, as JSON, GeoJSON (RFC 7946) or CSV, in parts, with flat memory."""

from collections.abc import Iterable, Iterator, Sequence

import orjson
from sqlalchemy import Connection, select

from groundtransport.airports.models import Airport
from groundtransport.records.kind import Kind
from groundtransport.records.list.query import ListQuery
from groundtransport.records.validity import CURRENT, VALIDITY
from groundtransport.transfer.export.columns import choose, columns_of
from groundtransport.transfer.export.formats import Layout, csv_parts
from groundtransport.transfer.export.rows import Rows, Selection, read_chunks

OPTIONS = orjson.OPT_UTC_Z


def parts_of(connection: Connection, kind: Kind, names: Sequence[str], suffix: str) -> Iterator[bytes]:
    """Yield the parts of a file of the active records by id; ``names`` are the public columns."""
    selection = Selection(kind, ListQuery(filters={**kind.active, VALIDITY: CURRENT}, sort="id"))
    if suffix == "csv":
        columns = choose(columns_of(kind), names)
        header = [column.name for column in columns]
        return csv_parts(Layout(columns, header), read_chunks(connection, selection, header))
    chunks = read_chunks(connection, selection, [*names, "airport_id"])
    if suffix == "geojson":
        return _array(b'{"type":"FeatureCollection","features":[', _features(connection, names, chunks))
    return _array(b'{"items":[', _objects(names, chunks))


def _array(head: bytes, chunks: Iterable[list[bytes]]) -> Iterator[bytes]:
    """Yield a JSON object whose only array holds the items of all chunks, one a line."""
    yield head
    separator = b"\n"
    for items in chunks:
        yield separator + b",\n".join(items)
        separator = b",\n"
    yield b"\n]}\n"


def _objects(names: Sequence[str], chunks: Iterable[Rows]) -> Iterator[list[bytes]]:
    for rows in chunks:
        yield [orjson.dumps(dict(zip(names, row, strict=False)), option=OPTIONS) for row in rows]


def _features(connection: Connection, names: Sequence[str], chunks: Iterable[Rows]) -> Iterator[list[bytes]]:
    """Yield the records as features at the position of their airport."""
    airports = connection.execute(select(Airport.id, Airport.longitude, Airport.latitude))
    positions = {airport.id: [airport.longitude, airport.latitude] for airport in airports}
    for rows in chunks:
        yield [_feature(dict(zip(names, row, strict=False)), positions.get(row[len(names)])) for row in rows]


def _feature(properties: dict[str, object], position: object) -> bytes:
    geometry = {"type": "Point", "coordinates": position} if position else None
    feature = {"type": "Feature", "geometry": geometry, "properties": properties}
    return orjson.dumps(feature, option=OPTIONS)
