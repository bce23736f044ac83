"""How alike two records are: the rule by which pairs of possible doubles are proposed and ordered.

It is the rule of the form's hint (comparison.py), and adds near names, a score, and what speaks against a double: two
routes of one company.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from rapidfuzz import fuzz

from groundtransport.records.duplicates.company import Company

NAME, PHONE, WEB = 60, 25, 15  # points of an equal name, a common telephone number, a common host
SOURCE = 10  # points of a common source, at two airports
EQUAL = 98  # percent: names that differ in nothing but what is in brackets
NEAR = 88  # percent of equal letters from which two names are near
NEAR_WORDS = 80  # percent, of the words that only one of the names has
OWN_SITE = 15  # points of a host that no third company of the airport has, if the names are not near
SOME_WORDS = 60  # percent of equal words, from which names with the same web site may be one company's


class Likeness(NamedTuple):
    """How alike two records are: at most 100 points, and the reasons.

    These are the equal keys as in ``comparison.Similar``, ``near`` for names, and ``source``.
    """

    score: int
    reasons: tuple[str, ...]


class Around(NamedTuple):
    """What the records at an airport that share a key with one say about it."""

    own_sites: Collection[str]  # its hosts that no third company has: that of a city or of a network says little
    routes: Mapping[str, Collection[str]]  # the routes that are named, by the name of the company


def likeness(one: Company, other: Company, country: str, around: Around) -> Likeness | None:
    """Return how alike two records of an airport in ``country`` are; None if they are not proposed as doubles.

    ``around`` are the facts about ``one``.
    """
    if _has_other_route(one, other, around):
        return None
    percent = name_likeness(one, other)
    is_same_phone = _share_a_number(one, other, (country, country))
    hosts = one.hosts & other.hosts
    is_named = percent and (one.route == other.route or hosts)
    is_own_site = not hosts.isdisjoint(around.own_sites) and _names_a_company(one, other)
    if not (is_named or is_same_phone or is_own_site):
        return None
    points = percent * NAME // 100 or (0 if is_same_phone else OWN_SITE)
    reasons: tuple[str, ...] = ("name",) if percent == 100 else ("near",) if percent else ()
    reasons += ("phone",) * is_same_phone + ("web",) * bool(hosts)
    return Likeness(points + PHONE * is_same_phone + WEB * bool(hosts), reasons)


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


def _has_other_route(one: Company, other: Company, around: Around) -> bool:
    """Return True if two records are of two routes, or one of them is of one of the company's several routes.

    If the only route is named by one record alone, it may be missing in the other: then the name is not enough.
    """
    if one.route == other.route:
        return False
    routes = {*around.routes.get(one.name, ()), *around.routes.get(other.name, ())}
    return bool(one.route and other.route) or len(routes) > 1


def name_likeness(one: Company, other: Company) -> int:
    """Return how alike two names are, in percent; 0 if they are neither equal nor near."""
    if not (one.name and other.name):
        return 0
    is_other_bracket = one.bracket and other.bracket and one.bracket != other.bracket
    if one.name == other.name:
        return 0 if is_other_bracket else 100 if one.bracket == other.bracket else 98
    if is_other_bracket:
        return 0
    percent = int(fuzz.ratio(one.name, other.name, score_cutoff=NEAR))  # 0 below
    if percent and _words_are_near(one.name, other.name):
        return percent
    is_bracket = one.name == other.bracket or other.name == one.bracket
    return NEAR if is_bracket or _differ_in_generic_words(one, other) else 0


def _differ_in_generic_words(one: Company, other: Company) -> bool:
    """Return True if one name is the other with generic words or the city added, in any order."""
    if not one.core or one.core != other.core:
        return False
    first, second = set(one.name.split()), set(other.name.split())
    return first <= second or second <= first


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
    is_same_page = not one.pages().isdisjoint(other.pages())
    return is_same_page or fuzz.token_set_ratio(one.name, other.name) >= SOME_WORDS
