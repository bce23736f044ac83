"""Search on PostgreSQL: few matches by the trigram index (pg_trgm), many by walks, as the planner estimates."""

from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, bindparam, case, func, or_, select, true
from sqlalchemy.dialects.postgresql import aggregate_order_by

from groundtransport.records.list.order import Order
from groundtransport.records.list.window import ListResult, Window
from groundtransport.records.search import result_cache
from groundtransport.records.search.base import EXACT_MAX
from groundtransport.records.search.estimates import ESTIMATED_FEW, EstimatingSearch
from groundtransport.records.search.predicates import contains_param, phone_conditions, text_conditions
from groundtransport.records.search.terms import airport_token, param_values, selective_trigrams
from groundtransport.records.search.time_limit import OutOfTime
from groundtransport.text import MARK

IDS_MAX = 4_000  # matches whose ids are cached; of more, their number
Shape = tuple[tuple[int, ...], ...]  # the number of trigrams of each spelling of each term


class PostgreSQLSearch(EstimatingSearch):
    """A GIN index returns no row before it has found all matches: few are sorted, many are walked to."""

    number: int | None = None  # of matches, once the index was queried for all of them

    def find(self, window: Window) -> ListResult:
        number = self._recall_number()
        if number is not None:
            return self.result(window, self.fetch_many(window, number), number, is_estimate=False)
        self.load_facts()
        if not (self.prefilter or self.is_indexed):
            return self.find_by_scan(window)
        if self.is_of_fields and self.estimated > ESTIMATED_FEW:
            self.estimated = self.sampled()
        if self.estimated > ESTIMATED_FEW and self.total > 2 * EXACT_MAX:
            rows = self.fetch_many(window, self.estimated)
            if self.number is None:
                return self.result(window, rows, max(self.estimated, len(rows)), is_estimate=True)
            return self.result(window, rows, self.number, is_estimate=False)
        try:
            rows = self.fetch_sorted(window)
        except OutOfTime:
            self.truncated = True
            self.reader.budget.close()  # walks are planned for their length
            rows = self.rescue_rows(window)
            return self.result(window, rows, max(self.estimated, len(rows)), is_estimate=True)
        return self.result(window, rows, self.number or 0, is_estimate=False)

    def _recall_number(self) -> int | None:
        """Return the cached number of matches, if no record has changed since."""
        cached = result_cache.recall_number(self.reader)
        if cached is None:
            return None
        self.total = cached.state[1]
        return cached.number if result_cache.current_state(self.reader) == cached.state else None

    def fetch_sorted(self, window: Window) -> list[Row[Any]]:
        """Return rows by the index, set ``number``, and cache the matches; raise OutOfTime."""
        order, start = self.order_of(window), 0 if window.at_end else window.start
        prefilter_values = self.prefilter.values if self.prefilter else {}
        values = {"length": window.length, "offset": start, **self._token_values(), **prefilter_values}
        shape: Shape = ()
        if airport_token(self.criteria) or len(self.criteria.terms) > 1:
            shape, trigrams = self._trigrams()
            values |= trigrams
        # The plan of a prefilter depends on how rare its values are.
        with self.reader.budget.limit(custom_plans=bool(self.prefilter)):
            key = (order.shape, shape, bool(self.criteria.terms), tuple(prefilter_values))
            rows = self.reader.run("sorted", partial(self._sorted, order, shape), *key, **values).all()
        state, ids = result_cache.state_of(rows[0]), rows[0].ids or []
        self.number, self.total = int(rows[0].number), state[1]
        if len(ids) == self.number:
            result_cache.remember(self.reader, state, ids[::-1] if window.at_end else ids)
        elif not self.prefilter:
            result_cache.remember_number(self.reader, state, self.number, is_estimate=False)
        return [row for row in rows if row.id is not None]

    def _sorted(self, order: Order, shape: Shape) -> Select[Any]:
        """Return the statement of a page of all matches, their number, the state, and in the first row their ids."""
        key = order.key.label("key")
        matching = select(self.table.c.id, key).where(*self.reader.scope, *self._index_conditions(shape))
        matches = matching.cte("found").prefix_with("MATERIALIZED")
        sorted_ = select(matches.c.id, matches.c.key).order_by(*order.sorting(matches.c.key, matches.c.id))
        page = sorted_.limit(bindparam("length")).offset(bindparam("offset")).subquery("page")
        number = select(func.count().label("number")).select_from(matches).subquery("counted")
        # Outer joins: the number is returned for an empty page, too.
        joined = number.outerjoin(page, true()).outerjoin(self.table, self.table.c.id == page.c.id)
        columns: list[Any] = result_cache.state_columns(self.kind)
        ids = select(func.array_agg(aggregate_order_by(matches.c.id, *order.sorting(matches.c.key, matches.c.id))))
        first = sorted_.with_only_columns(matches.c.id).limit(1).offset(bindparam("offset")).scalar_subquery()
        is_first = and_(number.c.number <= IDS_MAX, page.c.id == first)
        columns.append(case((is_first, ids.scalar_subquery())).label("ids"))
        rows = select(*self.reader.columns, number.c.number, *columns).select_from(joined)
        return rows.order_by(*order.sorting(page.c.key, page.c.id))

    def _index_conditions(self, shape: Shape) -> list[ColumnElement[bool]]:
        """Return all conditions on a row, those for the index to answer in its form."""
        if self.prefilter:
            passing = self.prefilter.conditions(self.table.c.search_text)
            return [*passing, *self._token_conditions(indexed=False), *text_conditions(self.kind, self.criteria)]
        is_indexed = bool(self.criteria.terms)
        groups = self._token_conditions() if is_indexed or airport_token(self.criteria) else self.reader.groups
        if shape:
            return [*groups, *self._trigram_conditions(shape), *text_conditions(self.kind, self.criteria)]
        phones = phone_conditions(self.kind, self.criteria) if is_indexed else []
        return [*groups, *text_conditions(self.kind, self.criteria, indexed=is_indexed), *phones]

    def _token_conditions(self, *, indexed: bool = True) -> list[ColumnElement[bool]]:
        """Return the conditions by exact value, on facet tokens: by column, the planner takes any value for rare."""
        airport = airport_token(self.criteria)
        return [
            contains_param(self.kind, f"token_{number}", indexed=indexed and token == airport)
            for number, token in enumerate(self.criteria.facet_tokens)
        ]

    def _token_values(self) -> dict[str, str]:
        """Return the bind parameters of ``_token_conditions``: the tokens' ends, as many words begin like airports."""
        values: dict[str, str] = {}
        for number, token in enumerate(self.criteria.facet_tokens):
            values |= param_values(f"token_{number}", token.removeprefix(MARK))
        return values

    def _trigrams(self) -> tuple[Shape, dict[str, str]]:
        """Return the shape and the bind parameters of ``_trigram_conditions``.

        The index reads the list of every trigram that it is queried for: of several terms, the most selective one of
        each will do.
        """
        shape: list[tuple[int, ...]] = []
        values: dict[str, str] = {}
        for number, term in enumerate(self.criteria.terms):
            by_spelling = [selective_trigrams(spelling, 1) for spelling in term]
            shape.append(tuple(map(len, by_spelling)))
            for spelling, trigrams in enumerate(by_spelling):
                for last, trigram in enumerate(trigrams):
                    values |= param_values(f"trigram_{number}_{spelling}_{last}", trigram)
        return tuple(shape), values

    def _trigram_conditions(self, shape: Shape) -> list[ColumnElement[bool]]:
        """Return for each term the condition that a text contains the trigrams of one of its spellings."""

        def contains(number: int, spelling: int, count: int) -> ColumnElement[bool]:
            names = (f"trigram_{number}_{spelling}_{last}" for last in range(count))
            return and_(*(contains_param(self.kind, name, indexed=True) for name in names))

        return [
            or_(*(contains(number, spelling, count) for spelling, count in enumerate(counts)))
            for number, counts in enumerate(shape)
        ]
