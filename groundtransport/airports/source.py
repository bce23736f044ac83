"""The columns of the table ``airport`` from lists in the format of airportsdata."""

import csv
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from groundtransport.airports import tables
from groundtransport.airports.models import Airport
from groundtransport.airports.name_index import search_text
from groundtransport.airports.place_words import place_words
from groundtransport.json_types import JsonObject

_IATA = re.compile(r"[A-Z]{3}", re.ASCII)


class BadList(ValueError):
    """The file is not a valid list of airports; the message gives the reason."""


def packaged_airports() -> Iterator[dict[str, object]]:
    """Return the columns of the airports with an IATA code in the installed package airportsdata."""
    return (airport_values(row) for row in packaged_rows())


def packaged_rows() -> Iterator[dict[str, object]]:
    """Return the rows of the installed package airportsdata."""
    import airportsdata  # takes 20 MB of memory, which the web process does not need

    return ({**row} for row in airportsdata.load("IATA").values())


def missing_airports() -> list[dict[str, object]]:
    """Return the columns of the airports with scheduled flights that airportsdata lacks."""
    return [checked(airport_values(row)) for row in tables.additions()]


def airports_of(file: Path) -> Iterator[dict[str, object]]:
    """Yield the columns of the airports in a CSV file with the header of airportsdata; raise BadList if invalid."""
    with file.open(encoding="utf-8-sig", newline="") as lines:
        reader = csv.DictReader(lines)
        missing = {"iata", "icao", "name", "city", "subd", "country", "lat", "lon"} - set(reader.fieldnames or ())
        if missing:
            raise BadList(f"{file.name} lacks the columns {', '.join(sorted(missing))}")
        try:
            rows = [checked(airport_values(row)) for row in reader if row["iata"]]
        except (KeyError, TypeError, ValueError, AttributeError, csv.Error) as error:
            raise BadList(f"{file.name}, line {reader.line_num}: {error}") from error
    if not rows:
        raise BadList(f"{file.name} holds no airport with an IATA code")
    yield from rows


def checked(values: JsonObject) -> JsonObject:
    """Return the columns of an airport unchanged; raise ValueError if they are invalid."""
    if not _IATA.fullmatch(values["code"]):
        raise ValueError(f"{values['code']!r} is no IATA code: three capital letters")
    for name in ("name", "city", "state", "country"):
        longest = getattr(Airport, name).type.length
        if len(values[name]) > longest or not values[name].isprintable():
            raise ValueError(f"the {name} of {values['code']} is longer than {longest} characters, or not printable")
    if not values["name"] or len(values["country"]) != 2:
        raise ValueError(f"{values['code']} lacks a name or a country")
    if not (-90 <= values["latitude"] <= 90 and -180 <= values["longitude"] <= 180):
        raise ValueError(f"the position of {values['code']} is not on Earth")
    return values


def airport_values(row: JsonObject) -> JsonObject:
    """Return the columns of Airport for a row of airportsdata, corrected, with traffic, closure and search text.

    An ICAO code that does not have four letters or digits is dropped: the list holds pseudo codes such as ``_ZSP``.
    """
    icao = row["icao"] if len(row["icao"]) == 4 and row["icao"].isalnum() else None
    values = {
        "code": row["iata"],
        "icao": icao,
        "name": row["name"].strip(),
        "city": row["city"].strip(),
        "state": row["subd"].strip(),
        "country": row["country"],
        "latitude": float(row["lat"]),
        "longitude": float(row["lon"]),
    }
    return completed(values | corrected(values["code"]))


def corrected(code: str) -> dict[str, object]:
    """Return the columns of an airport that airports/data/corrections.csv corrects."""
    values: dict[str, object] = {}
    for column, correction in tables.corrections().get(code, {}).items():
        if column == "position":
            values["latitude"], values["longitude"] = map(float, correction.value.split())
        else:
            values[column] = correction.value
    return values


def completed(values: JsonObject, known_as: Iterable[str] = ()) -> JsonObject:
    """Return the columns of an airport with its traffic, its closure, and its search text, with further names."""
    code = values["code"]
    traffic, closure = tables.traffic().get(code), tables.closures().get(code)
    names = [code, values["icao"] or "", *(traffic.cities if traffic else ()), values["name"], values["city"]]
    names += [*split_city(values["city"]), *tables.popular_names().get(code, ()), *known_as]
    return values | {
        "page_rank": traffic.page_rank if traffic else None,
        "closed_on": closure.closed_on if closure else None,
        "replaced_by": closure.replaced_by if closure else None,
        "search_text": search_text(names, place_words(values["country"], values["state"])),
    }


def split_city(city: str) -> list[str]:
    """Return the parts of a city's name with slash, comma or bracket: ``Fort Stewart (Hinesville)``."""
    return [part.strip() for part in re.split(r"[/(),]", city) if part.strip()]
