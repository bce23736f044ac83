"""CSV files to download."""

import csv
import io
from collections.abc import Iterable

from pyramid.response import Response

# First characters of a formula in spreadsheets; the wide ones come from East Asian keyboards.
FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def csv_text(header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    """Return rows as CSV. A cell that a spreadsheet would execute as a formula is prefixed with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(header)
    writer.writerows([escape_formula(str(cell)) for cell in row] for row in rows)
    return out.getvalue()


def escape_formula(text: str) -> str:
    """Return the text, with an apostrophe before it if it begins like a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def csv_response(name: str, text: str) -> Response:
    """Return the response that makes the browser save CSV text under a file name."""
    response = Response(text, content_type="text/csv", charset="utf-8")
    response.content_disposition = f'attachment; filename="{name}"'
    return response
