"""What the planner of an import makes of each row: new, changed, unchanged, refused, double or left out."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groundtransport import db
from groundtransport.airports import lookup
from groundtransport.events import Actor
from groundtransport.i18n import translated
from groundtransport.records.duplicates.comparison import similar
from groundtransport.records.duplicates.of_airports import SimilarFinder
from groundtransport.transfer.columns import guess_mapping
from groundtransport.transfer.imports.files import file_reader
from groundtransport.transfer.plan_types import Decisions, ImportOptions, Match, Outcome, PlannedRow
from groundtransport.transfer.planning import Planner
from groundtransport.transfer.row_writer import RowWriter, Written
from tests.site import HEATHROW, JFK, Site

ACTOR = Actor("the-importer", batch="import-1")
HEADER = "Airport,Agency_name,Phone,tel 2,website,route,State,status,source,source_id"
FIRST = "JFK,Alpha,718 555 0199,,alpha.example,R1,New York,Active,feed,1"


class Imports:
    """Plans and writes the rows of texts."""

    def __init__(self, site: Site, folder: Path) -> None:
        self.site, self.path, self.kind = site, folder / "file.csv", site.kinds["transit"]

    def plan(self, text: str, match: Match = Match.NEVER, **options: Any) -> list[PlannedRow]:
        self.path.write_text(text)
        reader = file_reader(self.site.registry)
        file = reader.sniff(self.path, "file.csv")
        given = ImportOptions(guess_mapping(self.kind, file.header), match, **options)
        given = ImportOptions.from_json(json.loads(json.dumps(given.to_json())))
        planner = Planner(self.site.registry, self.kind, given)
        planner.find_doubles(reader.rows(file))
        rows = list(planner.plan(reader.rows(file)))
        assert [PlannedRow.from_json(json.loads(json.dumps(row.to_json()))) for row in rows] == rows
        return rows

    def one(self, text: str, match: Match = Match.NEVER, **options: Any) -> PlannedRow:
        (row,) = self.plan(text, match, **options)
        return row

    def write(self, rows: list[PlannedRow]) -> Written:
        with db.transaction(self.site.engine) as dbsession:
            return RowWriter(dbsession, self.site.registry.notify, self.kind, ACTOR).write(rows)

    def add(self, *rows: str) -> list[int]:
        """Import rows of HEADER; return the ids of the new records."""
        before = {row["id"] for row in self.stored()}
        self.write(self.plan("\n".join([HEADER, *rows])))
        return sorted({row["id"] for row in self.stored()} - before)

    def stored(self) -> list[dict[str, Any]]:
        return self.site.client().rows("transit", sort="id")


@pytest.fixture
def imports(site: Site, tmp_path: Path) -> Iterator[Imports]:
    return Imports(site, tmp_path)


def outcomes(rows: list[PlannedRow]) -> list[str]:
    return [row.outcome.value for row in rows]


def reasons(row: PlannedRow) -> dict[str, str]:
    return {problem.field: translated(problem.reason) for problem in row.problems}


def test_each_bad_cell_has_its_column_value_and_reason(imports: Imports) -> None:
    rows = imports.plan(
        f"{HEADER}\n{FIRST}\nlhr,Beta,abc,1447,http://b c,R2,,,feed,2\n,Gam\nJFK,Eps,2.12556E+09,#REF!,,,Nw York,on,,\n"
    )
    assert outcomes(rows) == ["new", "refused", "refused", "refused"]
    assert rows[0].values is not None
    assert (rows[0].values["airport_name"], rows[0].values["state"], rows[0].values["company_link"]) == (
        JFK,
        "US-NY",
        "https://alpha.example",
    )
    problems = {problem.field: problem for problem in rows[1].problems}
    assert {name: (one.column, one.value, one.can_drop) for name, one in problems.items()} == {
        "company_phone1": (2, "abc", True),
        "company_link": (4, "http://b c", True),
    }
    assert reasons(rows[2]) == {"airport_name": "Airport is required."}
    assert not rows[2].problems[0].can_drop
    assert list(reasons(rows[3])) == ["company_phone1", "company_phone2", "status", "state"]
    assert "rounded this number" in reasons(rows[3])["company_phone1"]
    assert "error of the spreadsheet" in reasons(rows[3])["company_phone2"]
    assert {problem.field: problem.proposals[:1] for problem in rows[3].problems}["state"] == ("New York",)


def test_what_belongs_to_a_country_is_not_judged_without_the_airport(imports: Imports) -> None:
    text = "Airport,Company,Phone,State,status,website\nHethrow,A,020 7946 0018,Kent,on,b c\n"
    assert list(reasons(imports.one(text))) == ["airport_name", "status", "company_link"]
    decided = Decisions(replacements={("airport_name", "Hethrow"): HEATHROW})
    assert list(reasons(imports.one(text, decisions=decided))) == ["status", "company_link"]


def test_a_row_of_more_cells_than_the_header_is_refused(imports: Imports) -> None:
    rows = imports.plan("Airport,Company,City\nJFK,Smith, Jones Coaches,Queens\nJFK,Alpha,,\n")
    assert outcomes(rows) == ["refused", "new"]
    assert "more cells than the header" in reasons(rows[0])[""]


def test_near_names_are_proposed_and_one_choice_holds_for_all_rows(imports: Imports) -> None:
    text = "Airport,Company\nLondon Hethrow,A\nLondon Hethrow,B\nGatwick (QQQ),C\n"
    rows = imports.plan(text)
    assert HEATHROW in rows[0].problems[0].proposals
    assert "London Gatwick Airport (LGW)" in rows[2].problems[0].proposals
    decided = Decisions(replacements={("airport_name", "London Hethrow"): HEATHROW})
    assert outcomes(imports.plan(text, decisions=decided)) == ["new", "new", "refused"]


def test_a_cell_can_be_left_out_alone_or_with_all_of_its_reason(imports: Imports) -> None:
    text = f"{HEADER}\nJFK,A,abc\nJFK,B,xyz\nJFK,C,1.5E+09\nJFK,D,718 555 0100\n"
    rows = imports.plan(text)
    assert outcomes(rows) == ["refused", "refused", "refused", "new"]
    one = imports.plan(text, decisions=Decisions(dropped_cells=frozenset({(2, "company_phone1")})))
    assert outcomes(one) == ["new", "refused", "refused", "new"]
    reason = (rows[1].problems[0].field, rows[1].problems[0].code)
    assert outcomes(imports.plan(text, decisions=Decisions(dropped_reasons=frozenset({reason})))) == [
        *("new", "new", "refused", "new")
    ]
    assert outcomes(imports.plan(text, decisions=Decisions(left_out=frozenset({2, 3, 4})))) == ["skipped"] * 3 + ["new"]


@pytest.mark.parametrize("cell", ["JFK", "kjfk", "Kennedy (JFK)", "(jfk)"])
@pytest.mark.parametrize("title", ["Airport", "IATA", "airport code", "Aeropuerto"])
def test_the_airport_comes_from_a_name_or_a_code(imports: Imports, title: str, cell: str) -> None:
    row = imports.one(f"{title},Company\n{cell},A\n")
    assert row.values is not None
    assert (row.values["airport_name"], row.values["airport_code"]) == (JFK, "JFK")


def test_a_code_column_helps_a_name_without_code(imports: Imports) -> None:
    rows = imports.plan("Airport,IATA,Company\nKennedy,JFK,A\nLondon (LHR),JFK,B\nKennedy,QQQ,C\n")
    assert [row.values and row.values["airport_code"] for row in rows] == ["JFK", "LHR", None]
    assert rows[2].problems[0].field == "airport_code"


# Matching


def test_the_same_file_again_changes_nothing_and_changed_cells_alone(imports: Imports) -> None:
    text = f"{HEADER}\n{FIRST}\nLHR,Beta,,,,R2,,,feed,2\n"
    assert outcomes(imports.plan(text, Match.SOURCE)) == ["new", "new"]
    imports.write(imports.plan(text, Match.SOURCE))
    assert outcomes(imports.plan(text, Match.SOURCE, can_update=True)) == ["unchanged", "unchanged"]
    changed = text.replace("Beta", "Beta Ltd").replace("718 555 0199", "")
    rows = imports.plan(changed, Match.SOURCE, can_update=True)
    assert outcomes(rows) == ["unchanged", "changed"]  # an empty cell leaves the number
    assert rows[1].changes == {"company_name": ("Beta", "Beta Ltd")}
    imports.write(rows)
    assert [row["company_name"] for row in imports.stored()] == ["Alpha", "Beta Ltd"]
    cleared = imports.plan(changed, Match.SOURCE, can_update=True, clears_empty_cells=True)
    assert cleared[0].changes == {"company_phone1": ("718 555 0199", None)}


def test_a_column_that_the_file_lacks_leaves_the_field_alone(imports: Imports) -> None:
    (record_id,) = imports.add(FIRST)
    row = imports.one(f"id,company name\n{record_id},Gamma\n", Match.ID, can_update=True, clears_empty_cells=True)
    assert row.changes == {"company_name": ("Alpha", "Gamma")}
    imports.write([row])
    assert imports.stored()[0]["company_phone1"] == "718 555 0199"


def test_the_lines_of_a_cell_can_be_joined(imports: Imports) -> None:
    header, address = "airport_name,company_address,description,company_phone1", '"1 Main St,\r\n\n Queens "'
    text = f'{header}\nJFK,{address},"One\nTwo","718 555 0199\n718 555 0198"\n'
    refused = imports.one(text)
    assert {problem.field for problem in refused.problems} == {"company_address", "company_phone1"}
    row = imports.one(text, joins_lines=True)
    (problem,) = row.problems
    assert (problem.field, problem.value) == ("company_phone1", "718 555 0199\n718 555 0198")  # as in the file
    row = imports.one(text.replace("\n718 555 0198", ""), joins_lines=True)
    assert row.values is not None
    assert (row.values["company_address"], row.values["description"]) == ("1 Main St, Queens", "One\nTwo")


def test_add_and_update_can_be_chosen(imports: Imports) -> None:
    imports.add(FIRST)
    text = f"{HEADER}\n{FIRST.replace('Alpha', 'Beta')}\nLHR,New,,,,,,,feed,9\n"
    assert outcomes(imports.plan(text, Match.SOURCE)) == ["skipped", "new"]
    assert outcomes(imports.plan(text, Match.SOURCE, can_update=True, can_add=False)) == ["changed", "skipped"]


def test_ids_that_match_nothing_are_problems(imports: Imports) -> None:
    (record_id,) = imports.add(FIRST)
    imports.site.client().delete(f"/admin/transit/{record_id}")
    rows = imports.plan(
        f"id,airport\n{record_id},JFK\n999999999999999999,JFK\n{'9' * 30},JFK\nx,JFK\n,JFK\n", Match.ID, can_update=True
    )
    assert outcomes(rows) == ["refused"] * 4 + ["new"]
    assert "no record with this id" in reasons(rows[0])["id"]
    assert "whole number" in reasons(rows[3])["id"]


def test_rows_without_a_source_cannot_be_matched_by_it(imports: Imports) -> None:
    row = imports.one("Airport,source,source id\nJFK,feed,\n", Match.SOURCE)
    assert "needs a source and a source ID" in reasons(row)["source_id"]
    assert imports.one("Airport,source id\nJFK,7\n", Match.SOURCE, defaults={"source": "feed"}).outcome == Outcome.NEW


def test_matching_by_place_ignores_case_and_accents(imports: Imports) -> None:
    imports.add("JFK,Café Coaches,,,,Línea 1", "JFK,Twin,,,,R", "JFK,Twin,,,,R", "LHR,Café Coaches,,,,Línea 1")
    rows = imports.plan(
        "Airport,Company,Route,Phone\nJFK,CAFE  coaches,linea 1,718 555 0111\nJFK,twin,r,\nJFK,Cafe Coaches,2,\n",
        Match.PLACE,
        can_update=True,
    )
    assert outcomes(rows) == ["changed", "refused", "new"]
    assert "More than one record" in reasons(rows[1])[""]


def test_rows_that_stand_for_one_record_are_problems_wherever_they_stand(imports: Imports) -> None:
    many = [f"JFK,C{number},,,,,,,feed,{number}" for number in range(600)]
    rows = imports.plan("\n".join([HEADER, *many, "LHR,Other,,,,,,,feed,3"]), Match.SOURCE)
    assert [(row.line, row.doubles) for row in rows if row.outcome == Outcome.DOUBLE] == [(5, (602,)), (602, (5,))]
    assert reasons(rows[3]) == {"": "Other lines stand for the same record: 602."}


def test_a_source_id_of_a_live_record_is_refused_for_another(imports: Imports) -> None:
    (record_id,) = imports.add(FIRST)
    assert reasons(imports.one(f"{HEADER}\n{FIRST}\n")) == {
        "source_id": f"The record {record_id} has this source and source ID."
    }
    imports.site.client().delete(f"/admin/transit/{record_id}")
    assert imports.one(f"{HEADER}\n{FIRST}\n").outcome == Outcome.NEW


def test_a_record_that_moves_is_validated_at_its_new_airport(imports: Imports) -> None:
    (record_id,) = imports.add(FIRST)
    row = imports.one(f"id,airport\n{record_id},LHR\n", Match.ID, can_update=True)
    assert "United Kingdom has no US-NY" in reasons(row)["state"]
    row = imports.one(f"id,airport,state\n{record_id},LHR,London\n", Match.ID, can_update=True)
    assert row.outcome == Outcome.REFUSED or row.changes["airport_code"] == ("JFK", "LHR")


def test_a_record_that_somebody_changed_since_is_not_overwritten(imports: Imports) -> None:
    (record_id,) = imports.add(FIRST)
    rows = imports.plan(f"id,company\n{record_id},Mine\n", Match.ID, can_update=True)
    imports.site.client().put(f"/admin/transit/{record_id}", {"airport_name": JFK, "company_name": "Theirs"})
    assert (imports.write(rows).conflicts, imports.stored()[0]["company_name"]) == ([2], "Theirs")


def test_a_number_with_the_decimal_of_a_spreadsheet_is_the_number(imports: Imports) -> None:
    row = imports.one("Airport,Company,Phone\nJFK,Alpha,2125551234.0\n")
    assert (row.values or {})["company_phone1"] == "2125551234"


def test_similar_records_are_those_of_the_forms_hint(imports: Imports) -> None:
    imports.add(
        "JFK,Alpha Coaches Ltd",
        "JFK,Other,+1 718-555-0142",
        "JFK,Third,,,https://www.alpha.example/buses",
        "JFK,Fourth,1 718 555 0142 ext. 5",
        "LHR,Alpha Coaches",
        "JFK,Unlike,718 555 9999,,https://beta.example",
    )
    row = imports.one("Airport,Company,Phone,Website\nJFK,alpha coaches,(718) 555-0142,alpha.example\n")
    with db.transaction(imports.site.engine) as dbsession:
        airport = lookup.by_code(dbsession, "JFK")
        assert airport is not None
        assert row.values is not None
        hint = tuple(one.record_id for one in similar(dbsession, imports.kind, airport, row.values))
        assert SimilarFinder(imports.kind).find(dbsession, airport, row.values) == hint
    assert row.similar == hint
    assert len(hint) == 4
