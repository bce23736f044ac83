"""JSON views for the form's script: the international form of a phone number, and possible duplicates."""

import colander
from pyramid.view import view_config, view_defaults

from groundtransport.i18n import _
from groundtransport.records.duplicates.comparison import Similar, similar
from groundtransport.records.fields import Phone
from groundtransport.records.forms import RecordForm, find_place
from groundtransport.records.kind import Kind
from groundtransport.records.list.query import parse_int, single_values
from groundtransport.records.urls import edit_url, list_url
from groundtransport.request import Request
from groundtransport.resources import Collection
from groundtransport.security import Permission

REASONS = {"name": _("same name"), "phone": _("same phone"), "web": _("same web site")}


@view_defaults(context=Collection, request_method="GET", permission=Permission.VIEW, renderer="json")
class Hints:
    """The hints that the script of a form fetches while the user types."""

    def __init__(self, context: Collection, request: Request) -> None:
        self.request = request
        self.kind: Kind = context.kind
        self.sent = single_values(request.GET.dict_of_lists())
        country = request.registry["settings"].default_country
        self.place = find_place(request.dbsession, self.sent.get("airport_name", ""), country)

    @view_config(name="phone")
    def phone(self) -> dict[str, str]:
        """``?field=&number=&airport_name=`` -> ``international``, and why it is doubtful as ``warning``; or neither."""
        field = self.kind.fields.get(self.sent.get("field", ""))
        if not isinstance(field, Phone):
            return {"international": "", "warning": ""}
        node = field.bind(place=self.place)
        try:
            text = node.deserialize(self.sent.get("number", ""))
        except colander.Invalid as invalid:
            return {"international": "", "warning": " ".join(map(self.request.translate, invalid.messages()))}
        if text is None:
            return {"international": "", "warning": ""}
        return {"international": node.international(text), "warning": self.request.translate(node.warning(text))}

    @view_config(name="similar")
    def similar(self) -> dict[str, object]:
        """``?airport_name=&company_name=&...&id=`` -> ``similar``: ``id, label, more, reasons, href`` of up to five."""
        if self.place.airport is None:
            return {"similar": []}
        record_id = parse_int(self.sent.get("id", ""))
        records = similar(self.request.dbsession, self.kind, self.place.airport, self.sent, record_id)
        return {"similar": [shown(self.request, self.kind, record) for record in records]}


def shown(request: Request, kind: Kind, record: Similar) -> dict[str, object]:
    """Return the JSON of a possible duplicate."""
    return {
        "id": record.record_id,
        "label": record.label,
        "more": " · ".join(map(request.translate, record.more)),
        "reasons": reasons_of(request, record),
        "href": record_url(request, kind, record),
    }


def reasons_of(request: Request, record: Similar) -> str:
    """Return the translated names of what a possible duplicate has in common, separated by commas."""
    return ", ".join(request.translate(REASONS[reason]) for reason in record.reasons)


def record_url(request: Request, kind: Kind, record: Similar) -> str:
    """Return the URL of the record: its edit form if the user may edit, else its details over the list."""
    if request.has_permission(Permission.EDIT):
        return edit_url(request, kind, record.record_id, "")
    return list_url(request, kind, f"view={record.record_id}")


def similar_to(request: Request, form: RecordForm, but: int | None) -> list[dict[str, object]]:
    """Return the JSON of the possible duplicates of a form's typed texts; ``but`` is the id of the record itself."""
    if form.place.airport is None:
        return []
    records = similar(request.dbsession, form.kind, form.place.airport, form.typed, but)
    return [shown(request, form.kind, record) for record in records]
