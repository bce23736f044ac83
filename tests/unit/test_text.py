"""Folding: what searches compare is without case, accents and control characters."""

import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundtransport.text import digits, fold, plain

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
WITHOUT_CONTROLS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]))


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Montréal (Mirabel) Airport", "montreal (mirabel) airport"),
        ("MONTRÉAL", "montreal"),
        ("Montre\u0301al", "montreal"),
        ("Þórshöfn", "þorshofn"),
        ("Straße", "strasse"),
        ("İstanbul", "istanbul"),
        ("Autocares Rías Baixas", "autocares rias baixas"),
        ("秋葉バスサービス株式会社", fold("秋葉ハスサーヒス株式会社")),
        ("ＢＵＳ １２", "bus 12"),
        ("ﬁrst", "first"),
        ("ΣΊΣΥΦΟΣ", fold("σίσυφος")),
        ("one\ntwo\x00three\u2028four", "one two three four"),
    ],
)
def test_case_accents_and_width_do_not_matter(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(TEXT)
def test_a_folded_text_is_folded_for_good(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(TEXT)
def test_a_folded_text_holds_no_accent_and_no_control_character(text: str) -> None:
    assert not [char for char in fold(text) if unicodedata.combining(char)]
    assert not [char for char in fold(text) if unicodedata.category(char) in ("Cc", "Zl", "Zp")]


@given(WITHOUT_CONTROLS, WITHOUT_CONTROLS)
def test_a_part_of_a_text_is_a_part_of_its_folded_text(one: str, other: str) -> None:
    assert fold(one) in fold(one + other)
    assert fold(other) in fold(one + other)


@given(TEXT)
def test_composed_and_decomposed_letters_are_the_same(text: str) -> None:
    assert fold(unicodedata.normalize("NFC", text)) == fold(unicodedata.normalize("NFD", text))


@given(st.text(string.ascii_letters + "äöüßéèêçñøåæœđłžšČŘĂȘȚΑΒΓαβγБГД"))
def test_upper_and_lower_case_are_the_same(text: str) -> None:
    assert fold(text.upper()) == fold(text.lower()) == fold(text)


@given(TEXT)
def test_digits_are_ascii_digits_alone(text: str) -> None:
    assert set(digits(fold(text))) <= set("0123456789")


def test_digits_of_a_phone_number_are_what_people_dial() -> None:
    assert digits(fold("+1 (718) 244-4444")) == "17182444444"
    assert digits(fold("０３-１２３４")) == "031234"


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("Alpha", "Alpha"),
        ("Al\0pha\n", "Al pha "),
        ("\ud800\udfff x", "  x"),
        ("Ünï 東 \U0001f68c", "Ünï 東 \U0001f68c"),
    ],
)
def test_plain_leaves_out_what_a_database_does_not_take(text: str, without: str) -> None:
    assert plain(text) == without
