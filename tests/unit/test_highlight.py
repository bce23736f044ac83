"""What a search matched is marked as the search compares: without case, accents and, in phones, punctuation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundtransport import kinds
from groundtransport.records.list.highlight import pieces, search_params, terms
from groundtransport.records.list.query import ListQuery

TRANSIT = kinds.kinds()["transit"]


def marked(text: str, *search_terms: str, is_phone: bool = False) -> str:
    return "".join(f"[{part}]" if hit else part for part, hit in pieces(text, list(search_terms), is_phone=is_phone))


@pytest.mark.parametrize(
    ("text", "search_terms", "shown"),
    [
        ("Alpha Bus Lines", ["bus"], "Alpha [Bus] Lines"),
        ("Alpha Bus Lines", [], "Alpha Bus Lines"),
        ("Alpha Bus Lines", ["a"], "[A]lph[a] Bus Lines"),
        ("Alpha Bus", ["alpha", "pha bus"], "[Alpha Bus]"),
        ("Città d’Oro", ["citta"], "[Città] d’Oro"),
        ("Citta\u0300 Oro", ["citta"], "[Citta\u0300] Oro"),  # the accent is a character of its own
        ("Citta\u0300 Oro", ["cit"], "[Cit]ta\u0300 Oro"),
        ("Große Straße", ["strasse"], "Große [Straße]"),
        ("Große Straße", ["s"], "Gro[ß]e [S]tra[ß]e"),
        ("", ["x"], ""),
        ("<b>", ["b"], "<[b]>"),
    ],
)
def test_texts(text: str, search_terms: list[str], shown: str) -> None:
    assert marked(text, *search_terms) == shown


@pytest.mark.parametrize(
    ("search_terms", "shown"),
    [
        ("7182175477", "([718) 217-5477]"),
        ("217-54", "(718) [217-54]77"),
        ("718-217", "([718) 217]-5477"),
        ("217x", "(718) 217-5477"),
    ],
)
def test_phones_match_by_their_digits(search_terms: str, shown: str) -> None:
    assert marked("(718) 217-5477", search_terms, is_phone=True) == shown


def test_a_column_is_marked_by_what_looks_into_it() -> None:
    assert search_params(TRANSIT, "company_phone1") == ["q", "company_phone"]
    assert search_params(TRANSIT, "airport_name") == ["q", "airport_name"]
    assert search_params(TRANSIT, "route_name") == []  # no search looks there
    query = ListQuery(q="Ünited  bus", filters={"company_name": " Bus Lines "})
    assert terms(TRANSIT, query, "company_name") == ["united", "bus", "bus lines"]
    assert terms(TRANSIT, query, "company_address") == ["united", "bus"]
    assert terms(TRANSIT, query, "route_name") == []


@given(st.text(), st.lists(st.text(max_size=3), max_size=3), st.booleans())
def test_the_pieces_are_the_text(text: str, search_terms: list[str], is_phone: bool) -> None:
    assert "".join(part for part, _ in pieces(text, search_terms, is_phone=is_phone)) == text
