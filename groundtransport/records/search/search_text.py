"""The search text of a record.

It is one folded text, the same on both databases: ``airport name | filter 1 | ... | filter n | phone digits | facet
tokens``, in the order of ``Kind.filters``, with a separator between the parts and another between the fields of one
part; no term can match across either. The phone digits are those of the numbers as typed and of their E.164 forms. The
facet tokens stand for the airport code and for the values of the choice fields, so that the full-text index answers
conditions by exact value, too.
"""

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from groundtransport.events import Values
from groundtransport.records.kind import Kind, choice_fields
from groundtransport.records.telephone import all_digits, e164_name
from groundtransport.text import FIELD, MARK, PART, digits, fold


def search_text(kind: Kind, values: Values, numbers: Values) -> str:
    """Return the ``search_text`` of a record with these values (its fields and ``airport_code``).

    ``numbers`` are its columns of E.164 numbers.
    """
    parts = [fold(values["airport_name"])]
    for fields in kind.filters.values():
        parts.append(FIELD.join(fold(kind.fields[name].search_text(values.get(name))) for name in fields))
    parts.append(FIELD.join(_phone_digits(kind, name, values, numbers) for name in phones(kind)))
    tokens = [fold(values["airport_code"]), *_facet_tokens(kind, values)]
    parts.append(MARK + "".join(token + MARK for token in tokens if token))
    return PART.join(parts)


def _phone_digits(kind: Kind, name: str, values: Values, numbers: Values) -> str:
    typed = digits(fold(kind.fields[name].search_text(values.get(name))))
    return all_digits(typed, numbers.get(e164_name(name)))


def _facet_tokens(kind: Kind, values: Mapping[str, object]) -> Iterator[str]:
    """Yield the facet token of each choice that a record holds."""
    for name in choice_fields(kind):
        yield from (facet_token(kind, name, code) for code in kind.fields[name].codes(values.get(name)))


@lru_cache(1_000)
def facet_token(kind: Kind, name: str, code: str) -> str:
    """Return two control characters, which no term can contain, for a choice of a field; "" for any other code."""
    codes = [choice for choice, _ in kind.fields[name].choices]
    return chr(1 + choice_fields(kind).index(name)) + chr(1 + codes.index(code)) if code in codes else ""


@cache
def phones(kind: Kind) -> tuple[str, ...]:
    """Return the names of the fields whose digits make the part of telephone numbers."""
    return tuple(name for name, node in kind.fields.items() if node.searches_digits)
