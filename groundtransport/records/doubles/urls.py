"""The URLs of pairs of possible doubles."""

from urllib.parse import urlencode

from groundtransport.records.duplicates.pair_list import PairQuery
from groundtransport.records.kind import Kind


def pairs_url(kind: Kind, query: PairQuery, page_no: int = 1) -> str:
    """Return the URL of a page of pairs."""
    values = {"airport_code": query.airport_code, "rejected": "1" if query.rejected else ""}
    values["across"] = "1" if query.across else ""
    values["record"] = str(query.record) if query.record else ""
    values["page_no"] = str(page_no) if page_no > 1 else ""
    text = urlencode({name: value for name, value in values.items() if value})
    return f"/admin/{kind.name}/doubles?{text}" if text else f"/admin/{kind.name}/doubles"
