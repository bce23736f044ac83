"""Views of bulk actions: ``POST /admin/<kind>/several`` confirms and applies one; ``undo`` reverts it."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from pyramid.httpexceptions import HTTPBadRequest, HTTPSeeOther
from pyramid.response import Response
from pyramid.view import view_config, view_defaults
from sqlalchemy import ColumnElement

from groundtransport import formats
from groundtransport.db import now
from groundtransport.i18n import DOMAIN, _
from groundtransport.records.bulk import batch
from groundtransport.records.flash import flash
from groundtransport.records.kind import Kind, label_of
from groundtransport.records.list import columns, pages
from groundtransport.records.list import query as queries
from groundtransport.records.model import RecordColumns
from groundtransport.records.search.time_limit import Budget, OutOfTime
from groundtransport.records.urls import list_url, sent_query
from groundtransport.records.view_helpers import writer_of
from groundtransport.request import Request
from groundtransport.resources import Collection
from groundtransport.security import Permission
from groundtransport.web.form_data import submitted

UNDONE = ("update", "verify", "delete")  # actions of a batch that can be undone
NAMED = 10  # records that a page lists by label; the others are counted
_BATCH = re.compile(r"(several|merge|undo)-[0-9a-f]{16}", re.ASCII)
_RECORD = re.compile(r"([0-9]{1,18})\.([0-9]{1,9})", re.ASCII)


@dataclass(frozen=True)
class Selection:
    """The selected records: ids with the versions that the user saw, or all matches of the list's query."""

    versions: dict[int, int]
    is_all: bool
    as_of: datetime  # the time at which the user saw the matches

    def is_stale(self, row: RecordColumns) -> bool:
        """Return True if the record was changed since the user saw it."""
        return bool(row.updated_at > self.as_of if self.is_all else row.version != self.versions[row.id])


def selection_of(request: Request) -> Selection:
    """Return the selection of a form. Raise HTTPBadRequest if it holds more than ``batch.MOST`` records."""
    matches = [_RECORD.fullmatch(text) for text in request.POST.getall("record") if isinstance(text, str)]
    versions = {int(match[1]): int(match[2]) for match in matches if match}
    if len(versions) > batch.MOST:
        raise HTTPBadRequest(_("At most ${number} records can be changed at once.", mapping={"number": batch.MOST}))
    form = submitted(request, ("all", "as_of"))
    return Selection(versions, form.get("all") == "1", _moment(form.get("as_of", "")))


def _moment(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):  # no time at all, or in UTC before the first year or after the last
        return now()


def names(labels: list[str]) -> str:
    """Return the first labels and the number of the others."""
    more = f" +{formats.number(len(labels) - NAMED)}" if len(labels) > NAMED else ""
    return ", ".join(labels[:NAMED]) + more


@view_defaults(context=Collection, request_method="POST", permission=Permission.EDIT)
class SeveralViews:
    """A bulk action: its confirmation, its execution, and the undo."""

    def __init__(self, context: Collection, request: Request) -> None:
        self.context, self.request = context, request
        self.kind: Kind = context.kind
        self.query = sent_query(request, self.kind)
        self.back = list_url(request, self.kind, self.query.state())

    @view_config(name="several", renderer="groundtransport:records/templates/bulk.jinja2")
    def several(self) -> object:
        """Render the confirmation; with ``confirmed``, apply the action."""
        form = submitted(self.request, ("action", "confirmed", "batch"))
        action, selection = form.get("action", ""), selection_of(self.request)
        words = dict(batch.actions(self.request, self.context)).get(action, "")
        if not words:
            return self.refuse(_("Choose what to do with the selected records."))
        if not (selection.is_all or selection.versions):
            return self.refuse(_("Select at least one record."))
        if "confirmed" in form:
            return self.do(action, selection, form.get("batch", ""))
        try:
            with Budget(self.request.dbsession) as budget, budget.limit():
                return self.question(action, words, selection)
        except OutOfTime:
            return self.refuse(
                _("It takes too long to find all records that match. Narrow the search, or select rows of the list.")
            )

    def refuse(self, text: str) -> Response:
        """Redirect to the list with a warning."""
        flash(self.request, text, level="warning")
        return HTTPSeeOther(self.back)

    def conditions(self, action: str, selection: Selection) -> list[ColumnElement[bool]]:
        """Return the conditions of the selected records; of all matches, only those that the action would change."""
        model = self.kind.model
        if not selection.is_all:
            return [model.id.in_(selection.versions)]
        matching = [pages.scope(self.kind, self.query), *pages.conditions(self.kind, self.query)]
        return [*matching, model.created_at <= selection.as_of, *batch.to_change(self.kind, action)]

    def question(self, action: str, words: str, selection: Selection) -> dict[str, object]:
        """Return the template values of the confirmation: the number of records and the labels of the first."""
        dbsession, conditions = self.request.dbsession, self.conditions(action, selection)
        count = pages.count(dbsession, self.kind, pages.live(self.kind), *conditions)
        writer = writer_of(self.request, self.kind)
        rows = dbsession.scalars(batch.rows(self.kind, pages.live(self.kind), *conditions).limit(NAMED))
        labels = [label_of(self.kind, writer.values(row), row.id) for row in rows]
        return {
            "kind": self.kind,
            "action": action,
            "words": words,
            "is_delete": action == batch.DELETE,
            "count": count,
            "most": batch.MOST,
            "labels": labels,
            "chips": columns.chips(self.request, self.kind, self.query) if selection.is_all else [],
            "selection": selection,
            "as_of": now().isoformat(),
            "batch": f"several-{secrets.token_hex(8)}",
            "state": self.query.state(),
            "back": self.back,
        }

    def do(self, action: str, selection: Selection, name: str) -> Response:
        """Apply the action once as the batch ``name``, and redirect to the list with the result."""
        name = name if _BATCH.fullmatch(name) else f"several-{secrets.token_hex(8)}"
        if self.request.batch_entries(self.kind, name):  # a double click, or the page sent once more
            return self.refuse(_("That was done already; it was not done again."))
        query = batch.rows(self.kind, *self.conditions(action, selection)).with_for_update()
        rows = self.request.dbsession.scalars(query).all()
        writer = writer_of(self.request, self.kind, name)
        report = batch.apply(self.context, writer, action, rows, selection.is_stale)
        for record_id in selection.versions.keys() - {row.id for row in rows} if not selection.is_all else ():
            report.add_unchanged(batch.GONE, label_of(self.kind, {}, record_id))
        can_undo = action != batch.DELETE or queries.can_restore(self.kind)
        undo_url = f"/admin/{self.kind.name}/undo"
        undo: dict[str, object] = {"undo_url": undo_url, "undo_fields": {"batch": name}} if can_undo else {}
        pluralize = self.request.localizer.pluralize
        if action == batch.VERIFY:
            words = pluralize("{} was marked as verified.", "{} were marked as verified.", len(report.changed), DOMAIN)
        elif action == batch.DELETE:
            words = pluralize("{} was deleted.", "{} were deleted.", len(report.changed), DOMAIN)
        else:
            words = pluralize("{} was changed.", "{} were changed.", len(report.changed), DOMAIN)
        return self.tell(report, name, words, undo)

    @view_config(name="undo", permission=Permission.RESTORE)
    def undo(self) -> Response:
        """Revert a batch, except for records that were changed after it."""
        name = submitted(self.request, ("batch",)).get("batch", "")
        logged = self.request.batch_entries(self.kind, name) if _BATCH.fullmatch(name) else []
        entries = {entry.record_id: entry for entry in logged if entry.action in UNDONE}
        undo_name = f"undo-{secrets.token_hex(8)}"
        writer = writer_of(self.request, self.kind, undo_name)
        changed_since = self.request.changed_since(self.kind, logged)
        report = batch.undo(self.request.dbsession, writer, entries, changed_since)
        words = self.request.localizer.pluralize(
            "{} is again as it was before.", "{} are again as they were before.", len(report.changed), DOMAIN
        )
        return self.tell(report, undo_name, words, {})

    def tell(self, report: batch.Report, name: str, words: str, undo: Mapping[str, object]) -> Response:
        """Flash the numbers of changed and unchanged records, with reasons, and redirect to the list."""
        pluralize, translate = self.request.localizer.pluralize, self.request.translate
        changed_count, unchanged_count = len(report.changed), sum(map(len, report.unchanged.values()))
        if changed_count:
            count = pluralize(
                "${n} record", "${n} records", changed_count, DOMAIN, {"n": formats.number(changed_count)}
            )
            url, state = f"/admin/activity?batch={name}", self.query.state()
            flash(self.request, words, name=count, url=url, list_state=state, has_focus=True, **undo)
        if unchanged_count or not changed_count:
            text = pluralize(
                "${n} record stayed as it was.",
                "${n} records stayed as they were.",
                unchanged_count,
                DOMAIN,
                {"n": formats.number(unchanged_count)},
            )
            lines = tuple(f"{translate(reason)}: {names(labels)}" for reason, labels in report.unchanged.items())
            flash(self.request, text, level="warning", lines=lines, has_focus=not changed_count)
        return HTTPSeeOther(self.back)
