"""The order of the review queue.

First come the records that were never verified, of the airport with most traffic first; then those whose verification
is longest ago. ``Spot`` tells where in the queue somebody is.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from urllib.parse import urlencode

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from groundtransport.airports.models import Airport
from groundtransport.db import AnySelect, table_of
from groundtransport.records.kind import Kind
from groundtransport.records.list import pages
from groundtransport.records.verification import due_before
from groundtransport.review import leases

TRIES = 5  # candidates that others may take first
_AIRPORTS = table_of(Airport).c


@dataclass(frozen=True)
class Spot:
    """A place in the queue: the kind, the country (ISO 3166-1) and airport code that limit it, and a record."""

    kind: str = ""
    country: str = ""
    airport_code: str = ""
    record: str = ""

    @property
    def state(self) -> str:
        """The query string of the page at this place."""
        return urlencode({name: value for name, value in asdict(self).items() if value})

    @property
    def url(self) -> str:
        return f"/admin/review?{self.state}" if self.state else "/admin/review"

    @classmethod
    def of(cls, values: Mapping[str, str]) -> "Spot":
        """Return the place that the parameters of a URL or the fields of a form name; too long texts are dropped."""
        texts = {name: values.get(name, "").strip() for name in ("kind", "country", "airport_code", "record")}
        known = {name: text for name, text in texts.items() if text.isascii() and text.isprintable() and len(text) < 65}
        return cls(**{**known, "airport_code": known.get("airport_code", "").upper()})


def take_next(dbsession: Session, kind: Kind, spot: Spot, days: int, user_id: int) -> int | None:
    """Lease the next record to a user and return its id; None if no record is due."""
    for _number in range(TRIES):
        record_id = next_due(dbsession, kind, spot, days, user_id)
        if record_id is None or leases.take(dbsession, kind.name, record_id, user_id):
            return record_id
    return None


def next_due(dbsession: Session, kind: Kind, spot: Spot, days: int, user_id: int) -> int | None:
    """Return the id of the first record of the queue that nobody else has; None if there is none."""
    columns = kind.model.__table__.c
    base = [pages.live(kind), leases.is_free(kind.name, columns.id, user_id)]
    if spot.airport_code:
        base.append(columns.airport_code == spot.airport_code)
    record_id: int | None = dbsession.scalar(_never_verified(kind, spot, base))
    if record_id is None:
        record_id = dbsession.scalar(_oldest(kind, spot, base, days))
    return record_id


def _never_verified(kind: Kind, spot: Spot, base: list[ColumnElement[bool]]) -> AnySelect:
    """Return the SELECT of the first record that was never verified, at the busiest airport that has one."""
    columns = kind.model.__table__.c
    conditions = (*base, columns.verified_at.is_(None), columns.airport_id == _AIRPORTS.id)
    first = select(func.min(columns.id)).where(*conditions).correlate(_AIRPORTS.id.table).scalar_subquery()
    has_one = select(columns.id).where(*conditions).correlate(_AIRPORTS.id.table).exists()
    query = select(first).select_from(Airport).where(has_one, *_in_country(spot))
    if spot.airport_code:
        query = query.where(_AIRPORTS.code == spot.airport_code)
    return query.order_by(func.coalesce(_AIRPORTS.page_rank, 0).desc(), _AIRPORTS.id).limit(1)


def _oldest(kind: Kind, spot: Spot, base: list[ColumnElement[bool]], days: int) -> AnySelect:
    """Return the SELECT of the due record whose verification is longest ago."""
    columns = kind.model.__table__.c
    query = select(columns.id).where(*base, columns.verified_at < due_before(days))
    if spot.country:
        query = query.join(Airport, _AIRPORTS.id == columns.airport_id).where(*_in_country(spot))
    return query.order_by(columns.verified_at.asc().nulls_first(), columns.id).limit(1)


def _in_country(spot: Spot) -> list[ColumnElement[bool]]:
    return [_AIRPORTS.country == spot.country] if spot.country else []
