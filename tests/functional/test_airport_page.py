"""The page of an airport: HTML for browsers, JSON as before for scripts; tags link to it."""

import pytest

from groundtransport.airports import locator_map
from groundtransport.security import Role
from tests.site import JFK, Client, Site

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
PAGE = "/admin/airports/JFK"


@pytest.mark.parametrize(
    ("accept", "is_html"),
    [
        (BROWSER["Accept"], True),
        ("text/html", True),
        ("application/json;q=0.5, text/html", True),
        ("*/*", False),
        ("application/json", False),
        ("application/json, text/html", False),
        ("text/html;q=0.5, application/json", False),
        ("text/*", False),
        ("", False),
    ],
)
def test_html_is_the_answer_where_accept_ranks_it_before_json(client: Client, accept: str, is_html: bool) -> None:
    answer = client.app.get(PAGE, headers={"Accept": accept} if accept else {})

    assert answer.content_type == ("text/html" if is_html else "application/json")
    assert answer.vary == ("Accept",)


def test_the_page_shows_the_airport_its_cities_and_its_records(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha Lines")

    page = site.client(Role.VIEWER).app.get(PAGE, headers=BROWSER)

    assert page.html.find("h1").get_text(" ", strip=True) == "JFK John F Kennedy International Airport"
    text = page.html.find("main").get_text(" ", strip=True)
    for part in ("IATA JFK", "ICAO KJFK", "City New York", "State New York", "Country United States"):
        assert part in text
    assert "40.63" in text
    assert "° N, 73.7" in text
    record = page.html.find("a", string="Alpha Lines")
    assert record["href"] == f"/admin/{kind}?airport_code=JFK&view={record_id}"
    assert page.html.find_all("svg", class_="map")
    assert not page.html.find("a", string="New")  # a viewer may not create


def test_an_editor_creates_a_record_from_the_page(site: Site, kind: str) -> None:
    page = site.client(Role.EDITOR).app.get(PAGE, headers=BROWSER)

    form = page.click(href=f"^/admin/{kind}/create")

    assert form.html.find("input", {"name": "airport_name"})["value"] == JFK


def test_the_code_finds_the_page_and_no_other_code_does(client: Client) -> None:
    assert client.app.get("/admin/airports/kjfk", headers=BROWSER).html.find("h1").find("span").string == "JFK"
    assert client.app.get("/admin/airports/QQQ", headers=BROWSER, status=404).content_type == "text/html"


def test_tags_link_to_the_page_but_not_within_another_link(client: Client, kind: str) -> None:
    named, unnamed = client.create(kind, company_name="Alpha"), client.create(kind)

    page = client.app.get(f"/admin/{kind}?view={named}", headers=BROWSER).html

    tags = {row["id"]: row.find(class_="tag") for row in page.find("tbody").find_all("tr")}
    assert tags[f"record-{named}"].name == "a"
    assert tags[f"record-{named}"]["href"] == PAGE
    assert tags[f"record-{unnamed}"].name == "span"  # the airport's name is the link to the record
    assert not [link for link in page.find_all("a") if link.find("a")]
    assert [tag["href"] for tag in page.find(id="detail").find_all(class_="tag")] == [PAGE, PAGE]


@pytest.mark.parametrize("path", [PAGE, f"{PAGE}/edit"])
def test_a_sign_in_leads_back_to_the_page(site: Site, path: str) -> None:
    assert site.anonymous().get(path).location == f"http://localhost/login?next={path}"


def test_positions_on_the_globe() -> None:
    assert locator_map.on_globe(40.64, -73.78) == (106.2, 49.4)
    assert locator_map.on_globe(-90, 180) == (360, 180)
    assert locator_map.coordinates(-33.9461, 151.1772) == "33.9461° S, 151.1772° E"
