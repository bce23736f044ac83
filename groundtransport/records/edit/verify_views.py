"""Mark a record as verified, with one click, and take that back. A form can ask for it, too: ``wants_verification``."""

from datetime import timedelta

from pyramid.httpexceptions import HTTPSeeOther
from pyramid.view import view_config, view_defaults
from sqlalchemy.orm.exc import StaleDataError

from groundtransport.db import now
from groundtransport.i18n import _
from groundtransport.records.edit.conflict import sent_version
from groundtransport.records.flash import flash
from groundtransport.records.kind import Kind, label_of
from groundtransport.records.model import RecordColumns
from groundtransport.records.urls import edit_url, list_url, sent_query
from groundtransport.records.view_helpers import see_other, writer_of
from groundtransport.request import Request
from groundtransport.resources import Record
from groundtransport.security import Permission
from groundtransport.web.form_data import submitted

CHECKBOX = "mark_verified"  # of the form of a record; unticked at first
AGAIN = timedelta(minutes=1)  # a second verification by the same user within it is a double click


def wants_verification(request: Request) -> bool:
    """Return True if a submitted form says that the whole record was checked, by its box or its button."""
    form = submitted(request, (CHECKBOX, "then"))
    return form.get(CHECKBOX) == "1" or form.get("then") == "verify"


def verify(request: Request, kind: Kind, row: RecordColumns) -> None:
    """Mark a record as verified by the user, unless the user did so a moment ago.

    Raise StaleDataError if the version that the form names is not the current one.
    """
    if sent_version(request) not in (None, row.version):
        raise StaleDataError(row.id)
    is_again = row.verified_at is not None and row.verified_at > now() - AGAIN
    if not (is_again and row.verified_by == request.user.name):
        writer_of(request, kind).verify(row)


@view_defaults(context=Record, request_method="POST", permission=Permission.EDIT)
class VerifyViews:
    def __init__(self, context: Record, request: Request) -> None:
        self.context, self.request = context, request
        self.kind: Kind = context.kind

    @view_config(name="verify")
    def verify(self) -> HTTPSeeOther:
        """Mark the record as verified. Raise StaleDataError as ``verify``."""
        row = self.context.row
        verify(self.request, self.kind, row)
        undo_url = f"{self.request.context_path(self.context)}/unverify"
        undo_fields = {"verified_at": row.verified_at.isoformat()}
        return self.tell(_("{} was marked as verified."), undo_url=undo_url, undo_fields=undo_fields)

    @view_config(name="unverify", permission=Permission.RESTORE)
    def unverify(self) -> HTTPSeeOther:
        """Take the verification of the time ``verified_at`` back, unless there was another one since."""
        row, sent = self.context.row, submitted(self.request, ("verified_at",)).get("verified_at")
        changes = self.request.last_verification(self.kind, row)
        is_last = row.verified_at is not None and row.verified_at.isoformat() == sent
        if not (is_last and changes):
            return self.tell(_("{} was verified again since; that stays."), level="warning")
        writer_of(self.request, self.kind).revert(row, changes)
        return self.tell(_("{} is again as it was before."))

    def tell(self, text: str, **options: object) -> HTTPSeeOther:
        """Flash a message about the record, and redirect to the list."""
        row, state = self.context.row, sent_query(self.request, self.kind).state()
        values = writer_of(self.request, self.kind).values(row)
        of_record = {"kind_name": self.kind.name, "record_id": row.id, "list_state": state}
        url = edit_url(self.request, self.kind, row.id, state)
        flash(self.request, text, name=label_of(self.kind, values, row.id), url=url, **of_record, **options)
        return see_other(list_url(self.request, self.kind, state))
