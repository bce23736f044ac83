"""Administrators edit an airport: logged, without lost updates, kept by a refresh, followed by its records."""

from collections.abc import Iterator

import pytest
from sqlalchemy import select

from groundtransport import db
from groundtransport.airports import edits, loading, lookup, source
from groundtransport.airports.models import Airport, AirportEdit
from groundtransport.audit.models import AdminActivity
from groundtransport.security import Role
from tests.site import HEATHROW, JFK, Client, Site

URL = "/admin/airports/JFK/edit"
BROWSER = {"Accept": "text/html"}
NAME = "John F Kennedy International Airport"


@pytest.fixture(autouse=True)
def restored(site: Site) -> Iterator[None]:
    """Put the airport back: the tests share the list."""
    yield
    with db.transaction(site.engine) as dbsession:
        for edit in dbsession.scalars(select(AirportEdit)):
            dbsession.delete(edit)
        dbsession.flush()
        airport = dbsession.scalars(select(Airport).where(Airport.code == "JFK")).one()
        for name, value in next(row for row in source.packaged_airports() if row["code"] == "JFK").items():
            setattr(airport, name, value)
        edits.forget_cached(dbsession)


def save(client: Client, status: int = 303, **values: str) -> str:
    form = {"version": "0", "csrf_token": client.csrf, **values}
    answer = client.app.post(URL, form, headers=BROWSER, expect_errors=True)
    assert answer.status_int == status, answer.text
    return str(answer.text)


def stored(site: Site) -> Airport:
    with db.transaction(site.engine) as dbsession:
        airport = dbsession.scalars(select(Airport).where(Airport.code == "JFK")).one()
        dbsession.expunge(airport)
        return airport


def test_only_administrators_edit(site: Site) -> None:
    for role in (Role.VIEWER, Role.EDITOR):
        client = site.client(role)
        assert "/login" in client.app.get(URL, headers=BROWSER).location
        assert not client.app.get("/admin/airports/JFK", headers=BROWSER).html.find("a", string="Edit")
        save(client, name="Another")
    assert stored(site).name == NAME


def test_an_edit_is_logged_and_its_records_follow_in_the_same_batch(site: Site, client: Client, kind: str) -> None:
    record_id, other = client.create(kind, airport_name=JFK), client.create(kind, airport_name=HEATHROW)

    save(client, name="Kennedy Field", city="Queens", known_as="Big Apple Port, Idle Wild")

    assert site.row(kind, record_id)["airport_name"] == "Kennedy Field (JFK)"
    assert site.row(kind, other)["airport_name"] == HEATHROW
    with db.transaction(site.engine) as dbsession:
        rows = dbsession.scalars(select(AdminActivity).order_by(AdminActivity.id.desc()).limit(2)).all()
        entry, edit = sorted(rows, key=lambda row: row.kind == "airport")
        assert (edit.kind, edit.airport_code, edit.action, edit.actor) == ("airport", "JFK", "update", entry.actor)
        assert edit.changes["name"] == {"old": NAME, "new": "Kennedy Field"}
        assert set(edit.changes) == {"name", "city", "known_as"}
        assert (entry.kind, entry.record_id) == (kind, record_id)
        assert entry.batch == edit.batch != ""
    page = client.app.get("/admin/airports/JFK", headers=BROWSER).html.find("main").get_text(" ", strip=True)
    assert "Kennedy Field" in page
    assert "Big Apple Port" in page
    result = client.get("/admin/airports", {"q": "big apple port"}).json["airports"]
    assert [airport["code"] for airport in result] == ["JFK"]
    assert "Kennedy Field" in client.get("/admin/activity").text


def test_a_refresh_keeps_the_edit(site: Site, client: Client) -> None:
    save(client, name="Kennedy Field", closed_on="2026-01-31", replaced_by="lhr")

    with db.transaction(site.engine) as dbsession:
        assert "JFK" not in loading.refresh_airports(dbsession, source.packaged_airports()).changed
    airport = stored(site)
    assert (airport.name, str(airport.closed_on), airport.replaced_by) == ("Kennedy Field", "2026-01-31", "LHR")


def test_a_closed_airport_is_marked_proposed_after_others_and_its_successor_offered(site: Site, client: Client) -> None:
    save(client, closed_on="2026-01-31", replaced_by="LHR")

    page = client.app.get("/admin/airports/JFK", headers=BROWSER).html
    message = page.find("p", class_="warning")
    assert "Closed since Jan 31, 2026." in message.get_text()
    assert message.find("a")["href"] == "/admin/airports/LHR"
    with db.transaction(site.engine) as dbsession:
        codes = [row.code for row in lookup.search(dbsession, "nyc")]
    assert codes.index("LGA") < codes.index("JFK") < codes.index("LHR")


def test_an_edit_of_another_is_not_overwritten(site: Site, client: Client) -> None:
    save(client, city="Queens")

    text = save(client, 409, city="Brooklyn")

    assert stored(site).city == "Queens"
    assert "Queens" in text
    assert 'value="Brooklyn"' in text
    save(client, city="Brooklyn", version="1")
    assert stored(site).city == "Brooklyn"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", ""),
        ("name", "x" * 195),
        ("closed_on", "31.1.2026"),
        ("closed_on", "2026-02-30"),
        ("replaced_by", "JFK"),
        ("replaced_by", "QQQ"),
        ("known_as", "x" * 501),
    ],
)
def test_what_is_invalid_is_refused(site: Site, client: Client, name: str, value: str) -> None:
    assert 'role="alert"' in save(client, 422, **{name: value})
    assert stored(site).name == NAME


def test_nothing_is_logged_if_nothing_changes(site: Site, client: Client) -> None:
    save(client, name=NAME)

    with db.transaction(site.engine) as dbsession:
        assert dbsession.scalars(select(AirportEdit)).all() == []
