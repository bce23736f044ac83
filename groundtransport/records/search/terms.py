"""The search criteria of a list query: its words and filters, as conditions on the search texts and the columns."""

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from groundtransport.events import Values
from groundtransport.records import validity, verification
from groundtransport.records.kind import Kind, choice_fields, range_fields, single_choice_fields
from groundtransport.records.list.query import (
    BATCH,
    LINK_STATE,
    MISSING,
    TEXT_MAX,
    ListQuery,
)
from groundtransport.records.model import OTHER_PLACE
from groundtransport.records.search.search_text import facet_token, phones
from groundtransport.records.telephone import digits_of, words_of
from groundtransport.records.validity import VALIDITY
from groundtransport.text import MARK, fold, plain

TERMS_MAX = 16  # terms that the full-text index is queried for, the longest first; the text conditions cover all
TRIGRAM = 3  # characters of the index entries: shorter terms need a scan of the texts


class TermMatch(NamedTuple):
    """How a search term or a filter is matched.

    ``mode`` is "word" (anywhere), "number" (anywhere, or its digits among the phones), "filter" (in the part of
    ``filter_name``), "phone" (the same, or its digits among the phones), "empty" (the filter's fields are NULL),
    "from" or "to" (the field called ``filter_name`` is at least, or at most, the bound value), "unset" (it is NULL),
    "before" or "since" (it is NULL, or less than the bound value, or at least that), "batch" (the activity log has an
    entry of the batch), "link" (the check of a link ended in the state ``filter_name``) or "marked" (the column
    ``filter_name`` is true).
    ``is_indexed`` is True if the text is long enough for the full-text index.
    """

    mode: str
    filter_name: str
    is_indexed: bool = False


SHORT_WORD = TermMatch("word", "")


@dataclass(frozen=True)
class Criteria:
    """The search terms and filters of a list query, as conditions on rows.

    ``terms`` are for the full-text index: a row must contain one spelling of each. If ``is_exact``, they decide alone;
    else the search texts must be compared, too, as ``matches`` tells. ``groups`` are the conditions by exact value,
    column to value. ``values`` are the bind parameters of all conditions, so that queries of one shape share
    statements.
    """

    terms: tuple[tuple[str, ...], ...] = ()
    matches: tuple[TermMatch, ...] = ()
    values: Mapping[str, object] = field(default_factory=dict)
    groups: Values = field(default_factory=dict)
    facet_tokens: tuple[str, ...] = ()  # of ``groups``
    is_exact: bool = True
    is_impossible: bool = False

    @property
    def is_empty(self) -> bool:
        """Return True if every row matches: there are no criteria, or texts that fold to nothing, as accents do."""
        return not (self.matches or self.groups or self.is_impossible)

    @property
    def shape(self) -> tuple[Hashable, ...]:
        """The part of a statement cache key that stands for these criteria."""
        return self.matches, tuple(self.groups), self.is_exact

    def is_counted(self, counted_by: str | None) -> bool:
        """Return True if the counters hold the number of matches; ``counted_by`` is the choice that they count."""
        return not self.matches and set(self.groups) <= {"airport_code", counted_by}


def parse_criteria(kind: Kind, query: ListQuery) -> Criteria:
    """Return the criteria of a query."""
    groups = [_group(kind, name, text) for name, text in query.filters.items() if _is_group(kind, name)]
    by_column = {name: value for name, value, _ in groups}
    tokens = tuple(MARK + token + MARK for _, _, token in groups)
    if query.too_long or any(not token for _, _, token in groups):
        return Criteria(is_impossible=True)
    terms = [_word_term(word, number) for word, number in words_of(query.q).items()]
    for name, text in query.filters.items():
        if name in range_fields(kind):
            terms += _range_terms(kind, name, text)
        elif name in choice_fields(kind) and not _is_group(kind, name):
            terms.append(_held_choice_term(kind, name, text))
        elif name in verification.FILTERS:
            mode, bound = verification.match_of(name, text, query.due_days)
            terms.append(_Term(TermMatch(mode, "verified_at"), bound=bound))
        elif name == VALIDITY:
            terms += [_Term(TermMatch(mode, column), bound=day) for mode, column, day in validity.bounds_of(text)]
        elif name == BATCH:
            terms.append(_Term(TermMatch("batch", ""), bound=plain(text)))
        elif name == LINK_STATE:
            terms.append(_Term(TermMatch("link", text)))
        elif name == OTHER_PLACE:
            terms.append(_Term(TermMatch("marked", name)))
        elif not _is_group(kind, name):
            terms.append(_Term(TermMatch("empty", text)) if name == MISSING else _filter_term(kind, name, text))
    spellings = [term.spellings for term in terms if term.spellings]
    return Criteria(
        terms=tuple(sorted(spellings, key=lambda each: -len(min(each, key=len)))[:TERMS_MAX]),
        matches=tuple(term.match for term in terms),
        values={**_values(terms), **{f"of_{name}": _lowered(value) for name, value in by_column.items()}},
        groups=by_column,
        facet_tokens=tokens,
        is_exact=all(term.is_exact and bool(term.spellings) for term in terms) and len(spellings) <= TERMS_MAX,
        is_impossible=any(term.is_impossible for term in terms),
    )


@dataclass(frozen=True)
class _Term:
    """A search word or a filter's text; ``spellings`` are what the index is queried for, () if it is too short."""

    match: TermMatch
    text: str = ""
    digits: str = ""  # the other spelling of a telephone number
    spellings: tuple[str, ...] = ()
    is_exact: bool = False
    is_impossible: bool = False
    bound: object = None  # the value of one end of a range


def _values(terms: Iterable[_Term]) -> dict[str, object]:
    values: dict[str, object] = {}
    for number, term in enumerate(terms):
        values |= param_values(f"text_{number}", term.text)
        if term.bound is not None:
            values[f"bound_{number}"] = term.bound
        if term.digits:
            values |= param_values(f"digits_{number}", term.digits)
    return values


def _is_group(kind: Kind, name: str) -> bool:
    return name == "airport_code" or name in single_choice_fields(kind)


def _held_choice_term(kind: Kind, name: str, text: str) -> _Term:
    """Return the term of a filter by one of several choices that a record can hold: its facet token."""
    token = facet_token(kind, name, text.casefold())
    if not token:
        return _Term(SHORT_WORD, is_impossible=True)
    marked = MARK + token + MARK  # not ``is_indexed``: for PostgreSQL's index it has no trigrams
    return _Term(SHORT_WORD, marked, spellings=(marked,), is_exact=True)


def _range_terms(kind: Kind, name: str, text: str) -> list[_Term]:
    """Return the terms of a range filter, one for each end that it has."""
    ends = kind.fields[name].range_of(text)
    if ends is None:
        return [_Term(TermMatch("from", name), is_impossible=True)]
    pairs = zip(("from", "to"), ends, strict=True)
    return [_Term(TermMatch(mode, name), bound=bound) for mode, bound in pairs if bound is not None]


def _lowered(value: object) -> object:
    """Return a value in the form of the index of its column's sort."""
    return value.lower() if isinstance(value, str) else value


def _group(kind: Kind, name: str, text: str) -> tuple[str, object, str]:
    """Return the column, the stored value and the facet token of a filter by exact value; token "" if invalid."""
    if name == "airport_code":
        code = text.upper()
        return name, code, fold(code) if code.isascii() and code.isalnum() and len(code) == 3 else ""
    choice = text.casefold()
    return name, kind.fields[name].filter_value(choice), facet_token(kind, name, choice)


def like_pattern(text: str) -> str:
    """Return the LIKE pattern that matches texts containing ``text``."""
    return "%" + re.sub(r"([%_\\])", r"\\\1", text) + "%"


def param_values(name: str, text: str) -> dict[str, str]:
    """Return the bind parameters of ``contains_param``."""
    return {name: text, f"{name}_like": like_pattern(text)}


def _word_term(word: str, number: str) -> _Term:
    if not number:
        spellings = _spellings(word)
        return _Term(TermMatch("word", "", bool(spellings)), word, "", spellings, is_exact=True)
    spellings = _spellings(word, number)
    return _Term(TermMatch("number", "", bool(spellings)), word, number, spellings)


def _spellings(*spellings: str) -> tuple[str, ...]:
    """Return the spellings, or () if one of them is too short for the index."""
    return spellings if all(len(text) >= TRIGRAM for text in spellings) else ()


def _filter_term(kind: Kind, name: str, text: str) -> _Term:
    """Return the term of a filter, which matches in its fields (or the airport's name) only."""
    folded = fold(text).strip()
    if len(folded) > TEXT_MAX:
        return _Term(TermMatch("filter", name), is_impossible=True)
    looks_in_phones = set(kind.filters.get(name, ())) & set(phones(kind))
    if looks_in_phones and (number := digits_of(folded)):
        spellings = _spellings(folded, number)
        return _Term(TermMatch("phone", name, bool(spellings)), folded, number, spellings)
    spellings = _spellings(folded)
    return _Term(TermMatch("filter", name, bool(spellings)), folded, "", spellings)
