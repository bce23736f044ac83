"""Possible doubles: the pairs that the writer keeps, their page, what users decide about them, and the commands."""

from itertools import permutations

import pytest
from sqlalchemy import text

from groundtransport import db
from groundtransport.db import postgresql
from groundtransport.records import sources
from groundtransport.records.duplicates import building, statements
from groundtransport.records.duplicates.models import ACROSS, OPEN, DuplicateKey, DuplicatePair
from groundtransport.records.duplicates.pairs import MOST, PairKeeper
from groundtransport.security import Role
from tests.site import HEATHROW, Client, Site


def pairs(site: Site) -> set[tuple[int, int, str]]:
    """Return the open pairs."""
    table = DuplicatePair.__table__
    with site.engine.connect() as connection:
        rows = connection.execute(table.select().where(table.c.state == OPEN)).all()
    return {(row.first_id, row.second_id, row.reasons) for row in rows}


def decide(client: Client, kind: str, first: int, second: int, **fields: str) -> str:
    """Send a decision, and return the page after it."""
    answer = client.post(f"/admin/{kind}/doubles", {"first": str(first), "second": str(second), **fields})
    assert answer.status_int == 303
    return client.get(answer.location).text


def test_pairs_follow_every_change_of_a_record(client: Client, site: Site) -> None:
    one = client.create("transit", company_name="Río Grande Shuttle, Inc.", company_phone1="718 244 4444")
    near = client.create("transit", company_name="Rio Grande Shutle")
    phone = client.create("transit", company_name="Other", company_phone2="+1 (718) 244-4444")
    client.create("transit", company_name="Rio Grande Shuttle", airport_name=HEATHROW)
    client.create("scheduledbus", company_name="Rio Grande Shuttle")
    assert pairs(site) == {(one, near, "near"), (one, phone, "phone")}

    client.put(f"/admin/transit/{near}", {"airport_name": HEATHROW})
    assert (one, near, "near") not in pairs(site)
    client.put(f"/admin/transit/{phone}", {"airport_name": "(JFK)", "company_name": "rio grande shuttle"})
    assert (one, phone, "name,phone") in pairs(site)

    client.delete(f"/admin/transit/{phone}")
    assert all(phone not in pair for pair in pairs(site))
    client.post(f"/admin/transit/{phone}/restore")
    assert (one, phone, "name,phone") in pairs(site)


def test_two_routes_of_a_company_are_no_doubles(client: Client, site: Site) -> None:
    for route in ("Tram", "Bus"):
        client.create("transit", company_name="Metro Line", route_name=route)
    assert not pairs(site)


def test_a_record_without_a_route_is_no_double_of_one_with_a_route_by_its_name_alone(
    client: Client, site: Site
) -> None:
    link = {"company_link": "https://metroline.com"}
    bus = client.create("transit", company_name="Metro Line", route_name="Bus", **link)
    whole = client.create("transit", company_name="Metro Line")
    assert not pairs(site)
    client.put(f"/admin/transit/{whole}", {"airport_name": "(JFK)", **link})
    assert pairs(site) == {(bus, whole, "name,web")}
    client.put(f"/admin/transit/{whole}", {"airport_name": "(JFK)", "company_link": ""})

    tram = client.create("transit", company_name="Metro Line", route_name="Tram", **link)
    client.put(f"/admin/transit/{whole}", {"airport_name": "(JFK)", **link})
    assert not pairs(site), f"the company has two routes: {bus}, {tram}"


def test_a_route_that_says_nothing_new_is_none(client: Client, site: Site) -> None:
    one = client.create("transit", company_name="Metro Line (ML)", route_name="ML")
    other = client.create("transit", company_name="Metro Line (ML)", route_name="Data of https://example.com")
    assert pairs(site) == {(one, other, "name")}


def test_names_may_differ_in_generic_words_the_city_and_brackets(client: Client, site: Site) -> None:
    for names in (
        ("Marin Transit", "Marin County Transit District"),
        ("New York Valley Metro", "Valley Metro"),
        ("Capital Line (GoCapital)", "GoCapital"),
    ):
        one, other = (client.create("transit", company_name=name, city="New York") for name in names)
        assert (one, other, "near") in pairs(site)
    client.create("transit", company_name="Albany Transit")
    client.create("transit", company_name="Albany Shuttle")
    assert len(pairs(site)) == 3, "both have a word more"


def test_a_web_site_of_two_companies_is_a_sign_and_that_of_three_is_none(client: Client, site: Site) -> None:
    link = {"company_link": "https://citilink.com"}
    names = ("Citilink", "Fort Wayne Public Transportation")
    one, other, again = (client.create("transit", company_name=name, **link) for name in (*names, names[1]))
    assert pairs(site) == {(one, other, "web"), (one, again, "web"), (other, again, "name,web")}
    third = client.create("transit", company_name="Airport Express", **link)
    assert all(third not in pair for pair in pairs(site))


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
@pytest.mark.parametrize(
    "records",
    [
        [{"company_name": name, "company_link": "https://city.example"} for name in ("Alpha", "Beta", "Gamma")],
        [{"company_name": "Metro Line", "route_name": route} for route in ("", "Bus", "Tram")],
    ],
    ids=["a web site of three companies", "two routes of a company"],
)
def test_the_order_of_the_records_does_not_matter(
    client: Client, site: Site, records: list[dict[str, str]], order: tuple[int, ...]
) -> None:
    for index in order:
        client.create("transit", **records[index])
    assert not pairs(site)
    assert list(building.build(site.engine, site.kinds["transit"])) == [3]
    assert not pairs(site)


def test_a_change_of_other_fields_leaves_the_pairs(client: Client, site: Site) -> None:
    one, other = (client.create("transit", company_name="Metro Line") for _ in range(2))
    client.put(f"/admin/transit/{one}", {"airport_name": "(JFK)", "description": "Every ten minutes"})
    assert pairs(site) == {(one, other, "name")}


def test_the_page_shows_the_best_first_and_those_of_an_airport(client: Client) -> None:
    for name, phone, airport in (
        ("Alpha Line", "", "(JFK)"),
        ("Beta Line", "718 244 4444", "(JFK)"),
        ("Gamma Line", "", "(LHR)"),
    ):
        for _ in range(2):
            client.create("transit", company_name=name, company_phone1=phone, airport_name=airport)

    page = client.get("/admin/transit/doubles").text.partition("<ol")[2]
    assert page.index("Beta Line") < page.index("Gamma Line") < page.index("Alpha Line")
    page = client.get("/admin/transit/doubles", {"airport_code": "lhr"}).text
    assert "Gamma Line" in page
    assert "Alpha Line" not in page
    for params in ({"airport_code": "\x00<b>"}, {"page_no": "9" * 30}, {"airport_code": "ZZZ", "rejected": "x"}):
        assert client.get("/admin/transit/doubles", params).status_int == 200


def test_a_rejected_pair_is_remembered_logged_once_and_can_be_proposed_again(client: Client, site: Site) -> None:
    one, other = (client.create("transit", company_name="<b>Metro</b> Line") for _ in range(2))
    page = decide(client, "transit", one, other)
    assert "is no double of" in page
    assert "<b>Metro" not in page
    assert not pairs(site)
    entry = site.entries()[-1]
    assert (entry["action"], entry["record_id"], entry["actor"]) == ("distinct", other, "the-administrator")
    assert "already" in decide(client, "transit", one, other)
    assert len(site.entries()) == 3

    for name in ("Other Line", "Metro Line"):  # the same again
        client.put(f"/admin/transit/{other}", {"airport_name": "(JFK)", "company_name": name})
    assert not pairs(site)
    assert "Propose again" in client.get("/admin/transit/doubles?rejected=1").text

    decide(client, "transit", one, other, is_double="1")
    assert pairs(site) == {(one, other, "name")}
    assert site.entries()[-1]["action"] == "propose"
    assert str(one) in client.get(f"/admin/transit/{other}/history").text


def test_a_pair_with_a_deleted_record_or_none_cannot_be_decided(client: Client, site: Site) -> None:
    one, other = (client.create("transit", company_name="Metro Line") for _ in range(2))
    decide(client, "transit", one, other)
    client.delete(f"/admin/transit/{other}")
    count = len(site.entries())
    assert "deleted" in decide(client, "transit", one, other, is_double="1")
    for first in ("0", "9" * 30, "x\x00", "-1"):
        assert client.post("/admin/transit/doubles", {"first": first, "second": "1"}).status_int == 303
    assert len(site.entries()) == count


def test_a_viewer_sees_pairs_and_decides_nothing(client: Client, site: Site) -> None:
    one, other = (client.create("transit", company_name="Metro Line") for _ in range(2))
    viewer = site.client(Role.VIEWER)
    assert "Not a double" not in viewer.get("/admin/transit/doubles").text
    viewer.post("/admin/transit/doubles", {"first": str(one), "second": str(other)})
    assert pairs(site)


def test_the_pairs_of_existing_records_can_be_made_anew(client: Client, site: Site) -> None:
    one, other, third = (client.create("transit", company_name="Metro Line") for _ in range(3))
    decide(client, "transit", one, other)
    expected = pairs(site)
    with site.engine.begin() as connection:
        connection.execute(DuplicateKey.__table__.delete())
        connection.execute(DuplicatePair.__table__.delete().where(DuplicatePair.__table__.c.first_id == one))
    kind = site.kinds["transit"]
    assert list(building.build(site.engine, kind)) == [3]
    assert not building.is_outdated(site.engine, kind)
    assert {(two, three) for two, three, _reason in pairs(site)} == {(one, other), (one, third), (other, third)}
    assert expected == {(one, third, "name"), (other, third, "name")}


def test_statements_with_many_values_are_not_prepared_on_postgresql(site: Site) -> None:
    """The plan of a prepared statement is kept: of an empty table, it reads the whole table after an import."""
    if site.engine.dialect.name == "sqlite":
        return
    asked = text("SELECT count(*) FROM pg_prepared_statements WHERE statement ~ 'duplicate_key|transit'")
    kind, many = site.kinds["transit"], range(postgresql.MANY)
    with db.transaction(site.engine) as dbsession:
        for _ in range(20):
            statements.find_keys(dbsession, many)
            sources.owners_by_source(dbsession, kind, {("list", str(number)) for number in many})
            list(PairKeeper(dbsession, kind)._rows(list(many)))
        assert dbsession.scalar(asked) == 0
        for _ in range(20):
            statements.find_keys(dbsession, [1])
        assert dbsession.scalar(asked) == 1


# One company at two airports


def across(site: Site) -> set[tuple[int, int, str]]:
    """Return the pairs of one company at two airports."""
    table = DuplicatePair.__table__
    with site.engine.connect() as connection:
        rows = connection.execute(table.select().where(table.c.state == ACROSS)).all()
    return {(row.first_id, row.second_id, row.reasons) for row in rows}


def test_the_same_company_at_other_airports_needs_another_fact(client: Client, site: Site) -> None:
    number, name = "+1 718 244 4444", "Rio Grande Shuttle"
    shared = {"company_phone1": "718 244 4444", "company_link": "https://www.alpha.example/jfk"}
    one = client.create("transit", company_name="Río Grande Shuttle, Inc.", **shared)
    phone = client.create("transit", company_name=name, company_phone3=number, airport_name=HEATHROW)
    web = client.create("transit", company_name=name, company_link="alpha.example", airport_name="(CDG)")
    client.create("transit", company_name=name, airport_name="(FRA)")  # the name alone
    client.create("transit", company_name="Rio Grande Shutle", airport_name="(ZRH)", company_phone1=number)
    client.create("scheduledbus", company_name=name, company_phone1=number, airport_name=HEATHROW)
    assert across(site) == {(one, phone, "name,phone"), (one, web, "name,web")}
    assert not pairs(site)

    client.put(f"/admin/transit/{phone}", {"airport_name": "(JFK)"})
    assert across(site) == {(one, web, "name,web")}
    assert pairs(site) == {(one, phone, "name,phone")}
    client.put(f"/admin/transit/{phone}", {"airport_name": HEATHROW})
    client.delete(f"/admin/transit/{web}")
    assert across(site) == {(one, phone, "name,phone")}
    client.put(f"/admin/transit/{one}", {"airport_name": "(JFK)", "route_name": "Express"})
    client.put(f"/admin/transit/{phone}", {"airport_name": HEATHROW, "route_name": "Night bus"})
    assert not across(site)


def test_a_common_source_is_such_a_fact(client: Client, site: Site) -> None:
    ids = [
        client.create("scheduledbus", company_name="Alpha Coaches", airport_name=code, source=source, source_id=code)
        for code, source in (("(JFK)", "feed"), ("(LHR)", "feed"), ("(CDG)", "another feed"))
    ]
    assert across(site) == {(ids[0], ids[1], "name,source")}


def test_the_page_of_one_company_at_other_airports(client: Client, site: Site) -> None:
    names = {"company_name": "<b>Metro</b> Line", "company_phone1": "+1 718 244 4444"}
    one, other = (client.create("transit", airport_name=code, **names) for code in ("(JFK)", "(LHR)"))
    page = client.get("/admin/transit/doubles")
    assert "No records look like doubles." in page.text
    assert page.html.find("a", href="/admin/transit/doubles?across=1").text == "Same company at other airports"
    page = client.get("/admin/transit/doubles?across=1")
    heading = page.html.find(id="pair-1").get_text()
    assert ("JFK" in heading, "LHR" in heading, "<b>Metro" in page.text) == (True, True, False)
    assert client.get(f"/admin/transit/doubles?across=1&record={one}").html.find(id="pair-1")
    assert client.get("/admin/transit/doubles?across=1&airport_code=ZRH").html.find(id="pair-1")  # not by airport
    assert "Doubles" not in client.get("/admin").html.select_one(".cards").text

    answer = client.post("/admin/transit/doubles", {"first": str(one), "second": str(other), "across": "1"})
    assert answer.location.endswith("/admin/transit/doubles?across=1")
    assert not across(site)
    assert "Propose again" in client.get("/admin/transit/doubles?rejected=1").text
    client.put(f"/admin/transit/{one}", {"airport_name": "(JFK)", "company_name": "Metro"})
    client.put(f"/admin/transit/{one}", {"airport_name": "(JFK)", **names})
    assert not across(site)  # remembered
    decide(client, "transit", one, other, is_double="1")
    assert across(site) == {(one, other, "name,phone")}


def test_a_merge_across_airports_names_both(client: Client, site: Site) -> None:
    names = {"company_name": "Metro Line", "company_phone1": "+1 718 244 4444"}
    one, other = (client.create("transit", airport_name=code, **names) for code in ("(JFK)", "(LHR)"))
    page = client.get(f"/admin/transit/{one}/merge?with={other}")
    assert "at two airports: John F Kennedy International Airport (JFK) and London Heathrow Airport (LHR)" in page.text
    same = client.create("transit", **names)
    assert "two airports" not in client.get(f"/admin/transit/{one}/merge?with={same}").text


def test_pairs_across_airports_are_few_for_a_chain_and_made_anew(client: Client, site: Site) -> None:
    codes = ("JFK", "LHR", "CDG", "FRA", "ZRH", "MUC", "VIE", "MAD", "BCN", "LIS")
    for code in codes:
        client.create("transit", company_name="Chain", company_link="chain.example", airport_name=f"({code})")
    stored = across(site)
    assert 0 < len(stored) <= MOST * len(codes)
    kind = site.kinds["transit"]
    assert list(building.build(site.engine, kind)) == [len(codes)]
    assert 0 < len(across(site)) <= MOST * len(codes)
