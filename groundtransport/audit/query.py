"""The query of the activity log: search, filters and dates, parsed from URL parameters into WHERE clauses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from urllib.parse import urlencode

from sqlalchemy import ColumnElement, func
from sqlalchemy.orm import InstrumentedAttribute

from groundtransport.audit.models import AdminActivity
from groundtransport.records.list.query import ListQuery, only_once, read_page
from groundtransport.text import PART, fold

SEARCH_MAX = 200  # characters
EXACT = ("kind", "action", "batch", "airport_code")
NAMES = ("q", "actor", *EXACT, "record_id", "from", "to")


@dataclass(frozen=True)
class ActivityQuery:
    """A page of the activity log. ``given`` holds the valid filters by name."""

    page: ListQuery
    given: Mapping[str, str] = field(default_factory=dict)

    def state(self, **changes: str) -> str:
        """Return the query string that repeats this query."""
        size = str(self.page.page_size) if self.page.size_sent else ""
        params = {**self.given, "page_no": self.page.page_no, "page_size": size, **changes}
        return urlencode([(name, value) for name, value in params.items() if value])


def read(params: Mapping[str, list[str]], default_size: int) -> ActivityQuery:
    """Return the query of URL parameters, given as lists of values; invalid parameters are ignored."""
    once = only_once(params)
    texts = {name: once.get(name, "").replace("\0", "").strip() for name in NAMES}
    texts["q"] = texts["q"] or once.get("search[value]", "").replace("\0", "").strip()
    texts["airport_code"] = texts["airport_code"].upper()
    for name in ("from", "to"):
        texts[name] = texts[name] if parse_day(texts[name]) else ""
    number = texts["record_id"]
    texts["record_id"] = number if number.isascii() and number.isdigit() and len(number) <= 18 else ""
    return ActivityQuery(read_page(params, default_size), {name: text for name, text in texts.items() if text})


def conditions(query: ActivityQuery) -> list[ColumnElement[bool]]:
    """Return the WHERE clauses of a query."""
    given = query.given
    clauses = [getattr(AdminActivity, name) == given[name] for name in EXACT if name in given]
    if "record_id" in given:
        clauses.append(AdminActivity.record_id == int(given["record_id"]))
    if "actor" in given:
        actor = func.split_part(AdminActivity.search_text, PART, 2)
        clauses.append(actor.contains(fold(given["actor"]).strip(), autoescape=True))
    terms = fold(given.get("q", "")[:SEARCH_MAX]).split()
    clauses += [AdminActivity.search_text.contains(term, autoescape=True) for term in terms]
    return clauses + days(AdminActivity.at, given)


def days(at: InstrumentedAttribute[datetime], given: Mapping[str, str]) -> list[ColumnElement[bool]]:
    """Return the WHERE clauses for a time on the days ``from`` to ``to``, inclusive, in UTC. Both are optional."""
    first, last = parse_day(given.get("from", "")), parse_day(given.get("to", ""))
    clauses = [at >= first] if first else []
    return [*clauses, at < last + timedelta(days=1)] if last else clauses


def parse_day(text: str) -> datetime | None:
    """Return the start of a day in UTC; None if the text is not a date in ISO 8601."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return datetime(day.year, day.month, day.day, tzinfo=UTC) if 1 < day.year < 9999 else None
