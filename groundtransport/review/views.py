"""The page of the review queue: a record with the buttons "Mark as verified", "Edit" and "Skip"."""

from urllib.parse import urlencode

from pyramid.httpexceptions import HTTPSeeOther
from pyramid.view import view_config, view_defaults
from sqlalchemy import select

from groundtransport import formats
from groundtransport.airports.models import Airport
from groundtransport.i18n import _
from groundtransport.records.edit.conflict import sent_version
from groundtransport.records.edit.verify_views import verify
from groundtransport.records.flash import flash
from groundtransport.records.kind import Kind, label_of
from groundtransport.records.list.detail import shown_doubles, shown_fields, shown_links, verification_state
from groundtransport.records.list.query import due_days
from groundtransport.records.notes.shown import shown_notes
from groundtransport.records.urls import edit_url
from groundtransport.records.verification import CURRENT
from groundtransport.records.view_helpers import see_other
from groundtransport.request import Request
from groundtransport.resources import Collection, Record, Review
from groundtransport.review import leases
from groundtransport.review.queue import Spot, take_next
from groundtransport.security import Permission
from groundtransport.web.form_data import submitted

FIELDS = ("kind", "country", "airport_code", "record")


@view_defaults(context=Review, permission=Permission.EDIT)
class ReviewViews:
    def __init__(self, context: Review, request: Request) -> None:
        self.context, self.request, self.dbsession = context, request, request.dbsession
        self.kinds: dict[str, Kind] = request.registry["kinds"]

    @view_config(request_method="GET", renderer="groundtransport:review/templates/review.jinja2")
    def show(self) -> dict[str, object]:
        """Show the choice of kind and airport; with ``record`` in the URL, that record and the buttons."""
        once = {name: values[0] for name, values in self.request.GET.dict_of_lists().items() if len(values) == 1}
        spot = Spot.of(once)
        record = self.record(spot)
        codes = self.dbsession.scalars(select(Airport.country).distinct()).all()
        countries = sorted((formats.country(code), code) for code in codes)
        return {"spot": spot, "countries": countries, "record": record, **(self.about(spot, record) if record else {})}

    def about(self, spot: Spot, record: Record) -> dict[str, object]:
        """Return the values of the template about a record."""
        kind: Kind = record.kind
        values = {name: getattr(record.row, name) for name in kind.fields}
        state = verification_state(self.request, record)
        return {
            "kind": kind,
            "row": record.row,
            "label": label_of(kind, values, record.row.id),
            "fields": shown_fields(record),
            "notes": shown_notes(self.request, record),
            "links": shown_links(self.request, record, ""),
            "doubles": shown_doubles(self.request, record),
            "state": "",
            "verification": state,
            "is_done": state == CURRENT,
            "edit": edit_url(self.request, kind, record.row.id, urlencode({"review": spot.state})),
        }

    def record(self, spot: Spot) -> Record | None:
        """Return the live record of a place in the queue; None if there is none, or the user may not edit it."""
        kind = self.kinds.get(spot.kind)
        if kind is None or not spot.record:
            return None
        collection = self.context.__parent__[kind.name]
        assert isinstance(collection, Collection)
        found = collection.get(spot.record)
        if isinstance(found, Record) and self.request.has_permission(Permission.EDIT, found):
            return found
        return None

    @view_config(request_method="POST")
    def go_on(self) -> HTTPSeeOther:
        """Verify or skip the record, as the pressed button says, and redirect to the next one."""
        form = submitted(self.request, (*FIELDS, "do"))
        spot, action = Spot.of(form), form.get("do", "")
        record = self.record(spot)
        if record and action in ("verify", "skip"):
            if sent_version(self.request) not in (None, record.row.version):
                text = _("Somebody changed this record in the meantime. Look at it again.")
                flash(self.request, text, level="warning")
                return see_other(spot.url)
            self.finish(record, action)
        return self.next(spot)

    def finish(self, record: Record, action: str) -> None:
        """Mark a record as verified, or skip it; leave it alone if somebody else has it."""
        kind, row, user_id = record.kind, record.row, self.request.user.user_id
        if action == "skip":
            leases.skip(self.dbsession, kind.name, row.id, user_id)
        elif leases.take(self.dbsession, kind.name, row.id, user_id):
            verify(self.request, kind, row)
            leases.release(self.dbsession, kind.name, row.id)
            values = {name: getattr(row, name) for name in kind.fields}
            options = {"undo_url": f"/admin/{kind.name}/{row.id}/unverify"}
            undo_fields = {"verified_at": row.verified_at.isoformat()}
            label = label_of(kind, values, row.id)
            url = f"/admin/{kind.name}?view={row.id}"
            text = _("{} was marked as verified.")
            flash(self.request, text, name=label, url=url, undo_fields=undo_fields, **options)
        else:
            flash(self.request, _("Somebody else has this record in the queue now."), level="warning")

    def next(self, spot: Spot) -> HTTPSeeOther:
        """Lease the next record, and redirect to it; to the choice if none is due."""
        kind = self.kinds.get(spot.kind)
        place = Spot(spot.kind, spot.country, spot.airport_code)
        days = due_days(self.request, kind) if kind else 0
        record_id = take_next(self.dbsession, kind, place, days, self.request.user.user_id) if kind else None
        if record_id is None:
            text = _("No record is due here. Choose another kind or airport.") if kind else _("Choose a kind.")
            flash(self.request, text, level="success" if kind else "warning")
            return see_other(place.url)
        return see_other(Spot(spot.kind, spot.country, spot.airport_code, str(record_id)).url)
