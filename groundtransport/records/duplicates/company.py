"""What records are compared by to find doubles: names, routes, telephone numbers and hosts in normal form."""

import re
from functools import cached_property, lru_cache

from groundtransport.events import Values
from groundtransport.records.duplicates.candidates import links
from groundtransport.records.duplicates.comparison import CACHED, host_of, name_key
from groundtransport.records.kind import Kind
from groundtransport.records.telephone import comparison_key
from groundtransport.text import digits, fold

ROUTE = "route_name"
CITY = "city"
# Other spellings of words that names are made of.
_WORDS = {
    "saint": "st",
    "sainte": "ste",
    "fort": "ft",
    "mount": "mt",
    "center": "centre",
    "transportation": "transport",
}
# Words that a name is written with or without: "Marin Transit" is "Marin County Transit District".
_GENERIC = """
agency and area authority bus buses city coach coaches company corporation county department district hire minibus of
public region regional rural service services shuttle shuttles system systems the town transit transport
"""
GENERIC = frozenset(_GENERIC.split())
PHONE_DIGITS = 6  # the last ones of a number, which do not depend on how it is written
_SCHEME = re.compile(r"^https?://(www\.)?")
_EXTENSION = re.compile(r"(?<=[0-9)]) ?[A-Za-z#;,]")
_BRACKETS = re.compile(r"[(\[]([^()\[\]]*)[)\]]")


class Company:
    """What records are compared by. ``values`` are the fields of one, and its ``airport_id`` and ``airport_code``.

    Most comparisons end at the routes, so the properties are computed when they are first needed.
    """

    def __init__(self, kind: Kind, values: Values) -> None:
        self.kind, self.values = kind, values

    @cached_property
    def names(self) -> tuple[str, str]:
        """The name and what it has in brackets, as ``names_of``."""
        return names_of((self.kind.label and self.values.get(self.kind.label)) or "")

    @property
    def name(self) -> str:
        """The name in normal form, without brackets."""
        return self.names[0]

    @property
    def bracket(self) -> str:
        """What the name has in brackets, in normal form."""
        return self.names[1]

    @cached_property
    def links(self) -> list[str]:
        """The links."""
        return [text for name in links(self.kind) if (text := self.values.get(name))]

    @cached_property
    def hosts(self) -> set[str]:
        """The hosts of the links."""
        return {host for text in self.links if (host := host_of(text))}

    @cached_property
    def phones(self) -> list[str]:
        """The telephone numbers."""
        return [text for name in self.kind.telephones if (text := self.values.get(name))]

    @cached_property
    def endings(self) -> set[str]:
        """The last digits of the telephone numbers."""
        return {ending for text in self.phones if (ending := last_digits(text))}

    @property
    def source(self) -> str:
        """Where the record comes from, such as the name of a feed; "" if that is not known."""
        return str(self.values.get("source") or "")

    @cached_property
    def route(self) -> str:
        """The route's name, folded; "" if it only repeats words of the company's name, or is a note with a link."""
        text = self.values.get(ROUTE)
        route = " ".join(fold(text).split()) if text and "://" not in text else ""
        return "" if set(route.split()) <= set(" ".join(self.names).split()) else route

    @cached_property
    def core(self) -> frozenset[str]:
        """The words of the name without those of ``GENERIC``, and without the city unless there are no others."""
        return self._core(self.name)

    @cached_property
    def cores(self) -> set[frozenset[str]]:
        """The core of the name and that of its brackets, unless they are empty."""
        return {core for core in (self.core, self._core(self.bracket)) if core}

    def _core(self, name: str) -> frozenset[str]:
        words = frozenset(name.split()) - GENERIC
        return words - set(name_key(self.values.get(CITY) or "").split()) or words

    def numbers(self, country: str) -> set[str]:
        """Return the telephone numbers in the form in which they are compared; ``country`` is the airport's."""
        return {known_number(text, country) for text in self.phones} - {""}

    def pages(self) -> set[str]:
        """Return the links without scheme, ``www.`` and the slash at the end."""
        return {_SCHEME.sub("", text.lower()).rstrip("/") for text in self.links}


@lru_cache(CACHED)
def names_of(label: str) -> tuple[str, str]:
    """Return a name in normal form without what it has in brackets, such as an abbreviation, and that.

    A name that is all in brackets is returned whole.
    """
    if "(" not in label and "[" not in label:
        return _normal(label), ""
    bracket = _normal(" ".join(_BRACKETS.findall(label)))
    return (name, bracket) if (name := _normal(_BRACKETS.sub(" ", label))) else (_normal(label), "")


known_number = lru_cache(CACHED)(comparison_key)


def last_digits(text: str) -> str:
    """Return the last digits of a telephone number before its extension: equal for two spellings of one number."""
    plain = _EXTENSION.split(text if text.isascii() else fold(text), 1)[0]
    return digits(plain)[-PHONE_DIGITS:]


def _normal(text: str) -> str:
    return " ".join(_WORDS.get(word, word) for word in name_key(text).split())
