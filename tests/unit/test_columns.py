"""Which field a column holds, by its title."""

import pytest

from groundtransport.kinds import kinds
from groundtransport.transfer.columns import guess_mapping


def fields(kind: str, *header: str) -> list[str | None]:
    return list(guess_mapping(kinds()[kind], header).values())


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("company_name", "company_name"),
        ("Company Name", "company_name"),
        ("COMPANY", "company_name"),
        ("agency_name", "company_name"),
        ("Empresa", "company_name"),
        ("Operator", "company_name"),
        ("Tel.", "company_phone1"),
        ("Phone", "company_phone1"),
        ("Tel\u00e9fono", "company_phone1"),
        ("phone 2", "company_phone2"),
        ("company_phone3", "company_phone3"),
        ("Website", "company_link"),
        ("URL", "company_link"),
        ("Street", "company_address"),
        ("Postal code", "zip_code"),
        ("ZIP / Postal Code", "zip_code"),
        ("Airport", "airport_name"),
        ("airport-code", "airport_code"),
        ("IATA", "airport_code"),
        ("ICAO", "airport_code"),
        ("Source ID", "source_id"),
        ("ID", "id"),
        ("Route", "route_name"),
        ("Firma", "company_name"),
        ("Unternehmen", "company_name"),
        ("Telefon", "company_phone1"),
        ("Telefon 2", "company_phone2"),
        ("Telefon (Zentrale)", "company_phone1"),
        ("Stra\u00dfe", "company_address"),
        ("STRASSE", "company_address"),
        ("Stra\u00dfe / Hausnr.", "company_address"),
        ("PLZ", "zip_code"),
        ("Ort", "city"),
        ("Stadt", "city"),
        ("Bundesland", "state"),
        ("Flughafen", "airport_name"),
        ("Flughafenk\u00fcrzel", "airport_code"),
        ("Webseite", "company_link"),
        ("Linie", "route_name"),
        ("Haltestelle", "place"),
        ("Bemerkung", "description"),
        ("gepr\u00fcft am", "verified_at"),
        ("Soci\u00e9t\u00e9", "company_name"),
        ("T\u00e9l\u00e9phone", "company_phone1"),
        ("A\u00e9roport", "airport_name"),
        ("Code postal", "zip_code"),
        ("P\u00e1gina web", "company_link"),
        ("Raz\u00f3n social", "company_name"),
        ("version", None),
        ("licence", None),
        ("", None),
    ],
)
def test_a_title_names_a_field(title: str, name: str | None) -> None:
    assert fields("transit", title) == [name]


def test_a_field_has_one_column_and_its_name_wins_over_a_synonym() -> None:
    header = ("Agency", "company_name", "Phone", "Telephone", "phone2", "City", "City")
    assert fields("transit", *header) == [
        *(None, "company_name", "company_phone1", None, "company_phone2", "city", None),
    ]


def test_a_title_is_preferred_to_one_with_a_bracket() -> None:
    assert fields("transit", "Phone (night)", "Phone") == [None, "company_phone1"]


def test_the_columns_of_refused_rows_are_ignored() -> None:
    assert fields("transit", "Airport", "line", "field", "value", "reason") == ["airport_name", None, None, None, None]
    assert fields("transit", "Airport", "Line") == ["airport_name", "route_name"]


def test_a_column_line_of_the_file_itself_is_kept_beside_those_of_refused_rows() -> None:
    header = ("Line", "Company", "Reason", "line", "field", "value", "reason")
    assert fields("transit", *header) == ["route_name", "company_name", None, None, None, None, None]


def test_a_kind_without_a_field_has_no_column_for_it() -> None:
    assert fields("scheduledbus", "Website", "Route", "Company Phone", "tel") == [None, None, "company_phone1", None]
