"""A scheduled bus at another place than its airport's cities: the warning, its confirmation, the mark, the filter."""

import csv
import io
import re
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from groundtransport import db
from groundtransport.airports import other_places
from groundtransport.airports.models import Airport
from groundtransport.airports.other_places import NearestCity
from groundtransport.jobs.runner import Runner
from groundtransport.security import Role
from tests.api import Program, make_token
from tests.functional.importing import Importing
from tests.site import HEATHROW, JFK, Client, Site

FIELDS = {"airport_name": JFK, "company_name": "Alpha Coaches"}
BUS = "scheduledbus"
ELSEWHERE = "Schenectady"  # 217 km away, under 100,000 inhabitants


@pytest.fixture
def editor(site: Site) -> Client:
    return site.client(Role.EDITOR)


def marked(editor: Client) -> list[str]:
    """Return the cities of the records that the filter finds."""
    return [row["city"] for row in editor.rows(BUS, other_place="yes")]


def create(editor: Client, city: str, **fields: str) -> int:
    return editor.create(BUS, city=city, confirmed_city=city, **fields)


def test_another_place_is_saved_after_a_warning_and_marked(site: Site, editor: Client) -> None:
    form = editor.get(f"/admin/{BUS}/create").forms["record"]
    form["airport_name"], form["company_name"], form["other_city"] = JFK, "Alpha Coaches", f" {ELSEWHERE} "

    page = form.submit(expect_errors=True)

    assert page.status_int == 422
    message = page.html.find(id="city-error").text
    assert re.search(rf"{ELSEWHERE} is not one of the cities of .+\. The nearest of them is .+, \d+ km away\.", message)
    assert site.entries() == []
    form = page.forms["record"]
    assert (form["city"].value, form["company_name"].value) == (ELSEWHERE, "Alpha Coaches")
    assert form["confirmed_city"].checked is False
    form["confirmed_city"] = True
    assert form.submit().status_int == 303
    (row,) = editor.rows(BUS)
    assert (row["city"], row["other_place"]) == (ELSEWHERE, True)
    assert len(site.entries()) == 1


def test_a_confirmation_holds_for_its_place_alone(site: Site, editor: Client) -> None:
    answer = editor.post(f"/admin/{BUS}", {**FIELDS, "city": "Atlantis", "confirmed_city": ELSEWHERE})
    assert answer.status_int == 422
    assert "no place near it" in answer.html.find(id="city-error").text
    answer = editor.post(f"/admin/{BUS}", {**FIELDS, "city": "Brookline", "confirmed_city": "x"})
    assert "Brooklyn is spelled alike" in answer.html.find(id="city-error").text or answer.status_int == 422
    long = "x" * 121
    answer = editor.post(f"/admin/{BUS}", {**FIELDS, "city": long, "confirmed_city": long})
    assert "at most 120 characters" in answer.html.find(id="city-error").text
    assert answer.html.find(id="confirmed_city") is None
    assert site.entries() == []


def test_the_confirmation_is_kept_while_another_field_is_refused(editor: Client) -> None:
    answer = editor.post(f"/admin/{BUS}", {**FIELDS, "city": "Atlantis", "confirmed_city": "Atlantis", "state": "XX"})
    assert answer.html.find(id="city-error") is None
    form = answer.forms["record"]
    assert form["confirmed_city"].checked
    form["state"] = "US-NY"
    assert form.submit().status_int == 303


def test_a_city_of_the_airport_is_never_marked(editor: Client) -> None:
    create(editor, "queens")
    editor.create(BUS)
    assert [(row["city"], row["other_place"]) for row in editor.rows(BUS)] == [(None, False), ("Queens", False)]
    assert marked(editor) == []


def test_the_mark_follows_the_city_and_the_airport(site: Site, editor: Client) -> None:
    record_id = create(editor, "Hounslow")
    url = f"/admin/{BUS}/{record_id}"
    assert marked(editor) == ["Hounslow"]
    editor.put(url, {"airport_name": JFK, "company_name": "Beta"})  # stays valid, and marked
    assert marked(editor) == ["Hounslow"]
    editor.put(url, {"airport_name": HEATHROW})
    assert marked(editor) == []
    answer = editor.put(url, {"airport_name": JFK})
    assert answer.status_int == 422  # at another airport it is asked for again
    editor.put(url, {"airport_name": JFK, "confirmed_city": "Hounslow"})
    assert marked(editor) == ["Hounslow"]
    editor.put(url, {"airport_name": JFK, "city": "Queens"})
    assert marked(editor) == []
    editor.post(f"{url}/restore", {"to_version": "4"})
    assert (marked(editor), site.row(BUS, record_id)["version"]) == (["Hounslow"], 6)
    editor.delete(url)
    assert marked(editor) == []


def test_lists_details_and_exports_show_the_mark(editor: Client) -> None:
    record_id, plain_id = create(editor, ELSEWHERE), editor.create(BUS, city="Queens")
    page = editor.get(f"/admin/{BUS}").html
    assert "Another place" in page.select_one(f"#record-{record_id} .col-city").text
    assert "Another place" not in page.select_one(f"#record-{plain_id}").text
    assert "Another place" in editor.get(f"/admin/{BUS}/{record_id}").text
    assert "Another place" not in editor.get(f"/admin/{BUS}/{plain_id}").text
    text = editor.get(f"/admin/{BUS}/export?format=csv").text.removeprefix("\ufeff")
    assert {row["city"]: row["other_place"] for row in csv.DictReader(io.StringIO(text))} == {
        ELSEWHERE: "yes",
        "Queens": "",
    }
    text = editor.get(f"/admin/{BUS}/export?format=csv&other_place=yes").text
    assert text.count("\n") == 2


def test_the_filter_is_a_chip_and_counts(editor: Client) -> None:
    create(editor, ELSEWHERE, company_name="Alpha")
    create(editor, "Atlantis", company_name="Beta")
    editor.create(BUS, city="Queens", company_name="Alpha")
    page = editor.get(f"/admin/{BUS}?other_place=yes").html
    assert page.select_one(".chip").text.split() == ["Remove:", "Another", "place:", "Yes", "×"]
    answer = editor.get(f"/admin/{BUS}?ajax=1&other_place=yes").json
    assert (answer["recordsFiltered"], answer["recordsTotal"]) == (2, 3)
    assert [row["city"] for row in editor.rows(BUS, other_place="yes", q="alpha")] == [ELSEWHERE]
    assert [row["city"] for row in editor.rows(BUS, other_place="yes", airport_code="JFK", sort="city")] == [
        "Atlantis",
        ELSEWHERE,
    ]
    for wrong in ("no", "1", "YES", "\x00"):
        assert len(editor.rows(BUS, other_place=wrong)) == 3
    assert editor.get("/admin/transit?other_place=yes").html.select_one(".chip") is None


def test_the_overview_counts_them_with_a_link_to_the_list(editor: Client) -> None:
    assert "Other places" not in editor.get("/admin").text
    create(editor, ELSEWHERE)
    fact = editor.get("/admin").html.find("a", href=f"/admin/{BUS}?other_place=yes")
    assert fact.text.split() == ["Other", "places", "1"]


def test_programs_confirm_by_what_they_read(site: Site) -> None:
    program, url = Program(site, make_token(site, Role.EDITOR)), f"/api/v1/{BUS}"
    body = {**FIELDS, "city": ELSEWHERE}
    answer = program.post(url, body)
    assert answer.status_int == 422
    warning, how = answer.json["errors"]["city"]
    assert ("km away" in warning, how) == (True, "Send other_place as true to save another place all the same.")
    assert program.post(url, {**body, "other_place": "yes"}).status_int == 422
    answer = program.post(url, {**body, "other_place": True})
    assert (answer.status_int, answer.json["other_place"]) == (201, True)
    record = answer.json
    own = f"{url}/{record['id']}"
    answer = program.put(own, {**record, "company_name": "Beta"}, If_Match='"1"')
    assert (answer.status_int, answer.json["other_place"]) == (200, True)
    answer = program.patch(own, {"city": "Queens"}, If_Match='"2"')
    assert (answer.status_int, answer.json["other_place"]) == (200, False)
    answer = program.post(f"{own}/restore", {"to_version": 2}, If_Match='"3"')
    assert (answer.status_int, answer.json["other_place"]) == (200, True)
    assert len(program.get(f"{url}?other_place=yes").json["items"]) == 1
    assert program.get(f"{url}?other_place=no").status_int == 422
    assert "other_place" not in program.post("/api/v1/transit", FIELDS).json


def test_an_import_takes_another_place_with_a_doubt_and_refuses_a_misspelled_city(editor: Client) -> None:
    importing = Importing(editor, BUS)
    cities = ("Queens", ELSEWHERE, "Atlantis", "Hobokken")
    lines = [f"JFK,Company {number},{city}" for number, city in enumerate(cities)]
    path = importing.start("\n".join(("airport,name,city", *lines)).encode())
    importing.preview(path)
    doubtful = editor.get(f"{path}?show=doubtful").text
    assert ("km away" in doubtful, "no place near it" in doubtful) == (True, True)
    assert "Hoboken is spelled alike" in editor.get(f"{path}?show=refused").text
    importing.commit(path)
    rows = {row["city"]: row["other_place"] for row in editor.rows(BUS)}
    assert rows == {"Queens": False, ELSEWHERE: True, "Atlantis": True}


@pytest.mark.parametrize("airport", [JFK, HEATHROW])
def test_a_bulk_edit_refuses_another_place_and_says_where_it_is_confirmed(editor: Client, airport: str) -> None:
    create(editor, ELSEWHERE)
    editor.create(BUS, airport_name=airport)  # at one airport the city is chosen from a list, at two it is typed
    answer = editor.post(f"/admin/{BUS}/change", {"all": "1", "city": ELSEWHERE, "next": "1"})
    assert answer.status_int == 422
    message = answer.html.find(id="city-error").text
    assert f"{ELSEWHERE} is not one of the cities of {JFK}" in message
    assert "Another place is confirmed in the form of a single record." in message


def test_a_bulk_edit_keeps_the_mark_until_the_city_changes(site: Site, editor: Client) -> None:
    create(editor, ELSEWHERE)

    def change(**fields: str) -> Any:
        page = editor.post(f"/admin/{BUS}/change", {"all": "1", "next": "1", **fields})
        form = next(form for form in page.forms.values() if "confirmed" in form.fields)
        answer = form.submit("confirmed")
        Runner(site.registry).run_pending()
        return answer.follow()

    change(company_address="1 Road")
    assert marked(editor) == [ELSEWHERE]
    assert f"{ELSEWHERE} is not one of the cities of {HEATHROW}" in change(airport_name=HEATHROW).text
    assert marked(editor) == [ELSEWHERE]
    page = change(city="Queens")
    assert marked(editor) == []
    next(form for form in page.forms.values() if form.action.endswith("/undo")).submit()
    Runner(site.registry).run_pending()
    assert marked(editor) == [ELSEWHERE]


def test_undone_edits_bring_the_mark_back(site: Site, editor: Client) -> None:
    record_id = create(editor, "Atlantis")
    version = {"to_version": "1", "version": "2"}
    editor.put(f"/admin/{BUS}/{record_id}", {"airport_name": JFK, "city": ""})
    assert marked(editor) == []
    editor.post(f"/admin/{BUS}/{record_id}/restore", version)
    assert marked(editor) == ["Atlantis"]


def test_a_mark_outlives_a_change_of_the_lists(site: Site, editor: Client) -> None:
    record_id, model = create(editor, "Queens"), site.kinds[BUS].model
    with db.transaction(site.engine) as dbsession:  # as if the list had lost the city
        dbsession.execute(update(model).where(model.id == record_id).values(city="Oldtown"))
    editor.put(f"/admin/{BUS}/{record_id}", {"airport_name": JFK, "company_name": "Beta"})
    assert marked(editor) == []


# What is offered while somebody types


def offered(client: Client, code: str, text: str) -> list[dict[str, Any]]:
    answer = client.get(f"/admin/airports/{code}/places", {"q": text})
    assert answer.content_type == "application/json"
    places: list[dict[str, Any]] = answer.json["places"]
    return places


def test_small_places_nearby_are_offered_after_the_cities(client: Client) -> None:
    (channel,) = (place for place in offered(client, "JFK", "channel") if place["city_name"] == "Broad Channel")
    assert channel["km"] == 5
    assert all(place["km"] is None or place["km"] <= other_places.NEAR for place in offered(client, "JFK", "w"))
    assert offered(client, "JFK", "  QUEEN")[0] == {"city_name": "Queens", "km": None}
    assert [place["city_name"] for place in offered(client, "JFK", "philadel")] == ["Philadelphia"]  # 140 km away
    assert "Ségny" in [place["city_name"] for place in offered(client, "GVA", "segny")]  # in France
    assert "Saint-Genis-Pouilly" in [place["city_name"] for place in offered(client, "GVA", "saint genis")]
    assert "Villé" not in [place["city_name"] for place in offered(client, "GVA", "ille")]  # not within a word
    assert len(offered(client, "CDG", "s")) == other_places.MOST


@pytest.mark.parametrize("text", ["", " ", "%", "_", "\\", "\x00", "'", "x" * 3_000, "東", "-"])
def test_odd_texts_offer_nothing(client: Client, text: str) -> None:
    assert offered(client, "JFK", text) == []


def test_places_of_airports_at_the_ends_of_the_world(client: Client) -> None:
    for code in ("TVU", "WLS", "LYR"):  # at the date line, and near the pole
        assert client.get(f"/admin/airports/{code}/places?q=a&q=b").json == {"places": []}
        assert isinstance(offered(client, code, "a"), list)


def test_the_nearest_city_is_that_of_the_place(site: Site) -> None:
    with Session(site.engine) as dbsession:
        jfk = dbsession.scalars(select(Airport).where(Airport.code == "JFK")).one()
        assert other_places.nearest_city(dbsession, jfk, "ATLANTIC beach") == NearestCity("Far Rockaway", 3)
        assert other_places.nearest_city(dbsession, jfk, "Quens") == NearestCity("Queens", is_alike=True)
