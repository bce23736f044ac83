"""The base class of the views of a record's form: render the form, render it again, and redirect after a save."""

from abc import ABC, abstractmethod

from pyramid.response import Response

from groundtransport.accounts.saved_forms import own_stamp
from groundtransport.events import Values
from groundtransport.records.edit.hints import similar_to
from groundtransport.records.edit.saved_forms import delete_sent_form
from groundtransport.records.flash import flash
from groundtransport.records.forms import RecordForm
from groundtransport.records.kind import Kind, label_of
from groundtransport.records.urls import create_url, edit_url, list_url, review_state, sent_query
from groundtransport.records.view_helpers import see_other
from groundtransport.request import Request
from groundtransport.resources import Collection, Record
from groundtransport.web.form_data import submitted

FORM = "groundtransport:records/templates/form.jinja2"


class FormViews(ABC):
    """Base class of the views that create or edit a record by its form."""

    record_id: int | None = None  # of the record that is edited; None for a new one

    def __init__(self, context: Collection | Record, request: Request) -> None:
        self.context, self.request = context, request
        self.kind: Kind = context.kind

    @property
    @abstractmethod
    def title(self) -> str:
        """The translated heading of the page."""

    @abstractmethod
    def form(self) -> RecordForm:
        """Return the form with the submitted texts over the stored values."""

    @abstractmethod
    def form_url(self, state: str) -> str:
        """Return the URL of the empty or unchanged form; ``state`` is the query string of the list."""

    def page(self, form: RecordForm, state: str) -> dict[str, object]:
        """Return the values of the form's template; ``state`` is the query string of the list."""
        return {
            "kind": self.kind,
            "form": form,
            "title": self.title,
            "state": state,
            "back": self.review_url or list_url(self.request, self.kind, state),
            "review": review_state(self.request),
            "action": self.request.context_path(self.context),
            "form_url": "" if self.request.method == "GET" else self.form_url(state),
            "version": None,
            "form_token": None,
            "record_id": self.record_id,
            "owner": own_stamp(self.request),
            "saved_form": "",
            "notice": "",
            "similar": [],
        }

    def page_again(self, form: RecordForm, state: str, **values: object) -> dict[str, object]:
        """Return the template's values for a form with texts that are not saved; ``values`` are added to them."""
        return {**self.page(form, state), "similar": similar_to(self.request, form, self.record_id), **values}

    @property
    def review_url(self) -> str:
        """The place in the review queue from which the form was opened; "" for none."""
        state = review_state(self.request)
        return f"/admin/review?{state}" if state else ""

    @property
    def wants_refresh(self) -> bool:
        """True if the button "Load its cities and states" was pressed, which saves nothing."""
        return "refresh" in self.request.POST

    def refreshed(self, form: RecordForm) -> dict[str, object]:
        """Return the template's values for the submitted form with the cities and states of its airport."""
        form.check_airport()
        return self.page_again(form, sent_query(self.request, self.kind).state())

    def redirect(self, message: str, values: Values, form: RecordForm, record_id: int, **options: object) -> Response:
        """Return the redirect after a save, and store its message and the warnings about the saved values.

        ``message`` has "{}" for the record's name; ``options`` are further fields of ``Flash``.
        """
        state = sent_query(self.request, self.kind).state()
        flash(
            self.request,
            message,
            name=label_of(self.kind, values, record_id),
            url=edit_url(self.request, self.kind, record_id, state),
            list_state=state,
            kind_name=self.kind.name,
            record_id=record_id,
            **options,
        )
        for warning in form.warnings(values):
            flash(self.request, warning, level="warning")
        delete_sent_form(self.request)
        return see_other(self._next_url(record_id, state))

    def _next_url(self, record_id: int, state: str) -> str:
        """Return the URL that the pressed button names: its form, a new form at its place, the queue, or the list."""
        then = submitted(self.request, ("then",)).get("then")
        if then == "edit":
            return edit_url(self.request, self.kind, record_id, state)
        if then == "add":
            return create_url(self.kind, state, near=record_id)
        if self.review_url:
            return self.review_url
        return list_url(self.request, self.kind, state)
