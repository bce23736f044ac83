"""The query of the activity log: search, filters and dates, parsed from URL parameters into WHERE clauses."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from urllib.parse import urlencode

from sqlalchemy import ColumnElement, Text, func, type_coerce
from sqlalchemy.orm import InstrumentedAttribute

from groundtransport.audit.models import AdminActivity
from groundtransport.i18n import _
from groundtransport.records.list.query import ListQuery, read_page, single_values
from groundtransport.text import PART, fold, parse_number

SEARCH_MAX = 200  # characters
EXACT = ("kind", "action", "batch", "airport_code")
FIELD = "field"  # the filter for entries with a change of this field
NAMES = ("q", "actor", *EXACT, FIELD, "record_id", "from", "to")
_FIELD_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)


@dataclass(frozen=True)
class ActivityQuery:
    """A page of the activity log. ``filters`` holds the valid ones by name."""

    page: ListQuery
    filters: Mapping[str, str] = field(default_factory=dict)

    def state(self, **changes: str) -> str:
        """Return the query string that repeats this query."""
        size = str(self.page.page_size) if self.page.size_sent else ""
        params = {**self.filters, "page_no": self.page.page_no, "page_size": size, **changes}
        return urlencode([(name, value) for name, value in params.items() if value])


def read(params: Mapping[str, list[str]], default_size: int) -> ActivityQuery:
    """Return the query of URL parameters, given as lists of values; invalid parameters are ignored."""
    values = filter_values(params, (*NAMES, "search[value]"))
    searched = values.pop("search[value]")  # DataTables' name
    values["q"] = values["q"] or searched
    values["airport_code"] = values["airport_code"].upper()
    values[FIELD] = values[FIELD] if _FIELD_NAME.fullmatch(values[FIELD]) else ""
    if parse_number(values["record_id"]) is None:
        values["record_id"] = ""
    return ActivityQuery(read_page(params, default_size), {name: text for name, text in values.items() if text})


def filter_values(params: Mapping[str, list[str]], names: Iterable[str]) -> dict[str, str]:
    """Return the values of the parameters ``names``; "" for one that is absent, repeated, or an invalid day."""
    once = single_values(params)
    values = {name: once.get(name, "").replace("\0", "").strip() for name in names}
    return values | {name: "" for name in ("from", "to") if not parse_day(values[name])}


def conditions(query: ActivityQuery) -> list[ColumnElement[bool]]:
    """Return the WHERE clauses of a query."""
    filters = query.filters
    clauses = [getattr(AdminActivity, name) == filters[name] for name in EXACT if name in filters]
    if "record_id" in filters:
        clauses.append(AdminActivity.record_id == int(filters["record_id"]))
    if "actor" in filters:
        actor = func.split_part(AdminActivity.search_text, PART, 2)
        clauses.append(actor.contains(fold(filters["actor"]).strip(), autoescape=True))
    if FIELD in filters:  # no text within a value can match: a quotation mark in one is escaped
        changed = f'"{filters[FIELD]}":{{"'
        clauses.append(type_coerce(AdminActivity.changes, Text).contains(changed, autoescape=True))
    terms = fold(filters.get("q", "")[:SEARCH_MAX]).split()
    clauses += [AdminActivity.search_text.contains(term, autoescape=True) for term in terms]
    return clauses + days(AdminActivity.at, filters)


@dataclass(frozen=True)
class Period:
    """Some days up to today, in UTC, as a link; ``is_shown`` tells whether the page shows them."""

    title: str
    url: str
    is_shown: bool


def periods(query: ActivityQuery, today: date) -> list[Period]:
    """Return the periods that the page offers, with the other filters of the query."""
    yesterday, week = today - timedelta(days=1), today - timedelta(days=6)
    spans = ((_("Today"), today, today), (_("Yesterday"), yesterday, yesterday), (_("Last 7 days"), week, today))
    shown = query.filters.get("from"), query.filters.get("to")
    return [
        Period(
            title, query.state(page_no="", **{"from": str(first), "to": str(last)}), shown == (str(first), str(last))
        )
        for title, first, last in spans
    ]


def days(at: InstrumentedAttribute[datetime], filters: Mapping[str, str]) -> list[ColumnElement[bool]]:
    """Return the WHERE clauses for a time on the days ``from`` to ``to``, inclusive, in UTC. Both are optional."""
    first, last = parse_day(filters.get("from", "")), parse_day(filters.get("to", ""))
    clauses = [at >= first] if first else []
    return [*clauses, at < last + timedelta(days=1)] if last else clauses


def parse_day(text: str) -> datetime | None:
    """Return the start of a day in UTC; None if the text is not a date in ISO 8601."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return datetime(day.year, day.month, day.day, tzinfo=UTC) if 1 < day.year < 9999 else None
