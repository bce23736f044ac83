"""``/admin/<kind>/doubles``: the pairs of possible doubles, and the decision that a pair is none."""

from dataclasses import asdict, dataclass, replace

from pyramid.httpexceptions import HTTPForbidden
from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport.events import MERGED_INTO
from groundtransport.i18n import _
from groundtransport.records.doubles.shown import shown_pairs
from groundtransport.records.doubles.urls import pairs_url
from groundtransport.records.duplicates import pair_list
from groundtransport.records.duplicates.models import ACROSS, OPEN, REJECTED, DuplicatePair
from groundtransport.records.duplicates.pair_list import PairQuery
from groundtransport.records.flash import flash
from groundtransport.records.kind import Kind, label_of
from groundtransport.records.list.query import page_numbers, parse_int, read_page, single_values
from groundtransport.records.model import RecordColumns
from groundtransport.records.urls import list_url
from groundtransport.records.view_helpers import see_other, writer_of
from groundtransport.request import Request
from groundtransport.resources import Collection, Record
from groundtransport.security import Permission
from groundtransport.web.form_data import read_form

PAGE_SIZE = 25
PARAMETERS = ("airport_code", "rejected", "record", "across")


@dataclass
class Decision:
    """The form of a decision; from ``airport_code`` on, the fields are those of the page it is sent from."""

    first: str = ""
    second: str = ""
    is_double: str = ""  # "1" takes a rejection back
    airport_code: str = ""
    rejected: str = ""
    record: str = ""
    across: str = ""


def read_query(airport_code: str = "", rejected: str = "", record: str = "", across: str = "") -> PairQuery:
    """Return a query of parameters; an invalid code or id counts as none."""
    code = airport_code.strip().upper()
    is_code = len(code) == 3 and code.isascii() and code.isalnum()
    return PairQuery(code if is_code else "", rejected == "1", parse_int(record) or 0, across == "1")


@view_defaults(context=Collection, name="doubles")
class DoublesViews:
    def __init__(self, context: Collection, request: Request) -> None:
        self.context, self.request = context, request
        self.kind: Kind = context.kind

    @view_config(
        request_method="GET",
        permission=Permission.VIEW,
        renderer="groundtransport:records/templates/doubles.jinja2",
    )
    def html(self) -> dict[str, object]:
        params = self.request.GET.dict_of_lists()
        once = single_values(params)
        query = read_query(**{name: once.get(name, "") for name in PARAMETERS})
        total = pair_list.count(self.request.dbsession, self.kind, query)
        page = replace(read_page(params, PAGE_SIZE), page_size=PAGE_SIZE)
        number, last = page_numbers(page, min(total, pair_list.EXACT))
        pairs = pair_list.page(self.request.dbsession, self.kind, query, (number - 1) * PAGE_SIZE, PAGE_SIZE)
        return {
            "kind": self.kind,
            "query": query,
            "pairs": shown_pairs(self.request, self.kind, pairs),
            "total": total,
            "exact": pair_list.EXACT,
            "number": number,
            "last": last,
            "url_of": lambda target: pairs_url(self.kind, query, target),
            "open_url": pairs_url(self.kind, replace(query, rejected=False, across=False)),
            "across_url": pairs_url(self.kind, PairQuery(record=query.record, across=True)),
            "rejected_url": pairs_url(self.kind, replace(query, rejected=True, across=False)),
            "all_url": pairs_url(self.kind, replace(query, record=0)) if query.record else "",
            "can_merge": hasattr(self.kind.model, MERGED_INTO)
            and self.request.has_permission(Permission.DELETE, self.context),
            "may_edit": bool(self.request.has_permission(Permission.EDIT, self.context)),
        }

    @view_config(request_method="POST", permission=Permission.EDIT)
    def decide(self) -> Response:
        """Reject a pair, or take the rejection back, and log it once."""
        form = read_form(self.request, Decision)
        self.back = pairs_url(self.kind, read_query(**{name: getattr(form, name) for name in PARAMETERS}))
        is_double = form.is_double == "1"
        ids = parse_int(form.first) or 0, parse_int(form.second) or 0
        pair = pair_list.find(self.request.dbsession, self.kind, *ids, lock=True)
        if pair is None or (pair.state == REJECTED) != is_double:
            return self._refuse(_("Somebody has decided about these records already."))
        records = [self.context.get(str(number)) for number in (pair.first_id, pair.second_id)]
        if not all(isinstance(record, Record) for record in records):
            return self._refuse(_("One of these records was deleted."))
        if not all(self.request.has_permission(Permission.EDIT, record) for record in records):
            raise HTTPForbidden
        rows = [record.row for record in records if record]
        is_at_one = rows[0].airport_id == rows[1].airport_id
        pair.state = (OPEN if is_at_one else ACROSS) if is_double else REJECTED
        return self._tell(form, pair, rows)

    def _refuse(self, text: str) -> Response:
        flash(self.request, text, level="warning")
        return see_other(self.back)

    def _tell(self, form: Decision, pair: DuplicatePair, rows: list[RecordColumns]) -> Response:
        """Publish the decision as an event of the newer record, and tell the user, who can revert it."""
        labels = [label_of(self.kind, {name: getattr(row, name) for name in self.kind.fields}, row.id) for row in rows]
        writer_of(self.request, self.kind).decide_pair(rows[1], rows[0].id, is_double=pair.state != REJECTED)
        if pair.state != REJECTED:
            text = _("{} is proposed again as a double of ${other}.", mapping={"other": labels[0]})
        else:
            text = _("{} is no double of ${other}.", mapping={"other": labels[0]})
        flash(
            self.request,
            text,
            name=labels[1],
            url=list_url(self.request, self.kind, f"view={rows[1].id}"),
            undo_url=f"/admin/{self.kind.name}/doubles",
            undo_fields={**asdict(form), "is_double": "1" if pair.state == REJECTED else ""},
            has_focus=True,
        )
        return see_other(self.back)
