"""The tables of airports/data: what airportsdata lacks or has wrong. Their sources are in airports/data/README.md."""

import csv
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from zlib import crc32

from groundtransport.text import FOLD_VERSION

FILES = ("additions.csv", "closed.csv", "corrections.csv", "names.csv", "traffic.csv")
LAYOUT = 1  # to be raised whenever the search text of an airport is put together in another way


@dataclass(frozen=True)
class Traffic:
    """Scheduled traffic: the page rank (1 is the busiest), codes of cities, and the position in the source."""

    page_rank: float
    cities: tuple[str, ...]
    position: tuple[float, float] | None


@dataclass(frozen=True)
class Closure:
    """When an airport was closed, and the code of the airport that its flights moved to."""

    closed_on: date
    replaced_by: str


@dataclass(frozen=True)
class Correction:
    """The right value of a column (``name``, ``city`` or ``position``), and the value in airportsdata that is wrong."""

    value: str
    was: str


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = files("groundtransport.airports").joinpath("data", name).read_text(encoding="utf-8")
    yield from csv.DictReader(text.splitlines())


def version() -> str:
    """Return a text that changes whenever the tables, or the rules of folding, change."""
    folder = files("groundtransport.airports").joinpath("data")
    digest = crc32(b"".join(folder.joinpath(name).read_bytes() for name in FILES))
    return f"airports {digest:08x}, fold {FOLD_VERSION}, layout {LAYOUT}"


@cache
def traffic() -> dict[str, Traffic]:
    """Return the traffic of airports, by code."""
    return {row["code"]: _traffic(row) for row in _rows("traffic.csv")}


def _traffic(row: dict[str, str]) -> Traffic:
    position = (float(row["latitude"]), float(row["longitude"])) if row["latitude"] else None
    return Traffic(float(row["page_rank"]), tuple(row["cities"].split()), position)


@cache
def closures() -> dict[str, Closure]:
    """Return the closed airports that records may still refer to, by code."""
    return {
        row["code"]: Closure(date.fromisoformat(row["closed_on"]), row["replaced_by"]) for row in _rows("closed.csv")
    }


@cache
def popular_names() -> dict[str, tuple[str, ...]]:
    """Return the former and popular names of airports, by code."""
    return {row["code"]: tuple(row["names"].split("|")) for row in _rows("names.csv")}


@cache
def corrections() -> dict[str, dict[str, Correction]]:
    """Return the corrections of airportsdata, by code and column."""
    by_code: dict[str, dict[str, Correction]] = defaultdict(dict)
    for row in _rows("corrections.csv"):
        by_code[row["code"]][row["field"]] = Correction(row["value"], row["was"])
    return dict(by_code)


@cache
def state_names() -> dict[str, tuple[str, ...]]:
    """Return further names of states, English, Spanish, local and former ones, by ISO 3166-2 code."""
    return {row["code"]: tuple(row["names"].split("|")) for row in _rows("states.csv")}


def additions() -> list[dict[str, str]]:
    """Return the airports with traffic that airportsdata lacks, as its rows."""
    return list(_rows("additions.csv"))
