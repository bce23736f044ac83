"""Searching: one folded text a record, the same for both databases.

The text is ``airport name | filter 1 | ... | filter n | phone digits | marks``, in the order of ``Kind.filters``, with
a separator between the parts and another between the fields of one part; no word can cross either. The marks say by
exact value which airport a record is at and which of a few values it has, so that one index answers all questions.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from groundtransport.records.kind import Kind
from groundtransport.records.list.query import MISSING, TEXT_MAX, ListQuery, choices, ranges
from groundtransport.text import FIELD, MARK, PART, digits, fold

TERMS_MAX = 16  # words that the index is asked for, the longest first; the texts are asked for all
PHONE_MIN = 7  # characters of a telephone number that hardly any other has
INDEXED = 3  # the index knows pieces of three characters: shorter words must be looked for in the texts
# How a word or a filter is looked for: "word", "number", "filter", "phone", "lacks", "from" or "to"; its name; and
# whether the index knows the text, which is long enough for it.
TermMatch = tuple[str, str, bool]
SHORT_WORD: TermMatch = ("word", "", False)
_PHONE = re.compile(r"[0-9+()./-]*[0-9][0-9+()./-]*", re.ASCII)


def search_text(kind: Kind, values: Mapping[str, Any]) -> str:
    """Return the ``search_text`` of a record with these values (its fields and ``airport_code``)."""
    parts = [fold(values["airport_name"])]
    for fields in kind.filters.values():
        parts.append(FIELD.join(fold(kind.fields[name].search_text(values.get(name))) for name in fields))
    parts.append(FIELD.join(digits(fold(kind.fields[name].search_text(values.get(name)))) for name in phones(kind)))
    marks = [fold(values["airport_code"]), *_marks(kind, values)]
    parts.append(MARK + "".join(mark + MARK for mark in marks if mark))
    return PART.join(parts)


def _marks(kind: Kind, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the facet token of each choice that a record holds."""
    for name in choices(kind):
        yield from (_mark(kind, name, code) for code in kind.fields[name].codes(values.get(name)))


def _mark(kind: Kind, name: str, code: str) -> str:
    """Return two control characters, which no word can hold, for one of a field's choices; "" for what is none."""
    codes = [known for known, _ in kind.fields[name].choices]
    return chr(1 + choices(kind).index(name)) + chr(1 + codes.index(code)) if code in codes else ""


@dataclass(frozen=True)
class Wanted:
    """What the rows of a list must fulfil.

    ``terms`` are for the index of searches: a row must hold one spelling of each. ``is_exact`` tells that they decide
    alone; else the texts must be looked into, too: ``shape`` tells how, for ``texts``. ``groups`` are the conditions by
    exact value, by column. ``values`` are what all conditions are filled with, so that a statement serves every query
    of its shape.
    """

    terms: tuple[tuple[str, ...], ...] = ()
    shape: tuple[TermMatch, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    groups: Mapping[str, Any] = field(default_factory=dict)
    marks: tuple[str, ...] = ()  # the terms of ``groups``
    pieces: tuple[str, ...] = ()  # of texts, for the planner's guess
    short: tuple[str, ...] = ()  # words that the index does not know as such
    is_exact: bool = True
    is_impossible: bool = False

    @property
    def is_everything(self) -> bool:
        """Return True if no row is left out: nothing was asked, or texts that fold to nothing, as accents do."""
        return not (self.shape or self.groups or self.is_impossible)

    def is_counted(self, counted_by: str | None) -> bool:
        """Whether the counters know how many rows these are."""
        return not self.shape and set(self.groups) <= {"airport_code", counted_by}


def wanted(kind: Kind, query: ListQuery) -> Wanted:
    """Return what the rows of a query must fulfil."""
    named = [_group(kind, name, text) for name, text in query.filters.items() if _is_group(kind, name)]
    groups = {name: value for name, value, _ in named}
    marks = tuple(MARK + mark + MARK for _, _, mark in named)
    if query.too_long or any(not mark for _, _, mark in named):
        return Wanted(is_impossible=True)
    found = [_word(word) for word in _words(query.q)]
    for name, text in query.filters.items():
        if name in ranges(kind):
            found += _range(kind, name, text)
        elif not _is_group(kind, name):
            found.append(_Piece(("lacks", text, False), "") if name == MISSING else _filter(kind, name, text))
    terms = [piece.term for piece in found if piece.term]
    return Wanted(
        terms=tuple(sorted(terms, key=lambda term: -len(min(term, key=len)))[:TERMS_MAX]),
        shape=tuple(piece.manner for piece in found),
        values={**_values(found), **{f"of_{name}": _lowered(value) for name, value in groups.items()}},
        pieces=(*marks, *(piece.digits or piece.text for piece in found if piece.text)),
        groups=groups,
        marks=marks,
        short=tuple(piece.text for piece in found if piece.is_exact and not piece.term),
        is_exact=all(piece.is_exact and bool(piece.term) for piece in found) and len(terms) <= TERMS_MAX,
        is_impossible=any(piece.is_impossible for piece in found),
    )


def _values(pieces: Iterable["_Piece"]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for number, piece in enumerate(pieces):
        values |= valued(f"text_{number}", piece.text)
        if piece.bound is not None:
            values[f"bound_{number}"] = piece.bound
        if piece.digits:
            values |= valued(f"digits_{number}", piece.digits)
    return values


def spelled_out(wanted: Wanted, terms: list[tuple[str, ...]]) -> Wanted:
    """Return the same with terms of the index for its short words: any of the pieces that begin with one."""
    is_exact = all(how == "word" for how, _, _ in wanted.shape) and len(wanted.terms) < TERMS_MAX
    return replace(wanted, terms=(*wanted.terms, *terms), short=(), is_exact=is_exact)


@dataclass(frozen=True)
class _Piece:
    """One word, or one filter: how it is looked for, and what the index can say of it."""

    manner: TermMatch
    text: str
    digits: str = ""  # another spelling, of a phone
    term: tuple[str, ...] = ()
    is_exact: bool = False
    is_impossible: bool = False
    bound: Any = None  # the value of one end of a range


def _is_group(kind: Kind, name: str) -> bool:
    return name == "airport_code" or name in choices(kind)


def _range(kind: Kind, name: str, text: str) -> list[_Piece]:
    """Return the conditions of a range filter, one for each end."""
    ends = kind.fields[name].range_of(text)
    if ends is None:
        return [_Piece(("from", name, False), "", is_impossible=True)]
    pairs = zip(("from", "to"), ends, strict=True)
    return [_Piece((how, name, False), "", bound=bound) for how, bound in pairs if bound is not None]


def _lowered(value: Any) -> Any:
    """Return a value as the index of its column's sort holds it."""
    return value.lower() if isinstance(value, str) else value


def _group(kind: Kind, name: str, text: str) -> tuple[str, Any, str]:
    """Return a filter by exact value: its column, the value as it is stored, and its mark; "" for none there is."""
    if name == "airport_code":
        code = text.upper()
        return name, code, fold(code) if code.isascii() and code.isalnum() and len(code) == 3 else ""
    choice = text.casefold()
    return name, kind.fields[name].filter_value(choice), _mark(kind, name, choice)


def airport_mark(wanted: Wanted) -> str:
    """Return the mark of the airport, the one whose letters PostgreSQL's index knows; "" without that condition."""
    return next((mark for mark in wanted.marks if mark.strip(MARK).isalnum()), "")


# Letters, the ones of names and addresses that tell least first.
_USUAL = "eairotnslcudpmhgbfyvkwzxjq"


def telling(term: str, number: int) -> list[str]:
    """Return the pieces of a term that few texts hold, as far as letters tell: a search may begin with these alone.

    Of a telephone number no piece tells more than another, and all of it tells most.
    """
    if _PHONE.fullmatch(term) and len(term) >= PHONE_MIN:
        return [term]
    pieces = dict.fromkeys(term[start : start + INDEXED] for start in range(len(term) - INDEXED + 1))
    return sorted(pieces, key=lambda piece: sum(map(_rarity, piece)), reverse=True)[:number]


def _rarity(character: str) -> int:
    return _USUAL.find(character) if character in _USUAL else len(_USUAL) // 2


def like(text: str) -> str:
    """Return the pattern of LIKE that finds ``text`` anywhere."""
    return "%" + re.sub(r"([%_\\])", r"\\\1", text) + "%"


def valued(name: str, text: str) -> dict[str, str]:
    """Return what fills a condition of that name."""
    return {name: text, f"{name}_like": like(text)}


def _words(text: str) -> list[str]:
    """Return the words to look for, each once: whatever holds one holds every part of it, too."""
    words = dict.fromkeys(fold(text).split())
    wholes = [word for word in words if not _is_number(word)]
    return [word for word in words if not any(word in whole != word for whole in wholes)]


def _is_number(word: str) -> bool:
    """Whether a word may be a telephone number in another spelling; bare digits are part of the text already."""
    return bool(_PHONE.fullmatch(word)) and not word.isdigit()


def _word(word: str) -> _Piece:
    if not _is_number(word):
        term = _term(word)
        return _Piece(("word", "", bool(term)), word, "", term, is_exact=True)
    number = digits(word)
    term = _term(word, number)
    return _Piece(("number", "", bool(term)), word, number, term)


def _term(*spellings: str) -> tuple[str, ...]:
    """Return what the index can be asked for; nothing where one of the spellings is too short."""
    return spellings if all(len(spelling) >= INDEXED for spelling in spellings) else ()


def _filter(kind: Kind, name: str, text: str) -> _Piece:
    """Return what one filter asks for: its fields (or the airport's name) hold ``text``."""
    sought = fold(text).strip()
    if len(sought) > TEXT_MAX:
        return _Piece(("filter", name, False), "", is_impossible=True)
    looks_in_phones = set(kind.filters.get(name, ())) & set(phones(kind))
    if looks_in_phones and _PHONE.fullmatch(sought.replace(" ", "")):
        number = digits(sought)
        term = _term(sought, number)
        return _Piece(("phone", name, bool(term)), sought, number, term)
    term = _term(sought)
    return _Piece(("filter", name, bool(term)), sought, "", term)


def phones(kind: Kind) -> Iterable[str]:
    """Return the names of the fields whose digits make the part of telephone numbers."""
    return [name for name, node in kind.fields.items() if node.searches_digits]
