"""Two users change the same field, or one deletes the record: the second one chooses, and no input is lost."""

from typing import Any

import pytest

from groundtransport.security import Role
from tests.functional.editors import opened, they_save
from tests.site import JFK, Client, Site, query_of


@pytest.fixture
def kind() -> str:
    """One kind is enough: nothing here knows which it is."""
    return "transit"


def in_conflict(site: Site, client: Client, kind: str) -> tuple[int, Any]:
    """Both changed the company; they the address besides, I the phone. Return the record and the answer to my save."""
    record_id = client.create(kind, company_name="Alpha", company_address="1 Main St", company_phone1="718-555-0100")
    form = opened(client, kind, record_id)
    they_save(site, kind, record_id, company_name="Theirs", company_address="2 Main St")
    form["company_name"], form["company_phone1"] = "Mine", "718-555-0199"
    client.get("/admin")
    return record_id, form.submit(expect_errors=True)


def facts(site: Site, kind: str, record_id: int) -> tuple[Any, ...]:
    row = site.row(kind, record_id)
    return row["company_name"], row["company_address"], row["company_phone1"], row["version"]


def test_the_same_field_is_asked_with_both_sides_who_and_when(site: Site, client: Client, kind: str) -> None:
    record_id, answer = in_conflict(site, client, kind)

    assert answer.status_int == 409
    assert facts(site, kind, record_id) == ("Theirs", "2 Main St", "718-555-0100", 2)
    assert len(site.entries()) == 2
    error_list = answer.html.find(id="errors")
    assert "the-editor" in error_list.get_text()
    assert error_list.find("time")["datetime"] == site.entries()[-1]["at"].isoformat(timespec="milliseconds")
    (group,) = answer.html.find_all("fieldset")
    assert group.find("legend").get_text(strip=True) == "Company Name"
    choices = [" ".join(label.get_text(" ", strip=True).split()) for label in group.find_all("label")]
    assert choices == ["Yours Mine", "Theirs Theirs", "Before Alpha"]
    (checked,) = group.find_all("input", checked=True)
    assert checked["value"] == "Mine"


def test_the_question_tells_what_was_merged_and_whose_it_is(site: Site, client: Client, kind: str) -> None:
    _record_id, answer = in_conflict(site, client, kind)

    rows = answer.html.find("section", {"aria-labelledby": "merged"}).select("tbody tr")

    error_list = [tuple(cell.get_text(strip=True) for cell in row.find_all(["th", "td"])) for row in rows]
    assert set(error_list) == {
        ("Company Phone 1", "718-555-0199", "You"),
        ("Company Address", "2 Main St", "the-editor"),
    }


@pytest.mark.parametrize("choice", [None, "Mine", "Theirs", "Alpha"])
def test_one_click_saves_the_choice_and_all_that_was_typed(
    site: Site, client: Client, kind: str, choice: str | None
) -> None:
    record_id, answer = in_conflict(site, client, kind)
    form = answer.forms["record"]
    if choice:
        form["company_name"] = choice

    assert form.submit().status_int == 303

    assert facts(site, kind, record_id) == (choice or "Mine", "2 Main St", "718-555-0199", 3)
    assert len(site.entries()) == 3


def test_to_go_on_editing_gives_the_form_with_the_choices_and_the_current_version(
    site: Site, client: Client, kind: str
) -> None:
    record_id, answer = in_conflict(site, client, kind)
    form = answer.forms["record"]
    form["company_name"] = "Theirs"

    page = form.submit("refresh")

    assert page.status_int == 200
    assert facts(site, kind, record_id) == ("Theirs", "2 Main St", "718-555-0100", 2)
    form = page.forms["record"]
    assert (form["company_name"].value, form["company_phone1"].value) == ("Theirs", "718-555-0199")
    assert (form["company_address"].value, form["version"].value) == ("2 Main St", "2")
    form["company_name"] = "Both of us"
    assert form.submit().status_int == 303
    assert facts(site, kind, record_id) == ("Both of us", "2 Main St", "718-555-0199", 3)


def test_an_emptied_field_can_be_chosen(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha", zip_code="1")
    form = opened(client, kind, record_id)
    they_save(site, kind, record_id, zip_code="2")
    form["zip_code"] = ""
    answer = form.submit(expect_errors=True)

    assert answer.status_int == 409
    assert "(empty)" in answer.html.find("fieldset").get_text()
    answer.forms["record"].submit()
    assert site.row(kind, record_id)["zip_code"] is None


def test_lines_and_markup_pass_through_the_question_unharmed(site: Site, client: Client) -> None:
    record_id = client.create("transit", description="old", company_name="Alpha")
    form = opened(client, "transit", record_id)
    they_save(site, "transit", record_id, description="theirs\n<b>2</b>", company_name='"><script>alert(1)</script>')
    form["description"] = 'mine\r\n\r\n"quoted" & <b>1</b>'
    answer = form.submit(expect_errors=True)

    assert answer.status_int == 409
    assert answer.html.find("main").find("script") is None
    assert answer.html.find("main").find("b") is None
    answer.forms["record"].submit()
    row = site.row("transit", record_id)
    assert row["description"] == 'mine\n\n"quoted" & <b>1</b>'
    assert row["company_name"] == '"><script>alert(1)</script>'


def test_the_answer_to_the_question_leads_back_to_the_list_as_it_was(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    form = opened(client, kind, record_id, q="alpha", page_size="10")
    they_save(site, kind, record_id, company_name="Theirs")
    form["company_name"] = "Mine"
    answer = form.submit(expect_errors=True).forms["record"].submit()
    result = query_of(answer.location)
    assert (result["q"], result["page_size"]) == (["alpha"], ["10"])


def test_who_is_faster_again_is_asked_about_again(site: Site, client: Client, kind: str) -> None:
    record_id, answer = in_conflict(site, client, kind)
    they_save(site, kind, record_id, company_name="Theirs again")

    second = answer.forms["record"].submit(expect_errors=True)

    assert second.status_int == 409
    assert "Theirs again" in second.text
    assert second.forms["record"].submit().status_int == 303
    assert facts(site, kind, record_id) == ("Mine", "2 Main St", "718-555-0199", 4)


@pytest.mark.parametrize("way", ["error", "refresh"])
def test_a_form_that_came_back_in_between_is_as_stale_as_before(
    site: Site, client: Client, kind: str, way: str
) -> None:
    record_id = client.create(kind, company_name="Alpha")
    form = opened(client, kind, record_id)
    they_save(site, kind, record_id, company_name="Theirs")
    form["company_name"] = "Mine"
    if way == "error":
        form["airport_name"] = "Nowhere (QQQ)"
        back = form.submit(expect_errors=True)
        assert back.status_int == 422
    else:
        back = form.submit("refresh")
    form = back.forms["record"]
    assert form["company_name"].value == "Mine"
    form["airport_name"] = JFK

    answer = form.submit(expect_errors=True)

    assert answer.status_int == 409
    assert site.row(kind, record_id)["company_name"] == "Theirs"


@pytest.mark.parametrize("version", ["0", "99", "-1", "x", ""])
def test_a_version_that_never_was_overwrites_nothing_unseen(
    site: Site, client: Client, kind: str, version: str
) -> None:
    record_id = client.create(kind, company_name="Alpha")
    fields = {"airport_name": JFK, "company_name": "Mine", "version": version}

    answer = client.put(f"/admin/{kind}/{record_id}", fields)

    assert answer.status_int == 409
    sides = [side.get_text() for side in answer.html.find("fieldset").find_all(class_="side")]
    assert sides == ["Yours", "Theirs"]
    assert site.row(kind, record_id)["company_name"] == "Alpha"


def test_a_program_gets_the_current_values(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    they_save(site, kind, record_id, company_name="Theirs", zip_code="11435")
    fields = {"airport_name": JFK, "company_name": "Mine", "version": "1"}

    answer = client.put(f"/admin/{kind}/{record_id}", fields, Accept="application/json")

    assert (answer.status_int, answer.content_type) == (409, "application/problem+json")
    current = answer.json["current"]
    assert (current["company_name"], current["zip_code"], current["version"]) == ("Theirs", "11435", 2)
    assert current["airport_name"] == JFK


def test_of_three_saves_from_one_version_one_wins_and_the_others_are_asked(site: Site, kind: str) -> None:
    people = [site.client(role) for role in (Role.ADMINISTRATOR, Role.EDITOR, Role.EDITOR)]
    record_id = people[0].create(kind, company_name="Alpha")
    forms = [opened(person, kind, record_id) for person in people]
    for number, form in enumerate(forms):
        form["company_name"] = f"Writer {number}"

    answers = [form.submit(expect_errors=True) for form in forms]

    assert [answer.status_int for answer in answers] == [303, 409, 409]
    assert site.row(kind, record_id)["company_name"] == "Writer 0"
    assert answers[1].forms["record"].submit().status_int == 303
    last = answers[2].forms["record"].submit(expect_errors=True)
    assert last.status_int == 409
    assert "Writer 1" in last.text
    assert last.forms["record"].submit().status_int == 303
    assert [entry["changes"]["company_name"]["old"] for entry in site.entries()] == [
        None,
        "Alpha",
        "Writer 0",
        "Writer 1",
    ]


# Deleting


def test_a_stale_delete_asks_again_and_the_second_answer_deletes(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    question = client.get(f"/admin/{kind}/{record_id}/delete")
    form = next(form for form in question.forms.values() if "_method" in form.fields)
    they_save(site, kind, record_id, company_name="Theirs")

    answer = form.submit(expect_errors=True)

    assert answer.status_int == 409
    assert site.row(kind, record_id)["deleted_at"] is None
    assert "Theirs" in answer.html.find("h1").get_text()
    again = next(form for form in answer.forms.values() if "_method" in form.fields)
    assert again.submit().status_int == 303
    assert site.row(kind, record_id)["deleted_at"] is not None
    assert [entry["action"] for entry in site.entries()] == ["create", "update", "delete"]


def test_a_save_never_revives_what_was_deleted_in_between(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    form = opened(client, kind, record_id)
    site.client(Role.EDITOR).delete(f"/admin/{kind}/{record_id}")
    form["company_name"] = "Mine"

    assert form.submit(expect_errors=True).status_int == 404
    row = site.row(kind, record_id)
    assert (row["company_name"], row["version"]) == ("Alpha", 1)
    assert row["deleted_at"] is not None
