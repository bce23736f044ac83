"""Records of the same airport that may be the same company: by name, telephone or web host. A hint, never a refusal.

What is written alike is found by the indexes of the sorts; what is not, among the newest records of the airport.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import phonenumbers
from sqlalchemy.orm import Session

from groundtransport.airports.models import Airport
from groundtransport.records.duplicates.candidates import (
    MARKS,
    SCHEMES,
    SPELLINGS,
    WORDS,
    candidates,
    identifying,
    links,
    phones,
)
from groundtransport.records.kind import Kind, label_of
from groundtransport.text import fold, plain

NEWEST = 300  # of one airport that are looked at, so that no airport makes a keystroke slow
ALIKE = 300  # of all airports that an index finds by a name, by one field's numbers, by a host
SHOWN = 5
LAST = 4  # digits by which numbers are told apart before they are parsed
AFTER = "\U0010ffff"  # behind a beginning: it sorts after all texts that begin so

# What companies call their legal form, and words that people leave out.
_EMPTY = {"and", "the", "co", "company", "corp", "corporation", "inc", "incorporated", "limited", "llc", "llp", "lp"}
_EMPTY |= {"ltd", "plc", "ab", "ag", "as", "bv", "gmbh", "kg", "mbh", "nv", "oy", "pty", "sa", "sarl", "sas", "sl"}
_EMPTY |= {"spa", "srl"}

_FORMATS = (
    phonenumbers.PhoneNumberFormat.E164,
    phonenumbers.PhoneNumberFormat.INTERNATIONAL,
    phonenumbers.PhoneNumberFormat.NATIONAL,
)


@dataclass(frozen=True)
class Similar:
    """A record that may be the same; ``reasons`` are among ``name``, ``phone`` and ``web``."""

    record_id: int
    label: str
    more: tuple[str, ...]  # what else the list shows of it
    reasons: tuple[str, ...]


def similar(
    dbsession: Session, kind: Kind, airport: Airport, values: Mapping[str, Any], but: int | None = None
) -> list[Similar]:
    """Return up to five live records at the airport that may be the company of ``values``, the likeliest first.

    ``values`` may be as they were typed, refused by the form or not; ``but`` is the record itself.
    """
    wanted = _Keys(kind, airport.country, _askable(kind, values))
    if not wanted.reasons:
        return []
    found = {}
    at = {"airport_id": airport.id, "airport_code": airport.code.lower()}
    for row in dbsession.execute(candidates(kind, wanted.reasons, NEWEST, ALIKE), wanted.parameters | at):
        other = dict(row._mapping)
        if row.id != but and (reasons := wanted.shared_with(other)):
            found[row.id] = Similar(row.id, label_of(kind, other, row.id), _more(kind, other), reasons)
    return sorted(found.values(), key=lambda one: (-len(one.reasons), -one.record_id))[:SHOWN]


def _askable(kind: Kind, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts as a database can be asked for them: PostgreSQL takes no NUL, no driver half a character."""
    names = [name for name in identifying(kind) if name in kind.fields and values.get(name)]
    return {name: plain(values[name][: kind.fields[name].max_length]) for name in names}


def _more(kind: Kind, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what people tell two records of one company apart by."""
    names = [name for name in kind.columns if name not in ("airport_name", kind.label)]
    return tuple(kind.fields[name].shown(values[name]) for name in names if values[name] is not None)


class _Keys:
    """By what a company is known again."""

    def __init__(self, kind: Kind, country: str, values: Mapping[str, Any]) -> None:
        self.country, self.phone_names, self.link_names = country, phones(kind), links(kind)
        self.label = kind.label or ""
        self.written = (values.get(kind.label) if kind.label else None) or ""
        self.name = name_key(self.written)
        self.hosts = {host for text in _texts(values, self.link_names) if (host := host_of(text))}
        self.numbers = {text: number for text in _texts(values, self.phone_names) if (number := self._number(text))}
        self.phones = set(self.numbers.values())

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return by what records can be found."""
        known = {"name": self.name, "phone": self.phones, "web": self.hosts}
        return tuple(reason for reason, keys in known.items() if keys)

    @property
    def parameters(self) -> dict[str, Any]:
        """Return what the statement for candidates looks for."""
        hosts = sorted(self.hosts)
        links = [_lower(scheme + host) for host in hosts for scheme in SCHEMES]
        return {
            "name": (name := _lower(beginning(self.written))),
            "name_end": name + AFTER,
            **_numbered("word", sorted(self.name.split(), key=len, reverse=True), WORDS, ""),
            "foreign": int(not all(host.isascii() for host in hosts)),
            **_numbered("digits", [phone[-LAST:] for phone in self.phones], len(self.phone_names)),
            **_numbered("phone", list(self._spellings()), len(self.phone_names) * SPELLINGS),
            **_numbered("host", hosts, len(self.link_names)),
            **_numbered("link", links, len(self.link_names) * len(SCHEMES)),
            **_numbered("link_end", [link + AFTER for link in links], len(self.link_names) * len(SCHEMES)),
        }

    def _spellings(self) -> Iterator[str]:
        """Yield each number as it was typed, and as it is usually written."""
        for text, number in self.numbers.items():
            parsed = phonenumbers.parse(number)
            yield from (_lower(text.strip()), *(phonenumbers.format_number(parsed, form) for form in _FORMATS))

    def shared_with(self, other: Mapping[str, Any]) -> tuple[str, ...]:
        is_same = {
            "name": bool(self.name) and self.name == name_key(other[self.label] or ""),
            "phone": any(self._number(text) in self.phones for text in self._if(self.phones, other, self.phone_names)),
            "web": any(host_of(text) in self.hosts for text in self._if(self.hosts, other, self.link_names)),
        }
        return tuple(reason for reason, same in is_same.items() if same)

    @staticmethod
    def _if(keys: set[str], other: Mapping[str, Any], names: list[str]) -> list[str]:
        """Return the texts to compare; none where there is nothing to compare them with."""
        return _texts(other, names) if keys else []

    def _number(self, text: str) -> str:
        """Return a number in the form that dials it everywhere, without its extension; "" for what is none."""
        try:
            number = phonenumbers.parse(text, self.country)
        except phonenumbers.NumberParseException:
            return ""
        number.extension = None
        return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def _numbered(name: str, texts: list[str], count: int, rest: str | None = None) -> dict[str, str | None]:
    """Return ``count`` parameters, name and number; ``rest`` (NULL: nothing equals it) where there are fewer texts."""
    return {f"{name}{number}": texts[number] if number < len(texts) else rest for number in range(count)}


def _lower(text: str) -> str:
    """Return a text as the indexes of the sorts hold it: only the letters of ASCII have no case there."""
    return "".join(char.lower() if char.isascii() else char for char in text)


def beginning(name: str) -> str:
    """Return a company's name without the legal form at its end: what other spellings begin with, too."""
    words = name.split()
    while len(words) > 1 and name_key(words[-1]) in {*_EMPTY, ""}:
        words.pop()
    return " ".join(words).rstrip(",&")


def _texts(values: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    return [values[name] for name in names if values.get(name)]


def name_key(name: str) -> str:
    """Return a company's name as it is compared: folded, without dots, legal form and filling words."""
    words = re.findall(r"\w+", re.sub(f"[{MARKS}]", "", fold(name)))
    return " ".join([word for word in words if word not in _EMPTY] or words)


def host_of(link: str) -> str:
    """Return the host of an address as it is compared, scheme or not; "" for what is none."""
    try:
        host = urlsplit(link if "://" in link else f"//{link.removeprefix('//')}").hostname or ""
    except ValueError:
        return ""
    host = host.casefold().rstrip(".").removeprefix("www.")
    return host if "." in host else ""
