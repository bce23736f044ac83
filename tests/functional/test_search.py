"""The search and the filters of the list, by example and against a plain scan of the records."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, insert

from groundtransport import db
from groundtransport import text as service
from groundtransport.airports import lookup
from groundtransport.events import Actor
from groundtransport.records import telephone
from groundtransport.records.writer import Writer
from tests.site import HEATHROW, JFK, Client, Site

ALPHA = {"company_name": "Alpha Coaches", "company_address": "12 Main Street", "company_phone1": "(718) 217-5477"}
ZURI = {"company_name": "Zürich Straße 100%_\\", "company_address": "Élysée 7", "airport_name": HEATHROW}


# Texts of which folding leaves nothing: accents that stand alone, a combining mark, control characters.
NOTHING = ["´", "¨", "¸", "˚", "˜", "¯", "\u0301", "\0", "´ ¨", "\u0301\0"]

# What each query finds of A and Z
EXAMPLES: list[tuple[dict[str, str], str]] = [
    ({}, "AZ"),
    ({"q": "alpha"}, "A"),
    ({"q": "LPH"}, "A"),
    ({"q": "main street"}, "A"),
    ({"q": "street jfk alpha"}, "A"),  # every word somewhere
    ({"q": "street lhr"}, ""),
    ({"q": "heathrow"}, "Z"),
    ({"q": "LHR"}, "Z"),
    ({"q": "lhr)"}, "Z"),
    ({"q": "zurich strasse"}, "Z"),
    ({"q": "ZU\u0308RICH"}, "Z"),
    ({"q": "elysee"}, "Z"),
    ({"q": "álphà"}, "A"),
    ({"q": "217-5477"}, "A"),
    ({"q": "(718) 217-5477"}, "A"),
    ({"q": "7182175477"}, "A"),
    ({"q": "18217"}, "A"),
    ({"q": "%"}, "Z"),
    ({"q": "_"}, "Z"),
    ({"q": "\\"}, "Z"),
    ({"q": "100%"}, "Z"),
    ({"q": "al_ha"}, ""),
    ({"q": "al%ha"}, ""),
    ({"q": "  "}, "AZ"),
    ({"q": "coaches12"}, ""),  # no word stands across two fields
    ({"search[value]": "alpha"}, "A"),
    ({"search[value]": "ZURICH lhr"}, "Z"),
    ({"company_name": "a coa"}, "A"),
    ({"company_name": "main"}, ""),
    ({"company_name": "jfk"}, ""),
    ({"company_name": "ZURICH str"}, "Z"),
    ({"company_name": "%_"}, "Z"),
    ({"company_name": "%"}, "Z"),
    ({"company_name": ""}, "AZ"),
    ({"company_address": "2 MAIN"}, "A"),
    ({"company_address": "alpha"}, ""),
    ({"company_address": "elysee"}, "Z"),
    ({"company_phone": "(718) 217"}, "A"),
    ({"company_phone": "7182175477"}, "A"),
    ({"company_phone": "217.54"}, "A"),
    ({"company_phone": "12"}, ""),
    ({"company_phone": "alpha"}, ""),
    ({"airport_name": "kennedy INTER"}, "A"),
    ({"airport_name": "alpha"}, ""),
    ({"airport_code": "JFK"}, "A"),
    ({"airport_code": "jfk"}, "A"),
    ({"airport_code": " lhr "}, "Z"),
    ({"airport_code": "JF"}, ""),
    ({"airport_code": "%"}, ""),
    ({"airport_code": "J_K"}, ""),
    ({"company_name": "alpha", "airport_code": "JFK", "company_phone": "718", "q": "main"}, "A"),
    ({"company_name": "alpha", "airport_code": "LHR"}, ""),
    ({"q": "alpha", "company_address": "elysee"}, ""),
]


def test_the_list_finds_by_every_word_and_every_filter(client: Client, kind: str) -> None:
    named = {client.create(kind, **ALPHA): "A", client.create(kind, **ZURI): "Z"}

    results = ["".join(sorted(named[row["id"]] for row in client.rows(kind, **query))) for query, _ in EXAMPLES]

    wrong = [(*example, numbers) for example, numbers in zip(EXAMPLES, results, strict=True) if example[1] != numbers]
    assert wrong == []


def test_a_repeated_filter_counts_as_none(client: Client, kind: str) -> None:
    client.create(kind, **ALPHA)

    for name in ("q", "company_name", "airport_code", "search[value]"):
        assert len(client.get(f"/admin/{kind}?ajax=1&{name}=nobody&{name}=nobody").json["data"]) == 1


def test_the_phone_filter_looks_in_every_phone(client: Client) -> None:
    record_ids = [client.create("transit", **{f"company_phone{n}": f"(718) 217-547{n}"}) for n in (1, 2, 3)]

    assert [row["id"] for row in client.rows("transit", company_phone="718217547", sort="id")] == record_ids
    assert [client.rows("transit", company_phone=f"-547{n}")[0]["id"] for n in (1, 2, 3)] == record_ids
    assert [client.rows("transit", q=f"718217547{n}")[0]["id"] for n in (1, 2, 3)] == record_ids


def test_transit_services_are_filtered_by_status(client: Client) -> None:
    client.create("transit", company_name="A")
    client.create("transit", company_name="I", status="inactive")
    expected = {"active": "A", "INACTIVE": "I", "Active": "A", "": "AI", "act": "", "%": ""}

    results = {status: [row["company_name"] for row in client.rows("transit", status=status)] for status in expected}

    assert {status: "".join(sorted(names)) for status, names in results.items()} == expected


@pytest.mark.parametrize("text", NOTHING)
def test_a_search_that_folds_to_nothing_is_the_whole_list(client: Client, kind: str, text: str) -> None:
    ids = [client.create(kind, company_name=name) for name in ("B", "A", "C")]
    by_name = [ids[1], ids[0], ids[2]]
    client.get("/admin")  # the messages of the creations name the records, too

    for filters in ({"q": text, "sort": "company_name"}, {"search[value]": text, "order[0][name]": "company_name"}):
        answer = client.get(f"/admin/{kind}", {"ajax": "1", **filters})
        assert (answer.status_int, [row["id"] for row in answer.json["data"]]) == (200, by_name)
        assert (answer.json["recordsTotal"], answer.json["recordsFiltered"]) == (3, 3)
    for filters in ({"q": text}, {"company_name": text}, {"q": text, "deleted": "1"}, {"q": text, "view": str(ids[0])}):
        for sort in ("", "-company_name"):
            assert client.get(f"/admin/{kind}", {**filters, "sort": sort}).status_int == 200
    page = client.get(f"/admin/{kind}", {"q": text, "sort": "company_name"})
    assert [row["id"] for row in page.html.select("tbody tr")] == [f"record-{record_id}" for record_id in by_name]


def test_html_and_json_find_the_same(client: Client, kind: str) -> None:
    client.create(kind, **ALPHA)
    client.create(kind, **ZURI)
    client.get("/admin")  # the message of the creation names the record, too

    page = client.get(f"/admin/{kind}", {"q": "zurich", "company_address": "ely"})

    assert "Zürich" in page.html.find("tbody").get_text()
    assert "Alpha" not in page.text
    assert page.html.find("input", {"id": "q"})["value"] == "zurich"
    assert page.html.find("input", {"name": "company_address"})["value"] == "ely"


def test_what_was_searched_a_moment_ago_shows_every_change_since(client: Client, kind: str) -> None:
    def results(**query: str) -> list[str]:
        return [row["company_name"] for row in client.rows(kind, q="coaches", **{"sort": "company_name", **query})]

    ids = {name: client.create(kind, company_name=f"{name} Coaches") for name in ("Alpha", "Beta", "Delta")}
    assert results() == results() == ["Alpha Coaches", "Beta Coaches", "Delta Coaches"]
    assert results(sort="-company_name") == results()[::-1]

    ids["Gamma"] = client.create(kind, company_name="Gamma Coaches")
    assert results() == ["Alpha Coaches", "Beta Coaches", "Delta Coaches", "Gamma Coaches"]
    client.put(f"/admin/{kind}/{ids['Alpha']}", {"airport_name": JFK, "company_name": "Zeta Coaches"})
    client.put(f"/admin/{kind}/{ids['Beta']}", {"airport_name": JFK, "company_name": "Beta Buses"})
    assert results() == ["Delta Coaches", "Gamma Coaches", "Zeta Coaches"]
    client.delete(f"/admin/{kind}/{ids['Delta']}")
    assert results() == ["Gamma Coaches", "Zeta Coaches"]
    client.post(f"/admin/{kind}/{ids['Delta']}/restore")
    assert results() == ["Delta Coaches", "Gamma Coaches", "Zeta Coaches"]
    assert results(airport_code="LHR") == results(airport_code="LHR") == []
    assert results(airport_code="JFK") == results()


def test_records_that_came_or_went_by_plain_sql_are_noticed_too(site: Site, client: Client, kind: str) -> None:
    table = site.kinds[kind].model.__table__
    first = client.create(kind, company_name="Alpha Coaches")
    assert len(client.rows(kind, q="coaches")) == 1
    row = site.row(kind, first)
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(insert(table).values({**row, "id": first + 1, "form_token": None}))
    assert len(client.rows(kind, q="coaches")) == 2
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(delete(table).where(table.c.id == first))
    assert [results["id"] for results in client.rows(kind, q="coaches")] == [first + 1]


def test_the_pages_of_a_search_are_those_of_one_search(client: Client, kind: str) -> None:
    names = [f"Coaches {number:02}" for number in range(23)]
    for name in names:
        client.create(kind, company_name=name)
    filters = {"q": "coaches", "sort": "company_name", "length": "10"}
    for _ in range(2):  # the second time, what matches is known
        pages = [client.rows(kind, start=start, **filters) for start in ("0", "10", "20", "30")]
        assert [row["company_name"] for page in pages for row in page] == names
        last = client.rows(kind, q="coaches", sort="company_name", page_size="10", page_no="last")
        assert [row["company_name"] for row in last] == names[20:]
        answer = client.get(f"/admin/{kind}", {**filters, "ajax": "1", "start": "10", "draw": "1"}).json
        assert (answer["recordsTotal"], answer["recordsFiltered"]) == (23, 23)


def test_a_change_is_found_at_once_and_the_old_text_no_more(client: Client, kind: str) -> None:
    record_id = client.create(kind, **ALPHA)

    client.put(f"/admin/{kind}/{record_id}", {"airport_name": HEATHROW, "company_name": "Beta", "company_phone1": ""})

    assert client.rows(kind, q="alpha") == client.rows(kind, q="jfk") == client.rows(kind, q="7182175477") == []
    assert len(client.rows(kind, q="beta heathrow main")) == 1


# Against a plain scan

RECORDS = [
    {"company_name": name, "company_address": address, "company_phone1": phone, "airport_name": airport}
    for name, address in [
        ("Alpha Coaches", "12 Main Street"),
        ("alpha_line 100%", "Straße des 17. Juni"),
        ("Łódź İstanbul", None),
        ("Œuvre & ﬁne \\ Co", "Terminal 4, Gate B"),
        (None, "São Paulo 5477"),
        ("Zürich–Élan", "12/14 Main St."),
        ("東京バス", "Ｆｕｌｌ width ４２"),
        ("ABバスxy -- Køk", "O’Hare ((b))"),
    ]
    for phone in ["(718) 217-5477", "+41 44 123 45 67", None]
    for airport in [JFK, HEATHROW]
]
FIELDS = ("company_name", "company_address", "company_phone1", "airport_name")
FILTERS = ("company_name", "company_address", "company_phone", "airport_name", "airport_code")
SORTS = ["", "id", "-id", "company_name", "-company_name", "airport_name", "airport_code", "-city", "created_at"]


def fold(text: str | None) -> str:
    """Fold as the service does; tests/unit/test_text.py tests that."""
    return service.fold(text or "")


def digits(text: str) -> str:
    return "".join(c for c in text if c in "0123456789")


def phone_holds(record: dict[str, str | None], phone_text: str) -> bool:
    is_phone = digits(phone_text) and set(phone_text) <= set("0123456789 ()+-./")
    phone = fold(record["company_phone1"])
    country = "US" if record["airport_name"] == JFK else "GB"
    spellings = (digits(phone), telephone.comparison_key(phone, country))
    number = telephone.searched_digits(phone_text)
    return phone_text in phone or bool(is_phone and any(number in one for one in spellings))


def fits(record: dict[str, str | None], name: str, text: str) -> bool:
    phone_text = fold(text).strip()
    if name == "q":
        return all(
            phone_holds(record, word) or any(word in fold(record[field]) for field in FIELDS)
            for word in phone_text.split()
        )
    if name == "airport_code":
        # Asked for is what was typed: a code that is none is nobody's.
        return not text.strip() or fold((record["airport_name"] or "")[-4:-1]) == phone_text
    if name == "company_phone":
        return not phone_text or phone_holds(record, phone_text)
    return phone_text in fold(record[name])


TEXTS = sorted({text for record in RECORDS for text in record.values() if text} | {"JFK", "LHR", "zz", "%", "_", "4"})


@st.composite
def asked_text(draw: st.DrawFn) -> str:
    """A piece of what the records hold, as somebody else would type it."""
    whole = draw(st.sampled_from(TEXTS))
    start = draw(st.integers(0, len(whole) - 1))
    piece = whole[start : draw(st.integers(start + 1, len(whole)))]
    return draw(st.sampled_from([str, str.upper, str.lower, fold, lambda text: digits(text) or text]))(piece)


@pytest.fixture
def records(site: Site, kind: str) -> dict[int, dict[str, str | None]]:
    """The records of the scan, by id."""
    with db.transaction(site.engine) as dbsession:
        airports = {name: lookup.by_airport_name(dbsession, name) for name in (JFK, HEATHROW)}
        writer = Writer(dbsession, lambda event: None, site.kinds[kind], Actor("test"))
        results = {}
        for record in RECORDS:
            airport = airports[record["airport_name"]]
            results[writer.create({**record, "airport_id": airport.id, "airport_code": airport.code})] = record
        return results


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    query=st.dictionaries(
        st.sampled_from(["q", *FILTERS]),
        st.one_of(
            asked_text(),
            st.sampled_from(NOTHING),
            st.tuples(asked_text() | st.sampled_from(NOTHING), asked_text()).map(" ".join),
        ),
        min_size=1,
        max_size=3,
    ),
    sort=st.sampled_from(SORTS),
)
@example(query={"q": "´"}, sort="company_name")
def test_every_query_finds_what_a_plain_scan_finds(
    client: Client, kind: str, records: dict[int, dict[str, str | None]], query: dict[str, str], sort: str
) -> None:
    expected = {
        record_id for record_id, record in records.items() if all(fits(record, *filters) for filters in query.items())
    }

    answer = client.get(f"/admin/{kind}", {"ajax": "1", "length": "-1", "sort": sort, **query}).json

    results = [row["id"] for row in answer["data"]]
    assert set(results) == expected
    whole = [row["id"] for row in client.rows(kind, length="-1", sort=sort)]
    assert results == [record_id for record_id in whole if record_id in expected], "in the order of the whole list"
    assert (answer["recordsTotal"], answer["recordsFiltered"]) == (len(records), len(expected))
