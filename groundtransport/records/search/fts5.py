"""What FTS5 is asked, and how much it finds: it counts quickly, and gives rows by id."""

import json
from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    Text,
    and_,
    bindparam,
    case,
    column,
    func,
    literal,
    or_,
    select,
    table,
)

from groundtransport.indexes.counter_tables import ALL
from groundtransport.records.list import counters
from groundtransport.records.list.reader import ListReader
from groundtransport.records.search import result_cache
from groundtransport.records.search.base import EXACT, MANY, SAMPLE, SAMPLES, SURE
from groundtransport.records.search.predicates import named_holds, texts
from groundtransport.records.search.scan import ScanSearch
from groundtransport.records.search.terms import INDEXED, SHORT_WORD, spelled_out, telling
from groundtransport.records.search.time_limit import OutOfTime

LAST_CHARACTER = chr(0x10FFFF)
AT_RANDOM = 6  # of so many records that are read one after the other, one is read where the index says
SPELLINGS = 2  # of a telephone number, as it was typed and as bare digits; other words have one
PIECES_MAX = 300  # pieces of three characters that stand for shorter words: FTS5 opens the list of each, uninterrupted


class FTS5Search(ScanSearch):
    """FTS5 finds a word as a row of pieces of three characters, and reads the list of each."""

    def __init__(self, reader: ListReader) -> None:
        super().__init__(reader)
        self.index = table(f"{self.kind.table}_search", column("rowid"))

    def matches(self, name: str = "question") -> ColumnElement[bool]:
        index: Any = column(f"{self.kind.table}_search", is_literal=True)
        condition: ColumnElement[bool] = index.op("MATCH")(bindparam(name, type_=Text()))
        return condition

    @property
    def question(self) -> str:
        """What FTS5 is asked: every term, in one of its spellings."""
        return " AND ".join([*self._marks(), *(_either(map(_quoted, term)) for term in self.wanted.terms)])

    @property
    def loose_question(self) -> str:
        """What FTS5 answers sooner: which rows hold the most telling piece of each term, or two of a single one."""
        asked = self._marks()
        most = 1 if asked or len(self.wanted.terms) > 1 else 2
        for term in self.wanted.terms:
            each = (telling(spelling, most) for spelling in term)
            asked.append(_either(" AND ".join(map(_quoted, pieces)) for pieces in each))
        return " AND ".join(asked)

    def _marks(self) -> list[str]:
        """Nothing else begins or ends as a mark does."""
        return [_quoted(end) for mark in self.wanted.marks for end in dict.fromkeys((mark[:INDEXED], mark[-INDEXED:]))]

    def run(self, name: str, make: Any, *shape: Any, **values: Any) -> Any:
        """Execute a statement that may ask the index."""
        question = self.question if self.is_indexed else ""
        return self.reader.run(name, make, self.wanted.is_exact, *shape, question=question, **values)

    def matching(self, *columns: Any) -> Select[Any]:
        """Select of the matches; their rows are read where the index alone does not decide."""
        found = select(*columns).select_from(self.index).where(self.matches())
        if self.wanted.is_exact and not any(c.table is self.table for c in columns if hasattr(c, "table")):
            return found
        # An outer join: SQLite might turn another round, and ask the index about every record.
        joined = self.index.outerjoin(self.table, self.table.c.id == self.index.c.rowid)
        found = select(*columns).select_from(joined).where(self.matches())
        found = found.with_hint(self.table, "NOT INDEXED", "sqlite")
        return found if self.wanted.is_exact else found.where(*texts(self.kind, self.wanted))

    def spell_out(self, most: int) -> bool:
        """Put pieces of three characters, which the index knows, in the place of shorter words.

        Only if about ``most`` records hold them all, or fewer: the index reads the list of each piece. Every text goes
        on behind a word, with marks at least, so that each stands at the beginning of a piece. Return whether there
        were such words.
        """
        if not self.wanted.short or self.guess("short", self.of_short()) > most:
            return False
        known = table(f"{self.kind.table}_search_terms", column("term")).c.term
        begin = select(known).where(known >= bindparam("word"), known < bindparam("beyond")).limit(PIECES_MAX + 1)
        terms = []
        for word in self.wanted.short:
            try:
                with self.reader.budget.limit():
                    values = {"word": word, "beyond": word + LAST_CHARACTER}
                    found = tuple(self.reader.run("terms", lambda: begin, **values).scalars())
            except OutOfTime:
                return False
            terms.append(found)
            if sum(map(len, terms)) > PIECES_MAX:
                return False
        self.wanted = spelled_out(self.wanted, terms)
        if not all(terms):
            self.wanted = replace(self.wanted, is_impossible=True)
        return True

    def is_read_sooner(self) -> bool:
        """Whether the index names so many records, for the texts to decide about, that reading all is sooner."""
        asked = [*((mark,) for mark in self.wanted.marks), *self.wanted.terms]
        is_spelled_out = any(len(term) > SPELLINGS for term in asked)  # as few records hold such a word
        if self.wanted.is_exact or is_spelled_out:
            return False
        values = {f"asked_{at}_{other}": text for at, term in enumerate(asked) for other, text in enumerate(term)}
        conditions = [
            or_(*(named_holds(self.kind, f"asked_{at}_{other}", indexed=False) for other in range(len(term))))
            for at, term in enumerate(asked)
        ]
        return AT_RANDOM * self.guess("asked", conditions, tuple(map(len, asked)), **values) > self.total

    def of_short(self) -> list[ColumnElement[bool]]:
        """The conditions of words that the index does not know as such."""
        known = zip(texts(self.kind, self.wanted), self.wanted.shape, strict=True)
        return [condition for condition, manner in known if manner == SHORT_WORD]

    # How many there are

    def facts(self) -> list[Any]:
        """How many records can match at most, the lowest id, and the state, with their number and the highest."""
        first = select(func.min(self.table.c.id)).scalar_subquery().label("first")
        code, _ = counters.named(self.wanted.groups.get("airport_code", ALL), ALL)
        return [counters.kept(self.kind.table, code).label("most"), first, *result_cache.state(self.kind)]

    def look_around(self) -> None:
        """Find out the facts."""
        code = self.wanted.groups.get("airport_code", ALL)
        self.note_facts(self.reader.run("facts", lambda: select(*self.facts()), code=code).one())

    def note_facts(self, facts: Row[Any]) -> None:
        self.state = result_cache.state_of(facts)
        self.most, self.first, self.total, self.last = int(facts.most), int(facts.first or 0), *self.state[1:]

    def pieces(self) -> Any:
        """Where SAMPLES pieces of the table begin: a table of one column."""
        return func.json_each(bindparam("pieces", type_=Text())).table_valued("value")

    def _pieces(self) -> str:
        """Return where they begin, evenly spread."""
        span = self.last - self.first + 1
        return json.dumps([self.first + step * span // SAMPLES for step in range(SAMPLES)])

    def count(self) -> tuple[int, bool]:
        """Return the number of matches, and whether it is an estimate: of many, those in pieces of the table."""
        span, wide, read = self.last - self.first + 1, SAMPLES * SAMPLE, SAMPLES * SURE
        is_wide = span > 2 * wide and self.most > 2 * MANY
        values = {
            "pieces": self._pieces(),
            "enough": max(MANY * read // span, read // 20),
            "bound": MANY * wide // span,
        }
        try:
            with self.reader.budget.limit():
                found = self.run("count", lambda: self._counted(is_wide=is_wide), is_wide, **values)
                number, in_texts, in_index = found.one()
        except OutOfTime:
            self.truncated = True
            self.reader.budget.extend()
            return self.guess("guess", self.conditions), True
        if in_texts:
            return int(in_texts) * span // read, True
        if in_index:
            return int(in_index) * span // wide, True
        return int(number), number > EXACT

    def _counted(self, *, is_wide: bool) -> Select[Any]:
        """The number of matches; or else, if there are many, of those in the texts, or the index, of some pieces."""
        nothing = literal(0)
        if not is_wide:
            return select(self.counted(EXACT + 1), nothing, nothing)
        some, read, seen = (
            select(number.label("n")).cte(name).prefix_with("MATERIALIZED")
            for name, number in (
                ("few", self.counted(SAMPLE + 1)),
                ("texts", self.in_texts(self.conditions)),
                ("sampled", self.in_index()),
            )
        )
        few, in_texts, in_index = (select(cte.c.n).scalar_subquery() for cte in (some, read, seen))
        is_few, is_much = few <= SAMPLE, in_texts > bindparam("enough")
        by_index = case((is_few, 0), (is_much, 0), (in_index > bindparam("bound"), in_index), else_=0)
        number = case((is_few, few), (is_much, 0), (by_index > 0, 0), else_=self.counted(EXACT + 1))
        return select(number, case((is_few, 0), (is_much, in_texts), else_=0), by_index)

    def counted(self, limit: int) -> Any:
        some = self.matching(literal(1).label("one")).limit(limit).subquery()
        return select(func.count()).select_from(some).scalar_subquery()

    def in_index(self) -> Any:
        """Count the matches in pieces of the index."""
        pieces, rowid = self.pieces(), self.index.c.rowid
        inside = self.matches() & (rowid >= pieces.c.value) & (rowid < pieces.c.value + SAMPLE)
        source = pieces.outerjoin(self.index, inside)
        if self.wanted.is_exact:
            return select(func.count(rowid)).select_from(source).scalar_subquery()
        source = source.outerjoin(self.table, self.table.c.id == rowid)
        # Not in WHERE: the join would be an inner one then.
        found = select(func.count(case((and_(*texts(self.kind, self.wanted)), 1)))).select_from(source)
        return found.with_hint(self.table, "NOT INDEXED", "sqlite").scalar_subquery()

    def in_texts(self, conditions: Iterable[ColumnElement[bool]]) -> Any:
        """Count the rows that fulfil conditions in shorter pieces of the table."""
        pieces, ids = self.pieces(), self.table.c.id
        source = pieces.outerjoin(self.table, (ids >= pieces.c.value) & (ids < pieces.c.value + SURE))
        found = select(func.count(case((and_(*self.reader.scope, *conditions), 1)))).select_from(source)
        return found.with_hint(self.table, "NOT INDEXED", "sqlite").scalar_subquery()

    def guess_short(self) -> int:
        return self.guess("guess", self.conditions)

    def guess(self, name: str, conditions: Iterable[ColumnElement[bool]], *shape: Hashable, **values: str) -> int:
        """Return how many rows fulfil conditions, by their share in some pieces of the table."""
        values["pieces"] = self._pieces()
        found = self.reader.run(name, lambda: select(self.in_texts(conditions)), *shape, **values).scalar() or 0
        read = SAMPLES * SURE
        return int(found) * max(self.last - self.first + 1, read) // read


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _either(questions: Any) -> str:
    return "(" + " OR ".join(f"({question})" for question in questions) + ")"
