"""The hints during typing, and the warnings after a save without script."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from groundtransport.records.duplicates import comparison
from groundtransport.security import Role
from tests.functional.editors import messages, opened
from tests.site import HEATHROW, JFK, Client, Site

# Numbers


def phone(client: Client, number: str, airport: str = JFK, kind: str = "transit") -> dict[str, str]:
    query = {"field": "company_phone1", "number": number, "airport_name": airport}
    return client.get(f"/admin/{kind}/phone", query).json


@pytest.mark.parametrize(
    ("number", "airport", "international"),
    [
        ("718 244 4444", JFK, "+1 718-244-4444"),
        ("(718) 244-4444 x12", JFK, "+1 718-244-4444 ext. 12"),
        ("020 7946 0018", HEATHROW, "+44 20 7946 0018"),
        ("+44 20 7946 0018", JFK, "+44 20 7946 0018"),
        ("718 244 4444", "", "+1 718-244-4444"),  # no airport yet: the default country
    ],
)
def test_a_number_is_shown_as_it_will_be_dialled(
    client: Client, kind: str, number: str, airport: str, international: str
) -> None:
    assert phone(client, number, airport, kind) == {"international": international, "warning": ""}


def test_a_doubtful_number_is_warned_of_and_can_be_saved(client: Client, kind: str) -> None:
    result = phone(client, "1447", kind=kind)

    assert result["international"]
    assert "1447 may be wrong" in result["warning"]
    client.create(kind, company_phone1="1447")


def test_what_is_no_number_is_told(client: Client) -> None:
    for text in ("nobody", "x" * 41, "718\x00244"):
        result = phone(client, text)
        assert not result["international"]
        assert result["warning"].startswith("Company Phone 1")
    assert phone(client, "  ") == {"international": "", "warning": ""}


def test_a_field_that_is_no_phone_has_no_number(client: Client, kind: str) -> None:
    for query in (
        "",
        "?field=company_name&number=1",
        "?field=nothing&number=1",
        "?number=1&number=2&field=company_phone1",
    ):
        answer = client.get(f"/admin/{kind}/phone{query}")
        assert (answer.status_int, answer.json) == (200, {"international": "", "warning": ""})


# The same company


def find(client: Client, kind: str, airport: str = JFK, **fields: str) -> list[dict[str, Any]]:
    return client.get(f"/admin/{kind}/similar", {"airport_name": airport, **fields}).json["similar"]


@pytest.mark.parametrize(
    "name", ["alpha coaches", "ALPHA  COACHES, Inc.", "Álpha Coaches L.L.C.", "The Alpha Coaches Co"]
)
def test_a_company_is_known_by_its_name(client: Client, kind: str, name: str) -> None:
    record_id = client.create(kind, company_name="Alpha Coaches Ltd.", company_phone1="718 244 4444")

    (result,) = find(client, kind, company_name=name)

    assert (result["id"], result["label"], result["reasons"]) == (record_id, "Alpha Coaches Ltd.", "same name")
    assert "718 244 4444" in result["more"]
    assert client.get(result["href"]).status_int == 200


def test_a_company_is_known_by_any_of_its_numbers_however_they_are_written(client: Client) -> None:
    record_id = client.create("transit", company_name="Alpha", company_phone2="(718) 244-4444 ext. 7")

    (result,) = find(client, "transit", company_name="Beta", company_phone1="+1 718.244.4444")

    assert (result["id"], result["reasons"]) == (record_id, "same phone")
    assert find(client, "transit", company_phone1="718 244 4445") == []


@pytest.mark.parametrize("link", ["alpha.example", "http://www.ALPHA.example/bus?x=1", "https://alpha.example:8443/"])
def test_a_company_is_known_by_its_site(client: Client, link: str) -> None:
    record_id = client.create("transit", company_link="https://www.alpha.example/timetable")

    assert [one["id"] for one in find(client, "transit", company_link=link)] == [record_id]


def test_an_international_host_is_known_in_both_spellings(client: Client) -> None:
    spellings = ("https://bücher.example/bus", "https://www.XN--bcher-kva.example/")
    ids = [client.create("transit", company_link=link) for link in spellings]

    for link in (*spellings, "bücher.example"):
        assert {one["id"] for one in find(client, "transit", company_link=link)} == set(ids), link
    for link in ("https://xn--a.example", "https://xn--" + "a" * 70 + ".example"):
        assert find(client, "transit", company_link=link) == []


def test_the_likeliest_stands_first_and_five_are_enough(client: Client) -> None:
    for _ in range(6):
        client.create("transit", company_name="Alpha")
    likeliest = client.create("transit", company_name="Alpha", company_phone1="718 244 4444")
    client.create("transit", company_name="Alpha")

    result = find(client, "transit", company_name="Alpha", company_phone1="718 244 4444")

    assert len(result) == comparison.SHOWN
    assert (result[0]["id"], result[0]["reasons"]) == (likeliest, "same name, same phone")


def test_elsewhere_deleted_itself_and_empty_are_no_hint(client: Client, kind: str) -> None:
    here = client.create(kind, company_name="Alpha")
    client.create(kind, airport_name=HEATHROW, company_name="Beta")
    client.delete(f"/admin/{kind}/{client.create(kind, company_name='Gamma')}")
    client.create(kind)

    assert find(client, kind, company_name="Alpha", id=str(here)) == []
    assert find(client, kind, company_name="Beta") == []
    assert find(client, kind, company_name="Gamma") == []
    assert find(client, kind) == []
    assert find(client, kind, company_name="...") == []
    assert find(client, kind, airport="nowhere", company_name="Alpha") == []


def test_no_airport_is_searched_without_end(client: Client, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "NEWEST", 2)
    monkeypatch.setattr(comparison, "ALIKE", 3)
    for name in ("The Alpha", "Beta", "Alpha", "Alpha Ltd.", "Alpha", "Alpha"):
        client.create(kind, company_name=name)

    # Of all that share its name, the three that are written most alike; the two newest are among them.
    assert len(find(client, kind, company_name="Alpha")) == 3


OLD = {
    "company_name": "Alpha & Sons, Inc.",
    "company_phone1": "(718) 244-4444",
    "company_link": "http://alpha.example/a",
}


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("company_name", "ALPHA & Sons"),
        ("company_name", "alpha & sons ltd"),
        ("company_phone1", "+1 718 244 4444"),
        ("company_phone2", "718.244.4444"),
        ("company_link", "www.Alpha.example"),
    ],
)
def test_what_is_written_alike_is_found_however_old_it_is(
    client: Client, monkeypatch: pytest.MonkeyPatch, field: str, text: str
) -> None:
    monkeypatch.setattr(comparison, "NEWEST", 1)
    record_id = client.create("transit", **OLD)
    client.create("transit", airport_name=HEATHROW, **OLD)
    client.create("transit", company_name="Zeta")

    assert [one["id"] for one in find(client, "transit", **{field: text})] == [record_id]


def test_hostile_questions_are_answered(client: Client, kind: str) -> None:
    client.create(kind, company_name="Alpha")
    for text in ("\x00", "%", "'", "<b>", "x" * 5000, "١٢٣", "http://[", "//"):
        for name in ("company_name", "company_phone1", "company_link", "id"):
            answer = client.get(f"/admin/{kind}/similar", {"airport_name": JFK, name: text})
            assert (answer.status_int, answer.json) == (200, {"similar": []})


def test_a_viewer_is_led_to_what_they_may_see(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")

    (result,) = find(site.client(Role.VIEWER), kind, company_name="Alpha")

    assert result["href"] == f"/admin/{kind}?view={record_id}"


@pytest.mark.parametrize("name", ["phone", "similar"])
def test_signed_out_scripts_are_sent_to_the_sign_in_and_back_to_the_list(site: Site, kind: str, name: str) -> None:
    answer = site.anonymous().get(f"/admin/{kind}/{name}?number=1")

    assert answer.status_int == 303
    assert urlsplit(answer.location).query == f"next=/admin/{kind}"


# Without script


def test_a_save_tells_of_the_one_that_may_be_the_same_and_is_not_hindered(
    site: Site, client: Client, kind: str
) -> None:
    client.create(kind, company_name="Alpha Coaches")
    client.get(f"/admin/{kind}")
    client.create(kind, company_name="ALPHA COACHES")

    page = client.get(f"/admin/{kind}")

    warning = page.html.find(id="messages").find(class_="warning")
    assert warning.get_text(" ", strip=True) == "Alpha Coaches at the same airport may be the same: same name."
    assert client.get(warning.find("a")["href"]).forms["record"]["company_name"].value == "Alpha Coaches"
    assert site.count(site.kinds[kind].model) == 2


def test_an_edit_tells_only_when_it_made_them_alike(client: Client, kind: str) -> None:
    client.create(kind, company_name="Alpha")
    other = client.create(kind, company_name="Beta")
    messages(client, kind)

    client.put(f"/admin/{kind}/{other}", {"airport_name": JFK, "company_name": "Alpha"})
    assert "may be the same" in messages(client, kind)
    client.put(f"/admin/{kind}/{other}", {"airport_name": JFK, "zip_code": "10001"})
    assert "may be the same" not in messages(client, kind)


def test_an_edit_tells_only_of_what_it_changed(client: Client, kind: str) -> None:
    client.create(kind, company_name="Alpha", company_phone1="+1 212 555 0100")
    other = client.create(kind, company_name="Beta", company_phone1="+1 212 555 0100")
    messages(client, kind)

    client.put(f"/admin/{kind}/{other}", {"airport_name": JFK, "company_name": "Gamma"})
    assert "may be the same" not in messages(client, kind)
    client.put(f"/admin/{kind}/{other}", {"airport_name": HEATHROW})
    client.put(f"/admin/{kind}/{other}", {"airport_name": JFK})
    assert "same phone" in messages(client, kind)


def test_a_form_that_comes_back_names_what_may_be_the_same(client: Client, kind: str) -> None:
    client.create(kind, company_name="Alpha <b>Coaches</b>")
    fields = {"airport_name": JFK, "company_name": "alpha b coaches b", "company_phone1": "nobody"}

    page = client.post(f"/admin/{kind}", fields)

    assert page.status_int == 422
    warning = page.html.find(attrs={"data-similar": True})
    assert warning.find("b") is None
    assert warning.find("a")["target"] == "_blank"
    assert "Alpha <b>Coaches</b>" in warning.get_text()


def test_a_plain_edit_page_tells_nothing(client: Client, kind: str) -> None:
    client.create(kind, company_name="Alpha")
    form = opened(client, kind, client.create(kind, company_name="Alpha"))

    assert form.response.html.find(attrs={"data-similar": True}).get_text(strip=True) == ""
