"""What clients have seen, and the arithmetic on it: acknowledged, lost and doubled writes, gaps and errors."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

WRITE, READ = "write", "read"
NO_ANSWER = 0  # in place of a status: the connection failed, or there was no answer in time


@dataclass(frozen=True)
class Answer:
    """The answer to one request; ``at`` is its end, by ``time.monotonic()``."""

    client: str
    purpose: str  # WRITE or READ
    at: float
    status: int

    @property
    def is_good(self) -> bool:
        """True if the request was done."""
        return 200 <= self.status < 300


@dataclass
class Write:
    """A write that a client wants done once, however many requests it takes.

    ``mark`` is a text of this write alone. It is the company name of a record that the write creates (``creates``), or
    the place of a record that it changes. ``acknowledged_at`` is the time of the answer that confirmed it, and
    ``record_id`` the record that this answer named.
    """

    mark: str
    creates: bool
    acknowledged_at: float | None = None
    record_id: int | None = None


@dataclass(frozen=True)
class Stored:
    """What the database holds: how often each mark is in a record and in an entry of the log, and in which records."""

    records: Mapping[str, int]
    entries: Mapping[str, int]
    record_ids: Mapping[str, set[int]]

    def is_lost(self, write: Write) -> bool:
        """Return True if an acknowledged write is not stored, not logged, or not in the record that was named."""
        if write.acknowledged_at is None:
            return False
        if not self.entries.get(write.mark) or write.record_id not in self.record_ids.get(write.mark, set()):
            return True
        return write.creates and not self.records.get(write.mark)  # the place may have been changed again

    def is_doubled(self, write: Write) -> bool:
        """Return True if a write is stored or logged more than once, acknowledged or not."""
        return max(self.records.get(write.mark, 0), self.entries.get(write.mark, 0)) > 1


@dataclass(frozen=True)
class Phase:
    """The time from a fault until all parts work again, and what is to be said of it."""

    name: str
    began: float
    ended: float
    note: str = ""

    def holds(self, moment: float) -> bool:
        """Return True if a moment is in this phase."""
        return self.began <= moment < self.ended


@dataclass(frozen=True)
class Row:
    """The results of one phase. Gaps are in seconds; ``errors`` counts answers by purpose and status."""

    name: str
    seconds: float
    acknowledged: int
    lost: int
    doubled: int
    write_gap: float
    read_gap: float
    client_read_gap: float
    errors: Mapping[tuple[str, int], int]
    note: str = ""


def longest_gap(moments: Iterable[float], began: float, ended: float) -> float:
    """Return the longest time without one of the moments between ``began`` and ``ended``, in seconds."""
    inside = sorted(moment for moment in moments if began <= moment <= ended)
    return max(later - earlier for earlier, later in pairwise([began, *inside, ended]))


def row_of(phase: Phase, answers: Sequence[Answer], writes: Sequence[Write], stored: Stored) -> Row:
    """Return the results of a phase. A write belongs to the phase of its acknowledgement."""
    inside = [answer for answer in answers if phase.holds(answer.at)]
    of_phase = [w for w in writes if w.acknowledged_at is not None and phase.holds(w.acknowledged_at)]

    def gap(answers: Iterable[Answer]) -> float:
        return longest_gap((answer.at for answer in answers if answer.is_good), phase.began, phase.ended)

    reads = [answer for answer in inside if answer.purpose == READ]
    readers = {answer.client for answer in answers if answer.purpose == READ}
    return Row(
        name=phase.name,
        seconds=phase.ended - phase.began,
        acknowledged=len(of_phase),
        lost=sum(map(stored.is_lost, of_phase)),
        doubled=sum(map(stored.is_doubled, of_phase)),
        write_gap=longest_gap((w.acknowledged_at or 0 for w in of_phase), phase.began, phase.ended),
        read_gap=gap(reads),
        client_read_gap=max((gap(a for a in reads if a.client == reader) for reader in readers), default=0),
        errors=Counter((answer.purpose, answer.status) for answer in inside if not answer.is_good),
        note=phase.note,
    )


def never_acknowledged(writes: Sequence[Write], stored: Stored) -> tuple[int, int]:
    """Return the number of writes that nobody confirmed, and how many of them are stored twice."""
    unknown = [write for write in writes if write.acknowledged_at is None]
    return len(unknown), sum(map(stored.is_doubled, unknown))


def goals_missed(rows: Sequence[Row], write_goals: Mapping[str, float], read_goals: Mapping[str, float]) -> list[str]:
    """Return a sentence for each goal that is missed: nothing lost or doubled, no 500, writes and reads soon back.

    The goals are the longest gaps in seconds by fault, where there is a goal.
    """
    missed = []
    for row in rows:
        if row.lost or row.doubled:
            missed.append(f"{row.name}: {row.lost} writes lost, {row.doubled} doubled")
        if internal := sum(count for (_, status), count in row.errors.items() if status == 500):
            missed.append(f"{row.name}: {internal} answers of 500")
        for what, gap, goals in (("write", row.write_gap, write_goals), ("read", row.read_gap, read_goals)):
            if gap > (goal := goals.get(row.name, inf)):
                missed.append(f"{row.name}: no {what} for {gap:.1f} s, more than {goal:g}")
    return missed
