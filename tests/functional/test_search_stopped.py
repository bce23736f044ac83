"""A search whose time is over before its matches were counted: no page names a number, and the pager agrees."""

from typing import Any

import pytest

from tests.functional.filling import fill
from tests.functional.stopping import stop_searches
from tests.site import Client, Site


@pytest.fixture
def stopped(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    stop_searches(monkeypatch)
    return site


def notice_text(page: Any) -> str:
    return " ".join(page.html.select_one(".list-foot p").get_text(" ").split())


def pager(page: Any) -> dict[str, bool]:
    """Return what the pager says, each with whether it is a link."""
    return {item.get_text(strip=True): item.find("a") is not None for item in page.html.select("nav.pager li")}


def test_where_one_record_matches_no_other_number_is_told(stopped: Site, client: Client, kind: str) -> None:
    ids = fill(stopped, kind, 60)
    params = {"q": "042", "sort": "company_name"}

    page = client.get(f"/admin/{kind}", params)

    assert [row["id"] for row in page.html.select("tbody tr")] == [f"record-{ids[41]}"]
    assert notice_text(page) == "Showing 1 to 1; counting was stopped"
    assert pager(page) == {}
    assert "about" not in page.html.find("main").get_text()
    assert page.html.select_one("[data-all]").get_text(strip=True) == "All that match"
    assert not page.html.find(id="list-truncated").has_attr("hidden")

    answer = client.get(f"/admin/{kind}", {"ajax": "1", **params}).json
    assert [row["id"] for row in answer["data"]] == [ids[41]]
    assert (answer["recordsFiltered"], answer["recordsFilteredIsUnknown"], answer["truncated"]) == (1, True, True)
    assert "recordsFilteredIsEstimate" not in answer
    assert answer["recordsTotal"] == 60


def test_the_pager_leads_on_while_a_page_is_full(stopped: Site, client: Client, kind: str) -> None:
    fill(stopped, kind, 30)
    params = {"q": "0", "sort": "company_name", "page_size": "10"}

    page = client.get(f"/admin/{kind}", params)
    assert notice_text(page) == "Showing 1 to 10; counting was stopped"
    assert pager(page) == {"First": False, "Previous": False, "1": False, "Next": True}

    page = client.get(f"/admin/{kind}", {**params, "page_no": "2"})
    assert notice_text(page) == "Showing 11 to 20; counting was stopped"
    assert pager(page) == {"First": True, "Previous": True, "2": False, "Next": True}

    answer = client.get(f"/admin/{kind}", {"ajax": "1", **params, "start": "10", "length": "10"}).json
    assert (len(answer["data"]), answer["recordsFiltered"], answer["recordsFilteredIsUnknown"]) == (10, 21, True)


def test_past_the_end_and_on_the_last_page(stopped: Site, client: Client, kind: str) -> None:
    ids = fill(stopped, kind, 60)
    params = {"q": "042", "sort": "company_name", "page_size": "10"}

    for page_no in ("3", "1000000000"):
        page = client.get(f"/admin/{kind}", {**params, "page_no": page_no})
        assert page.html.select("tbody tr") == []
        assert notice_text(page) == "Counting was stopped"
        assert page.html.select_one("[data-no-match]").has_attr("hidden"), "nobody knows"
        result = pager(page)
        assert result.pop("First")
        assert "Last" not in result

    page = client.get(f"/admin/{kind}", {**params, "page_no": "last"})
    assert [row["id"] for row in page.html.select("tbody tr")] == [f"record-{ids[41]}"]
    assert notice_text(page) == "Counting was stopped"
    assert pager(page) == {"First": True, "Previous": False, "Last": False, "Next": False}
    assert "page_no=last" in page.html.select_one("tbody [data-action=edit]")["href"]


def test_where_nothing_was_found_in_time_nothing_is_said_of_none(
    site: Site, client: Client, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = fill(site, kind, 30)
    client.delete(f"/admin/{kind}/{ids[0]}")
    client.get("/admin")
    stop_searches(monkeypatch, for_good=True)

    for address in (f"/admin/{kind}?q=003&sort=company_name", f"/admin/{kind}?deleted=1&q=001", "/admin/search?q=003"):
        page = client.get(address)
        text = page.html.find("main").get_text(" ")
        assert page.status_int == 200
        assert "This search took too long and was stopped" in text
        shown = [one.get_text(" ") for one in page.html.select("main .empty") if not one.has_attr("hidden")]
        assert shown == [], address
    answer = client.get(f"/admin/{kind}?ajax=1&q=003&sort=company_name").json
    assert (answer["data"], answer["recordsFiltered"], answer["recordsFilteredIsUnknown"]) == ([], 0, True)
