"""What the activity log is asked for: search, filters, dates. Read from the address, turned into conditions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from urllib.parse import urlencode

from sqlalchemy import ColumnElement, func
from sqlalchemy.orm import InstrumentedAttribute

from groundtransport.audit.models import AdminActivity
from groundtransport.records.list.query import ListQuery, only_once, read_page
from groundtransport.text import PART, fold

EXACT = ("kind", "action", "batch", "airport_code")
NAMES = ("q", "actor", *EXACT, "record_id", "from", "to")


@dataclass(frozen=True)
class ActivityQuery:
    """``given`` holds the filters that make sense, by name; the page is a list's."""

    page: ListQuery
    given: Mapping[str, str] = field(default_factory=dict)

    def state(self, **changes: str) -> str:
        """Return the query string that repeats this query."""
        size = str(self.page.page_size) if self.page.size_sent else ""
        known = {**self.given, "page_no": self.page.page_no, "page_size": size, **changes}
        return urlencode([(name, value) for name, value in known.items() if value])


def read(sent: Mapping[str, list[str]], default_size: int) -> ActivityQuery:
    """Return the query of an address; what makes no sense is left out."""
    once = only_once(sent)
    texts = {name: once.get(name, "").replace("\0", "").strip() for name in NAMES}
    texts["q"] = texts["q"] or once.get("search[value]", "").replace("\0", "").strip()
    texts["airport_code"] = texts["airport_code"].upper()
    for name in ("from", "to"):
        texts[name] = texts[name] if day(texts[name]) else ""
    number = texts["record_id"]
    texts["record_id"] = number if number.isascii() and number.isdigit() and len(number) <= 18 else ""
    return ActivityQuery(read_page(sent, default_size), {name: text for name, text in texts.items() if text})


def conditions(query: ActivityQuery) -> list[ColumnElement[bool]]:
    """Return what an entry must fulfil, all of it."""
    given = query.given
    found = [getattr(AdminActivity, name) == given[name] for name in EXACT if name in given]
    if "record_id" in given:
        found.append(AdminActivity.record_id == int(given["record_id"]))
    if "actor" in given:
        person = func.split_part(AdminActivity.search_text, PART, 2)
        found.append(person.contains(fold(given["actor"]).strip(), autoescape=True))
    words = fold(given.get("q", "")[:200]).split()
    found += [AdminActivity.search_text.contains(word, autoescape=True) for word in words]
    return found + days(AdminActivity.at, given)


def days(at: InstrumentedAttribute[datetime], given: Mapping[str, str]) -> list[ColumnElement[bool]]:
    """Return that a moment is on the days ``from`` to ``to`` in UTC, as far as they are given."""
    first, last = day(given.get("from", "")), day(given.get("to", ""))
    found = [at >= first] if first else []
    return [*found, at < last + timedelta(days=1)] if last else found


def day(text: str) -> datetime | None:
    """Return the beginning of a day in ISO 8601, else None."""
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    return datetime(found.year, found.month, found.day, tzinfo=UTC) if 1 < found.year < 9999 else None
