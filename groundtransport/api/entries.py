"""The activity log for programs: entries, newest first, and the history of a record."""

from sqlalchemy import ColumnElement

from groundtransport.api.cursors import Cursor, decode, encode
from groundtransport.api.parameters import next_url, read_limit, read_parameters, with_link
from groundtransport.api.problems import InvalidFields
from groundtransport.api.representation import ENTRY_NAMES
from groundtransport.api.view import Operation, api_view
from groundtransport.audit.entries import rows
from groundtransport.audit.models import AdminActivity
from groundtransport.audit.query import NAMES, conditions, read
from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.resources import Activity, AnyRecord
from groundtransport.security import Permission

NOT_VALID = _("This value is not valid.")
PAGING = ("limit", "cursor")

# Neither empty nor with blanks around them. An empty text of another filter is no filter.
NUMBERS_AND_DAYS = ("record_id", "from", "to")


@api_view(
    Operation("entry-page", parameters=(*NAMES, *PAGING)),
    context=Activity,
    request_method="GET",
    permission=Permission.VIEW,
)
def activity(context: Activity, request: Request) -> dict[str, object]:
    """List the entries of the activity log, newest first; of a token limited to kinds, theirs."""
    given = read_parameters(request, (*NAMES, *PAGING))
    filters = {name: text for name, text in given.items() if name not in PAGING and (text or name in NUMBERS_AND_DAYS)}
    query = read({name: [text] for name, text in filters.items()}, 10)
    changed = {name for name in NUMBERS_AND_DAYS if query.filters.get(name) != filters.get(name)}
    if wrong := changed | (set(filters) - set(query.filters)):
        raise InvalidFields({name: [NOT_VALID] for name in wrong})
    return entry_page(request, given, f"activity?{query.state()}", *conditions(query), *of_kinds(request))


@api_view(
    Operation("entry-page", parameters=PAGING, statuses=(404,)),
    context=AnyRecord,
    name="history",
    request_method="GET",
    permission=Permission.VIEW,
)
def history(context: AnyRecord, request: Request) -> dict[str, object]:
    """List the entries of a record, live or deleted, newest first."""
    given = read_parameters(request, PAGING)
    kind, record_id = context.kind.name, context.row.id
    of_record = (AdminActivity.kind == kind, AdminActivity.record_id == record_id)
    return entry_page(request, given, f"history/{kind}/{record_id}", *of_record)


def of_kinds(request: Request) -> list[ColumnElement[bool]]:
    """Return the WHERE clauses of the entries that the token may see: those of its kinds; [] without such a limit."""
    names = request.token_limits.kinds
    return [AdminActivity.kind.in_(names)] if names else []


def entry_page(request: Request, given: dict[str, str], name: str, *where: ColumnElement[bool]) -> dict[str, object]:
    """Return a page of entries, newest first; ``name`` names the query in its cursors."""
    limit = read_limit(given)
    before = [AdminActivity.id < decode(request, name, given["cursor"]).last_id] if "cursor" in given else []
    items = rows(request.dbsession, 0, limit, *where, *before, names=ENTRY_NAMES)
    last_id = int(str(items[-1]["id"])) if items else 0
    has_next = len(items) == limit and last_id > 1
    url = next_url(request, given, cursor=encode(request, name, Cursor(last_id))) if has_next else None
    return with_link(request, {"items": items, "next": url})
