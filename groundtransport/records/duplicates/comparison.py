"""Possible duplicates: records of the same airport with the same company name, telephone number or web host.

They are shown as a hint and never prevent a save. Names, numbers and hosts are compared in normal forms. Candidates
(candidates.py) are records with the same spelling, found by the sort indexes, and the airport's newest records, which
may be spelled differently (decision 36).
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from sqlalchemy.orm import Session

from groundtransport.airports.models import Airport
from groundtransport.events import Values
from groundtransport.indexes import fold_for_sort
from groundtransport.records.duplicates.candidates import (
    MARKS,
    SCHEMES,
    WORDS,
    candidates,
    identifying,
    links,
)
from groundtransport.records.kind import Kind, label_of
from groundtransport.records.telephone import comparison_key, e164, e164_name
from groundtransport.text import fold, plain

NEWEST = 300  # newest records of the airport that are compared: limits the time of a keystroke
ALIKE = 300  # records of all airports that are fetched by one index: of a name, of a field's numbers, of a host
SHOWN = 5
CACHED = 5_000  # names and hosts in normal form: imports repeat them, and making one takes 5 to 10 microseconds
LAST = 4  # last digits that a search text must hold
PUNYCODE = "xn--"  # begins the labels of a host that are not ASCII
AFTER = "\U0010ffff"  # appended to a prefix: sorts after all texts with that prefix

# Legal forms of companies, and words that are often left out of names.
_EMPTY = {"and", "the", "co", "company", "corp", "corporation", "inc", "incorporated", "limited", "llc", "llp", "lp"}
_EMPTY |= {"ltd", "plc", "ab", "ag", "as", "bv", "gmbh", "kg", "mbh", "nv", "oy", "pty", "sa", "sarl", "sas", "sl"}
_EMPTY |= {"spa", "srl"}


@dataclass(frozen=True)
class Similar:
    """A possible duplicate. ``reasons`` are the equal keys: ``name``, ``phone``, ``web``."""

    record_id: int
    label: str
    more: tuple[str, ...]  # the displayed values of its other list columns
    reasons: tuple[str, ...]


def similar(dbsession: Session, kind: Kind, airport: Airport, values: Values, but: int | None = None) -> list[Similar]:
    """Return up to SHOWN possible duplicates of a record with ``values``; those with most equal keys come first.

    ``values`` are field values or typed texts, valid or not. ``but`` is the id of the record itself, if it is stored.
    """
    company = CompanyKeys(kind, airport.country, askable(kind, values))
    if not company.reasons:
        return []
    similar_records = {}
    at = {"airport_id": airport.id, "airport_code": airport.code.lower()}
    for row in dbsession.execute(candidates(kind, company.reasons, NEWEST, ALIKE), company.parameters | at):
        row_values = dict(row._mapping)
        if row.id != but and (reasons := company.shared_with(row_values)):
            similar_records[row.id] = Similar(
                row.id, label_of(kind, row_values, row.id), _more(kind, row_values), reasons
            )
    return sorted(similar_records.values(), key=lambda record: (-len(record.reasons), -record.record_id))[:SHOWN]


def askable(kind: Kind, values: Values) -> dict[str, str]:
    """Return the texts of the identifying fields without characters that a driver rejects: NUL, lone surrogates."""
    names = [name for name in identifying(kind) if name in kind.fields and values.get(name)]
    return {name: plain(values[name][: kind.fields[name].max_length]) for name in names}


def _more(kind: Kind, values: Values) -> tuple[str, ...]:
    """Return the displayed values of the list's columns, except the airport and the label."""
    names = [name for name in kind.columns if name not in ("airport_name", kind.label)]
    return tuple(kind.fields[name].shown(values[name]) for name in names if values[name] is not None)


class CompanyKeys:
    """The keys of a record in normal form: its name without legal form, its telephone numbers, its web hosts."""

    def __init__(self, kind: Kind, country: str, values: Values) -> None:
        self.country, self.phone_names, self.link_names = country, kind.telephones, links(kind)
        self.label = kind.label or ""
        self.is_folded = bool(kind.label) and "folded" in kind.model.__table__.c[kind.label].info
        self.written = (values.get(kind.label) if kind.label else None) or ""
        self.name = name_key(self.written)
        self.hosts = {host for text in _texts(values, self.link_names) if (host := host_of(text))}
        self.phones = set(phone_keys(kind, values, country))
        self.kind, self.typed_phones = kind, _texts(values, kind.telephones)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The names of the keys that the record has."""
        keys_by_reason = {"name": self.name, "phone": self.phones, "web": self.hosts}
        return tuple(reason for reason, keys in keys_by_reason.items() if keys)

    @property
    def parameters(self) -> dict[str, object]:
        """The bind parameters of the statement of ``candidates``."""
        hosts = sorted(self.hosts)
        links = [_lower(scheme + host) for host in hosts for scheme in SCHEMES]
        return {
            "name": (name := self._sort_text(beginning(self.written))),
            "name_end": name + AFTER,
            **_numbered("word", sorted(self.name.split(), key=len, reverse=True), WORDS, ""),
            "foreign": int(not all(host.isascii() for host in hosts)),
            **_numbered("digits", [phone[-LAST:] for phone in self.phones], len(self.phone_names)),
            **_numbered("e164", sorted(self.phones), len(self.phone_names)),
            **_numbered("short", self._incomplete_numbers(), len(self.phone_names)),
            **_numbered("host", hosts, len(self.link_names)),
            **_numbered("link", links, len(self.link_names) * len(SCHEMES)),
            **_numbered("link_end", [link + AFTER for link in links], len(self.link_names) * len(SCHEMES)),
        }

    def _sort_text(self, name: str) -> str:
        """Return a name in the form of the sort index of names."""
        return (fold_for_sort(name) or "") if self.is_folded else _lower(name)

    def _incomplete_numbers(self) -> list[str]:
        """Return the numbers that have no E.164 form, such as short codes, as they are typed."""
        return [_lower(text.strip()) for text in self.typed_phones if not e164(text, self.country)]

    def shared_with(self, other: Values) -> tuple[str, ...]:
        """Return the names of the keys that another record has in common."""
        is_same = {
            "name": bool(self.name) and self.name == name_key(other[self.label] or ""),
            "phone": bool(self.phones) and not self.phones.isdisjoint(phone_keys(self.kind, other, self.country)),
            "web": any(host_of(text) in self.hosts for text in self._if(self.hosts, other, self.link_names)),
        }
        return tuple(reason for reason, same in is_same.items() if same)

    @staticmethod
    def _if(keys: set[str], other: Values, names: list[str]) -> list[str]:
        """Return the other record's texts; none if this record has no such key."""
        return _texts(other, names) if keys else []


def phone_keys(kind: Kind, values: Values, country: str) -> list[str]:
    """Return the keys of the telephone numbers of stored or typed values; a stored E.164 form is its number's key."""
    keys = (
        values.get(e164_name(name)) or comparison_key(values[name], country)
        for name in kind.telephones
        if values.get(name)
    )
    return [key for key in keys if key]


def _numbered(name: str, values: list[str], count: int, default: str | None = None) -> dict[str, str | None]:
    """Return ``count`` bind parameters ``<name><number>``; the others are ``default``; NULL matches no row."""
    return {f"{name}{number}": values[number] if number < len(values) else default for number in range(count)}


def _lower(text: str) -> str:
    """Return a text in the form of the sort indexes, which fold the case of ASCII letters alone, but for names."""
    return "".join(char.lower() if char.isascii() else char for char in text)


def beginning(name: str) -> str:
    """Return a company's name without the legal form at its end: a prefix of the name's other spellings."""
    words = name.split()
    while len(words) > 1 and name_key(words[-1]) in {*_EMPTY, ""}:
        words.pop()
    return " ".join(words).rstrip(",&")


def _texts(values: Values, names: Iterable[str]) -> list[str]:
    return [values[name] for name in names if values.get(name)]


@lru_cache(CACHED)
def name_key(name: str) -> str:
    """Return a company's name in normal form: folded, without punctuation marks and the words of ``_EMPTY``."""
    words = re.findall(r"\w+", re.sub(f"[{MARKS}]", "", fold(name)))
    return " ".join([word for word in words if word not in _EMPTY] or words)


@lru_cache(CACHED)
def host_of(link: str) -> str:
    """Return the host of a URL, with or without scheme, in normal form; "" if there is none."""
    try:
        host = urlsplit(link if "://" in link else f"//{link.removeprefix('//')}").hostname or ""
    except ValueError:
        return ""
    host = _readable(host.casefold().rstrip(".")).removeprefix("www.")
    return host if "." in host else ""


def _readable(host: str) -> str:
    """Return a host with its international labels in Unicode: "xn--bcher-kva.example" as "bücher.example"."""
    with suppress(UnicodeError):
        return host.encode("ascii").decode("idna") if PUNYCODE in host else host
    return host
