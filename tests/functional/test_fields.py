"""What each field takes and refuses, and how a refusal looks to a person and to a program."""

from typing import Any

import pytest

from tests.site import HEATHROW, JFK, Client, Site

LIMITS = {
    "company_name": 200,
    "company_address": 300,
    "zip_code": 20,
    "route_name": 200,
    "place": 200,
    "description": 5000,
    "city": 120,
}
CONTROLS = ["\0", "\x01", "\x07", "\x1b", "\x7f", "\x85", "\x9b"]
TALLINN = "Lennart Meri Tallinn Airport (TLL)"


def refusals(client: Client, kind: str, field: str, values: list[str], **others: str) -> dict[str, Any]:
    """Send each value by a program and return the names of the fields that were refused for it."""
    result = {}
    for value in values:
        fields = {"airport_name": JFK, **others, field: value}
        answer = client.post(f"/admin/{kind}", fields, Accept="application/json")
        result[value] = list(answer.json["errors"]) if answer.status_int == 422 else answer.status_int
    return result


def stored(site: Site, client: Client, kind: str, field: str, values: list[str], **others: str) -> dict[str, Any]:
    """Create a record of each value and return what the database holds of it."""
    return {value: site.row(kind, client.create(kind, **others, **{field: value}))[field] for value in values}


def assert_refused_at(answer: Any, field: str, typed: str) -> None:
    """Assert that the form came back with what was typed, a summary, and a message at the field."""
    assert answer.status_int == 422
    control = answer.html.find(attrs={"name": field})
    assert answer.forms["record"][field].value == typed
    assert control["aria-invalid"] == "true"
    notes = [answer.html.find(id=note) for note in control["aria-describedby"].split()]
    summary = answer.html.find(role="alert")
    (link,) = summary.find_all("a", href=f"#{control['id']}")
    assert any(link.get_text(strip=True) in note.get_text() for note in notes)


# How a refusal looks


@pytest.mark.parametrize("accept", ["text/html", "*/*", "text/html,application/json;q=0.9", ""])
def test_a_person_gets_the_form_again_with_everything_typed(client: Client, kind: str, accept: str) -> None:
    typed = {
        "airport_name": "Nowhere (XXX)",
        "company_name": 'Alpha "& Sons"',
        "company_phone1": "call us",
        "city": "Atlantis",
        "state": "Avalon",
        "list_state": "q=alpha&page_no=2",
    }

    answer = client.post(f"/admin/{kind}", typed, Accept=accept, X_Requested_With="XMLHttpRequest")

    assert (answer.status_int, answer.content_type) == (422, "text/html")
    form = answer.forms["record"]
    assert {name: form[name].value for name in typed} == typed
    assert_refused_at(answer, "airport_name", typed["airport_name"])
    assert_refused_at(answer, "company_phone1", typed["company_phone1"])
    assert answer.html.find(attrs={"name": "company_name"}).get("aria-invalid") is None


@pytest.mark.parametrize(
    "accept", ["application/json", "application/problem+json", "text/html;q=0.5,application/json", "application/*"]
)
def test_a_program_gets_problem_details(client: Client, kind: str, accept: str) -> None:
    answer = client.post(f"/admin/{kind}", {"company_name": "x" * 201}, Accept=accept)

    assert (answer.status_int, answer.content_type) == (422, "application/problem+json")
    assert answer.json["status"] == 422
    assert isinstance(answer.json["title"], str)
    errors = answer.json["errors"]
    assert set(errors) == {"airport_name", "company_name"}
    assert all(messages and all(isinstance(text, str) for text in messages) for messages in errors.values())


def test_a_refused_update_shows_what_was_typed_over_what_is_stored(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha", company_address="1 Main Street")

    answer = client.put(
        f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_name": "x" * 201, "company_address": ""}
    )

    assert_refused_at(answer, "company_name", "x" * 201)
    assert answer.forms["record"]["company_address"].value == ""
    assert (answer.forms["record"]["_method"].value, answer.forms["record"]["version"].value) == ("PUT", "1")
    row = site.row(kind, record_id)
    assert (row["company_name"], row["company_address"], row["version"]) == ("Alpha", "1 Main Street", 1)
    assert len(site.entries()) == 1


# Texts


@pytest.mark.parametrize("character", ["x", "ü", "🚌"])
def test_a_text_may_be_as_long_as_its_limit_and_no_longer(client: Client, kind: str, character: str) -> None:
    fields = [name for name in LIMITS if kind == "transit" or name in ("company_name", "company_address", "zip_code")]
    record_id = client.create(kind, **{name: f"  {character * LIMITS[name]} " for name in fields})

    row = client.rows(kind)[0]
    assert (row["id"], {name: row[name] for name in fields}) == (
        record_id,
        {name: character * LIMITS[name] for name in fields},
    )
    for name in fields:
        assert list(refusals(client, kind, name, [character * (LIMITS[name] + 1)]).values()) == [[name]]


def test_a_text_is_trimmed_and_blanks_are_nothing(site: Site, client: Client, kind: str) -> None:
    values = {"  Alpha  Coaches ": "Alpha  Coaches", "\u00a0\u2003Alpha\u3000": "Alpha", "   ": None, "": None}

    assert stored(site, client, kind, "company_name", list(values)) == values


def test_control_characters_are_refused_in_every_field(site: Site, client: Client, kind: str) -> None:
    for name in (field for field in site.kinds[kind].fields if field not in ("airport_name", "status")):
        result = refusals(client, kind, name, [f"a{control}b" for control in CONTROLS])
        assert set(map(tuple, result.values())) == {(name,)}, name
    assert (
        list(refusals(client, kind, "company_name", ["two\nlines", "two\r\nlines"]).values()) == [["company_name"]] * 2
    )
    for name in ("airport_name", "status") if kind == "transit" else ("airport_name",):
        assert list(refusals(client, kind, name, [f"{JFK}\0"]).values()) == [[name]]
    assert site.count(site.kinds[kind].model) == 0


def test_a_description_keeps_its_line_breaks(client: Client) -> None:
    text = "Monday\r\n  and Tuesday\r\n\r\nnever on Sunday"
    client.create("transit", description=text)

    (row,) = client.rows("transit")
    assert row["description"].splitlines() == text.splitlines()


def test_a_line_break_of_a_description_counts_once_however_it_is_sent(client: Client) -> None:
    client.create("transit", description="a\r\n" * 2499 + "ab")

    assert len(client.rows("transit")[0]["description"].splitlines()) == 2500


# Phones


def test_what_is_no_number_at_all_is_refused(client: Client, kind: str) -> None:
    phones = ["company_phone1"] + (["company_phone2", "company_phone3"] if kind == "transit" else [])
    for name in phones:
        values = ["cliff1stbusstop@aol.com", "call us", "---", "x", "+", "1" * 41]
        assert refusals(client, kind, name, values) == {key: [name] for key in values}


def test_what_cannot_be_a_number_is_refused_and_said(client: Client, kind: str) -> None:
    values = ["unknown 12", "TBD 24", "12", "+1 212 555", "n/a 1234"]
    assert refusals(client, kind, "company_phone1", values) == {key: ["company_phone1"] for key in values}
    answer = client.post(f"/admin/{kind}", {"airport_name": JFK, "company_phone1": "unknown 12"})
    assert_refused_at(answer, "company_phone1", "unknown 12")
    assert "unknown 12 cannot be a telephone number in United States" in answer.html.get_text(" ", strip=True)
    values = {"airport_name": HEATHROW, "company_phone1": "unknown 12"}
    answer = client.post(f"/admin/{kind}", values, Accept_Language="es")
    assert "unknown 12 no puede ser un número de teléfono en Reino Unido" in answer.html.get_text(" ", strip=True)


def test_two_numbers_in_one_field_are_named(client: Client, kind: str) -> None:
    for typed in ("718-244-4444 / 718-244-4445", "(718) 244-4444; (718) 244-4445", "718 244 4444 or 718 244 4445"):
        answer = client.post(f"/admin/{kind}", {"airport_name": JFK, "company_phone1": typed})
        assert_refused_at(answer, "company_phone1", typed)
        assert "holds more than one number" in answer.html.get_text(" ", strip=True)
    client.create(kind, company_phone1="718/244-4444")


def test_a_number_is_kept_as_typed(site: Site, client: Client, kind: str) -> None:
    values = ["(360) 786-1881", "503-238-RIDE", "1-877-POLICE1 x12", "+44 (0)20 7222 1234", "+372 443 0600", "555-1234"]

    assert stored(site, client, kind, "company_phone1", values) == {value: value for value in values}


# Airport, number, and whether it is doubtful there
DOUBTS = [
    (TALLINN, "1447", True),
    (JFK, "555-1234", True),
    (JFK, "511", True),
    (JFK, "(360) 786-1881", False),
    (JFK, "1-877-765-4231 ext. 12", False),
    (TALLINN, "5093898", False),
    (JFK, "+372 443 0600", False),
    ("Auckland Airport (AKL)", "(09)355-3553", False),
    ("Keflavik Airport (KEF)", "(+354)5402700", False),
]


def test_a_doubtful_number_is_saved_with_a_warning(client: Client, kind: str) -> None:
    for airport, phone, is_doubtful in DOUBTS:
        client.create(kind, airport_name=airport, company_name="Alpha", company_phone1=phone)

        messages = client.get(f"/admin/{kind}?q=nothing").html.find(id="messages")
        assert (phone in messages.get_text()) is is_doubtful, phone
        assert client.rows(kind)[0]["company_phone1"] == phone


# Links


def test_links_that_are_no_web_address_are_refused(client: Client) -> None:
    values = [
        "ftp://alpha.example",
        "javascript:alert(1)",
        "JavaScript:alert(1)//alpha.example",
        "data:text/html,x",
        "mailto:info@alpha.example",
        "file:///etc/passwd",
        "https://user@alpha.example",
        "https://user:pw@alpha.example",
        "user@alpha.example",
        "https://localhost",
        "https://",
        "https:///path",
        "#",
        "alpha",
        "https://alpha.example/a b",
        "https://al pha.example",
        "https://alpha.example\\@evil.example",
        "https://[::1",
        "https://.",
        "https://" + "a" * 1990 + ".example",
        "alpha.example/" + "a" * 1985,  # with https:// one too many
    ]

    assert refusals(client, "transit", "company_link", values) == {key: ["company_link"] for key in values}


def test_links_are_stored_with_their_scheme(site: Site, client: Client) -> None:
    longest = "https://alpha.example/" + "a" * (2000 - 22)
    expected = {
        "alpha.example": "https://alpha.example",
        "www.alpha.example/a?b=c#d": "https://www.alpha.example/a?b=c#d",
        "alpha.example:8080/x": "https://alpha.example:8080/x",
        "www.x.co.uk#http://www.x.co.uk#": "https://www.x.co.uk#http://www.x.co.uk#",
        "http://alpha.example/": "http://alpha.example/",
        " https://alpha.example ": "https://alpha.example",
        "https://bücher.example/ä": "https://bücher.example/ä",
        longest: longest,
    }

    assert stored(site, client, "transit", "company_link", list(expected)) == expected


# Status


def test_a_status_is_active_or_inactive_in_any_case(site: Site, client: Client) -> None:
    expected = {"active": "active", "Inactive": "inactive", "INACTIVE": "inactive", " Active ": "active"}

    assert stored(site, client, "transit", "status", list(expected)) == expected
    wrong = ["1", "gone", "activ", "active inactive", "true"]
    assert refusals(client, "transit", "status", wrong) == {key: ["status"] for key in wrong}


def test_a_wrong_status_is_shown_as_it_was_typed(client: Client) -> None:
    answer = client.post("/admin/transit", {"airport_name": JFK, "status": "gone"})

    assert_refused_at(answer, "status", "gone")


@pytest.mark.parametrize("kind", ["scheduledbus"], indirect=True)
def test_fields_of_another_kind_are_ignored(client: Client, kind: str) -> None:
    client.create(kind, route_name="Q10", company_link="javascript:alert(1)", status="gone")

    assert "route_name" not in client.rows(kind)[0]
