"""Folding: what searches compare is without case, accents and control characters."""

import re
import string
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundtransport.text import IGNORED, LETTERS, digits, fold, plain

ROOT = Path(__file__).parents[2]

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
WITHOUT_CONTROLS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]))


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Montréal (Mirabel) Airport", "montreal (mirabel) airport"),
        ("MONTRÉAL", "montreal"),
        ("Montre\u0301al", "montreal"),
        ("Þórshöfn", "thorshofn"),
        ("Łódź Tromsø Wrocław", "lodz tromso wroclaw"),
        ("Đà Nẵng", "da nang"),
        ("Malmö – Ærø", "malmo - aero"),
        ("Diyarbakır Gəncə", "diyarbakir gence"),
        ("œuvre ĳ ŉ Paral·lel Paraŀlel", "oeuvre ij n parallel parallel"),
        ("O'Hare O’Hare OʼHare O`Hare O´Hare", "ohare ohare ohare ohare ohare"),
        ("Hawaiʻi", "hawaii"),
        ("non\u2011breaking soft\u00adhyphen", "non-breaking softhyphen"),
        ("٣ ۴ ५ ৬ ๗", "3 4 5 6 7"),
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


UNACCENT = Path("/usr/share/postgresql")  # where Debian has the rules of the extension


def unaccent_rules() -> Iterator[tuple[str, str]]:
    file = max(UNACCENT.glob("*/tsearch_data/unaccent.rules"), default=None)
    for line in file.read_text().splitlines() if file else ():
        letter, _, plain = line.partition("\t")
        if unicodedata.name(letter, "").startswith("LATIN "):
            yield letter, plain.strip('"')


def test_latin_letters_are_folded_as_postgresql_does() -> None:
    assert [(a, fold(a), b) for a, b in unaccent_rules() if fold(a) != fold(b)] == []


def test_the_script_of_the_list_has_the_same_letters() -> None:
    script = (ROOT / "groundtransport/static/rows.js").read_text()
    table = re.search(r"LETTERS = `(.*?)`", script, re.DOTALL)
    ignored = re.search(r'IGNORED = "(.*)"', script)
    assert table is not None
    assert table[1].split() == LETTERS
    assert ignored is not None
    assert ignored[1].replace("\\u00ad", "\u00ad") == IGNORED


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
