"""Queries of SQLite's full-text index FTS5 (trigram tokenizer), and estimates of the number of matches."""

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
from groundtransport.records.search.base import BLOCK_IDS, EXACT_MAX, MANY, SAMPLE_BLOCKS, TEXT_BLOCK_IDS
from groundtransport.records.search.predicates import contains_param, text_conditions
from groundtransport.records.search.scan import ScanSearch
from groundtransport.records.search.terms import SHORT_WORD, TRIGRAM, selective_trigrams, with_short_word_terms
from groundtransport.records.search.time_limit import OutOfTime

LAST_CHARACTER = chr(0x10FFFF)
RANDOM_READ_COST = 6  # rows of a scan that take as long as one row by its id
SPELLINGS_MAX = 2  # of a telephone number, as typed and as digits; more are the trigrams of a short word
TRIGRAMS_MAX = (
    300  # trigrams that replace short words: FTS5 opens the list of each, and cannot be interrupted meanwhile
)


class FTS5Search(ScanSearch):
    """FTS5 finds a term as a sequence of trigrams, and reads the list of each."""

    def __init__(self, reader: ListReader) -> None:
        super().__init__(reader)
        self.index = table(f"{self.kind.table}_search", column("rowid"))

    def matches(self, param: str = "match_query") -> ColumnElement[bool]:
        """Return the condition that the index matches the query in a bind parameter."""
        index: Any = column(f"{self.kind.table}_search", is_literal=True)
        condition: ColumnElement[bool] = index.op("MATCH")(bindparam(param, type_=Text()))
        return condition

    @property
    def match_query(self) -> str:
        """The FTS5 query of all terms, each in one of its spellings."""
        return " AND ".join([*self._token_queries(), *(_any_of(map(_quoted, term)) for term in self.criteria.terms)])

    @property
    def candidate_query(self) -> str:
        """A weaker FTS5 query, which is faster: one trigram of each term, or two of a single one."""
        queries = self._token_queries()
        number = 1 if queries or len(self.criteria.terms) > 1 else 2
        for term in self.criteria.terms:
            by_spelling = (selective_trigrams(spelling, number) for spelling in term)
            queries.append(_any_of(" AND ".join(map(_quoted, trigrams)) for trigrams in by_spelling))
        return " AND ".join(queries)

    def _token_queries(self) -> list[str]:
        """Return the queries of the facet tokens, by their first and last trigram, which no other text has."""
        return [
            _quoted(end)
            for token in self.criteria.facet_tokens
            for end in dict.fromkeys((token[:TRIGRAM], token[-TRIGRAM:]))
        ]

    def run(self, name: str, make: Any, *shape: Any, **values: Any) -> Any:
        """Execute a statement that may query the index."""
        query = self.match_query if self.is_indexed else ""
        return self.reader.run(name, make, self.criteria.is_exact, *shape, match_query=query, **values)

    def matching(self, *columns: Any) -> Select[Any]:
        """Return the statement of all matches; it reads their texts if the index alone does not decide."""
        matching = select(*columns).select_from(self.index).where(self.matches())
        if self.criteria.is_exact and not any(c.table is self.table for c in columns if hasattr(c, "table")):
            return matching
        # An outer join: SQLite might reverse an inner one, and query the index for every record.
        joined = self.index.outerjoin(self.table, self.table.c.id == self.index.c.rowid)
        matching = select(*columns).select_from(joined).where(self.matches())
        matching = matching.with_hint(self.table, "NOT INDEXED", "sqlite")
        return matching if self.criteria.is_exact else matching.where(*text_conditions(self.kind, self.criteria))

    def expand_short_words(self, most: int) -> bool:
        """Replace the short words in ``criteria`` by the trigrams that begin with them; return False if not possible.

        It pays if at most about ``most`` records contain them all: the index reads the list of each trigram. Every
        word is followed by a separator at least, so each is the beginning of a trigram.
        """
        if not self.criteria.short_words or self.estimate_rows("short", self._short_word_conditions()) > most:
            return False
        term = table(f"{self.kind.table}_search_terms", column("term")).c.term
        in_range = (term >= bindparam("word"), term < bindparam("beyond"))
        statement = select(term).where(*in_range).limit(TRIGRAMS_MAX + 1)
        terms: list[tuple[str, ...]] = []
        for word in self.criteria.short_words:
            try:
                with self.reader.budget.limit():
                    values = {"word": word, "beyond": word + LAST_CHARACTER}
                    terms.append(tuple(self.reader.run("terms", lambda: statement, **values).scalars()))
            except OutOfTime:
                return False
            if sum(map(len, terms)) > TRIGRAMS_MAX:
                return False
        self.criteria = with_short_word_terms(self.criteria, terms)
        if not all(terms):
            self.criteria = replace(self.criteria, is_impossible=True)
        return True

    def is_scan_cheaper(self) -> bool:
        """Return True if the index gives so many candidates that a scan of all texts is faster."""
        terms = [*((token,) for token in self.criteria.facet_tokens), *self.criteria.terms]
        has_short_words = any(len(term) > SPELLINGS_MAX for term in terms)  # few records contain these
        if self.criteria.is_exact or has_short_words:
            return False
        names = [[f"term_{number}_{other}" for other in range(len(term))] for number, term in enumerate(terms)]
        values = {
            f"term_{number}_{other}": text for number, term in enumerate(terms) for other, text in enumerate(term)
        }
        conditions = [or_(*(contains_param(self.kind, name, indexed=False) for name in group)) for group in names]
        candidates = self.estimate_rows("candidate estimate", conditions, tuple(map(len, terms)), **values)
        return RANDOM_READ_COST * candidates > self.total

    def _short_word_conditions(self) -> list[ColumnElement[bool]]:
        conditions = zip(text_conditions(self.kind, self.criteria), self.criteria.matches, strict=True)
        return [condition for condition, match in conditions if match == SHORT_WORD]

    # Facts and estimates

    def fact_columns(self) -> list[Any]:
        """Return the columns of the facts: an upper bound of the matches, the lowest id, and the state."""
        first = select(func.min(self.table.c.id)).scalar_subquery().label("first")
        code, _ = counters.name_params(self.criteria.groups.get("airport_code", ALL), ALL)
        bound = counters.live_count(self.kind.table, code).label("most")
        return [bound, first, *result_cache.state_columns(self.kind)]

    def load_facts(self) -> None:
        """Load the facts by a statement of their own."""
        code = self.criteria.groups.get("airport_code", ALL)
        self.set_facts(self.reader.run("facts", lambda: select(*self.fact_columns()), code=code).one())

    def set_facts(self, row: Row[Any]) -> None:
        """Take the facts from a row that has the ``fact_columns``."""
        self.state = result_cache.state_of(row)
        self.most, self.first, self.total, self.last = int(row.most), int(row.first or 0), *self.state[1:]

    def _blocks(self) -> Any:
        """Return the first ids of the sampled blocks, as a table of one column."""
        return func.json_each(bindparam("blocks", type_=Text())).table_valued("value")

    def _blocks_value(self) -> str:
        """Return the value of ``_blocks``: SAMPLE_BLOCKS ids, evenly spread."""
        span = self.last - self.first + 1
        return json.dumps([self.first + step * span // SAMPLE_BLOCKS for step in range(SAMPLE_BLOCKS)])

    def count(self) -> tuple[int, bool]:
        """Return the number of matches, and True if it is an estimate: of many, by their share in sampled blocks."""
        span, ids, read = self.last - self.first + 1, SAMPLE_BLOCKS * BLOCK_IDS, SAMPLE_BLOCKS * TEXT_BLOCK_IDS
        is_sampled = span > 2 * ids and self.most > 2 * MANY
        values = {
            "blocks": self._blocks_value(),
            "enough": max(MANY * read // span, read // 20),
            "bound": MANY * ids // span,
        }
        try:
            with self.reader.budget.limit():
                make = self._sampled_count if is_sampled else self._exact_count
                number, in_texts, in_index = self.run("count", make, is_sampled, **values).one()
        except OutOfTime:
            self.truncated = True
            self.reader.budget.extend()
            return self.estimate(), True
        if in_texts:
            return int(in_texts) * span // read, True
        if in_index:
            return int(in_index) * span // ids, True
        return int(number), number > EXACT_MAX

    def _exact_count(self) -> Select[Any]:
        return select(self._count_up_to(EXACT_MAX + 1), literal(0), literal(0))

    def _sampled_count(self) -> Select[Any]:
        """Return the statement of the number of matches; of many, of those in the texts, or the index, of some blocks.

        The three columns are evaluated only as far as needed: the cheaper counts come first.
        """
        some, read, seen = (
            select(number.label("n")).cte(name).prefix_with("MATERIALIZED")
            for name, number in (
                ("few", self._count_up_to(BLOCK_IDS + 1)),
                ("texts", self._count_in_texts(self.conditions)),
                ("sampled", self._count_in_index()),
            )
        )
        few, in_texts, in_index = (select(cte.c.n).scalar_subquery() for cte in (some, read, seen))
        is_few, is_many = few <= BLOCK_IDS, in_texts > bindparam("enough")
        by_index = case((is_few, 0), (is_many, 0), (in_index > bindparam("bound"), in_index), else_=0)
        number = case((is_few, few), (is_many, 0), (by_index > 0, 0), else_=self._count_up_to(EXACT_MAX + 1))
        return select(number, case((is_few, 0), (is_many, in_texts), else_=0), by_index)

    def _count_up_to(self, limit: int) -> Any:
        """Return the subquery of the number of matches, at most ``limit``."""
        matching = self.matching(literal(1).label("one")).limit(limit).subquery()
        return select(func.count()).select_from(matching).scalar_subquery()

    def _count_in_index(self) -> Any:
        """Return the subquery of the number of matches with ids in sampled blocks, by the index."""
        blocks, rowid = self._blocks(), self.index.c.rowid
        inside = self.matches() & (rowid >= blocks.c.value) & (rowid < blocks.c.value + BLOCK_IDS)
        source = blocks.outerjoin(self.index, inside)
        if self.criteria.is_exact:
            return select(func.count(rowid)).select_from(source).scalar_subquery()
        source = source.outerjoin(self.table, self.table.c.id == rowid)
        # CASE, not WHERE, which would make the join an inner one.
        conditions = and_(*text_conditions(self.kind, self.criteria))
        counted = select(func.count(case((conditions, 1)))).select_from(source)
        return counted.with_hint(self.table, "NOT INDEXED", "sqlite").scalar_subquery()

    def _count_in_texts(self, conditions: Iterable[ColumnElement[bool]]) -> Any:
        """Return the subquery of the number of rows that meet conditions in shorter blocks, by a scan."""
        blocks, ids = self._blocks(), self.table.c.id
        source = blocks.outerjoin(self.table, (ids >= blocks.c.value) & (ids < blocks.c.value + TEXT_BLOCK_IDS))
        counted = select(func.count(case((and_(*self.reader.scope, *conditions), 1)))).select_from(source)
        return counted.with_hint(self.table, "NOT INDEXED", "sqlite").scalar_subquery()

    def estimate(self) -> int:
        return self.estimate_rows("estimate", self.conditions)

    def estimate_rows(
        self, name: str, conditions: Iterable[ColumnElement[bool]], *shape: Hashable, **values: str
    ) -> int:
        """Return an estimate of the number of rows that meet conditions, by their share in sampled blocks."""
        values["blocks"] = self._blocks_value()
        counted = self.reader.run(name, lambda: select(self._count_in_texts(conditions)), *shape, **values).scalar()
        read = SAMPLE_BLOCKS * TEXT_BLOCK_IDS
        return int(counted or 0) * max(self.last - self.first + 1, read) // read


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _any_of(queries: Iterable[str]) -> str:
    return "(" + " OR ".join(f"({query})" for query in queries) + ")"
