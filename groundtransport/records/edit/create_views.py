"""Create a record: the empty form, and its submission, which creates one record however often it is sent."""

import re
import secrets

from pyramid.view import view_config, view_defaults
from sqlalchemy.exc import IntegrityError

from groundtransport.i18n import _
from groundtransport.records.edit.form_views import FORM, FormViews
from groundtransport.records.edit.initial_values import initial_values
from groundtransport.records.edit.saved_forms import requested_form
from groundtransport.records.edit.verify_views import wants_verification
from groundtransport.records.forms import RecordForm
from groundtransport.records.list import query as queries
from groundtransport.records.urls import create_url
from groundtransport.records.view_helpers import writer_of
from groundtransport.resources import Collection
from groundtransport.security import Permission
from groundtransport.web.form_data import submitted

_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,64}", re.ASCII)


@view_defaults(context=Collection, permission=Permission.CREATE, renderer=FORM)
class CreateViews(FormViews):
    """The form of a new record, and its submission."""

    context: Collection

    @property
    def title(self) -> str:
        kind = self.request.translate(self.kind.title).lower()
        title: str = self.request.translate(_("New ${kind}", mapping={"kind": kind}))
        return title

    def page(self, form: RecordForm, state: str) -> dict[str, object]:
        token = None if self.request.method == "GET" else self.form_token()
        return {**super().page(form, state), "form_token": token or secrets.token_urlsafe(16)}

    def form_url(self, state: str) -> str:
        return create_url(self.kind, state)

    def form(self) -> RecordForm:
        return RecordForm(self.request, self.kind)

    @view_config(name="create", request_method="GET")
    def show(self) -> dict[str, object]:
        """Show a form with initial values, or the saved form that ``?kept=`` names."""
        query = queries.query_from_request(self.kind, self.request)
        saved = requested_form(self.request, self.request.context_path(self.context))
        if saved:
            form = RecordForm(self.request, self.kind, values=saved.fields)
            return self.page_again(form, saved.state, **saved.page)
        form = RecordForm(self.request, self.kind, values=initial_values(self.context, self.request, query))
        form.focus((self.kind.label if form.place.airport else None) or "airport_name")
        return self.page(form, query.state())

    @view_config(request_method="POST")
    def create(self) -> object:
        """Create a record, unless a request with the same form token has done so.

        Raise ValidationFailure if a field is invalid.
        """
        form = self.form()
        if self.wants_refresh:
            return self.refreshed(form)
        writer, token = writer_of(self.request, self.kind), self.form_token()
        record = writer.created_by(token)
        if record is None:
            values = form.validate()
            try:
                record_id = writer.create(values, token)
                if wants_verification(self.request):
                    writer.verify(self.request.dbsession.get_one(self.kind.model, record_id))
                return self.redirect(_("{} was created."), values, form, record_id, compared_fields=())
            except IntegrityError:  # a double click: the other request was first
                self.request.tm.abort()  # no savepoint: it would cost every creation a statement
                self.request.tm.begin()
                record = writer.created_by(token)
                if record is None:
                    raise
        return self.redirect(
            _("{} was created already; it was not created again."), writer.values(record), form, record.id
        )

    def form_token(self) -> str | None:
        """Return the one-time token of the submitted form; None if it has none or an invalid one."""
        token = submitted(self.request, ("form_token",)).get("form_token", "")
        return token if _TOKEN.fullmatch(token) else None
