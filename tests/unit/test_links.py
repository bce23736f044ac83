"""Link checks without a server: robots.txt, what a page says, and how an answer is judged."""

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from groundtransport.links import reading, robots
from groundtransport.links.judging import REFUSED_FAILURE, Result, is_due, judge
from groundtransport.links.visiting import ROBOTS, Visit, request_url
from groundtransport.outgoing import ANSWER_MAX, Failure
from groundtransport.records.links import LinkState

AT = datetime(2026, 5, 4, tzinfo=UTC)
DAY = timedelta(days=1)
LINK = "https://www.shuttle.example/a"


# robots.txt

ROBOTS_TXT = """
User-agent: other
Disallow: /

User-Agent: Groundtransport-Links  # ours
User-agent: third
Disallow: /private
Allow: /private/public
Disallow: /*.pdf$
Disallow: /*?
Allow: /caf%C3%A9
Disallow: /café

User-agent: *
Disallow: /all
"""


@pytest.mark.parametrize(
    ("path", "is_permitted"),
    [
        ("/", True),
        ("/all", True),
        ("/private", False),
        ("/private/x", False),
        ("/private/public/x", True),
        ("/a/b.pdf", False),
        ("/a/b.pdf2", True),
        ("/a?b=c", False),
        ("/caf%C3%A9", True),
    ],
)
def test_robots_txt_for_a_program_with_a_group_of_its_own(path: str, is_permitted: bool) -> None:
    assert robots.parse(ROBOTS_TXT, "groundtransport-links/2 (+https://example.org)").permits(path) is is_permitted


def test_robots_txt_for_any_other_program() -> None:
    rules = robots.parse(ROBOTS_TXT, "somebody")
    assert (rules.permits("/all"), rules.permits("/private")) == (False, True)
    assert robots.parse("\ufeffnonsense\x00\n:::\nDisallow: /\nUser-agent: *\nDisallow:", "a").permits("/")


def test_a_hostile_robots_txt_takes_no_time() -> None:
    text = "User-agent: *\n" + "Disallow: /" + "*a" * 30_000 + "b$\n"
    begin = time.process_time()
    assert robots.parse(text[:ANSWER_MAX], "a").permits("/" + "a" * 1900)
    assert time.process_time() - begin < 1


# What a page says


def read(html: str, content_type: str = "text/html", language: str = "") -> reading.Page:
    return reading.read(html.encode(), content_type, language)


def test_title_and_language() -> None:
    page = read('<!doctype html><HTML class=x lang="de-AT"><title id=t>\n Z&uuml;ri &amp;\x00 Linien </title>')
    assert page == reading.Page("Züri & Linien", "de")
    assert read("<p>", language="fr-CH, en").language == "fr"
    assert read("") == reading.Page()


def test_encodings() -> None:
    assert reading.read("<title>Zürich".encode("latin-1"), "text/html; charset=ISO-8859-1", "").title == "Zürich"
    assert reading.read('<meta charset="utf-8"><title>Zürich'.encode(), "", "").title == "Zürich"
    for unusable in ("punycode", "hex", "idna", "unknown", "utf-16"):
        assert reading.read(b"<title>Plain", f"text/html; charset={unusable}", "").title == "Plain"


def test_parked_domains() -> None:
    filling = "<p>timetable</p>" * 2000
    assert read("<title>shuttle.example is parked</title>Buy this domain").is_parked
    assert read(f"<title>This domain is for sale!</title>{filling}").is_parked
    assert read('<script src="//www.sedoparking.com/frmpark/x.js"></script>').is_parked
    assert not read(f"<title>Shuttle</title>You can buy this domain of ours as a shirt{filling}").is_parked
    assert not read('<title>Shuttle</title><a href="https://notsedoparking.com/">x</a>').is_parked


@pytest.mark.parametrize("text", ["<title", "<html ", "<title>", "&#", "charset=", "//a.", "<html lang"])
def test_a_hostile_page_takes_no_time(text: str) -> None:
    begin = time.process_time()
    read((text * ANSWER_MAX)[:ANSWER_MAX])
    assert time.process_time() - begin < 1


# URLs


def test_links_as_people_write_them_become_urls() -> None:
    assert request_url("https://Müller.example/Straße?a=ß b#part") == (
        "https://xn--mller-kva.example/Stra%C3%9Fe?a=%C3%9F%20b"
    )
    for link in (
        "https://",
        "https://a:99999/",
        "https://[::1",
        "https://u@a.example/",
        f"https://{'a' * 300}.example",
    ):
        with pytest.raises(ValueError, match=r".*"):
            request_url(link)


# Judging


def result(state: LinkState = LinkState.WORKING, at: datetime = AT, **more: object) -> Result:
    values = Result(state, 200, "", LINK, "", "en", at)
    return replace(values, **more)


def state(visit: Visit, before: Result | None = None) -> str:
    return judge(LINK, visit, before, AT).state


@pytest.mark.parametrize(
    ("visit", "expected"),
    [
        (Visit(LINK, 200), LinkState.WORKING),
        (Visit("http://shuttle.example/other", 204), LinkState.WORKING),
        (Visit("https://new.example/", 200), LinkState.MOVED),
        (Visit("https://new.example/", 404), LinkState.FAILING),
        (Visit(LINK, 410), LinkState.FAILING),
        (Visit(LINK, 302), LinkState.FAILING),
        (Visit(LINK, failure=Failure.NAME), LinkState.FAILING),
        (Visit(LINK, failure=Failure.TLS), LinkState.CERTIFICATE),
        (Visit(LINK, failure=Failure.ADDRESS), LinkState.SKIPPED),
        (Visit("https://10.0.0.1/", failure=Failure.ADDRESS), LinkState.FAILING),
        (Visit(LINK, failure=ROBOTS), LinkState.SKIPPED),
        (Visit(LINK, 403), LinkState.SKIPPED),
        (Visit("https://sedo.example/", 200, body=b"<title>Buy this domain"), LinkState.PARKED),
    ],
)
def test_states(visit: Visit, expected: str) -> None:
    assert state(visit) == expected


def test_a_server_that_refuses_programs_is_named() -> None:
    assert judge(LINK, Visit(LINK, 429), None, AT).failure == REFUSED_FAILURE


def test_another_language_than_before() -> None:
    visit = Visit(LINK, 200, body=b"<html lang=ru>")
    assert state(visit) == LinkState.WORKING
    assert state(visit, result(language="en")) == LinkState.LANGUAGE
    assert state(visit, result(language="ru")) == LinkState.WORKING
    assert judge(LINK, Visit(LINK, 200), result(language="en"), AT).language == "en"  # unless the page says another


def test_a_link_is_dead_when_it_failed_twice_a_day_apart_within_a_week() -> None:
    def fail(before: Result | None, at: datetime) -> Result:
        return judge(LINK, Visit(LINK, 404), before, at)

    first = fail(result(), AT)
    assert (first.state, first.failures, first.failing_since) == (LinkState.FAILING, 1, AT)
    assert fail(first, AT + DAY / 2).state == LinkState.FAILING
    second = fail(first, AT + DAY)
    assert (second.state, second.failures, second.failing_since) == (LinkState.DEAD, 2, AT)
    late = fail(first, AT + 8 * DAY)
    assert (late.state, late.failures, late.failing_since) == (LinkState.FAILING, 1, AT + 8 * DAY)
    third = fail(second, AT + 40 * DAY)
    assert (third.state, third.failures, third.failing_since) == (LinkState.DEAD, 3, AT)
    again = judge(LINK, Visit(LINK, 200), third, AT + 41 * DAY)
    assert (again.state, again.failures, again.failing_since) == (LinkState.WORKING, 0, None)


def test_when_a_link_is_due() -> None:
    month = 30 * DAY
    assert is_due(None, AT, month)
    assert not is_due(result(), AT + 29 * DAY, month)
    assert is_due(result(), AT + month, month)
    assert is_due(result(LinkState.FAILING), AT + DAY, month)
    assert not is_due(result(LinkState.FAILING), AT + DAY / 2, month)
