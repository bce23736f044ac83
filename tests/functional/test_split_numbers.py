"""Several telephone numbers in one field: the form offers to divide them, by buttons that work without JavaScript."""

import html
from typing import Any

from tests.site import JFK, Client, Site

FIRST, SECOND, THIRD = "212 555 1234", "212 555 9999", "212 555 8888"
BOTH = f"{FIRST} / {SECOND}"
BUS, TRANSIT = "scheduledbus", "transit"


def submitted(client: Client, kind: str, record_id: int | None = None, **texts: str) -> Any:
    """Submit the form of a new record, or of an existing one, and return the answer."""
    url = client.edit_link(kind, record_id) if record_id else f"/admin/{kind}/create"
    form = client.get(url).forms["record"]
    for name, text in {"airport_name": JFK, **texts}.items():
        form[name] = text
    return form.submit(expect_errors=True)


def buttons(page: Any) -> list[tuple[str, str]]:
    return [(button["value"], button.text) for button in page.html.find_all("button", attrs={"name": "split_phone"})]


def press(page: Any, answer: str) -> Any:
    return page.forms["record"].submit("split_phone", value=answer, expect_errors=True)


def numbers(site: Site, record_id: int) -> list[str | None]:
    row = site.row(TRANSIT, record_id)
    return [row[f"company_phone{number}"] for number in (1, 2, 3)]


def test_the_second_number_goes_into_an_empty_field(site: Site, client: Client) -> None:
    page = submitted(client, TRANSIT, company_phone1=BOTH)
    assert buttons(page) == [("company_phone1", f"Keep {FIRST} here and write {SECOND} into Company Phone 2")]
    assert press(page, "company_phone1").status_int == 303
    (row,) = client.rows(TRANSIT)
    assert numbers(site, row["id"]) == [FIRST, SECOND, None]


def test_an_edit_leaves_stored_numbers_alone(site: Site, client: Client) -> None:
    record_id = client.create(TRANSIT, company_phone1=THIRD)
    page = submitted(client, TRANSIT, record_id, company_phone2=BOTH)
    assert buttons(page) == [("company_phone2", f"Keep {FIRST} here and write {SECOND} into Company Phone 3")]
    assert press(page, "company_phone2").status_int == 303
    assert numbers(site, record_id) == [THIRD, FIRST, SECOND]
    texts = {"airport_name": JFK, "company_phone1": f"{FIRST};{THIRD}", "split_phone": "company_phone1"}
    answer = client.put(f"/admin/{TRANSIT}/{record_id}", texts)  # the other fields are not sent
    assert answer.status_int == 422
    assert numbers(site, record_id) == [THIRD, FIRST, SECOND]


def test_a_number_that_somebody_else_saved_meanwhile_is_a_conflict(site: Site, client: Client) -> None:
    record_id = client.create(TRANSIT)
    page = submitted(client, TRANSIT, record_id, company_phone1=BOTH)
    client.put(f"/admin/{TRANSIT}/{record_id}", {"airport_name": JFK, "company_phone2": THIRD})
    assert press(page, "company_phone1").status_int == 409
    assert numbers(site, record_id) == [None, THIRD, None]


def test_a_kind_with_one_field_keeps_one_number(site: Site, client: Client) -> None:
    for number in (FIRST, SECOND):
        page = submitted(client, BUS, company_phone1=BOTH)
        answers = [(f"company_phone1:{one}", f"Keep {one} alone") for one in (FIRST, SECOND)]
        assert buttons(page) == answers
        assert press(page, f"company_phone1:{number}").status_int == 303
        assert client.rows(BUS, q=number)[0]["company_phone1"] == number
    page = submitted(client, BUS, client.create(BUS), company_phone1=BOTH)
    assert buttons(page) == answers
    assert press(page, answers[0][0]).status_int == 303


def test_numbers_without_an_empty_field_stay_until_one_is_chosen(client: Client) -> None:
    page = submitted(client, TRANSIT, company_phone1="2125551234/2125559999/2125558888", company_phone2=THIRD)
    label = "Keep 2125551234 / 2125558888 here and write 2125559999 into Company Phone 3"
    assert buttons(page) == [("company_phone1", label)]
    page = press(page, "company_phone1")
    assert page.status_int == 422
    assert page.forms["record"]["company_phone3"].value == "2125559999"
    labels = [label for _answer, label in buttons(page)]
    assert labels == ["Keep 2125551234 alone", "Keep 2125558888 alone"]
    assert press(page, "company_phone1:2125558888").status_int == 303


def test_other_errors_are_shown_with_the_numbers_in_their_fields(site: Site, client: Client) -> None:
    page = submitted(client, TRANSIT, company_phone1=BOTH, airport_name="nowhere")
    page = press(page, "company_phone1")
    assert (page.status_int, site.entries()) == (422, [])
    assert [link["href"] for link in page.html.select("#errors a")] == ["#airport_name"]
    form = page.forms["record"]
    assert (form["company_phone1"].value, form["company_phone2"].value) == (FIRST, SECOND)


def test_an_answer_to_another_question_has_no_effect(site: Site, client: Client, kind: str) -> None:
    for answer in ("company_phone1", f"company_phone1:{SECOND}", "airport_name", "x", ":"):
        fields = {"airport_name": JFK, "company_phone1": FIRST, "split_phone": answer}
        assert client.post(f"/admin/{kind}", fields).status_int == 303
    assert {row["company_phone1"] for row in client.rows(kind)} == {FIRST}
    for answer in (f"company_phone1:{THIRD}", "airport_name", "company_name"):
        fields = {"airport_name": JFK, "company_phone1": BOTH, "split_phone": answer}
        assert client.post(f"/admin/{kind}", fields).status_int == 422


def test_what_was_typed_is_escaped(client: Client, kind: str) -> None:
    text = f'<b>"{FIRST}</b>/{SECOND}'
    page = submitted(client, kind, company_phone1=text)
    assert len(buttons(page)) == (1 if kind == TRANSIT else 2)
    assert (text in page.text, html.escape(SECOND) in page.text) == (False, True)


def test_no_button_without_several_numbers(client: Client, kind: str) -> None:
    for text in ("unknown 12", FIRST, "1/2"):
        assert buttons(submitted(client, kind, company_phone1=text, airport_name="nowhere")) == []
