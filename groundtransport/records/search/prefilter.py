"""Prefilter of PostgreSQL searches: conditions that other indexes answer, implied by terms that have no trigrams.

Without it, a search for "kv" or "%" scans all texts: 15 to 60 times slower at a million records.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Text, bindparam, literal_column, or_
from sqlalchemy.dialects.postgresql import ARRAY

from groundtransport.indexes.postgresql import RARE_SIGNS, continued, is_pair, rare_signs
from groundtransport.records.search.terms import TERMS_MAX, Criteria

PAIRS_MAX = 4  # two-letter words that the trigram index is queried for: each reads the lists of some fifty trigrams


class Prefilter:
    """The words and filters of a search that are too short for trigrams, or punctuation alone.

    ``symbols`` are the rare ones among their characters, which have an index; ``pairs`` are words of two Latin letters
    or digits, which the trigram index holds with the characters that may follow. ``others`` are all other texts.
    """

    def __init__(self, criteria: Criteria) -> None:
        values = criteria.values
        self.texts = [
            values[f"text_{number}"]
            for number, match in enumerate(criteria.matches)
            if match.mode in ("word", "filter") and not (match.is_indexed and has_trigrams(values[f"text_{number}"]))
        ]
        symbols = set[str]().union(*map(rare_signs, self.texts))
        self.symbols = sorted(symbols)[-TERMS_MAX:]  # the last code points: farthest from Latin letters
        self.pairs = [text for text in self.texts if is_pair(text)][:PAIRS_MAX]
        self.others = [text for text in criteria.estimate_texts if text not in self.texts]

    @property
    def estimable(self) -> list[str]:
        """The texts whose frequency the planner can estimate: symbols rare in every position, pairs, symbol words."""
        always_rare = [symbol for symbol in self.symbols if rare_signs(symbol)]
        return [*always_rare, *self.pairs, *(text for text in self.texts if rare_signs(text) - {*always_rare})]

    @property
    def values(self) -> Mapping[str, Any]:
        """The bind parameters of the conditions; their names identify the conditions' shape."""
        values: dict[str, Any] = {"symbols": self.symbols} if self.symbols else {}
        for number, pair in enumerate(self.pairs):
            values |= {f"pair_{number}": continued(pair), f"last_{number}": [pair[-1]]}
        return values

    def conditions(self, column: ColumnElement[str]) -> list[ColumnElement[bool]]:
        """Return the conditions on the search text ``column``."""
        pairs = [
            or_(column.regexp_match(bindparam(f"pair_{number}", type_=Text())), _has_symbols(f"last_{number}"))
            for number in range(len(self.pairs))
        ]
        return [_has_symbols("symbols"), *pairs] if self.symbols else pairs


def has_trigrams(text: str) -> bool:
    """Return True if a text has trigrams, which consist of letters and digits alone."""
    return any(map(str.isalnum, text))


def any_has_trigrams(terms: Iterable[Iterable[str]]) -> bool:
    """Return True if any spelling of any term has trigrams."""
    return any(has_trigrams(spelling) for term in terms for spelling in term)


def _has_symbols(name: str) -> ColumnElement[bool]:
    """Return the condition that the rare symbols of a text include those of the bind parameter."""
    return literal_column(RARE_SIGNS, ARRAY(Text())).contains(bindparam(name, type_=ARRAY(Text())))
