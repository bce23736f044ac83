"""The string ``<airport name> (<airport code>)``, with every airport there is and with the hard ones by name."""

import string

import airportsdata
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundtransport.airports.models import AIRPORT_NAME_MAX, Airport
from groundtransport.airports.names import bracketed, code_of
from groundtransport.airports.source import airport_values

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]))
CODES = st.text(string.ascii_letters, min_size=3, max_size=3)
BLANKS = st.text(" \t", max_size=3)

HARD = {
    "Vijayanagar Aerodrome (JSW)": "VDY",
    "Barrie-Orillia (Lake Simcoe Regional Airport)": "YLK",
    "Antwerp International Airport (Deurne)": "ANR",
    "Negarbo(Negabo) Airport": "GBF",
    "Musina(Messina) Airport": "MEZ",
    "Long Beach (Daugherty Field) Airport": "LGB",
    "Montgomery Regional (Dannelly Field) Airport": "MGM",
    "Wright Army Air Field (Fort Stewart)/Midcoast Regional Airport": "LIY",
    "Duke Field,(Eglin Af Aux Nr 3) Airport": "EGI",
    "Þórshöfn (Thorshofn) Airport": "THO",
    "Montréal (Mirabel) Airport": "YMX",
    "Zhushan Majiadu Airport (under construction, unknown coordinates)": "ZSP",
    "Venezia / Tessera -  Marco Polo Airport": "VCE",
    "Hassi R'Mel Airport": "HRM",
    "St. John's International Airport": "YYT",
}


def test_every_airport_gives_its_code_back() -> None:
    airports = [Airport(**airport_values({**row})) for row in airportsdata.load("IATA").values()]
    assert len(airports) == 7884
    assert [airport.code for airport in airports if code_of(airport.airport_name) != airport.code] == []
    assert max(len(airport.airport_name) for airport in airports) <= AIRPORT_NAME_MAX


@pytest.mark.parametrize(("name", "code"), HARD.items())
def test_a_hard_name_gives_its_code_back(name: str, code: str) -> None:
    listed = airportsdata.load("IATA")[code]
    assert listed["name"] == name
    assert Airport(**airport_values({**listed})).airport_name == f"{name} ({code})"
    assert code_of(f"{name} ({code})") == code


def test_the_last_brackets_count() -> None:
    assert code_of("Vijayanagar Aerodrome (JSW) (VDY)") == "VDY"
    assert code_of("Vijayanagar Aerodrome (JSW)") == "JSW"  # which is no airport's: the lookup refuses it


@given(NAMES, CODES)
def test_any_name_may_stand_before_the_code(name: str, code: str) -> None:
    assert code_of(f"{name} ({code})") == code.upper()


@given(NAMES, CODES, BLANKS, BLANKS, BLANKS, BLANKS)
def test_case_and_blanks_are_forgiven(name: str, code: str, a: str, b: str, c: str, d: str) -> None:
    assert code_of(f"{a}{name}{b}({c}{code.swapcase()}{d}){a}") == code.upper()


@pytest.mark.parametrize("blank", ["\u00a0", "\u2009", "\u3000"])
def test_the_blanks_of_a_pasted_text_are_forgiven_too(blank: str) -> None:
    assert code_of(f"John F Kennedy International Airport{blank}(JFK){blank}") == "JFK"


def test_an_icao_code_is_understood() -> None:
    assert code_of("John F Kennedy International Airport (KJFK)") == "KJFK"


@pytest.mark.parametrize(
    "text",
    [
        *["", " ", "JFK", "Kennedy", "Kennedy ()", "Kennedy (JF)", "Kennedy (JFKKK)", "Kennedy (J K)"],
        *["Kennedy JFK)", "Kennedy (ÅÄÖ)", "Barrie-Orillia (Lake Simcoe Regional Airport)", "Kennedy (٣٤٥)"],
        *["Kennedy (J-K)"],
    ],
)
def test_a_text_without_a_code_in_its_last_brackets_has_none(text: str) -> None:
    assert code_of(text) is None


@given(st.text())
def test_any_text_is_read_without_an_exception(text: str) -> None:
    code = code_of(text)
    assert code is None or (code.isascii() and code.isupper() | code.isdigit() and len(code) in (3, 4))


@pytest.mark.parametrize("text", ["JFK", "jfk", " JFK ", "KJFK", "kjfk", "\u00a0KJFK\n"])
def test_a_bare_code_is_put_into_brackets(text: str) -> None:
    assert bracketed(text) == f"({text.strip().upper()})"


# Goa and Lima are cities; GOA is Genoa's code, LIMA that of an airfield in Turin.
@pytest.mark.parametrize("text", ["Goa", "Lima", "Kennedy", "JF", "JFKXX", "J K", "ÅÄÖ", "٣٤٥", "", "Kennedy (JFK)"])
def test_what_is_no_bare_code_is_left_as_it_is(text: str) -> None:
    assert bracketed(text) == text
