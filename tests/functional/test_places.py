"""The place of a record: its airport, identified by the code alone, and the airport's cities and states."""

import unicodedata

from sqlalchemy import update

from groundtransport import db
from tests.functional.test_fields import assert_refused_at, refusals, stored
from tests.site import HEATHROW, JFK, Client, Site

# Names that hold brackets, accents, quotes or other airports' codes themselves.
HARD = {
    "VDY": "Vijayanagar Aerodrome (JSW)",
    "YLK": "Barrie-Orillia (Lake Simcoe Regional Airport)",
    "ANR": "Antwerp International Airport (Deurne)",
    "GBF": "Negarbo(Negabo) Airport",
    "MEZ": "Musina(Messina) Airport",
    "LGB": "Long Beach (Daugherty Field) Airport",
    "MGM": "Montgomery Regional (Dannelly Field) Airport",
    "LIY": "Wright Army Air Field (Fort Stewart)/Midcoast Regional Airport",
    "EGI": "Duke Field,(Eglin Af Aux Nr 3) Airport",
    "THO": "Þórshöfn (Thorshofn) Airport",
    "YMX": "Montréal (Mirabel) Airport",
    "ZSP": "Zhushan Majiadu Airport (under construction, unknown coordinates)",
    "BSL": "EuroAirport Basel-Mulhouse-Freiburg Airport",
    "MLH": "EuroAirport Basel-Mulhouse-Freiburg Airport",
    "YYT": "St. John's International Airport",
}
CITIES = "/admin/scheduledbus/get-city-scheduled"


# The airport


def test_every_hard_name_is_found_by_its_last_brackets(site: Site, client: Client, kind: str) -> None:
    for code, name in HARD.items():
        row = site.row(kind, client.create(kind, airport_name=f"{name} ({code})"))
        assert (row["airport_code"], row["airport_name"]) == (code, f"{name} ({code})")


def test_the_code_decides_whatever_stands_before_it(site: Site, client: Client, kind: str) -> None:
    typed = [
        JFK,
        "anything (JFK)",
        "anything (jfk)",
        "  John F Kennedy   ( JFK )  ",
        "Heathrow (LHR) (JFK)",
        "Kennedy (KJFK)",
        "kennedy ( kjfk )",
        "Kennedy(JFK)",
    ]

    assert stored(site, client, kind, "airport_name", typed) == dict.fromkeys(typed, JFK)


def test_a_double_blank_in_a_name_does_no_harm(site: Site, client: Client, kind: str) -> None:
    typed = ["Venezia / Tessera -  Marco Polo Airport (VCE)", "Venezia / Tessera - Marco Polo Airport (VCE)"]

    assert len(set(stored(site, client, kind, "airport_name", typed).values())) == 1


def test_what_names_no_airport_is_refused(client: Client, kind: str) -> None:
    wrong = [
        "",
        "   ",
        "John F Kennedy International Airport",
        "JFK",
        "Kennedy JFK",
        "Kennedy (JFK",
        "Kennedy JFK)",
        "Kennedy ()",
        "Kennedy (XXX)",
        "Kennedy (ZZZZ)",
        "Vijayanagar Aerodrome (JSW)",  # its owner, not an airport
        "Kennedy (J%K)",
        "Kennedy (J_K)",
        "Kennedy (JFK) and more",
        "x" * 500,
        "(" * 400 + ")" * 400,
    ]

    assert refusals(client, kind, "airport_name", wrong) == {key: ["airport_name"] for key in wrong}


def test_an_unknown_airport_is_an_error_at_its_field(client: Client, kind: str) -> None:
    answer = client.post(f"/admin/{kind}", {"airport_name": "Kennedy (XXX)"})

    assert_refused_at(answer, "airport_name", "Kennedy (XXX)")


# The state


def test_a_state_is_understood_by_code_by_its_end_and_by_name(site: Site, client: Client, kind: str) -> None:
    at_jfk = ["US-NY", "us-ny", "NY", "ny", "New York", "new york"]
    at_toronto = {"ON": "CA-ON", "Ontario": "CA-ON", "CA-QC": "CA-QC", "québec": "CA-QC"}

    assert stored(site, client, kind, "state", at_jfk) == dict.fromkeys(at_jfk, "US-NY")
    assert stored(site, client, kind, "state", list(at_toronto), airport_name="Toronto (YYZ)") == at_toronto
    assert stored(site, client, kind, "state", ["PR"], airport_name="San Juan (SJU)") == {"PR": "US-PR"}


def test_a_state_of_another_country_is_refused(client: Client, kind: str) -> None:
    wrong = ["CA-ON", "ON", "Ontario", "XX", "US-XX", "US-", "-NY", "US-NY-1", "%", "New"]

    assert refusals(client, kind, "state", wrong) == {key: ["state"] for key in wrong}
    assert_refused_at(client.post(f"/admin/{kind}", {"airport_name": JFK, "state": "CA-ON"}), "state", "CA-ON")


def test_the_form_offers_the_states_of_the_airports_country(client: Client, kind: str) -> None:
    def offered(page: object) -> dict[str, str]:
        options = page.html.find(attrs={"name": "state"}).find_all("option")
        return {option["value"]: option.get_text(strip=True) for option in options if option["value"]}

    new = offered(client.get(f"/admin/{kind}/create"))
    british = offered(client.get(client.edit_link(kind, client.create(kind, airport_name=HEATHROW))))

    assert (new["US-NY"], new["US-DC"]) == ("New York", "District of Columbia")
    assert {code[:2] for code in new} == {"US"}
    assert {code[:2] for code in british} == {"GB"}


def test_a_state_is_shown_by_its_name(client: Client, kind: str) -> None:
    record_id = client.create(kind, state="NY")

    text = client.get(f"/admin/{kind}/{record_id}").html.find("dl").get_text(" ", strip=True)

    assert "State New York" in text


# The city


def test_a_scheduled_bus_is_in_a_city_of_its_airport(site: Site, client: Client) -> None:
    client.create("scheduledbus", city="Queens")
    client.create("scheduledbus", city="Zürich", airport_name="Zurich Airport (ZRH)")

    wrong = ["Atlantis", "London", "x" * 121, "Queens, NY"]
    assert refusals(client, "scheduledbus", "city", wrong) == {key: ["city"] for key in wrong}
    answer = client.post("/admin/scheduledbus", {"airport_name": JFK, "city": "London"})
    assert_refused_at(answer, "city", "London")


def test_a_transit_city_is_free_text_and_the_cities_are_offered(site: Site, client: Client) -> None:
    assert stored(site, client, "transit", "city", ["Atlantis"]) == {"Atlantis": "Atlantis"}

    page = client.get(client.edit_link("transit", client.create("transit", city="Atlantis")))

    assert page.forms["record"]["city"].value == "Atlantis"
    assert page.html.find("option", value="Queens") is not None
    assert page.html.find("option", value="Philadelphia") is not None  # 140 km away
    bus = client.get(client.edit_link("scheduledbus", client.create("scheduledbus")))
    assert bus.html.find("option", value="Philadelphia") is None
    assert "Philadelphia" in client.get("/admin/airports/JFK", Accept="application/json").json["further_cities"]


def test_a_stored_place_stays_valid_while_the_airport_stays(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, city="Queens", state="US-NY")
    model = site.kinds[kind].model
    with db.transaction(site.engine) as dbsession:  # as if the lists had changed since
        dbsession.execute(update(model).where(model.id == record_id).values(city="Oldtown", state="US-ZZ"))

    form = client.get(client.edit_link(kind, record_id)).forms["record"]
    assert (form["city"].value, form["state"].value) == ("Oldtown", "US-ZZ")
    form["company_name"] = "Beta"
    assert form.submit().status_int == 303
    row = site.row(kind, record_id)
    assert (row["company_name"], row["city"], row["state"]) == ("Beta", "Oldtown", "US-ZZ")

    moved = client.put(f"/admin/{kind}/{record_id}", {"airport_name": HEATHROW}, Accept="application/json")
    assert moved.status_int == 422
    assert set(moved.json["errors"]) == ({"city", "state"} if kind == "scheduledbus" else {"state"})


# The city JSON


def city_names(client: Client, **query: str) -> list[str]:
    answer = client.get(CITIES, query)
    assert (answer.status_int, answer.content_type) == (200, "application/json")
    assert set(answer.json) == {"cities"}
    assert all(set(city) == {"city_name"} for city in answer.json["cities"])
    return [city["city_name"] for city in answer.json["cities"]]


def test_the_cities_come_once_each_and_alphabetically(client: Client) -> None:
    def plain(text: str) -> str:
        folded = unicodedata.normalize("NFKD", text.casefold())
        return "".join(char for char in folded if not unicodedata.combining(char))

    for airport in (JFK, HEATHROW, "Zurich (ZRH)", "somewhere (egll)"):
        result = city_names(client, airport=airport)
        assert len(result) == len(set(result)) > 10
        assert [plain(name) for name in result] == sorted(plain(name) for name in result)
    assert {"Queens", "Newark", "New York City"} <= set(city_names(client, airport=JFK))


def test_without_a_known_airport_there_are_no_cities(client: Client) -> None:
    assert city_names(client) == []
    for airport in ("", "Nowhere (XXX)", "JFK", "\0", "x" * 3000):
        assert city_names(client, airport=airport) == []
    assert client.get(f"{CITIES}?airport=x+(JFK)&airport=x+(JFK)").json == {"cities": []}


def test_the_name_is_the_city_of_the_record(client: Client) -> None:
    with_city, without = client.create("scheduledbus", city="Queens"), client.create("scheduledbus")

    assert client.get(CITIES, {"airport": JFK, "id": with_city}).json["name"] == "Queens"
    assert client.get(CITIES, {"airport": JFK, "id": without}).json["name"] == ""
    assert client.get(CITIES, {"id": with_city}).json == {"cities": [], "name": "Queens"}


def test_a_bad_id_counts_as_none(client: Client) -> None:
    deleted = client.create("scheduledbus", city="Queens")
    client.delete(f"/admin/scheduledbus/{deleted}")

    for bad in ("", "0", "abc", "9" * 18, "9" * 30, "-1", "٣", "\0", "1 or 1=1", str(deleted)):
        assert "Queens" in city_names(client, airport=JFK, id=bad)
