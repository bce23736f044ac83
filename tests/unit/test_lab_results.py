"""The arithmetic of the laboratory: what is lost, what is doubled, how long nothing was done, and its table."""

import pytest

from lab.__main__ import arguments
from lab.faults import FAULTS, POOLING, SHORT
from lab.processes import missing_packages
from lab.report import errors_of, table
from lab.results import (
    NO_ANSWER,
    READ,
    WRITE,
    Answer,
    Phase,
    Stored,
    Write,
    goals_missed,
    longest_gap,
    never_acknowledged,
    row_of,
)

CREATED = Write("w 1", creates=True, acknowledged_at=12.0, record_id=1)
CHANGED = Write("w 2", creates=False, acknowledged_at=15.0, record_id=1)
UNKNOWN = Write("w 3", creates=True)
PHASE = Phase("kill-leader", 10, 20, "pg2 took over")


def stored(*, records: dict[str, int], entries: dict[str, int], record_id: int = 1) -> Stored:
    return Stored(records, entries, {mark: {record_id} for mark in entries})


WHOLE = stored(records={"w 1": 1}, entries={"w 1": 1, "w 2": 1})


@pytest.mark.parametrize(
    ("found", "lost"),
    [
        (WHOLE, [False, False, False]),
        (stored(records={}, entries={"w 1": 1, "w 2": 1}), [True, False, False]),
        (stored(records={"w 1": 1}, entries={"w 2": 1}), [True, False, False]),
        (stored(records={"w 1": 1}, entries={"w 1": 1}), [False, True, False]),
        (stored(records={"w 1": 1}, entries={"w 1": 1, "w 2": 1}, record_id=2), [True, True, False]),
    ],
    ids=["whole", "no record", "no entry", "no entry of the change", "another record"],
)
def test_a_write_is_lost_if_it_was_acknowledged_and_is_not_stored(found: Stored, lost: list[bool]) -> None:
    assert [found.is_lost(write) for write in (CREATED, CHANGED, UNKNOWN)] == lost


def test_a_write_is_doubled_if_it_is_stored_twice_whether_acknowledged_or_not() -> None:
    found = stored(records={"w 1": 1, "w 3": 2}, entries={"w 1": 1, "w 2": 2, "w 3": 2})
    assert [found.is_doubled(write) for write in (CREATED, CHANGED, UNKNOWN)] == [False, True, True]
    assert never_acknowledged([CREATED, UNKNOWN], found) == (1, 1)
    assert never_acknowledged([CREATED, UNKNOWN], WHOLE) == (1, 0)


@pytest.mark.parametrize(
    ("moments", "gap"),
    [([], 10), ([10, 20], 10), ([12, 15], 5), ([15, 12], 5), ([5, 11, 12, 25], 8), ([19], 9)],
)
def test_a_gap_reaches_from_one_answer_to_the_next_or_to_an_end_of_the_phase(moments: list[float], gap: float) -> None:
    assert longest_gap(moments, 10, 20) == gap


def test_a_row_counts_what_happened_in_its_phase() -> None:
    answers = [
        Answer("writer", WRITE, 12, 201),
        Answer("writer", WRITE, 13, 503),
        Answer("writer", WRITE, 15, 200),
        Answer("writer", WRITE, 20, 500),  # the next phase
        Answer("one", READ, 11, 200),
        Answer("one", READ, 18, 200),
        Answer("two", READ, 14, NO_ANSWER),
        Answer("two", READ, 15, 200),
    ]
    row = row_of(PHASE, answers, [CREATED, CHANGED, UNKNOWN], stored(records={}, entries={"w 1": 1, "w 2": 2}))
    assert (row.acknowledged, row.lost, row.doubled) == (2, 1, 1)
    assert (row.write_gap, row.read_gap, row.client_read_gap) == (5, 4, 7)
    assert row.errors == {(WRITE, 503): 1, (READ, NO_ANSWER): 1}
    assert goals_missed([row], {"kill-leader": 5}, {"kill-leader": 4}) == ["kill-leader: 1 writes lost, 1 doubled"]
    assert len(goals_missed([row], {"kill-leader": 4.9}, {"kill-leader": 3.9})) == 3
    assert len(goals_missed([row], {"kill-leader": 4.9}, {})) == 2
    assert table([row]).splitlines()[-1] == (
        "| kill-leader | 10 | 2 | 1 | 1 | 5.0 s | 4.0 s | 7.0 s | 503: 1 | no answer: 1 | pg2 took over |"
    )


def test_an_internal_error_misses_the_goal() -> None:
    row = row_of(PHASE, [Answer("reader", READ, 11, 500)], [], WHOLE)
    assert goals_missed([row], {}, {}) == ["kill-leader: 1 answers of 500"]
    assert errors_of(row.errors, WRITE) == "-"


def test_faults_are_chosen_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert arguments(["--faults", "calm,restore"]).faults == ("calm", "restore")
    assert arguments(["--short"]).faults == SHORT
    assert arguments([]).faults == tuple(name for name in FAULTS if name not in POOLING)
    assert arguments(["--pgbouncer"]).faults == tuple(FAULTS)
    with pytest.raises(SystemExit):
        arguments(["--faults", "earthquake"])
    assert "unknown: earthquake" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        arguments(["--faults", "kill-pgbouncer"])
    assert "need --pgbouncer" in capsys.readouterr().err


def test_packages_that_are_missing_are_named_once() -> None:
    assert missing_packages({"python3": "python3", "no-such-a": "b", "no-such-b": "b", "no-such-c": "a"}) == ["a", "b"]
