"""PostgreSQL's full-text index: GIN with pg_trgm, which returns no row before it has found all matches."""

from functools import cached_property

from sqlalchemy import Text, bindparam, func, select
from sqlalchemy.dialects.postgresql import ARRAY

from groundtransport.db import AnySelect
from groundtransport.records.list.order import Order
from groundtransport.records.list.reader import ListReader
from groundtransport.records.list.window import EXACT_MAX
from groundtransport.records.search.predicates import contains_param, phone_conditions, text_conditions
from groundtransport.records.search.terms import like_pattern, param_values
from groundtransport.text import MARK


class TrigramIndex:
    """The records that the trigram index gives for a query's terms, as many as the planner estimates."""

    is_by_trigram = False  # each term is queried as a whole
    few = EXACT_MAX * 3 // 2  # an estimate up to here may stand for at most EXACT_MAX matches

    def __init__(self, reader: ListReader) -> None:
        self.reader, self.criteria, self.table = reader, reader.criteria, reader.table

    @property
    def is_usable(self) -> bool:
        """True if any term has trigrams, which consist of letters and digits alone.

        For other terms PostgreSQL would read the whole index, for seconds that no time limit interrupts.
        """
        return any(any(map(str.isalnum, text)) for text in self._texts)

    @cached_property
    def _texts(self) -> list[str]:
        """The texts that the index is queried for, a telephone number by its digits."""
        return [*self._tokens, *(term[-1] for term in self.criteria.terms)]

    @cached_property
    def _tokens(self) -> list[str]:
        """The ends of the facet tokens: many words begin like an airport, so the first trigrams are in most texts."""
        return [token.removeprefix(MARK) for token in self.criteria.facet_tokens]

    @cached_property
    def values(self) -> dict[str, str]:
        """The bind parameters of the statements."""
        values: dict[str, str] = {}
        for number, token in enumerate(self._tokens):
            values |= param_values(f"token_{number}", token)
        return values

    def count(self) -> int:
        """Return the planner's estimate of the number of records that the index gives."""
        live = "deleted_at" if "deleted_at" in self.table.c else ""
        patterns = bindparam("patterns", type_=ARRAY(Text()))
        statement = select(func.record_estimate(self.table.name, live, patterns))
        values = list(map(like_pattern, self._texts))
        return int(self.reader.run("estimate", lambda: statement, patterns=values).scalar_one())

    def matching(self, order: Order) -> AnySelect:
        """Return the statement of all matches; the conditions by exact value are on facet tokens, not on columns.

        By column, the planner takes any airport for one of few records.
        """
        kind, tokens = self.reader.kind, enumerate(self._tokens)
        conditions = [
            *(contains_param(kind, f"token_{number}", indexed=token[0].isalnum()) for number, token in tokens),
            *text_conditions(kind, self.criteria, indexed=True),
            *phone_conditions(kind, self.criteria),
        ]
        return select(self.table.c.id, order.key.label("key")).where(*self.reader.scope, *conditions)
