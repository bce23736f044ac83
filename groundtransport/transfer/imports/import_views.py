"""``/admin/imports/<id>``: the page of an import in each of its steps."""

import json

from pyramid.renderers import render_to_response
from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport.i18n import _
from groundtransport.jobs import housekeeping
from groundtransport.jobs.models import Job
from groundtransport.json_types import JsonObject
from groundtransport.records.list.query import page_numbers, read_page
from groundtransport.request import Request
from groundtransport.resources import Import
from groundtransport.security import Permission
from groundtransport.transfer.imports import access, files, shown, steps, store
from groundtransport.transfer.imports.commit import ALL_MAX
from groundtransport.transfer.imports.models import ImportState
from groundtransport.transfer.imports.option_form import DEFAULTS
from groundtransport.transfer.imports.preview import groups_of
from groundtransport.transfer.plan_json import readable, text_from_json
from groundtransport.transfer.plan_types import ImportOptions
from groundtransport.transfer.reading.csv_rows import DELIMITERS
from groundtransport.transfer.reading.encodings import ENCODINGS
from groundtransport.transfer.result_table import CHANGED_SINCE

TEMPLATE = "groundtransport:transfer/imports/templates/import.jinja2"
WORKING = (ImportState.READING, ImportState.PREVIEWING, ImportState.COMMITTING, ImportState.UNDOING)
KEPT_SHOWN = 100
GROUPS_SHOWN = 30


@view_defaults(context=Import, permission=Permission.IMPORT)
class ImportPage:
    """The page, and the progress of its job as JSON."""

    def __init__(self, context: Import, request: Request) -> None:
        self.request, self.batch = request, context.batch
        self.kind = request.registry["kinds"].get(context.batch.kind)

    @view_config(request_method="GET", renderer=TEMPLATE)
    def show(self) -> dict[str, object]:
        """Render the step that the import has reached."""
        return self.page()

    @view_config(name="progress", request_method="GET", renderer="json")
    def progress(self) -> dict[str, object]:
        """Return the state of the import and of its job."""
        job = self.job
        return {
            "state": self.batch.state,
            "is_active": bool(job and job.is_active),
            "done": job.done if job else 0,
            "total": job.total if job else None,
        }

    @property
    def job(self) -> Job | None:
        """The job of the current or last step; None once it is purged."""
        return steps.job_of(self.request.dbsession, self.batch)

    def refuse(self, texts: list[str], options: ImportOptions) -> Response:
        """Return the page with errors and the options as they were sent."""
        values = {**self.page(), "errors": [self.request.translate(text) for text in texts], "options": options}
        response = render_to_response(TEMPLATE, values, request=self.request)
        response.status_int = 422
        return response

    def page(self) -> dict[str, object]:
        """Return the template values of the page."""
        batch, job = self.batch, self.job
        return {
            "batch": batch,
            "kind": self.kind,
            "job": job,
            "is_working": batch.state in WORKING and bool(job and job.is_active),
            "has_worker": housekeeping.is_alive(self.request.dbsession),
            "is_own": access.is_own(self.request, batch),
            "may_see_rows": access.may_see_rows(self.request, batch),
            "title": shown.title_of(self.request, batch),
            "state_title": shown.state_of(batch),
            "problem": text_from_json(batch.problem) if batch.problem else "",
            "errors": [],
            "step": STEPS[ImportState(batch.state)],
            **self.step(),
        }

    def step(self) -> dict[str, object]:
        """Return the values of the current step."""
        name = STEPS[ImportState(self.batch.state)]
        if self.batch.is_edit and self.kind is not None and name == "result":
            return self.edit_result()
        if self.kind is None:  # the kind was uninstalled
            return {}
        if name == "columns":
            return self.columns()
        return self.rows() if name in ("preview", "result") else {}

    def columns(self) -> JsonObject:
        """Return the template values of the step in which columns are mapped."""
        batch = self.batch
        file = files.from_json(readable(batch.source)) if batch.source else None
        options = ImportOptions.from_json(batch.options) if batch.options else ImportOptions({})
        header = file.header if file else ()
        left_out = [index for index in range(len(header)) if not options.mapping.get(index)]
        return {
            "file": file,
            "options": options,
            "unknown": [shown.column_name(index, header) for index in left_out],
            "fields": shown.field_titles(self.kind),
            "matches": shown.MATCHES,
            "defaults": DEFAULTS,
            "encodings": ENCODINGS,
            "delimiters": DELIMITERS,
            "column_name": shown.column_name,
            "earlier": store.earlier_import(self.request.dbsession, batch),
        }

    def edit_result(self) -> dict[str, object]:
        """Return the result of a bulk edit."""
        values, results = shown.edit_values(self.kind, self.batch), self.batch.results
        return {"edit_values": values, "result_titles": shown.RESULTS, "results": results, **self.kept()}

    def kept(self) -> dict[str, object]:
        """Return the records that the edit or the undo left as they are, and what the page needs to show them."""
        return {
            "kept": store.kept(self.request.dbsession, self.batch.id, KEPT_SHOWN),
            "kept_reasons": shown.KEPT_REASONS,
            "text_from_json": text_from_json,
            "record_url": shown.record_url,
        }

    def rows(self) -> dict[str, object]:
        """Return a page of the rows of one count, and the counts."""
        batch, request = self.batch, self.request
        counts, show = self._counts()
        query = read_page(request.GET.dict_of_lists(), request.registry["settings"].page_size)
        total = store.count_rows(request.dbsession, batch.id, show)
        number, last = page_numbers(query, total)
        start = (number - 1) * query.page_size
        header = tuple(readable(batch.source["header"])) if batch.source else ()
        is_visible = access.may_see_rows(request, batch)
        planned = store.rows(request.dbsession, batch.id, show, start, query.page_size) if is_visible else []
        options = ImportOptions.from_json(batch.options) if batch.options else ImportOptions({})
        return {
            "header": header,
            "counts": counts,
            "count_titles": shown.COUNTS,
            "results": batch.results,
            "result_titles": shown.RESULTS,
            "show": show,
            "rows": shown.shown_rows(request, self.kind, header, planned, options.mapping),
            "total": total,
            "number": number,
            "last": last,
            **self._problem_groups(header, is_visible=is_visible),
            "options": options,
            "matches": shown.MATCHES,
            "fields": shown.field_titles(self.kind),
            "writes": sum(batch.counts.get(key, 0) for key in store.WRITES),
            "all_max": ALL_MAX,
            "changed_since": CHANGED_SINCE,
            **self.kept(),
            "as_json": json.dumps,
        }

    def _counts(self) -> tuple[dict[str, int], str]:
        """Return the numbers of rows by outcome and conflict, and the name of the one whose rows are shown."""
        conflicts = self.batch.results.get("conflict")
        counts = {**self.batch.counts, **({"conflict": conflicts} if conflicts else {})}
        show = self.request.GET.get("show", "")
        if not counts.get(show):
            show = next((name for name in shown.FIRST_SHOWN if counts.get(name)), "new")
        return counts, show

    def _problem_groups(self, header: tuple[str, ...], *, is_visible: bool) -> dict[str, object]:
        """Return the largest groups of equal problems, and the number of the others."""
        groups = groups_of(readable(self.batch.problems)) if is_visible else []
        return {
            "groups": [
                (shown.shown_problem(self.kind, header, group.problem), group) for group in groups[:GROUPS_SHOWN]
            ],
            "more_groups": max(0, len(groups) - GROUPS_SHOWN),
        }


# Which part of the template shows each state.
STEPS = {
    ImportState.READING: "working",
    ImportState.UNREADABLE: "columns",
    ImportState.COLUMNS: "columns",
    ImportState.PREVIEWING: "working",
    ImportState.PREVIEW: "preview",
    ImportState.COMMITTING: "working",
    ImportState.DONE: "result",
    ImportState.REFUSED: "result",
    ImportState.UNDOING: "working",
    ImportState.UNDONE: "result",
}
OVER = _("That step of the import is over. This is how it is now.")
