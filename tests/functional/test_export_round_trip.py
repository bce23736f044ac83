"""What is exported comes back as it was: an import of the file changes nothing, in each format, whatever the texts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import colander
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from groundtransport import db
from groundtransport.airports import lookup
from groundtransport.events import Actor
from groundtransport.i18n import translated
from groundtransport.records.fields import Place
from groundtransport.records.forms import values_of
from groundtransport.records.list.query import read_query
from groundtransport.records.writer import Writer
from groundtransport.security_log.events import Entry, Event
from groundtransport.transfer.columns import guess_mapping
from groundtransport.transfer.export.formats import Format
from groundtransport.transfer.export.records import Options, export_of
from groundtransport.transfer.export.rows import Selection
from groundtransport.transfer.export.stream import run_export
from groundtransport.transfer.formula_guard import GUARD, STARTS
from groundtransport.transfer.imports.files import file_reader
from groundtransport.transfer.plan_types import ImportOptions, Match, Outcome
from groundtransport.transfer.planning import Planner
from tests.site import JFK, Site

# Mostly what has a meaning in some format, then any text.
PARTS = [
    *STARTS,
    GUARD,
    '"',
    ",",
    ";",
    "|",
    "\\",
    " ",
    "\u00a0",
    "\u2028",
    "_x0041_",
    "&lt;",
    "é",
    "😀",
    "1",
    "a",
    "#N/A",
]
TEXT = st.lists(st.sampled_from(PARTS), max_size=6).map("".join) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=20
)
PHONE = st.sampled_from(
    ["", "+49 30 901820", "(212) 555-1234", "0044 20 7946 0000", "+1 212 555 1234 x12", "2125551234"]
)
ROW = st.fixed_dictionaries(
    {
        "company_name": TEXT,
        "route_name": TEXT,
        "description": TEXT,
        "place": TEXT,
        "zip_code": st.sampled_from(["01234", "1E5", "TRUE", "2026-11-03", "-5", "+5", "1,5", "'=1"]) | TEXT,
        "company_phone1": PHONE,
        "source": TEXT,
    }
)


def stored_values(site: Site, texts: dict[str, str]) -> dict[str, Any]:
    """Return the values of a record with these texts; a text that the form refuses is left out."""
    kind = site.kinds["transit"]
    with db.transaction(site.engine) as dbsession:
        airport = lookup.by_airport_name(dbsession, JFK)
        place = Place(airport.country, airport)
        schema = kind.form.bind(place=place)
        values = {}
        for node in schema.children:
            try:
                values[node.name] = node.deserialize({**texts, "airport_name": JFK}.get(node.name, ""))
            except colander.Invalid:
                values[node.name] = node.deserialize("")
        return values_of(place, values)


def store(site: Site, rows: list[dict[str, str]]) -> None:
    kind = site.kinds["transit"]
    values = [stored_values(site, row) for row in rows]
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(delete(kind.model))
        Writer(dbsession, site.registry.notify, kind, Actor("somebody")).create_all(values)


def exported(site: Site, options: Options, file: Path) -> Path:
    """Write all records to a file and return it."""
    kind = site.kinds["transit"]
    export = export_of(Selection(kind, read_query(kind, {}, 10)), options, Entry(Event.EXPORT, "somebody"), translated)
    file.write_bytes(b"".join(run_export(export, site.engine, site.registry["security_log"])))
    return file


def planned(site: Site, file: Path) -> Iterator[Any]:
    """Yield the plan of each row of a file, matched by id; empty cells clear their fields."""
    kind, reader = site.kinds["transit"], file_reader(site.registry)
    source = reader.sniff(file, file.name)
    mapping = guess_mapping(kind, source.header)
    options = ImportOptions(mapping, Match.ID, can_update=True, clears_empty_cells=True)
    planner = Planner(site.registry, kind, options, finds_similar=False)
    yield from planner.plan(reader.rows(source))


CHOICES = [
    Options(Format.CSV),
    Options(Format.CSV, has_labels=True, has_bom=True, has_guard=False),
    Options(Format.XLSX, has_labels=True),
    Options(Format.JSONL),
]


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ROW, min_size=1, max_size=5))
@example([dict.fromkeys(("company_name", "route_name", "place", "description"), "=1+1\t'x")])
@example([{"company_name": "'=1", "place": "''=1", "route_name": "'+49 30 901820", "description": '"a"\nb,\n\n =c'}])
@example([{"company_name": "_x000D_ _x0041_", "place": "a&amp;b <b>", "route_name": "#N/A", "zip_code": "1E+5"}])
def test_an_export_that_is_imported_changes_nothing(site: Site, tmp_path: Path, rows: list[dict[str, str]]) -> None:
    store(site, rows)
    for number, options in enumerate(CHOICES):
        file = exported(site, options, tmp_path / f"{number}.{options.file_format}")

        plans = list(planned(site, file))

        assert [(plan.outcome, plan.changes, plan.problems) for plan in plans] == [(Outcome.UNCHANGED, {}, ())] * len(
            rows
        ), options


@pytest.mark.parametrize("file_format", [Format.CSV, Format.JSONL])
def test_a_change_in_the_file_is_a_change_of_its_record(site: Site, tmp_path: Path, file_format: Format) -> None:
    store(site, [{"company_name": "Alpha"}, {"company_name": "Beta"}])
    file = exported(site, Options(file_format), tmp_path / "file")
    file.write_bytes(file.read_bytes().replace(b"Alpha", b"Gamma"))

    plans = {plan.outcome: plan for plan in planned(site, file)}

    assert plans[Outcome.CHANGED].changes == {"company_name": ("Alpha", "Gamma")}
    assert set(plans) == {Outcome.CHANGED, Outcome.UNCHANGED}
