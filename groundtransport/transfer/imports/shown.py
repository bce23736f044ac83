"""The words of the import pages, and planned rows as the preview shows them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select

from groundtransport.i18n import _
from groundtransport.records.fields import Choice
from groundtransport.records.kind import Kind, label_of
from groundtransport.request import Request
from groundtransport.transfer.imports.models import ImportBatch, ImportState, KeptReason
from groundtransport.transfer.plan_types import AIRPORT_CODE, ID, VERIFIED_AT, CellProblem, Match, Outcome, PlannedRow

STATES = {
    ImportState.READING: _("The file is being read"),
    ImportState.UNREADABLE: _("The file cannot be read"),
    ImportState.COLUMNS: _("The columns are to be chosen"),
    ImportState.PREVIEWING: _("The preview is being made"),
    ImportState.PREVIEW: _("The preview is ready"),
    ImportState.COMMITTING: _("The import is running"),
    ImportState.DONE: _("Imported"),
    ImportState.REFUSED: _("Nothing was imported"),
    ImportState.UNDOING: _("The import is being undone"),
    ImportState.UNDONE: _("Undone"),
}
EDIT_STATES = {
    ImportState.COMMITTING: _("The records are being changed"),
    ImportState.DONE: _("Changed"),
    ImportState.UNDOING: _("The change is being undone"),
    ImportState.UNDONE: _("Undone"),
}
COUNTS = {
    "new": _("New"),
    "changed": _("Changed"),
    "unchanged": _("Unchanged"),
    "refused": _("Refused"),
    "double": _("Double in the file"),
    "doubtful": _("Doubtful"),
    "similar": _("Similar to a record"),
    "skipped": _("Left out"),
    "conflict": _("Conflicts"),
}
FIRST_SHOWN = ("conflict", "refused", "double", "changed", "new", "doubtful", "similar", "skipped", "unchanged")
RESULTS = {
    "created": _("Created"),
    "updated": _("Changed"),
    "conflict": _("Conflicts"),
    "same": _("The same already"),
    "left": _("Left as they are"),
    "deleted": _("Created records deleted by the undo"),
    "reverted": _("Changed records set back by the undo"),
    "kept": _("Kept by the undo"),
}
MATCHES = {
    Match.ID: _("by its ID"),
    Match.SOURCE: _("by source and source ID"),
    Match.PLACE: _("by airport, company and route"),
    Match.NEVER: _("never: every row is a new record"),
}
KEPT_REASONS = {
    KeptReason.CHANGED: _("Changed by somebody in the meantime"),
    KeptReason.DELETED: _("Deleted by somebody in the meantime"),
    KeptReason.INVALID: _("Not valid for it"),
    KeptReason.CLASH: _("Another record has its source ID now"),
}
TYPED_MAX = 100  # characters of a cell that names a refused row


@dataclass
class ShownProblem:
    """A problem of a cell: the field's title, the column's letter and title, the value and the reason.

    ``proposals`` are the texts to use in place of the value, each with its label.
    """

    problem: CellProblem
    title: str
    column: str
    proposals: list[tuple[str, str]]


@dataclass
class ShownRow:
    """A planned row as a page shows it. ``values`` and ``changes`` have titles in place of names."""

    line: int
    label: str
    url: str  # of the record that it matches
    values: list[tuple[str, str]]
    changes: list[tuple[str, str, str]]
    problems: list[ShownProblem]
    doubts: list[tuple[str, str]]
    similar: list[tuple[str, str]]  # URLs and labels
    doubles: Sequence[int]
    cells: Sequence[str] = field(default_factory=tuple)


def title_of(request: Request, batch: ImportBatch) -> str:
    """Return the translated title of a batch: its file, or the fields of a bulk edit."""
    if not batch.is_edit:
        return batch.filename
    kind = request.registry["kinds"].get(batch.kind)
    titles = [request.translate(_title(kind, name) if kind else name) for name in batch.edited_texts]
    title: str = request.translate(_("Change of ${fields}", mapping={"fields": ", ".join(titles)}))
    return title


def state_of(batch: ImportBatch) -> str:
    """Return the words of a batch's state; they need a translation."""
    state = ImportState(batch.state)
    return EDIT_STATES[state] if batch.is_edit else STATES[state]


def edit_values(kind: Kind, batch: ImportBatch) -> list[tuple[str, str]]:
    """Return the title and the new value of each field of a bulk edit, "" for a cleared one."""
    return [
        (_title(kind, name), kind.fields[name].filter_shown(text) if name in kind.fields else text)
        for name, text in batch.edited_texts.items()
    ]


def field_titles(kind: Kind) -> dict[str, str]:
    """Return what a column of a file can hold, by its name."""
    titles = {name: node.title for name, node in kind.fields.items()}
    return {
        "airport_name": titles.pop("airport_name"),
        AIRPORT_CODE: _("Airport Code"),
        **titles,
        VERIFIED_AT: _("Verified"),
        ID: _("ID"),
    }


def column_name(index: int | None, header: Sequence[str]) -> str:
    """Return a column as spreadsheets name it, with its title: ``C (phone)``; "" for none."""
    if index is None:
        return ""
    letters, rest = "", index + 1
    while rest:
        rest, letter = divmod(rest - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return f"{letters} ({header[index]})" if index < len(header) and header[index] else letters


def shown_problem(kind: Kind, header: Sequence[str], problem: CellProblem) -> ShownProblem:
    """Return a problem with the titles of its field and column."""
    node = kind.fields.get(problem.field)
    proposals = [(text, node.filter_shown(text) if isinstance(node, Choice) else text) for text in problem.proposals]
    title = field_titles(kind).get(problem.field, "")
    return ShownProblem(problem, title, column_name(problem.column, header), proposals)


def shown_rows(
    request: Request, kind: Kind, header: Sequence[str], rows: Sequence[PlannedRow], mapping: Mapping[int, str | None]
) -> list[ShownRow]:
    """Return rows as a page shows them; ``mapping`` tells in which column the label of a refused row is."""
    column = next((index for index, name in mapping.items() if name and name == kind.label), None)
    ids = {key for row in rows for key in (row.record_id, *row.similar) if key}
    labels = _labels(request, kind, ids)
    return [_shown(kind, header, row, labels, column) for row in rows]


def _shown(
    kind: Kind, header: Sequence[str], row: PlannedRow, labels: Mapping[int, str], column: int | None
) -> ShownRow:
    values = row.values or {}
    of_record = labels.get(row.record_id or 0, "")
    typed = row.cells[column] if column is not None and column < len(row.cells) else ""
    label = (kind.label and values.get(kind.label)) or of_record or typed[:TYPED_MAX]
    return ShownRow(
        row.line,
        str(label or ""),
        record_url(kind, row.record_id) if of_record and row.record_id else "",
        list(_values(kind, values)) if row.outcome == Outcome.NEW else [],
        [(_title(kind, name), _text(kind, name, old), _text(kind, name, new)) for name, (old, new) in _changes(row)],
        [shown_problem(kind, header, problem) for problem in row.problems],
        [(_title(kind, doubt.field), doubt.reason) for doubt in row.doubts],
        [(record_url(kind, key), labels[key]) for key in row.similar if key in labels],
        row.doubles,
        row.cells,
    )


def _values(kind: Kind, values: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    for name, node in kind.fields.items():
        if values.get(name) is not None:
            yield node.title, node.shown(values[name])


def _changes(row: PlannedRow) -> Iterable[tuple[str, tuple[object, object]]]:
    return [(name, pair) for name, pair in row.changes.items() if name not in ("airport_id", "airport_code")]


def _title(kind: Kind, name: str) -> str:
    return kind.fields[name].title if name in kind.fields else field_titles(kind).get(name, name)


def _text(kind: Kind, name: str, value: object) -> str:
    text: str = kind.fields[name].shown(value) if name in kind.fields else str(value or "")
    return text


def _labels(request: Request, kind: Kind, ids: Iterable[int]) -> dict[int, str]:
    """Return the labels of live records by their ids."""
    model = kind.model
    columns = [model.id, *([getattr(model, kind.label)] if kind.label else [])]
    live_rows = request.dbsession.execute(select(*columns).where(model.id.in_(set(ids)), model.is_live())).all()
    return {row[0]: label_of(kind, {kind.label or "": row[-1]}, row[0]) for row in live_rows}


def record_url(kind: Kind, record_id: int) -> str:
    """Return the URL of the list with the details of a record over it."""
    return f"/admin/{kind.name}?view={record_id}"
