"""How alike two records are: the rule by which pairs of possible doubles are proposed and ordered.

It is the rule of the form's hint (comparison.py), and adds near names, a score, and what speaks against a double: two
routes of one company.
"""

import re
from functools import cached_property, lru_cache
from typing import NamedTuple

from rapidfuzz import fuzz

from groundtransport.events import Values
from groundtransport.records.duplicates.candidates import links
from groundtransport.records.duplicates.comparison import CACHED, host_of, name_key
from groundtransport.records.kind import Kind
from groundtransport.records.telephone import comparison_key
from groundtransport.text import digits, fold

ROUTE = "route_name"
NAME, PHONE, WEB = 60, 25, 15  # points of an equal name, a common telephone number, a common host
SOURCE = 10  # points of a common source, at two airports
EQUAL = 98  # percent: names that differ in nothing but what is in brackets
NEAR = 88  # percent of equal letters from which two names are near
NEAR_WORDS = 80  # percent, of the words that only one of the names has
OWN_SITE = 15  # points of a host that no other record of the airport has, if the names are not near
SOME_WORDS = 60  # percent of equal words, from which names with the same web site may be one company's
# Other spellings of words that names are made of.
_WORDS = {
    "saint": "st",
    "sainte": "ste",
    "fort": "ft",
    "mount": "mt",
    "center": "centre",
    "transportation": "transport",
}
PHONE_DIGITS = 6  # the last ones of a number, which do not depend on how it is written
_SCHEME = re.compile(r"^https?://(www\.)?")
_EXTENSION = re.compile(r"(?<=[0-9)]) ?[A-Za-z#;,]")
_BRACKETS = re.compile(r"[(\[]([^()\[\]]*)[)\]]")


class Likeness(NamedTuple):
    """How alike two records are: at most 100 points, and the reasons.

    These are the equal keys as in ``comparison.Similar``, ``near`` for names, and ``source``.
    """

    score: int
    reasons: tuple[str, ...]


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
        """The name of the route, folded."""
        text = self.values.get(ROUTE)
        return " ".join(fold(text).split()) if text else ""

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


def likeness(one: Company, other: Company, country: str, *, has_own_site: bool) -> Likeness | None:
    """Return how alike two records of an airport in ``country`` are; None if they are not proposed as doubles.

    ``has_own_site`` is true if no other record of the airport has their web site: the site of a city or of a network
    of companies says little.
    """
    if one.route and other.route and one.route != other.route:
        return None
    percent = name_likeness(one, other)
    is_same_phone = _share_a_number(one, other, (country, country))
    is_same_host = not one.hosts.isdisjoint(other.hosts)
    if not (percent or is_same_phone or (is_same_host and has_own_site and _names_a_company(one, other))):
        return None
    points = percent * NAME // 100 or (0 if is_same_phone else OWN_SITE)
    reasons: tuple[str, ...] = ("name",) if percent == 100 else ("near",) if percent else ()
    reasons += ("phone",) * is_same_phone + ("web",) * is_same_host
    return Likeness(points + PHONE * is_same_phone + WEB * is_same_host, reasons)


def likeness_across(one: Company, other: Company, countries: tuple[str, str]) -> Likeness | None:
    """Return how alike two records at airports in two countries are; None if they are not proposed as one company's.

    That are those with the same name and a common telephone number, host or source.
    """
    if one.route and other.route and one.route != other.route:
        return None
    percent = name_likeness(one, other)
    points = {
        "phone": PHONE * _share_a_number(one, other, countries),
        "web": WEB * (not one.hosts.isdisjoint(other.hosts)),
        "source": SOURCE * bool(one.source and one.source == other.source),
    }
    reasons = tuple(reason for reason, number in points.items() if number)
    if percent < EQUAL or not reasons:
        return None
    return Likeness(min(100, percent * NAME // 100 + sum(points.values())), ("name", *reasons))


def name_likeness(one: Company, other: Company) -> int:
    """Return how alike two names are, in percent; 0 if they are neither equal nor near."""
    if not (one.name and other.name):
        return 0
    is_other_bracket = one.bracket and other.bracket and one.bracket != other.bracket
    if one.name == other.name:
        return 0 if is_other_bracket else 100 if one.bracket == other.bracket else 98
    percent = int(fuzz.ratio(one.name, other.name, score_cutoff=NEAR))  # 0 below
    return percent if percent and not is_other_bracket and _words_are_near(one.name, other.name) else 0


def _words_are_near(one: str, other: str) -> bool:
    """Return True if one name has no word that is another in the other name: "Red County" is not "Rice County"."""
    first, second = one.split(), other.split()
    rest = [word for word in first if word not in second], [word for word in second if word not in first]
    return not all(rest) or fuzz.ratio("".join(rest[0]), "".join(rest[1])) >= NEAR_WORDS


def _share_a_number(one: Company, other: Company, countries: tuple[str, str]) -> bool:
    """Return True if both have a telephone number. Parsing takes long: most differ in the last digits."""
    is_alike = not one.endings.isdisjoint(other.endings)
    return is_alike and not one.numbers(countries[0]).isdisjoint(other.numbers(countries[1]))


def _names_a_company(one: Company, other: Company) -> bool:
    """Return True if two records with one web site link to the same page of it, or have some words in common."""
    is_same_page = any("/" in page for page in one.pages() & other.pages())
    return is_same_page or fuzz.token_set_ratio(one.name, other.name) >= SOME_WORDS


def _normal(text: str) -> str:
    return " ".join(_WORDS.get(word, word) for word in name_key(text).split())
