"""Create many records at once, for lists of several pages."""

from groundtransport import db
from groundtransport.airports import lookup
from groundtransport.events import Actor
from groundtransport.records.writer import Writer
from tests.site import JFK, Site


def fill(site: Site, kind: str, number: int) -> list[int]:
    """Insert records named 001, 002 and so on, and return their ids."""
    with db.transaction(site.engine) as dbsession:
        airport = lookup.by_code(dbsession, "JFK")
        writer = Writer(dbsession, lambda event: None, site.kinds[kind], Actor("test"))
        place = {"airport_name": JFK, "airport_code": "JFK", "airport_id": airport.id}
        return [writer.create({**place, "company_name": f"{count:03}"}) for count in range(1, number + 1)]
