"""A form that is sent after its session has ended comes back, to its writer alone; without any script."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import delete, update

from groundtransport import db
from groundtransport.accounts import saved_forms, users
from groundtransport.accounts.models import AdminSession, SavedForm
from groundtransport.records.fields import CityField, Field, Paragraphs
from groundtransport.records.kind import SOURCE
from groundtransport.security import Role
from groundtransport.settings import ANONYMOUS_BODY_LIMIT
from tests.functional.editors import opened, they_save
from tests.functional.people import COOKIE, cheap_hashes, sign_in
from tests.site import JFK, PASSWORD, Client, Site

NASTY = "<b>Älpha</b> & Söhne 'x' \" 東京"
LONG = "first line\nsecond line\n" + "x" * 4_900


@pytest.fixture(autouse=True)
def clean(site: Site) -> Iterator[None]:
    with cheap_hashes(), db.transaction(site.engine) as dbsession:
        dbsession.execute(delete(SavedForm))
        for name in ("pat", "sam"):
            users.add(dbsession, name, Role.EDITOR, PASSWORD, one_time=False)
    with cheap_hashes():
        yield
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(delete(SavedForm))


@pytest.fixture
def pat(site: Site) -> Client:
    client = site.anonymous()
    sign_in(client)
    return client


def by_idleness(site: Site, client: Client) -> None:
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(update(AdminSession).values(seen_at=db.now() - timedelta(hours=1)))


def by_the_server(site: Site, client: Client) -> None:
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(delete(AdminSession))


def by_the_browser(site: Site, client: Client) -> None:
    client.app.cookies.pop(COOKIE, None)
    client.app.cookiejar.clear()


def by_signing_out(site: Site, client: Client) -> None:
    client.post("/logout")


ENDINGS = (by_idleness, by_the_server, by_the_browser, by_signing_out)
End = Callable[[Site, Client], None]


def typed(client: Client, kind: str, **fields: str) -> Any:
    form = client.get(f"/admin/{kind}/create?q=alpha&page_no=2").forms["record"]
    for name, value in {"airport_name": JFK, "company_name": NASTY, **fields}.items():
        form[name].force_value(value)
    return form


def back(client: Client, answer: Any, name: str = "pat") -> Any:
    """Sign in where a refused write was sent, and follow to the page that comes then."""
    assert urlsplit(answer.location).path == "/login"
    page = client.get(answer.location)
    form = next(form for form in page.forms.values() if "password" in form.fields)
    form["username"], form["password"] = name, PASSWORD
    page = form.submit()
    while page.status_int == 303:
        page = client.get(page.location)
    return page


@pytest.mark.parametrize("end", ENDINGS)
def test_what_was_typed_is_in_the_form_again(site: Site, pat: Client, kind: str, end: End) -> None:
    form = typed(pat, kind, city="Newark", zip_code="1" * 50)
    token = form["form_token"].value
    end(site, pat)

    answer = form.submit()

    assert answer.status_int == 303
    assert urlsplit(answer.location).query == f"next=/admin/{kind}"
    assert "what you typed will be in it again" in pat.get(answer.location).text
    assert site.count(site.kinds[kind].model) == 0
    page = back(pat, answer)
    again = page.forms["record"]
    assert (again["airport_name"].value, again["company_name"].value) == (JFK, NASTY)
    assert (again["city"].value, again["zip_code"].value) == ("Newark", "1" * 50)
    assert (again["list_state"].value, again["form_token"].value) == ("q=alpha&page_no=2", token)
    assert "nothing was saved yet" in page.html.find(role="alert").get_text()
    assert site.count(site.kinds[kind].model) == 0

    again["zip_code"] = "10001"
    saved = again.submit()
    assert saved.location == f"http://localhost/admin/{kind}?q=alpha&page_no=2"
    assert pat.rows(kind)[0]["company_name"] == NASTY
    assert site.count(SavedForm) == 0


def test_long_texts_with_line_breaks_come_back_whole(site: Site, pat: Client) -> None:
    form = typed(pat, "transit", description=LONG)
    by_the_server(site, pat)

    page = back(pat, form.submit())

    assert page.forms["record"]["description"].value.replace("\r\n", "\n") == LONG


def test_every_field_may_be_full_of_what_takes_three_bytes(site: Site, pat: Client) -> None:
    """Each letter of it travels as nine bytes: that is the most that is kept."""
    fields = [field for field in site.kinds["transit"].fields.values() if field.group != SOURCE]
    full = {field.name: "東" * field.max_length for field in fields if type(field) in (Field, Paragraphs, CityField)}
    others = {"company_phone1": "1" * 40, "company_phone2": "2" * 40, "company_link": f"https://a.example/{'x' * 1980}"}
    form = typed(pat, "transit", **full, **others)
    by_the_server(site, pat)

    again = back(pat, form.submit()).forms["record"]

    assert {name: again[name].value for name in (*full, *others)} == {**full, **others}


@pytest.mark.parametrize("end", ENDINGS)
def test_an_edit_comes_back_with_the_version_that_it_was_made_from(
    site: Site, pat: Client, kind: str, end: End
) -> None:
    record_id = pat.create(kind, company_name="Alpha", zip_code="1")
    form = opened(pat, kind, record_id)
    form["company_name"], form["zip_code"] = "Mine", ""
    they_save(site, kind, record_id, company_name="Theirs")
    end(site, pat)

    page = back(pat, form.submit())

    again = page.forms["record"]
    assert (again["company_name"].value, again["zip_code"].value, again["version"].value) == ("Mine", "", "1")
    assert site.row(kind, record_id)["company_name"] == "Theirs"
    assert again.submit(expect_errors=True).status_int == 409


def test_which_button_was_pressed_is_asked_again(site: Site, pat: Client, kind: str) -> None:
    form = typed(pat, kind)
    by_the_server(site, pat)

    page = back(pat, form.submit("then", value="add"))

    assert [button.get("value") for button in page.html.find_all("button", attrs={"name": "then"})] == ["add", "edit"]


def test_somebody_else_does_not_see_it(site: Site, pat: Client, kind: str) -> None:
    form = typed(pat, kind)
    by_the_server(site, pat)

    page = back(pat, form.submit(), name="sam")

    assert page.request.path == f"/admin/{kind}"
    assert "record" not in page.forms
    token = site.scalar(SavedForm.__table__.select())
    assert token  # it still waits for pat


def test_its_address_is_of_no_use_to_somebody_else(site: Site, pat: Client, kind: str) -> None:
    form = typed(pat, kind)
    by_the_server(site, pat)
    address = back(pat, form.submit()).request.path_qs
    assert "kept=" in address

    sam = site.anonymous()
    sign_in(sam, "sam")
    assert sam.get(address).forms["record"]["company_name"].value == ""


def test_a_form_of_another_address_is_not_shown(site: Site, pat: Client) -> None:
    form = typed(pat, "transit")
    by_the_server(site, pat)
    query = back(pat, form.submit()).request.query_string

    assert pat.get(f"/admin/scheduledbus/create?{query}").forms["record"]["company_name"].value == ""


def test_two_forms_come_back_one_after_the_other(site: Site, pat: Client, kind: str) -> None:
    forms = [typed(pat, kind, company_name=name) for name in ("One", "Two")]
    by_the_server(site, pat)
    answers = [form.submit() for form in forms]

    page = back(pat, answers[-1])
    assert page.forms["record"]["company_name"].value == "Two"
    page.forms["record"].submit()
    page = pat.get(f"/admin/{kind}")
    while page.status_int == 303:
        page = pat.get(page.location)
    assert page.forms["record"]["company_name"].value == "One"


def test_the_way_back_is_shown_once(site: Site, pat: Client, kind: str) -> None:
    form = typed(pat, kind)
    by_the_server(site, pat)
    back(pat, form.submit())

    assert pat.get(f"/admin/{kind}").status_int == 200


# Who may fill the table


def sent_by_a_stranger(site: Site, kind: str, **fields: str) -> Any:
    return site.anonymous().post(f"/admin/{kind}", {"airport_name": JFK, "company_name": "x", **fields})


def test_strangers_keep_nothing(site: Site, kind: str) -> None:
    user_id = site.scalar(users.AdminUser.__table__.select().where(users.AdminUser.name == "pat"))
    for owner in ("", "x", f"{user_id}.", f"{user_id}.{'0' * 64}", f"{user_id}.{'é' * 64}"):
        answer = sent_by_a_stranger(site, kind, form_owner=owner)
        assert answer.status_int == 303
    assert site.count(SavedForm) == 0


def test_a_form_from_a_foreign_page_is_not_kept(site: Site, pat: Client, kind: str) -> None:
    owner = typed(pat, kind)["form_owner"].value

    site.anonymous().post(f"/admin/{kind}", {"airport_name": JFK, "form_owner": owner}, Origin="http://evil.example")

    assert site.count(SavedForm) == 0


def test_a_form_that_is_too_large_or_not_text_is_not_kept(site: Site, pat: Client, kind: str) -> None:
    owner = typed(pat, kind)["form_owner"].value

    sent_by_a_stranger(site, kind, form_owner=owner, description="x" * ANONYMOUS_BODY_LIMIT)
    site.anonymous().app.post(f"/admin/{kind}", b"company_name=%ff&form_owner=" + owner.encode(), expect_errors=True)

    assert site.count(SavedForm) == 0


def test_one_person_keeps_a_few_and_old_ones_go(
    site: Site, pat: Client, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_forms, "FORMS_OF_USER", 2)
    owner = typed(pat, kind)["form_owner"].value
    for _ in range(4):
        sent_by_a_stranger(site, kind, form_owner=owner)
    assert site.count(SavedForm) == 2

    with db.transaction(site.engine) as dbsession:
        dbsession.execute(update(SavedForm).values(kept_at=db.now() - timedelta(hours=13)))
    sent_by_a_stranger(site, kind, form_owner=owner)
    assert site.count(SavedForm) == 1


def test_no_other_form_is_kept(site: Site, pat: Client) -> None:
    form = next(form for form in pat.get("/admin/profile").forms.values() if "current" in form.fields)
    form["current"] = form["password"] = form["repeated"] = PASSWORD
    by_the_server(site, pat)

    assert form.submit().status_int == 303
    assert site.count(SavedForm) == 0


# Signed in anew in another tab: the token of the open form is of the old session


def test_a_form_with_an_old_token_comes_back_with_a_fresh_one(site: Site, pat: Client, kind: str) -> None:
    form = typed(pat, kind, zip_code="10001")
    sign_in(pat)

    page = form.submit(expect_errors=True)

    assert page.status_int == 400
    assert "save it again" in page.html.find(role="alert").get_text()
    assert site.count(site.kinds[kind].model) == 0
    again = page.forms["record"]
    assert (again["company_name"].value, again["zip_code"].value) == (NASTY, "10001")
    assert again["form_token"].value == form["form_token"].value
    assert again.submit().status_int == 303
    assert site.count(site.kinds[kind].model) == 1


def test_an_edit_with_an_old_token_comes_back_too(site: Site, pat: Client, kind: str) -> None:
    record_id = pat.create(kind, company_name="Alpha")
    form = opened(pat, kind, record_id)
    form["company_name"] = "Beta"
    sign_in(pat)

    page = form.submit(expect_errors=True)

    assert page.status_int == 400
    assert (page.forms["record"]["company_name"].value, page.forms["record"]["version"].value) == ("Beta", "1")
    assert site.row(kind, record_id)["company_name"] == "Alpha"
    assert page.forms["record"].submit().status_int == 303


def test_a_foreign_page_cannot_lay_words_into_a_form(pat: Client, kind: str) -> None:
    answer = pat.post(f"/admin/{kind}", {"company_name": "Evil"}, X_CSRF_Token="wrong", Origin="http://evil.example")

    assert answer.status_int == 400
    assert "Evil" not in answer.text


def test_a_program_gets_the_plain_error(pat: Client, kind: str) -> None:
    answer = pat.post(f"/admin/{kind}", {"company_name": "x"}, X_CSRF_Token="wrong", Accept="application/json")

    assert (answer.status_int, answer.content_type) == (400, "application/problem+json")


def test_a_deletion_with_an_old_token_is_the_plain_error(pat: Client, kind: str) -> None:
    record_id = pat.create(kind)

    answer = pat.delete(f"/admin/{kind}/{record_id}", X_CSRF_Token="wrong")

    assert answer.status_int == 400
    assert "record" not in answer.forms
