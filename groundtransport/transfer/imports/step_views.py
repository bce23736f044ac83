"""The buttons of an import's page: each begins a job, or changes what the next one does."""

from urllib.parse import urlencode

from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport.i18n import _
from groundtransport.jobs import queue
from groundtransport.records.flash import flash
from groundtransport.records.view_helpers import see_other
from groundtransport.request import Request
from groundtransport.resources import Import
from groundtransport.security import Permission
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record
from groundtransport.transfer.imports import access, steps, store
from groundtransport.transfer.imports.commit import ALL_MAX, finish
from groundtransport.transfer.imports.import_views import OVER, WORKING, ImportPage
from groundtransport.transfer.imports.models import ImportState
from groundtransport.transfer.imports.option_form import decide, errors_of, read_options
from groundtransport.transfer.plan_types import ImportOptions
from groundtransport.web.actor import actor_of
from groundtransport.web.form_data import submitted


@view_defaults(context=Import, request_method="POST", permission=Permission.IMPORT)
class StepViews:
    """Each view checks that the import is in a state for its step; else the page shows how it is now."""

    def __init__(self, context: Import, request: Request) -> None:
        self.context, self.request, self.batch = context, request, context.batch
        self.url = f"/admin/imports/{context.batch.id}"

    @view_config(name="read")
    def read(self) -> Response:
        """Recognise the file again, with the encoding, delimiter or sheet of the form."""
        if not self.is_in(ImportState.COLUMNS, ImportState.UNREADABLE):
            return self.over()
        self.batch.read_options = submitted(self.request, ("encoding", "delimiter", "sheet"))
        return self.begin(ImportState.READING)

    @view_config(name="preview")
    def preview(self) -> Response:
        """Store the columns and options, and plan the rows."""
        page = ImportPage(self.context, self.request)
        if not self.is_in(ImportState.COLUMNS) or page.kind is None:
            return self.over()
        options = read_options(self.request, page.kind, tuple(self.batch.source["header"]), self.options)
        errors = errors_of(options, page.kind)
        if errors:
            return page.refuse(errors, options)
        self.batch.options = options.to_json()
        return self.begin(ImportState.PREVIEWING)

    @view_config(name="columns")
    def columns(self) -> Response:
        """Go back from the preview to the columns."""
        if not self.is_in(ImportState.PREVIEW, ImportState.PREVIEWING) or self.is_active:
            return self.over()
        self.batch.state = ImportState.COLUMNS
        return see_other(self.url)

    @view_config(name="decide")
    def decide(self) -> Response:
        """Store a decision about rows or cells, and plan the rows again."""
        if not self.is_in(ImportState.PREVIEW):
            return self.over()
        self.batch.options = decide(self.request, self.options).to_json()
        show = submitted(self.request, ("show",)).get("show", "")
        return self.begin(ImportState.PREVIEWING, urlencode({"show": show}) if show else "")

    @view_config(name="commit")
    def commit(self) -> Response:
        """Write the rows of the preview, in the background."""
        if not self.is_in(ImportState.PREVIEW):
            return self.over()
        counts, is_whole = self.batch.counts, "all_or_nothing" in self.request.POST
        if is_whole and (counts.get("refused") or counts.get("double")):
            return self.warn(_("Rows are refused or double: leave them out first, or import the others alone."))
        if is_whole and sum(counts.get(key, 0) for key in store.WRITES) > ALL_MAX:
            return self.warn(_("At most ${number} rows can be all or nothing.", mapping={"number": ALL_MAX}))
        self.batch.all_or_nothing = is_whole
        self.note("commit")
        return self.begin(ImportState.COMMITTING)

    @view_config(name="stop")
    def stop(self) -> Response:
        """Stop the job; what it has written stays."""
        if self.batch.state in WORKING and self.batch.job_id:
            queue.stop(self.request.dbsession, self.batch.job_id)
            self.note("stop")
        return see_other(self.url)

    @view_config(name="continue")
    def resume(self) -> Response:
        """Go on with a job that was stopped or failed, from the position that it reached."""
        if self.batch.state not in WORKING or self.is_active or self.batch.is_of_command:
            return self.over()
        steps.resume(self.request.dbsession, self.batch)
        return see_other(self.url)

    @view_config(name="close")
    def close(self) -> Response:
        """Keep what a stopped import has written, and import no more."""
        if self.batch.state != ImportState.COMMITTING or self.is_active:
            return self.over()
        finish(self.request.dbsession, self.batch)
        return see_other(self.url)

    @view_config(name="undo")
    def undo(self) -> Response:
        """Take the import back, in the background."""
        if self.batch.state not in steps.UNDOABLE or self.is_active:
            return self.over()
        steps.begin_undo(self.request.dbsession, self.batch, actor_of(self.request))
        self.note("undo")
        return see_other(self.url)

    @view_config(name="discard")
    def discard(self) -> Response:
        """Remove an upload that was not imported, with its file."""
        if access.is_public(self.batch) or self.is_active:
            return self.over()
        kind, name = self.batch.kind, self.batch.filename
        store.discard(self.request.dbsession, [self.batch.id])
        flash(self.request, _("{} was discarded."), name=name)
        return see_other(f"/admin/{kind}/import" if kind in self.request.registry["kinds"] else "/admin/imports")

    @property
    def options(self) -> ImportOptions:
        """Return the stored options of the import."""
        return ImportOptions.from_json(self.batch.options) if self.batch.options else ImportOptions({})

    @property
    def is_active(self) -> bool:
        """Whether the job of the current step waits or runs."""
        return steps.is_active(self.request.dbsession, self.batch)

    def is_in(self, *states: ImportState) -> bool:
        """Return True if the import is in one of these states."""
        return self.batch.state in states and access.is_own(self.request, self.batch)

    def begin(self, state: ImportState, query: str = "", **parameters: object) -> Response:
        """Set the state, add its job, and lead back to the page."""
        steps.begin(self.request.dbsession, self.batch, state, parameters)
        return see_other(f"{self.url}?{query}" if query else self.url)

    def note(self, what: str) -> None:
        """Record the step in the security log."""
        record(self.request, Event.IMPORT, what=what, number=self.batch.id, batch=self.batch.batch)

    def over(self) -> Response:
        """Redirect with a warning: the import is not in the state that the button is for."""
        return self.warn(OVER)

    def warn(self, text: str) -> Response:
        """Redirect to the page of the import with a warning."""
        flash(self.request, text, level="warning")
        return see_other(self.url)
