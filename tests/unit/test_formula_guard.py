"""The formula guard of CSV files: what gets it, and that it comes off again."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundtransport.transfer.formula_guard import GUARD, STARTS, guard, unguard

# Mostly texts of few characters, so that guards and starts of formulas meet often.
TEXT = st.text(st.sampled_from([*STARTS, GUARD, "1", "a", " "]), max_size=8) | st.text()


@given(TEXT, st.booleans())
@example("'=1", False)
@example("''=1", True)
@example("'+49 30 901820", True)
def test_a_guard_comes_off_again(text: str, is_on: bool) -> None:
    assert unguard(guard(text, is_on=is_on)) == text


@given(TEXT)
def test_a_guarded_text_begins_like_a_formula_only_as_a_phone_number(text: str) -> None:
    guarded = guard(text)
    assert not guarded.startswith(STARTS) or set(guarded) <= set("+0123456789 ()./-xet")


@pytest.mark.parametrize(
    "text", ["=1+1", "+1+1", "-5", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1", "+1 212 CMD", "+1-2", "+"]
)
def test_the_start_of_a_formula_gets_one_apostrophe(text: str) -> None:
    assert guard(text) == f"'{text}"


@pytest.mark.parametrize(
    "text",
    ["", "Alpha", "'s-Hertogenbosch", "2125551234", "1=1", "+49 30 901820", "+1 (212) 555-1234", "+1 212 555 1234 x12"],
)
def test_a_telephone_number_and_other_texts_stay_as_they_are(text: str) -> None:
    assert guard(text) == text
    assert unguard(text) == text


@pytest.mark.parametrize(
    "text", ["+1 212 555 1234=cmd|' /C calc'!A0", "+49 30 901820*A1", "+49 30 901820+SUM(A1)", "+1 212 555 1234\n=1"]
)
def test_a_formula_that_begins_with_a_telephone_number_is_guarded(text: str) -> None:
    assert guard(text) == f"'{text}"


def test_without_the_guard_formulas_stay_and_only_look_alikes_of_guarded_texts_change() -> None:
    assert guard("=1+1", is_on=False) == "=1+1"
    assert guard("'=1+1", is_on=False) == "''=1+1"
