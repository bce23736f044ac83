"""Telephone numbers are stored as typed, with their E.164 form beside it, by which searches and hints find them."""

import pytest

from groundtransport.records.duplicates import comparison
from groundtransport.security import Role
from tests.api import Program, make_token
from tests.functional.importing import Importing, rows_of
from tests.functional.test_check_and_reindex import findings, repair, spoil
from tests.functional.test_import_plan import Imports, imports  # noqa: F401  # a fixture
from tests.site import HEATHROW, JFK, Client, Site

LONDON = "+442079460000"
SPELLINGS = (
    *("020 7946 0000", "+44 20 7946 0000", "+44 (0)20 7946 0000", "(020) 7946-0000", "02079460000"),
    *("0044 20 7946 0000", "+442079460000 ext. 12"),
)
SEARCHES = (
    *("0044 20 7946 0000", "+44 20 7946 0000", "+44 (0)20 7946 0000", "(0)20 7946 0000", "020 7946 0000"),
    *("02079460000", "00442079460000", "442079460000", "011 44 20 7946 0000", "0044(0)20-7946-0000"),
)


def e164(site: Site, kind: str, record_id: int) -> str | None:
    number: str | None = site.row(kind, record_id)["company_phone1_e164"]
    return number


def test_every_spelling_is_found_by_every_other(site: Site, client: Client, kind: str) -> None:
    ids = []
    for spelling in SPELLINGS:
        ids.append(client.create(kind, airport_name=HEATHROW, company_phone1=spelling))
        assert (site.row(kind, ids[-1])["company_phone1"], e164(site, kind, ids[-1])) == (spelling, LONDON)
    client.create(kind, airport_name=HEATHROW, company_phone1="020 7946 0001")
    for text in SEARCHES:
        assert sorted(row["id"] for row in client.rows(kind, q=text)) == ids, text
        assert sorted(row["id"] for row in client.rows(kind, company_phone=text)) == ids, text
    assert client.rows(kind, q="0045 20 7946 0000") == []


def test_each_way_of_saving_fills_the_column(site: Site, client: Client) -> None:
    program = Program(site, make_token(site, Role.EDITOR))
    made = program.post("/api/v1/transit", {"airport_name": HEATHROW, "company_phone1": "020 7946 0000"}).json
    assert e164(site, "transit", made["id"]) == LONDON
    answer = program.patch(
        f"/api/v1/transit/{made['id']}", {"company_phone1": None, "company_phone2": "020 7946 0018"}, If_Match='"1"'
    )
    assert answer.status_int == 200, answer.text
    row = site.row("transit", made["id"])
    assert (row["company_phone1_e164"], row["company_phone2_e164"]) == (None, "+442079460018")

    Importing(client).whole(rows_of("Alpha", phone="718 244 4444"))
    (found,) = client.rows("transit", q="+1 718 244 4444")
    assert e164(site, "transit", found["id"]) == "+17182444444"

    client.put(f"/admin/transit/{found['id']}", {"airport_name": HEATHROW})  # the same text is another number there
    assert client.rows("transit", q="+17182444444") == []
    assert (e164(site, "transit", found["id"]) or "").startswith("+44")


def test_an_impossible_number_is_refused_on_each_way(site: Site, imports: Imports) -> None:  # noqa: F811  # the fixture
    program = Program(site, make_token(site, Role.EDITOR))
    for number in ("unknown 12", "TBD 24"):
        answer = program.post("/api/v1/transit", {"airport_name": JFK, "company_phone1": number})
        assert (answer.status_int, list(answer.json["errors"])) == (422, ["company_phone1"])
        row = imports.one(f"Airport,Agency_name,Phone\nJFK,Beta,{number}")
        assert [problem.field for problem in row.problems] == ["company_phone1"]


@pytest.mark.parametrize("number", ["1447", "555-1234"])
def test_an_incomplete_number_has_no_e164_form(site: Site, client: Client, kind: str, number: str) -> None:
    record_id = client.create(kind, company_phone1=number)

    assert e164(site, kind, record_id) is None
    assert [row["id"] for row in client.rows(kind, company_phone=number)] == [record_id]


def test_a_number_in_another_spelling_is_a_hint_among_many_records(
    client: Client, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "NEWEST", 1)  # what stands further back is found by indexes alone
    alpha = client.create(kind, company_name="Alpha", company_phone1="503-238-RIDE")
    short = client.create(kind, company_name="Gamma", company_phone1="1447")
    client.create(kind, company_name="Beta")
    query = {"airport_name": JFK, "company_name": "Other"}

    for number, record_id in (("+1 503 2387433", alpha), ("1447", short)):
        found = client.get(f"/admin/{kind}/similar", {**query, "company_phone1": number}).json["similar"]
        assert [(one["id"], one["reasons"]) for one in found] == [(record_id, "same phone")]


def test_an_import_compares_the_numbers(imports: Imports) -> None:  # noqa: F811  # the fixture
    imports.add("LHR,Alpha,0044 20 7946 0000,,,R1,,Active,feed,1")

    row = imports.one("Airport,Agency_name,Phone\nLHR,Beta,(020) 7946-0000")

    assert len(row.similar) == 1


def test_two_numbers_in_a_cell_are_proposed(imports: Imports) -> None:  # noqa: F811  # the fixture
    row = imports.one("Airport,Agency_name,Phone\nJFK,Beta,718-244-4444 / 718-244-4445")

    assert [problem.proposals for problem in row.problems] == [("718-244-4444", "718-244-4445")]


def test_wrong_numbers_are_noticed_and_mended(site: Site, client: Client, kind: str) -> None:
    client.create(kind, airport_name=HEATHROW, company_phone1="020 7946 0000")
    spoil(site, f"UPDATE {kind} SET company_phone1_e164 = NULL")

    assert any("search texts" in fault for fault in findings(site, kind))
    assert repair(site, kind) == 1
    assert findings(site, kind) == []
