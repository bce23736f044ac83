"""Read JSON Lines: an object on each line. The names in the first one are the header."""

from collections.abc import Iterator
from pathlib import Path

import orjson

from groundtransport.i18n import _
from groundtransport.transfer.reading.limits import LINE_MAX, beyond
from groundtransport.transfer.reading.source_file import BadFile, FileRow


def read_json_lines(path: Path) -> Iterator[FileRow]:
    """Yield the header, as line 0, then the values of each object in its order. Raise BadFile for anything else."""
    header: tuple[str, ...] = ()
    with path.open("rb") as file:
        for line, content in enumerate(iter(lambda: file.readline(4 * LINE_MAX), b""), 1):
            if not content.strip():
                continue
            values = _object(content, line)
            if not header:
                header = tuple(values)
                yield FileRow(0, header)
            if unknown := values.keys() - set(header):
                names = {"line": str(line), "name": sorted(unknown)[0]}
                raise BadFile(_("Line ${line}: the name ${name} is not in the first line.", mapping=names))
            yield FileRow(line, tuple(_text(values.get(name)) for name in header))


def _object(content: bytes, line: int) -> dict[str, object]:
    if len(content) >= 4 * LINE_MAX:
        raise beyond(_("Line ${line} has more than ${number} characters."), LINE_MAX, line=line)
    try:
        values = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise BadFile(_("Line ${line} is no JSON object.", mapping={"line": str(line)})) from error
    if not isinstance(values, dict) or any(isinstance(value, dict | list) for value in values.values()):
        raise BadFile(_("Line ${line} is no JSON object of plain values.", mapping={"line": str(line)}))
    return values


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)
