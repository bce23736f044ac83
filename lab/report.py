"""The table of a run, in Markdown."""

from collections.abc import Mapping, Sequence

from lab.results import NO_ANSWER, READ, WRITE, Row

HEADINGS = (
    "fault",
    "seconds",
    "acknowledged",
    "lost",
    "doubled",
    "longest gap: writing",
    "reading",
    "one reader",
    "errors: writing",
    "reading",
    "remarks",
)


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table; gaps are in seconds."""
    lines = [HEADINGS, ["---"] * len(HEADINGS), *map(cells, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cells(row: Row) -> list[str]:
    """Return the cells of a row."""
    gaps = (row.write_gap, row.read_gap, row.client_read_gap)
    numbers = (f"{row.acknowledged:,}", str(row.lost), str(row.doubled))
    errors = (errors_of(row.errors, purpose) for purpose in (WRITE, READ))
    return [row.name, f"{row.seconds:.0f}", *numbers, *(f"{gap:.1f} s" for gap in gaps), *errors, row.note]


def errors_of(errors: Mapping[tuple[str, int], int], purpose: str) -> str:
    """Return the number of errors by status, such as ``503: 12, no answer: 1``; a hyphen without errors."""
    names = {status: "no answer" if status == NO_ANSWER else str(status) for _, status in errors}
    mine = sorted((status, count) for (of, status), count in errors.items() if of == purpose)
    return ", ".join(f"{names[status]}: {count:,}" for status, count in mine) or "-"
