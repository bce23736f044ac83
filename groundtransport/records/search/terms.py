"""The search text of a record, and the search criteria of a list query.

The search text is one folded text, the same on both databases: ``airport name | filter 1 | ... | filter n | phone
digits | facet tokens``, in the order of ``Kind.filters``, with a separator between the parts and another between the
fields of one part; no term can match across either. The facet tokens stand for the airport code and for the values of
the choice fields, so that the full-text index also answers conditions by exact value.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from groundtransport.records.kind import Kind
from groundtransport.records.list.query import MISSING, TEXT_MAX, ListQuery, choices, ranges
from groundtransport.text import FIELD, MARK, PART, digits, fold

TERMS_MAX = 16  # terms that the full-text index is queried for, the longest first; the text conditions cover all
PHONE_MIN = 7  # characters that make a telephone number selective
TRIGRAM = 3  # characters of the index entries: shorter terms need a scan of the texts
_PHONE = re.compile(r"[0-9+()./-]*[0-9][0-9+()./-]*", re.ASCII)


class TermMatch(NamedTuple):
    """How a search term or a filter is matched.

    ``mode`` is "word" (anywhere), "number" (anywhere, or its digits among the phones), "filter" (in the part of
    ``filter_name``), "phone" (the same, or its digits among the phones), "empty" (the filter's fields are NULL), or
    "from" or "to" (the field called ``filter_name`` is at least, or at most, the bound value).
    ``is_indexed`` is True if the text is long enough for the full-text index.
    """

    mode: str
    filter_name: str
    is_indexed: bool = False


SHORT_WORD = TermMatch("word", "")


def search_text(kind: Kind, values: Mapping[str, Any]) -> str:
    """Return the ``search_text`` of a record with these values (its fields and ``airport_code``)."""
    parts = [fold(values["airport_name"])]
    for fields in kind.filters.values():
        parts.append(FIELD.join(fold(kind.fields[name].search_text(values.get(name))) for name in fields))
    parts.append(FIELD.join(digits(fold(kind.fields[name].search_text(values.get(name)))) for name in phones(kind)))
    tokens = [fold(values["airport_code"]), *_facet_tokens(kind, values)]
    parts.append(MARK + "".join(token + MARK for token in tokens if token))
    return PART.join(parts)


def _facet_tokens(kind: Kind, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the facet token of each choice that a record holds."""
    for name in choices(kind):
        yield from (_facet_token(kind, name, code) for code in kind.fields[name].codes(values.get(name)))


def _facet_token(kind: Kind, name: str, code: str) -> str:
    """Return two control characters, which no term can contain, for a choice of a field; "" for any other code."""
    codes = [known for known, _ in kind.fields[name].choices]
    return chr(1 + choices(kind).index(name)) + chr(1 + codes.index(code)) if code in codes else ""


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
    values: Mapping[str, Any] = field(default_factory=dict)
    groups: Mapping[str, Any] = field(default_factory=dict)
    facet_tokens: tuple[str, ...] = ()  # of ``groups``
    estimate_texts: tuple[str, ...] = ()  # texts for the planner's estimate
    short_words: tuple[str, ...] = ()  # words shorter than the index entries
    is_exact: bool = True
    is_impossible: bool = False

    @property
    def is_empty(self) -> bool:
        """Return True if every row matches: there are no criteria, or texts that fold to nothing, as accents do."""
        return not (self.matches or self.groups or self.is_impossible)

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
    terms = [_word_term(word) for word in _words(query.q)]
    for name, text in query.filters.items():
        if name in ranges(kind):
            terms += _range_terms(kind, name, text)
        elif not _is_group(kind, name):
            terms.append(_Term(TermMatch("empty", text)) if name == MISSING else _filter_term(kind, name, text))
    spellings = [term.spellings for term in terms if term.spellings]
    return Criteria(
        terms=tuple(sorted(spellings, key=lambda each: -len(min(each, key=len)))[:TERMS_MAX]),
        matches=tuple(term.match for term in terms),
        values={**_values(terms), **{f"of_{name}": _lowered(value) for name, value in by_column.items()}},
        estimate_texts=(*tokens, *(term.digits or term.text for term in terms if term.text)),
        groups=by_column,
        facet_tokens=tokens,
        short_words=tuple(term.text for term in terms if term.is_exact and not term.spellings),
        is_exact=all(term.is_exact and bool(term.spellings) for term in terms) and len(spellings) <= TERMS_MAX,
        is_impossible=any(term.is_impossible for term in terms),
    )


def with_short_word_terms(criteria: Criteria, terms: list[tuple[str, ...]]) -> Criteria:
    """Return the criteria with index terms in place of the short words: the trigrams that begin with each."""
    is_exact = all(match.mode == "word" for match in criteria.matches) and len(criteria.terms) < TERMS_MAX
    return replace(criteria, terms=(*criteria.terms, *terms), short_words=(), is_exact=is_exact)


@dataclass(frozen=True)
class _Term:
    """A search word or a filter's text; ``spellings`` are what the index is queried for, () if it is too short."""

    match: TermMatch
    text: str = ""
    digits: str = ""  # the other spelling of a telephone number
    spellings: tuple[str, ...] = ()
    is_exact: bool = False
    is_impossible: bool = False
    bound: Any = None  # the value of one end of a range


def _values(terms: Iterable[_Term]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for number, term in enumerate(terms):
        values |= param_values(f"text_{number}", term.text)
        if term.bound is not None:
            values[f"bound_{number}"] = term.bound
        if term.digits:
            values |= param_values(f"digits_{number}", term.digits)
    return values


def _is_group(kind: Kind, name: str) -> bool:
    return name == "airport_code" or name in choices(kind)


def _range_terms(kind: Kind, name: str, text: str) -> list[_Term]:
    """Return the terms of a range filter, one for each end that it has."""
    ends = kind.fields[name].range_of(text)
    if ends is None:
        return [_Term(TermMatch("from", name), is_impossible=True)]
    pairs = zip(("from", "to"), ends, strict=True)
    return [_Term(TermMatch(mode, name), bound=bound) for mode, bound in pairs if bound is not None]


def _lowered(value: Any) -> Any:
    """Return a value in the form of the index of its column's sort."""
    return value.lower() if isinstance(value, str) else value


def _group(kind: Kind, name: str, text: str) -> tuple[str, Any, str]:
    """Return the column, the stored value and the facet token of a filter by exact value; token "" if invalid."""
    if name == "airport_code":
        code = text.upper()
        return name, code, fold(code) if code.isascii() and code.isalnum() and len(code) == 3 else ""
    choice = text.casefold()
    return name, kind.fields[name].filter_value(choice), _facet_token(kind, name, choice)


def airport_token(criteria: Criteria) -> str:
    """Return the facet token of the airport, the only one with letters for PostgreSQL's index; "" without one."""
    return next((token for token in criteria.facet_tokens if token.strip(MARK).isalnum()), "")


def selective_trigrams(term: str, number: int) -> list[str]:
    """Return the first trigram of a term, and the last one if ``number`` is 2: a candidate's text contains these.

    A telephone number is returned whole, as its trigrams are in many other numbers.
    """
    if _PHONE.fullmatch(term) and len(term) >= PHONE_MIN:
        return [term]
    return list(dict.fromkeys((term[:TRIGRAM], term[-TRIGRAM:])))[:number]


def like_pattern(text: str) -> str:
    """Return the LIKE pattern that matches texts containing ``text``."""
    return "%" + re.sub(r"([%_\\])", r"\\\1", text) + "%"


def param_values(name: str, text: str) -> dict[str, str]:
    """Return the bind parameters of ``contains_param``."""
    return {name: text, f"{name}_like": like_pattern(text)}


def _words(text: str) -> list[str]:
    """Return the distinct words to search for, without words that are part of another."""
    words = dict.fromkeys(fold(text).split())
    wholes = [word for word in words if not _is_number(word)]
    return [word for word in words if not any(word in whole != word for whole in wholes)]


def _is_number(word: str) -> bool:
    """Return True if a word may be a telephone number in another spelling; bare digits match the text as they are."""
    return bool(_PHONE.fullmatch(word)) and not word.isdigit()


def _word_term(word: str) -> _Term:
    if not _is_number(word):
        spellings = _spellings(word)
        return _Term(TermMatch("word", "", bool(spellings)), word, "", spellings, is_exact=True)
    number = digits(word)
    spellings = _spellings(word, number)
    return _Term(TermMatch("number", "", bool(spellings)), word, number, spellings)


def _spellings(*texts: str) -> tuple[str, ...]:
    """Return the texts, or () if one of them is too short for the index."""
    return texts if all(len(text) >= TRIGRAM for text in texts) else ()


def _filter_term(kind: Kind, name: str, text: str) -> _Term:
    """Return the term of a filter, which matches in its fields (or the airport's name) only."""
    folded = fold(text).strip()
    if len(folded) > TEXT_MAX:
        return _Term(TermMatch("filter", name), is_impossible=True)
    looks_in_phones = set(kind.filters.get(name, ())) & set(phones(kind))
    if looks_in_phones and _PHONE.fullmatch(folded.replace(" ", "")):
        number = digits(folded)
        spellings = _spellings(folded, number)
        return _Term(TermMatch("phone", name, bool(spellings)), folded, number, spellings)
    spellings = _spellings(folded)
    return _Term(TermMatch("filter", name, bool(spellings)), folded, "", spellings)


def phones(kind: Kind) -> Iterable[str]:
    """Return the names of the fields whose digits make the part of telephone numbers."""
    return [name for name, node in kind.fields.items() if node.searches_digits]
