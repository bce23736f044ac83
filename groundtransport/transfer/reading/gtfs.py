"""Read a GTFS feed (https://gtfs.org/documentation/schedule/reference/) as rows, one for each route.

The airport of a route is that of its stop nearest to one, within ``NEAR`` km. Where the feed does not say which route
stops where, all routes get the airport with the nearest stop. A route without one has an empty airport.
"""

import csv
import io
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from groundtransport.airports.nearby_cities import distance
from groundtransport.i18n import _
from groundtransport.transfer.reading import archives
from groundtransport.transfer.reading.limits import Limits
from groundtransport.transfer.reading.source_file import BadFile, FileRow

NEAR = 3  # km from a stop to an airport
AGENCIES, ROUTES, STOPS, TRIPS, TIMES = "agency.txt", "routes.txt", "stops.txt", "trips.txt", "stop_times.txt"
FEED = "feed_info.txt"
FILES = (AGENCIES, ROUTES, STOPS, TRIPS, TIMES, FEED)
HEADER = (
    *("airport_name", "company_name", "company_phone1", "company_link", "route_name", "place", "description"),
    *("source", "source_id"),
)

Line = Mapping[str, str]


@dataclass(frozen=True)
class AirportPosition:
    """An airport's name ``<name> (<code>)`` and its position in degrees."""

    airport_name: str
    latitude: float
    longitude: float


@dataclass(frozen=True, order=True)
class Near:
    """A stop near an airport; the nearest is the least."""

    km: float
    airport_name: str
    stop_name: str


NOWHERE = Near(0.0, "", "")


def is_feed(names: Iterable[str]) -> bool:
    """Return True if an archive with these file names is a GTFS feed."""
    return {AGENCIES, ROUTES} <= set(names)


def check_feed(path: Path, limits: Limits) -> None:
    """Raise BadFile if the files of a feed that are read are too large unpacked."""
    archives.check_unpacked_size(path, limits, FILES)


def read_feed(path: Path, filename: str, airports: Sequence[AirportPosition]) -> Iterator[FileRow]:
    """Yield HEADER, then a row for each route; ``line`` is that of ``routes.txt``. Raise BadFile for a damaged feed."""
    yield FileRow(1, HEADER)
    try:
        with zipfile.ZipFile(path) as archive:
            feed = _Feed(archive, filename, airports)
            for line, route in enumerate(feed.table(ROUTES), 2):
                yield FileRow(line, feed.row(route))
    except csv.Error as error:
        text = _("A file of the feed cannot be read: ${reason}.", mapping={"reason": str(error)})
        raise BadFile(text) from error
    except (zipfile.BadZipFile, UnicodeError, EOFError) as error:
        raise BadFile(archives.DAMAGED) from error


class _Feed:
    """The tables of a feed; those of agencies and stops near airports are kept."""

    def __init__(self, archive: zipfile.ZipFile, filename: str, airports: Sequence[AirportPosition]) -> None:
        self.archive, self.names = archive, set(archive.namelist())
        self.agencies = {line.get("agency_id", ""): line for line in self.table(AGENCIES)}
        if not self.agencies:
            raise BadFile(_("The feed's agency.txt names no agency."))
        self.source = next((line.get("feed_publisher_name", "") for line in self.table(FEED)), "") or filename
        stops = self._near_stops(_Airports(airports))
        self.by_route = self._near_routes(stops) if {TRIPS, TIMES} <= self.names else None
        self.nearest = min(stops.values(), default=NOWHERE)

    def table(self, name: str) -> Iterator[Line]:
        """Yield the lines of a file by column name; none if the feed lacks the file."""
        if name in self.names:
            with self._text(name) as text:
                for line in csv.DictReader(text, restval=""):
                    yield {key.strip(): (value or "").strip() for key, value in line.items() if isinstance(key, str)}

    @contextmanager
    def _text(self, name: str) -> Iterator[io.TextIOWrapper]:
        with self.archive.open(name) as file, io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", "") as text:
            yield text

    def row(self, route: Line) -> tuple[str, ...]:
        """Return the cells of a route, in the order of HEADER."""
        agency = self._agency(route)
        near = self.nearest if self.by_route is None else self.by_route.get(route.get("route_id", ""), NOWHERE)
        return (
            near.airport_name,
            agency.get("agency_name", ""),
            agency.get("agency_phone", ""),
            route.get("route_url") or agency.get("agency_url", ""),
            " ".join(filter(None, (route.get("route_short_name"), route.get("route_long_name")))),
            near.stop_name,
            route.get("route_desc", ""),
            self.source,
            f"{agency.get('agency_id', '')}:{route.get('route_id', '')}",
        )

    def _agency(self, route: Line) -> Line:
        """Return the agency of a route; a feed of one agency need not name it."""
        only = next(iter(self.agencies.values()))
        return self.agencies.get(route.get("agency_id", ""), only if len(self.agencies) == 1 else {})

    def _near_stops(self, airports: "_Airports") -> dict[str, Near]:
        """Return the stops near an airport, by stop id."""
        near = ((stop, airports.nearest(stop)) for stop in self.table(STOPS))
        return {stop.get("stop_id", ""): near_stop for stop, near_stop in near if near_stop}

    def _near_routes(self, stops: Mapping[str, Near]) -> dict[str, Near]:
        """Return the stop of each route that is nearest to an airport, by route id."""
        trips: dict[str, Near] = {}
        for time in self.table(TIMES) if stops else ():
            if near_stop := stops.get(time.get("stop_id", "")):
                trip = time.get("trip_id", "")
                trips[trip] = min(near_stop, trips.get(trip, near_stop))
        routes: dict[str, Near] = {}
        for trip_line in self.table(TRIPS) if trips else ():
            if near_stop := trips.get(trip_line.get("trip_id", "")):
                route = trip_line.get("route_id", "")
                routes[route] = min(near_stop, routes.get(route, near_stop))
        return routes


class _Airports:
    """The airports by squares of a tenth of a degree, so that a stop is compared with few of them."""

    def __init__(self, airports: Sequence[AirportPosition]) -> None:
        self.squares: dict[tuple[int, int], list[AirportPosition]] = defaultdict(list)
        for airport in airports:
            self.squares[_square(airport.latitude, airport.longitude)].append(airport)

    def nearest(self, stop: Line) -> Near | None:
        """Return the airport nearest to a stop, None if none is within NEAR km or the stop has no position."""
        try:
            here = float(stop.get("stop_lat", "")), float(stop.get("stop_lon", ""))
        except ValueError:
            return None
        if not (abs(here[0]) <= 90 and abs(here[1]) <= 180):
            return None
        row, column = _square(*here)
        around = [(row + down, column + right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
        airports = [airport for square in around for airport in self.squares.get(square, ())]
        name = stop.get("stop_name", "")
        near_stops = [Near(distance(here, (one.latitude, one.longitude)), one.airport_name, name) for one in airports]
        nearest = min(near_stops, default=None)
        return nearest if nearest and nearest.km <= NEAR else None


def _square(latitude: float, longitude: float) -> tuple[int, int]:
    return round(latitude * 10), round(longitude * 10)
