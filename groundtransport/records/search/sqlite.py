"""SQLite's full-text index: FTS5 with trigrams, which finds a term as a sequence of trigrams."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Text, bindparam, column, func, select, table

from groundtransport.db import AnySelect
from groundtransport.records.list.order import Order
from groundtransport.records.list.reader import ListReader
from groundtransport.records.list.window import EXACT_MAX
from groundtransport.records.search.predicates import text_conditions
from groundtransport.records.search.terms import TRIGRAM


class FTS5Index:
    """The records that FTS5 gives for a query's terms; it returns them in order of id, one after the other."""

    few = EXACT_MAX
    is_by_trigram = False  # queried for the first trigram of each term, in place of the term

    def __init__(self, reader: ListReader) -> None:
        self.reader, self.criteria, self.table = reader, reader.criteria, reader.table
        self.search = table(f"{reader.kind.table}_search", column("rowid"))

    @property
    def is_usable(self) -> bool:
        """True if any term is long enough for the index."""
        return bool(self.criteria.terms or self.criteria.facet_tokens)

    @property
    def values(self) -> dict[str, str]:
        """The bind parameters of the statements: an FTS5 query of all terms, each in one of its spellings."""
        tokens = [part for token in self.criteria.facet_tokens for part in (token[:TRIGRAM], token[-TRIGRAM:])]
        terms = [*((token,) for token in tokens), *self.criteria.terms]
        length = TRIGRAM if self.is_by_trigram else None
        return {"match_query": " AND ".join(_any_of(text[:length] for text in term) for term in terms)}

    def count(self) -> int:
        """Return the number of records that the index gives, an estimate beyond EXACT_MAX.

        FTS5 reads the lists of all trigrams of a term. The first one alone gives more records, in a tenth of the time:
        if these are few, their texts are read.
        """
        self.is_by_trigram = True
        number, lowest = self._candidates()
        if number > EXACT_MAX:
            self.is_by_trigram = False
            number, lowest = self._candidates()
        return number if number <= EXACT_MAX else self.reader.extrapolate(number, lowest)

    def _candidates(self) -> tuple[int, int]:
        """Return the number of the newest records that the index gives, up to EXACT_MAX + 1, and their lowest id."""

        def make() -> AnySelect:
            rowid = self.search.c.rowid
            newest = select(rowid).where(self._matches()).order_by(rowid.desc()).limit(EXACT_MAX + 1).subquery()
            numbers: list[Any] = [func.count(), func.min(newest.c.rowid)]
            return select(*numbers).select_from(newest)

        row = self.reader.run("candidates", make, **self.values).one()
        return row[0], row[1]

    def matching(self, order: Order) -> AnySelect:
        """Return the statement of all matches; it reads their texts if the index does not decide alone."""
        rowid = self.search.c.rowid
        is_exact = self.criteria.is_exact and not self.is_by_trigram
        if is_exact and order.is_by_id:
            return select(rowid.label("id"), rowid.label("key")).where(self._matches())
        # An outer join: SQLite might reverse an inner one, and query the index for every record.
        joined = self.search.outerjoin(self.table, self.table.c.id == rowid)
        rows = select(rowid.label("id"), order.key.label("key")).select_from(joined).where(self._matches())
        rows = rows.with_hint(self.table, "NOT INDEXED", "sqlite")
        return rows if is_exact else rows.where(*text_conditions(self.reader.kind, self.criteria))

    def _matches(self) -> Any:
        """Return the condition that the index matches the query."""
        return column(self.search.name, is_literal=True).op("MATCH")(bindparam("match_query", type_=Text()))


def _any_of(phrases: Iterable[str]) -> str:
    """Return the FTS5 query of records that contain any of the phrases."""
    return "(" + " OR ".join('"' + text.replace('"', '""') + '"' for text in phrases) + ")"
