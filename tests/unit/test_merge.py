"""Two changed versions of one record: the fields that merge, and those that conflict."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from groundtransport.records.edit.merge import Clash, three_way

NAMES = ("company_name", "city", "zip_code")
BEFORE = {"company_name": "Alpha", "city": "Queens", "zip_code": None}


def test_what_only_they_changed_is_taken_and_named() -> None:
    merge = three_way(NAMES, BEFORE, BEFORE, {**BEFORE, "city": "Newark"})
    assert (merge.values, merge.only_theirs, merge.clashes) == ({**BEFORE, "city": "Newark"}, ("city",), ())


def test_what_only_i_changed_is_kept_and_is_not_theirs() -> None:
    mine = {**BEFORE, "zip_code": "11435"}
    merge = three_way(NAMES, BEFORE, mine, BEFORE)
    assert (merge.values, merge.only_theirs, merge.clashes) == (mine, (), ())


def test_changes_of_different_fields_come_together() -> None:
    merge = three_way(NAMES, BEFORE, {**BEFORE, "city": None}, {**BEFORE, "zip_code": "11435"})
    assert merge.values == {"company_name": "Alpha", "city": None, "zip_code": "11435"}
    assert (merge.only_theirs, merge.clashes) == (("zip_code",), ())


def test_the_same_change_on_both_sides_is_no_clash_and_nobodys_alone() -> None:
    both = {**BEFORE, "company_name": "Beta"}
    merge = three_way(NAMES, BEFORE, both, both)
    assert (merge.values, merge.only_theirs, merge.clashes) == (both, (), ())


def test_two_changes_of_one_field_clash_and_mine_is_put_first() -> None:
    merge = three_way(NAMES, BEFORE, {**BEFORE, "city": "Newark"}, {**BEFORE, "city": "Jamaica"})
    assert merge.clashes == (Clash("city", mine="Newark", theirs="Jamaica", before="Queens"),)
    assert merge.values["city"] == "Newark"
    assert merge.only_theirs == ()


def test_to_empty_a_field_is_a_change_like_any_other() -> None:
    merge = three_way(NAMES, BEFORE, {**BEFORE, "city": None}, {**BEFORE, "city": "Newark"})
    assert merge.clashes == (Clash("city", mine=None, theirs="Newark", before="Queens"),)
    filled = three_way(NAMES, BEFORE, {**BEFORE, "zip_code": "1"}, {**BEFORE, "zip_code": "2"})
    assert filled.clashes == (Clash("zip_code", mine="1", theirs="2", before=None),)


def test_one_clash_does_not_hold_up_what_merges() -> None:
    mine = {"company_name": "Mine", "city": "Queens", "zip_code": "11435"}
    theirs = {"company_name": "Theirs", "city": "Newark", "zip_code": None}
    merge = three_way(NAMES, BEFORE, mine, theirs)
    assert [clash.name for clash in merge.clashes] == ["company_name"]
    assert merge.values == {"company_name": "Mine", "city": "Newark", "zip_code": "11435"}
    assert merge.only_theirs == ("city",)


def test_without_a_before_every_difference_is_asked_and_nothing_is_taken() -> None:
    merge = three_way(NAMES, None, {**BEFORE, "city": "Newark"}, {**BEFORE, "zip_code": "11435"})
    assert [clash.name for clash in merge.clashes] == ["city", "zip_code"]
    assert [clash.before for clash in merge.clashes] == [None, None]
    assert merge.only_theirs == ()
    assert merge.knows_before is False
    assert three_way(NAMES, BEFORE, BEFORE, BEFORE).knows_before is True


def test_other_names_are_left_alone() -> None:
    merge = three_way(("city",), BEFORE, {**BEFORE, "company_name": "x"}, {**BEFORE, "company_name": "y"})
    assert (merge.values, merge.clashes) == ({"city": "Queens"}, ())


SIDE = st.fixed_dictionaries({name: st.sampled_from([None, "", "a", "b", "c"]) for name in NAMES})


@given(before=SIDE, mine=SIDE, theirs=SIDE)
def test_no_one_sided_change_is_lost_and_no_value_is_invented(
    before: dict[str, Any], mine: dict[str, Any], theirs: dict[str, Any]
) -> None:
    merge = three_way(NAMES, before, mine, theirs)
    clashing = {clash.name for clash in merge.clashes}
    assert set(merge.values) == set(NAMES)
    for name in NAMES:
        i_changed, they_changed = mine[name] != before[name], theirs[name] != before[name]
        if i_changed and they_changed and mine[name] != theirs[name]:
            assert name in clashing
            assert merge.values[name] == mine[name]
        else:
            assert name not in clashing
            assert merge.values[name] == (theirs[name] if they_changed else mine[name])
        assert (name in merge.only_theirs) == (they_changed and not i_changed)


@given(mine=SIDE, theirs=SIDE)
def test_an_unknown_before_asks_about_exactly_what_differs(mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    merge = three_way(NAMES, None, mine, theirs)
    assert {clash.name for clash in merge.clashes} == {name for name in NAMES if mine[name] != theirs[name]}
    assert merge.values == mine
