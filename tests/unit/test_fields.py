"""Fields: what a text becomes, or why it is refused. No database: the airport is at hand."""

import string
from contextlib import suppress
from decimal import Decimal
from random import Random
from typing import Any

import colander
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundtransport import kinds
from groundtransport.airports.models import Airport
from groundtransport.airports.nearby_cities import Cities
from groundtransport.i18n import translated
from groundtransport.records.fields import (
    Amount,
    Choice,
    DateField,
    Email,
    Field,
    Link,
    OpeningHours,
    Paragraphs,
    Phone,
    Place,
    SeveralChoices,
    WholeNumber,
    YesNo,
)

KINDS = kinds.kinds()
CITIES = ("Jamaica", "Montréal", "New York City", "Queens")
FREE_TEXTS = ("company_name", "company_address", "route_name", "place", "zip_code", "city", "description")
EVERY_FIELD = sorted({(kind.name, name) for kind in KINDS.values() for name in kind.fields})
LIMITS = {"company_name": 200, "route_name": 200, "place": 200, "company_address": 300, "company_phone1": 40}
LIMITS |= {"company_phone2": 40, "company_phone3": 40, "company_link": 2000, "city": 120, "zip_code": 20}
LIMITS |= {"description": 5000, "state": 6, "status": 8, "airport_name": 200}
LIMITS |= {"source": 100, "source_id": 200, "valid_from": 10, "valid_until": 10}

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
PHONES = st.text("0123456789 +-().x/#*aE٣\u00a0", max_size=45)
LINKS = st.builds("".join, st.lists(st.sampled_from([*"htps:/@.#?\\ [] a1é", "http://", "www.", "x.org", ":80"])))


def place(country: str = "US", **more: Any) -> Place:
    airport = Airport(id=1, code="JFK", icao="KJFK", name="John F Kennedy International Airport", country=country)
    return Place(country, airport, lambda: Cities(CITIES, ("Queens",)), **more)


def read(name: str, text: Any, where: Place | None = None, kind: str = "transit") -> Any:
    return KINDS[kind].schema().bind(place=where or place())[name].deserialize(text)


def refused(name: str, text: str, where: Place | None = None, kind: str = "transit") -> str:
    with pytest.raises(colander.Invalid) as refusal:
        read(name, text, where, kind)
    return " ".join(translated(message) for message in refusal.value.messages())


def warning(name: str, text: str, country: str) -> str:
    node = KINDS["transit"].schema().bind(place=place(country))[name]
    return translated(node.warning(node.deserialize(text)))


# Every text


@pytest.mark.parametrize(("kind", "name"), EVERY_FIELD)
@given(text=st.one_of(TEXTS, PHONES, LINKS))
@example(text="\u00a0a\u3000")
@example(text="a\r\n\r\nb\r")
def test_what_is_accepted_is_stored_trimmed_and_unchanged_and_never_too_long(kind: str, name: str, text: str) -> None:
    try:
        value = read(name, text, kind=kind)
    except colander.Invalid:
        return
    if value is None or (name == "status" and not text.strip()):
        assert not text.strip()
        return
    assert value == value.strip()
    assert 0 < len(value) <= LIMITS[name]
    assert read(name, value, kind=kind) == value
    if name in FREE_TEXTS and (kind, name) != ("scheduledbus", "city"):
        assert value == text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if name.startswith("company_phone"):
        assert value == text.strip()
    if name == "company_link":
        assert value.endswith(text.strip().removeprefix("//"))


@pytest.mark.parametrize(("kind", "name"), [pair for pair in EVERY_FIELD if pair[1] in FREE_TEXTS])
def test_a_text_may_be_as_long_as_its_limit_and_no_longer(kind: str, name: str) -> None:
    if (kind, name) == ("scheduledbus", "city"):
        return
    longest = "é" * LIMITS[name]
    assert read(name, f"  {longest} ", kind=kind) == longest
    assert f"{LIMITS[name]:,}" in refused(name, longest + "e", kind=kind)


@pytest.mark.parametrize(("kind", "name"), EVERY_FIELD)
@pytest.mark.parametrize("char", ["\x00", "\x07", "\x1b", "\x1f", "\x7f", "\x85"])
def test_control_characters_are_refused_in_every_field(kind: str, name: str, char: str) -> None:
    refused(name, f"a{char}b", kind=kind)


def test_a_line_break_is_refused_in_a_line_and_kept_in_a_description() -> None:
    for name in ("company_name", "company_address", "place", "city", "company_phone1"):
        assert "line break" in refused(name, "1\n2")
    assert read("description", "\n one\r\n\r\ntwo\rthree\n") == "one\n\ntwo\nthree"


def test_a_line_break_counts_as_one_character() -> None:
    assert len(read("description", "a\r\n" * 2499 + "ab")) == 5000


@pytest.mark.parametrize("nothing", ["", " ", "\u3000 \t", colander.null, None])
def test_an_empty_text_is_an_absent_one(nothing: Any) -> None:
    for name in ("company_name", "company_phone1", "company_link", "state", "city", "zip_code", "description"):
        assert read(name, nothing) is None
    with pytest.raises(colander.Invalid, match="required"):
        read("airport_name", nothing)


# Phones


@pytest.mark.parametrize(
    ("text", "country"),
    [
        *[("(360) 786-1881", "US"), ("503-238-RIDE", "US"), ("787-294-0500", "US"), ("1-877-POLICE1 x12", "US")],
        *[("718 244 4444 ext. 12", "US"), ("+1 718 244 4444;ext=5", "GB"), ("Kontori telefon: +372 443 0600", "EE")],
        *[("+ 372 3351263", "EE"), ("5093898", "EE"), ("(09)355-3553", "NZ"), ("(+354)5402700", "IS")],
        *[("0845 850 15 30", "GB"), ("+41 44 668 18 00", "US")],
    ],
)
def test_a_real_number_is_kept_as_typed_and_without_a_warning(text: str, country: str) -> None:
    assert read("company_phone1", text, place(country)) == text
    assert warning("company_phone1", text, country) == ""


@pytest.mark.parametrize(
    ("text", "country"), [("1447", "EE"), ("511", "US"), ("555-1234", "US"), ("911", "US"), ("+999 12345678", "US")]
)
def test_a_doubtful_number_is_kept_with_a_warning(text: str, country: str) -> None:
    if text.startswith("+999"):  # no country has this code: nothing can be read
        assert "telephone" in refused("company_phone1", text, place(country))
        return
    assert read("company_phone1", text, place(country)) == text
    assert text in warning("company_phone1", text, country)


@pytest.mark.parametrize("text", ["cliff1stbusstop@aol.com", "call us", "n/a", "-", "5", "()", "????"])
def test_what_is_no_number_at_all_is_refused(text: str) -> None:
    assert "telephone number" in refused("company_phone2", text)


def test_a_number_has_at_most_forty_characters() -> None:
    assert read("company_phone3", "+1 718 244 4444".ljust(40)) == "+1 718 244 4444"
    assert "40" in refused("company_phone3", "Kontori telefon ja faks: +372 443 0600 12")


# Links


@pytest.mark.parametrize(
    "text",
    [
        *["https://www.x.co.uk", "http://x.org/a?b=c#d", "HTTP://X.ORG/", "https://bücher.example/straße"],
        *["http://x.org:8080/", "https://xn--bcher-kva.example", "https://10.1.2.3/", "https://bit.ly/3xYz"],
        *["https://x.org/a_(b)", "https://日本.jp"],
    ],
)
def test_a_web_address_is_kept_as_typed(text: str) -> None:
    assert read("company_link", f" {text} ") == text


@pytest.mark.parametrize(
    "text", ["www.x.co.uk", "x.org/a", "x.org:8080/a", "www.x.co.uk#http://www.x.co.uk#", "bücher.example"]
)
def test_https_is_put_in_front_of_an_address_without_scheme(text: str) -> None:
    assert read("company_link", text) == f"https://{text}"
    assert read("company_link", f"//{text}") == f"https://{text}"


@pytest.mark.parametrize(
    "text",
    [
        *["javascript:alert(1)", "JavaScript:alert(1)", "javascript://x.org/%0aalert(1)", "data:text/html,x"],
        *["ftp://x.org", "mailto:me@x.org", "file:///etc/passwd", "vbscript:x", "tel:123", "https:x.org"],
        *["http:/x.org", "javascript:1.org", "https://me:secret@x.org", "https://me@x.org", "me@x.org"],
        *["me:pw@x.org", "https://x.org@evil.org", "#", "#http://www.a-atravel.co.uk/#", "https://"],
        *["http://localhost", "localhost", "intranet/page", "https://.org", "https://x .org"],
        *["https://x.org/a b", "https://x.org/\u00a0b", "x.org y.org", "https://x..org", "https://x.org\\b"],
        *["https:\\\\x.org", "\\\\x.org", "https://x.org:99999", "https://x.org:port/", "https://[::1]/"],
        *["https://[x.org", "https://-x.org", "[Long Island Rail Road]https://x.org)", "https://x.org\t/"],
    ],
)
def test_what_is_no_web_address_is_refused(text: str) -> None:
    assert refused("company_link", text)


def test_a_link_has_at_most_two_thousand_characters_with_the_scheme_that_is_put_in_front() -> None:
    path = "x.org/" + "a" * (2000 - len("https://x.org/"))
    assert len(read("company_link", path)) == 2000
    assert "2,000" in refused("company_link", path + "a")


# Choices


@pytest.mark.parametrize(("text", "code"), [("active", "active"), ("ACTIVE", "active"), ("Inactive", "inactive")])
def test_a_status_is_understood_in_any_case(text: str, code: str) -> None:
    assert read("status", f" {text} ") == code


def test_a_status_that_is_none_is_refused_with_those_that_are() -> None:
    assert "Active, Inactive" in refused("status", "paused")
    assert refused("status", "1")


def test_an_empty_status_is_the_default_also_of_a_stored_record() -> None:
    assert read("status", "") == "active"
    assert read("status", "", place(stored={"status": "inactive"})) == "active"


def test_a_state_is_stored_by_its_code() -> None:
    assert [read("state", text) for text in ("US-NY", "ny", "New York")] == ["US-NY"] * 3
    assert "Ontario" in refused("state", "Ontario")
    assert read("state", "Québec", place("CA")) == "CA-QC"


def test_a_scheduled_bus_takes_a_city_of_its_airport_alone() -> None:
    assert read("city", "queens", kind="scheduledbus") == "Queens"
    assert read("city", "MONTREAL", kind="scheduledbus") == "Montréal"
    assert "Boston" in refused("city", "Boston", kind="scheduledbus")
    assert read("city", "Boston") == "Boston"  # a transit service takes any


def test_a_stored_city_and_state_stay_valid_when_the_lists_no_longer_hold_them() -> None:
    stored = place(stored={"city": "Old Town", "state": "US-XX"})
    assert read("city", "Old Town", stored, "scheduledbus") == "Old Town"
    assert read("state", "US-XX", stored, "scheduledbus") == "US-XX"
    assert refused("city", "Older Town", stored, "scheduledbus")


# The airport


def test_the_canonical_string_replaces_what_was_typed_before_the_brackets() -> None:
    assert read("airport_name", "Idlewild (jfk)") == "John F Kennedy International Airport (JFK)"
    assert read("airport_name", "( JFK )") == "John F Kennedy International Airport (JFK)"


def test_an_airport_without_code_and_an_unknown_one_are_refused_with_different_words() -> None:
    nowhere = Place("US")
    assert refused("airport_name", "Kennedy", nowhere) != refused("airport_name", "Kennedy (XXX)", nowhere)
    assert "XXX" in refused("airport_name", "Kennedy (xxx)", nowhere)


@given(st.text(string.printable + "é\u00a0\u3000", max_size=40))
def test_no_text_of_an_airport_is_stored_as_typed(text: str) -> None:
    with suppress(colander.Invalid):
        assert read("airport_name", text) == "John F Kennedy International Airport (JFK)"


SAMPLED: dict[type[Field], dict[str, Any]] = {
    Field: {"max_length": 9},
    Paragraphs: {"max_length": 99},
    Phone: {"max_length": 40},
    Link: {"max_length": 99},
    Email: {},
    OpeningHours: {"max_length": 99},
    WholeNumber: {"minimum": -3, "maximum": 20},
    Amount: {"scale": 1, "maximum": Decimal("0.5")},
    DateField: {},
    YesNo: {},
    Choice: {"choices": (("a", "A"), ("b", "B"))},
    SeveralChoices: {"choices": (("a", "A"), ("b", "B"))},
}


@pytest.mark.parametrize("node", SAMPLED, ids=lambda node: node.__name__)
def test_samples_are_valid_and_differ(node: type[Field]) -> None:
    field = node(name="x", title="Sample", **SAMPLED[node]).bind(place=Place("ES"))
    samples = {field.sample(Random(seed), "ES") for seed in range(30)}
    values = {field.deserialize(text) for text in samples}
    assert len(values - {None}) > 1
