"""The page of the security log: filtered, paged by key, exported. Read only."""

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from groundtransport.audit.security_views import TITLES
from groundtransport.security_log.events import REFUSALS, Event
from groundtransport.security_log.models import SecurityEvent
from tests.site import Client, Site

PAGE = "/admin/security"
START = datetime(2026, 3, 1, tzinfo=UTC)


def add(site: Site, event: str = "sign-in", name: str = "pat", *, day: float = 0, **more: Any) -> int:
    """Write an event, so many days after the start; return its number."""
    row = {"about": "", "address": "192.0.2.1", "request_id": "r", "details": {}, "user_id": None, **more}
    row = {"network": row["address"], "event": event, "name": name, "at": START + timedelta(days=day), **row}
    return site.add_event(row)


def shown(answer: Any) -> list[str]:
    assert answer.status_int == 200, answer.text
    return [" ".join(li.get_text(" ", strip=True).split()) for li in answer.html.select("ol.activity > li")]


def lines(client: Client, **query: str) -> list[dict[str, str]]:
    answer = client.get(f"{PAGE}/csv", query)
    assert (answer.status_int, answer.content_type, answer.charset) == (200, "text/csv", "utf-8")
    assert 'filename="security.csv"' in answer.headers["Content-Disposition"]
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


def numbers(client: Client, **query: str) -> list[int]:
    """Return the numbers of the events that a query finds, and see that page and file agree."""
    page = client.get(PAGE, query)
    result = [int(line["number"]) for line in lines(client, **query) if line["event"] != "export"]
    assert len(shown(page)) == len(result)
    return result


def test_every_event_has_a_title_and_every_refusal_is_one() -> None:
    assert set(TITLES) == set(Event)
    assert set(Event) > REFUSALS


def test_each_filter_finds_its_events(site: Site, client: Client) -> None:
    first = add(site)
    failed = add(site, "sign-in failed", "(unknown 0a1b2c)", day=1, address="2001:db8::1", network="2001:db8::/64")
    role = add(site, "role changed", "boss", day=2, about="pat")
    last = add(site, "denied", "jan", day=2.99)

    assert numbers(client, event="role changed") == [role]
    assert numbers(client, person="pat") == [role, first]
    assert numbers(client, person=" PAT ") == [role, first]
    assert numbers(client, person="(unknown 0a1b2c)") == [failed]
    assert numbers(client, address="192.0.2.1", event="denied") == [last]
    assert numbers(client, address="2001:db8::1") == [failed]
    assert numbers(client, address="2001:db8::/64") == [failed]
    assert numbers(client, **{"from": "2026-03-02", "to": "2026-03-03"}) == [last, role, failed]
    assert numbers(client, to="2026-03-01") == [first]
    assert numbers(client, person="nobody") == []


@pytest.mark.parametrize(
    "query",
    [
        "event=nope",
        "from=yesterday",
        "to=2026-13-01",
        "before=x",
        "before=-1",
        "after=9e9",
        "before=" + "9" * 30,
        "page_size=7",
        "person=%00",
        "person=a&person=b",
        "nope=1",
        "from=9999-12-31",
        "address=%00",
    ],
)
def test_what_makes_no_sense_is_left_out(site: Site, client: Client, query: str) -> None:
    add(site)
    assert len(shown(client.get(f"{PAGE}?{query}"))) == 1
    assert client.get(f"{PAGE}/csv?{query}").status_int == 200


def walk(client: Client, address: str, link: str) -> list[list[str]]:
    """Return the pages that one finds by following a link from an address on."""
    pages = []
    while address:
        page = client.get(address)
        pages.append(shown(page))
        result = page.html.find("a", string=link)
        address = PAGE + result["href"].removeprefix(PAGE) if result else ""
    return pages


def test_one_walks_through_the_pages_and_back(site: Site, client: Client) -> None:
    for number in range(25):
        add(site, name=f"p{number:02}", day=number / 100)
        add(site, "denied", "jan", day=number / 100)

    pages = walk(client, f"{PAGE}?event=sign-in&page_size=10", "Older")
    assert [len(page) for page in pages] == [10, 10, 5]
    names = [next(word for word in line.split() if word.startswith("p")) for page in pages for line in page]
    assert names == [f"p{number:02}" for number in range(24, -1, -1)]

    oldest = client.get(f"{PAGE}?event=sign-in&page_size=10")
    for _ in range(2):
        oldest = client.get(PAGE + oldest.html.find("a", string="Older")["href"].removeprefix(PAGE))
    back = walk(client, PAGE + oldest.html.find("a", string="Newer")["href"].removeprefix(PAGE), "Newer")
    assert back[::-1] == pages[:2]


def test_events_that_arrive_meanwhile_move_nothing(site: Site, client: Client) -> None:
    for number in range(20):
        add(site, name=f"p{number:02}")
    older = client.get(f"{PAGE}?page_size=10").html.find("a", string="Older")["href"]
    for _ in range(5):
        add(site, name="late")

    names = [line.split()[1] for line in shown(client.get(older))]
    assert names[-1] == "p00"
    assert len(names) == 10


def test_after_the_newest_it_begins_anew(site: Site, client: Client) -> None:
    number = add(site)
    assert len(shown(client.get(f"{PAGE}?after={number}"))) == 1
    assert shown(client.get(f"{PAGE}?before={number}")) == []


HOSTILE = "<script>alert(1)</script>"


def test_hostile_texts_are_shown_as_text(site: Site, client: Client) -> None:
    add(site, HOSTILE, HOSTILE[:64], about=HOSTILE, address=HOSTILE, details={HOSTILE: f"=1+1 {HOSTILE}"})
    page = client.get(PAGE)
    assert page.status_int == 200
    assert "<script>alert" not in page.text
    add(site, name="=cmd()", about="@x", details={})
    assert [line["person"] for line in lines(client) if "cmd" in line["person"]] == ["'=cmd()"]


def test_exports_and_refusals_of_the_page_itself_are_events(site: Site, client: Client) -> None:
    client.get(f"{PAGE}/csv")
    assert [(event["event"], event["details"]["what"]) for event in site.events()] == [("export", "security log")]
    assert [site.count(SecurityEvent), client.get(PAGE).status_int, site.count(SecurityEvent)] == [1, 200, 1]


def test_it_is_read_only(client: Client) -> None:
    for answer in (client.post(PAGE), client.put(PAGE), client.delete(PAGE), client.post(f"{PAGE}/csv")):
        assert answer.status_int == 405


def test_the_file_has_no_end(client: Client, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundtransport.transfer.export.activity.CHUNK", 5)
    numbers = [add(site, "denied") for _ in range(12)]

    assert [int(line["number"]) for line in lines(client, event="denied")] == numbers[::-1]
    (event,) = site.events("export")
    assert event["details"] == {"what": "security log", "format": "csv", "filter": "event=denied", "rows": "12"}
