"""Edit a record: the form, its submission, which is merged with changes of others, and the restoring of a version."""

from pyramid.httpexceptions import HTTPNotFound, HTTPSeeOther
from pyramid.response import Response
from pyramid.view import view_config, view_defaults
from sqlalchemy.orm.exc import StaleDataError

from groundtransport.events import Values
from groundtransport.i18n import _
from groundtransport.records.duplicates.candidates import identifying
from groundtransport.records.edit.conflict import Conflict, sent_version
from groundtransport.records.edit.form_views import FORM, FormViews
from groundtransport.records.edit.merge import three_way
from groundtransport.records.edit.saved_forms import requested_form
from groundtransport.records.edit.verify_views import wants_verification
from groundtransport.records.flash import flash
from groundtransport.records.forms import RecordForm
from groundtransport.records.kind import label_of
from groundtransport.records.list import query as queries
from groundtransport.records.list.detail import PROPOSED
from groundtransport.records.model import RecordColumns
from groundtransport.records.urls import create_url, edit_url, list_url
from groundtransport.records.view_helpers import writer_of
from groundtransport.request import Request
from groundtransport.resources import Record
from groundtransport.security import Permission, edit_key_is_right
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record
from groundtransport.web.form_data import submitted


@view_defaults(context=Record, permission=Permission.EDIT, renderer=FORM)
class EditViews(FormViews):
    """The form of an existing record, its submission, and the restoring of an earlier version."""

    def __init__(self, context: Record, request: Request) -> None:
        super().__init__(context, request)
        self.row: RecordColumns = context.row
        self.record_id = self.row.id
        self.writer = writer_of(request, self.kind)

    @property
    def label(self) -> str:
        """The name of the record."""
        return label_of(self.kind, self.writer.values(self.row), self.row.id)

    @property
    def title(self) -> str:
        title: str = self.request.translate(_("Edit ${name}", mapping={"name": self.label}))
        return title

    def page(self, form: RecordForm, state: str) -> dict[str, object]:
        # A form that is rendered again has the version that it was made from: with the current one, the next
        # submission would overwrite the changes of others.
        version = form.version or sent_version(self.request)
        return {
            **super().page(form, state),
            "version": self.row.version if version is None else version,
            "history": f"/admin/{self.kind.name}/{self.row.id}/history",
            "verified_at": self.row.verified_at,
            "verified_by": self.row.verified_by,
            "duplicate": create_url(self.kind, state, copy=self.row.id),
        }

    def form_url(self, state: str) -> str:
        return edit_url(self.request, self.kind, self.row.id, state)

    def form(self, values: Values | None = None) -> RecordForm:
        """Return the form with the submitted texts over the stored values; or with ``values`` in place of both."""
        return RecordForm(self.request, self.kind, self.writer.values(self.row), values)

    @view_config(name="edit", request_method="GET")
    def show(self) -> object:
        """Show the form, or the saved form that ``?kept=`` names; with a wrong edit key, redirect to the list."""
        state = queries.query_from_request(self.kind, self.request).state()
        keys = self.request.GET.getall("key")
        settings, identity = self.request.registry["settings"], self.request.user
        if not edit_key_is_right(settings.secrets, keys, identity, self.kind.name, self.row.id):
            text = _("That link to edit is not, or no longer, valid. Open the record from the list.")
            flash(self.request, text, level="warning")
            record(self.request, Event.BAD_EDIT_KEY, kind=self.kind.name, record=self.row.id)
            return HTTPSeeOther(list_url(self.request, self.kind, state))
        saved = requested_form(self.request, self.request.context_path(self.context))
        if saved:
            form = self.form({**self.writer.values(self.row), **saved.fields})
            form.version = saved.version
            return self.page_again(form, saved.state, **saved.page)
        if proposed := self._proposed():
            notice = _("The link leads to another site. Its new address is filled in: save the record to keep it.")
            return {**self.page(self.form({**self.writer.values(self.row), **proposed}), state), "notice": notice}
        form = self.form()
        form.focus("airport_name")  # static/form.js sets it on the field that the URL's fragment names
        return self.page(form, state)

    def _proposed(self) -> Values:
        """Return the new URLs of links that have moved, if the URL asks for them."""
        proposed: Values = self.request.proposed_links(self.kind, self.row) if PROPOSED in self.request.GET else {}
        return proposed

    @view_config(request_method="PUT")
    def update(self) -> object:
        """Save the submitted fields. Raise ValidationFailure if one is invalid, Conflict as ``_merged``."""
        form = self.form()
        if self.wants_refresh:
            return self.refreshed(form)
        form, values, theirs = self._merged(form, form.validate())
        return self._save(form, values, self._saved_message(theirs))

    def _merged(self, form: RecordForm, values: Values) -> tuple[RecordForm, Values, tuple[str, ...]]:
        """Merge the changes that others saved since the form was opened.

        Return the form, its values, and the names of the fields that others changed. Raise Conflict if both sides
        changed the same field.
        """
        version = sent_version(self.request)
        if version in (None, self.row.version):
            return form, values, ()
        before = self.request.values_at(self.kind, self.row, version)
        merge = three_way(self.kind.fields, before, values, self.writer.values(self.row))
        if merge.clashes:
            raise Conflict(self.row, merge)
        form = self.form(merge.values)
        form.version = self.row.version  # the form now holds the others' changes
        return form, form.validate(), merge.only_theirs

    def _save(self, form: RecordForm, values: Values, message: str) -> Response:
        """Write the values, and return the redirect with a message that can undo the change."""
        version, before = self.row.version, self.writer.values(self.row)
        is_changed, is_verified = self.writer.update(self.row, values), wants_verification(self.request)
        if is_verified:
            self.writer.verify(self.row)
        if not is_changed:
            message = _("{} was marked as verified.") if is_verified else _("Nothing was changed in {}.")
            return self.redirect(message, values, form, self.row.id)
        undo_url = f"{self.request.context_path(self.context)}/restore"
        undo_fields = {"to_version": version, "version": self.row.version}
        changed = [name for name in identifying(self.kind) if before[name] != values[name]]
        options: dict[str, object] = {}
        if changed:  # at another airport, all fields are compared
            options["compared_fields"] = () if "airport_id" in changed else tuple(changed)
        return self.redirect(message, values, form, self.row.id, undo_url=undo_url, undo_fields=undo_fields, **options)

    def _saved_message(self, theirs: tuple[str, ...]) -> str:
        """Return the message of a save; ``theirs`` are the fields in which the changes of others were kept."""
        if not theirs:
            return _("{} was saved.")
        titles = tuple(self.kind.fields[name].title for name in theirs)
        return _(
            "{} was saved. What somebody else changed in the meantime was kept: ${fields}.",
            mapping={"fields": titles},
        )

    @view_config(name="restore", request_method="POST", permission=Permission.RESTORE)
    def restore_version(self) -> object:
        """Save the values of the version ``to_version`` as a new change, with the same validation.

        Raise HTTPNotFound if there is no such version, StaleDataError if ``version`` is not the current one.
        """
        version = queries.parse_int(submitted(self.request, ("to_version",)).get("to_version", ""))
        values = self.request.values_at(self.kind, self.row, version) if version else None
        if values is None:
            raise HTTPNotFound
        if sent_version(self.request) not in (None, self.row.version):
            raise StaleDataError(self.row.id)
        form = RecordForm(self.request, self.kind, self.writer.values(self.row), values, is_stored=True)
        return self._save(form, form.validate(), _("{} is again as it was before."))
