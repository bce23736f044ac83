"""What PostgreSQL's indexes know of words that trigrams do not know: conditions that such a word implies."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Text, bindparam, literal_column, or_
from sqlalchemy.dialects.postgresql import ARRAY

from groundtransport.indexes.postgresql import RARE_SIGNS, continued, is_pair, rare_signs
from groundtransport.records.search.terms import TERMS_MAX, Wanted

PAIRS_MAX = 4  # pairs of letters that the index is asked for: it reads some fifty lists for each


class Prefilter:
    """Of the words and filters of a search that are too short, or of punctuation alone.

    ``signs`` are the rare ones among them, which have an index; ``pairs`` are words of two Latin letters or digits,
    which the index of trigrams knows with what follows. ``others`` is all else that is sought.
    """

    def __init__(self, wanted: Wanted) -> None:
        named = [(wanted.values[f"text_{at}"], *manner) for at, manner in enumerate(wanted.shape)]
        self.texts = [
            text
            for text, how, _, is_long in named
            if how in ("word", "filter") and not (is_long and is_of_trigrams(text))
        ]
        signs = set[str]().union(*map(rare_signs, self.texts))
        self.signs = sorted(signs)[-TERMS_MAX:]  # the farthest from Latin letters
        self.pairs = [text for text in self.texts if is_pair(text)][:PAIRS_MAX]
        self.others = [piece for piece in wanted.pieces if piece not in self.texts]

    @property
    def sure(self) -> list[str]:
        """What the planner can guess the number of: pairs, signs that are rare wherever they stand, words of marks."""
        always = [sign for sign in self.signs if rare_signs(sign)]
        return [*always, *self.pairs, *(text for text in self.texts if rare_signs(text) - {*always})]

    @property
    def values(self) -> Mapping[str, Any]:
        """What fills the conditions; the names tell which they are."""
        values: dict[str, Any] = {"signs": self.signs} if self.signs else {}
        for number, pair in enumerate(self.pairs):
            values |= {f"pair_{number}": continued(pair), f"last_{number}": [pair[-1]]}
        return values

    def conditions(self, column: ColumnElement[str]) -> list[ColumnElement[bool]]:
        """Return what a row's search text must fulfil."""
        pairs = [
            or_(column.regexp_match(bindparam(f"pair_{number}", type_=Text())), _has(f"last_{number}"))
            for number in range(len(self.pairs))
        ]
        return [_has("signs"), *pairs] if self.signs else pairs


def is_of_trigrams(text: str) -> bool:
    """Whether trigrams know anything of a text: they are of letters and digits alone."""
    return any(map(str.isalnum, text))


def any_is_of_trigrams(terms: Iterable[Iterable[str]]) -> bool:
    """Whether trigrams know anything of the spellings of terms."""
    return any(is_of_trigrams(spelling) for term in terms for spelling in term)


def _has(name: str) -> ColumnElement[bool]:
    """Return the condition that the rare signs of a text include the value of that name."""
    return literal_column(RARE_SIGNS, ARRAY(Text())).contains(bindparam(name, type_=ARRAY(Text())))
