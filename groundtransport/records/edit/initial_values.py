"""The initial values of the form for a new record: from another record, or from the list's airport filter."""

from collections.abc import Mapping

from groundtransport.airports import lookup
from groundtransport.records.kind import SOURCE
from groundtransport.records.list.query import ListQuery, single_values
from groundtransport.request import Request
from groundtransport.resources import Collection

NOT_COPIED = ("airport", "place", SOURCE)  # groups of fields; a source id stands for one record
NEAR = ("airport_name", "city", "state")


def initial_values(context: Collection, request: Request, query: ListQuery) -> dict[str, object]:
    """Return the initial values of a form, by field name.

    ``?near=ID`` copies the place of that record, ``?copy=ID`` everything but its place and source. Without a live
    record of that id, the form starts with the airport of the list's filter, or empty.
    """
    once = single_values(request.GET.dict_of_lists())
    near, copied = (_values(context, once.get(name, "")) for name in ("near", "copy"))
    if near:
        return {name: near[name] for name in NEAR if name in near}
    if copied:
        fields = context.kind.fields.items()
        return {name: copied[name] for name, field in fields if field.group not in NOT_COPIED}
    airport = lookup.by_code(request.dbsession, query.filters.get("airport_code", ""))
    return {"airport_name": airport.airport_name} if airport and airport.withdrawn_at is None else {}


def _values(context: Collection, record_id: str) -> Mapping[str, object]:
    try:
        row = context.live(record_id).row
    except KeyError:
        return {}
    return {name: getattr(row, name) for name in context.kind.fields}
