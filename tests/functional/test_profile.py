"""The user's profile page: name, password and preferences, each with a message of its own."""

from typing import Any

import pytest
from sqlalchemy import select

from groundtransport import db
from groundtransport.accounts import users
from groundtransport.accounts.models import AdminUser
from groundtransport.security import Role
from groundtransport.security_log.models import SecurityEvent
from tests.functional.people import add_pat, is_signed_in, sign_in
from tests.site import JFK, PASSWORD, Client, Site

OTHER_PASSWORD = "a short ride to the harbor"


pytestmark = pytest.mark.usefixtures("cheaply")


@pytest.fixture
def pat(site: Site) -> Client:
    """Pat, an editor, signed in."""
    add_pat(site)
    client = site.anonymous()
    sign_in(client)
    return client


def form_of(client: Client, field: str) -> Any:
    return next(form for form in client.get("/admin/profile").forms.values() if field in form.fields)


def message(client: Client, answer: Any) -> str:
    assert answer.status_int == 303, answer.text
    return client.get(answer.location).html.find(id="messages").get_text().strip()


def test_the_page_says_who_one_is_and_leads_everywhere(pat: Client) -> None:
    page = pat.get("/admin/profile").html
    assert page.find("title").get_text().startswith("Your profile")
    heading = page.find(class_="heading").get_text()
    assert "pat" in heading
    assert "editor" in heading
    links = {link["href"] for link in page.find("main").find_all("a")}
    assert {"/admin/profile/second-factor", "/admin/profile/sessions"} <= links
    for link in links:
        assert pat.get(link).status_int == 200


def test_a_name_is_shown_and_the_log_keeps_to_the_user_name(site: Site, pat: Client) -> None:
    form = form_of(pat, "full_name")
    form["full_name"] = "  Pat   O'Neil <b>Núñez</b> "
    assert message(pat, form.submit()) == "Your name was saved."
    page = pat.get("/admin/profile")
    assert page.html.find(class_="sign-person").find("a").get_text() == "Pat O'Neil <b>Núñez</b>"
    assert "<b>N" not in page.text
    pat.create("transit", airport_name=JFK)
    assert site.entries()[-1]["actor"] == "pat"

    form = form_of(pat, "full_name")
    assert form["full_name"].value == "Pat O'Neil <b>Núñez</b>"
    form["full_name"] = ""
    form.submit()
    assert pat.get("/admin").html.find(class_="sign-person").find("a").get_text() == "pat"


@pytest.mark.parametrize("name", ["x" * 101, "a\u202eb", "a\x00b", "a\x07b"])
def test_a_name_that_cannot_be_is_refused_and_kept_in_the_form(pat: Client, name: str) -> None:
    answer = pat.post("/admin/profile/name", {"full_name": name})
    assert answer.status_int in (400, 422)
    if answer.status_int == 422:
        assert "at most 100" in answer.html.find(id="full_name-error").get_text()
        assert answer.html.find(id="full_name")["value"] == name
    assert pat.get("/admin").html.find(class_="sign-person").find("a").get_text() == "pat"


def test_a_password_is_changed_on_the_page(site: Site, pat: Client) -> None:
    form = form_of(pat, "password")
    assert form["current"].attrs["autocomplete"] == "current-password"
    assert form["password"].attrs["autocomplete"] == "new-password"
    assert "maxlength" not in form["password"].attrs, "a pasted password must not be cut"
    form["current"], form["password"], form["repeated"] = PASSWORD, OTHER_PASSWORD, OTHER_PASSWORD
    answer = form.submit()
    assert answer.location == "http://localhost/admin/profile"
    assert message(pat, answer).startswith("Your password was changed.")
    with site.engine.connect() as connection:
        assert connection.scalar(select(SecurityEvent.event).where(SecurityEvent.event == "password changed"))


@pytest.mark.parametrize(
    ("current", "password", "repeated", "field", "text"),
    [
        ("wrong", OTHER_PASSWORD, OTHER_PASSWORD, "current", "not your current"),
        (PASSWORD, OTHER_PASSWORD, "another one altogether", "repeated", "differ"),
        (PASSWORD, PASSWORD, PASSWORD, "password", "other than the current"),
        (PASSWORD, "short", "short", "password", "at least 15"),
        (PASSWORD, "passwordpassword1", "passwordpassword1", "password", "easy to guess"),
        (PASSWORD, "pat pat transport", "pat pat transport", "password", "easy to guess"),
    ],
)
def test_a_refusal_stands_at_its_field_and_repeats_no_password(
    pat: Client, current: str, password: str, repeated: str, field: str, text: str
) -> None:
    answer = pat.post("/admin/profile", {"current": current, "password": password, "repeated": repeated})
    assert answer.status_int == 422
    assert text in answer.html.find(id=f"{field}-error").get_text()
    assert answer.html.find(id="errors").find("a")["href"] == f"#{field}"
    assert not any(field.get("value") for field in answer.html.find_all("input", type="password"))
    assert is_signed_in(pat)


def test_the_current_password_is_not_guessed_here(site: Site, pat: Client) -> None:
    new = {"password": OTHER_PASSWORD, "repeated": OTHER_PASSWORD}
    answers = [pat.post("/admin/profile", {"current": f"wrong {i}", **new}).status_int for i in range(11)]
    assert answers == [422] * 10 + [429]
    response = pat.post("/admin/profile", {"current": PASSWORD, **new})
    assert (response.status_int, "Retry-After" in response.headers) == (429, True)
    assert is_signed_in(pat)
    assert sign_in(site.anonymous("192.0.2.9")).status_int == 303, "the person themselves, elsewhere, is not held back"


def test_preferences_are_chosen_on_the_page(pat: Client) -> None:
    form = form_of(pat, "language")
    assert [form[name].value for name in ("language", "theme", "page_size", "shortcuts")] == ["", "", "", ""]
    form["theme"], form["page_size"], form["shortcuts"] = "dark", "50", "off"
    assert message(pat, form.submit()) == "Your preferences were saved."
    form = form_of(pat, "language")
    assert [form[name].value for name in ("language", "theme", "page_size", "shortcuts")] == ["", "dark", "50", "off"]
    assert pat.get("/admin/profile").html.html["data-theme"] == "dark"
    form["language"] = "es"
    form.submit()
    assert pat.get("/admin/profile").html.html["lang"] == "es"


def test_a_script_that_chooses_leaves_no_message(pat: Client) -> None:
    assert (
        pat.post("/admin/profile/preferences", {"theme": "dark"}, X_Requested_With="XMLHttpRequest").status_int == 204
    )
    assert pat.get("/admin").html.find(id="messages").get_text().strip() == ""


def test_a_one_time_password_shows_its_replacement_alone(site: Site) -> None:
    with db.transaction(site.engine) as dbsession:
        users.add(dbsession, "pat", Role.VIEWER, PASSWORD, one_time=True)
    client = site.anonymous()
    sign_in(client)
    page = client.get("/admin/profile")
    assert {name for form in page.forms.values() for name in form.fields} & {"full_name", "language"} == set()
    for address in ("/admin/profile/name", "/admin/profile/preferences", "/admin/profile/second-factor/set-up"):
        assert client.post(address, {"full_name": "x"}).location == "http://localhost/admin/profile"
    new = {"current": PASSWORD, "password": OTHER_PASSWORD, "repeated": OTHER_PASSWORD}
    assert client.post("/admin/profile", new).location == "http://localhost/admin"


def test_a_weaker_hash_is_replaced_at_the_sign_in(site: Site) -> None:
    from argon2 import PasswordHasher

    from groundtransport.accounts import passwords

    add_pat(site)
    hash_of_pat = select(AdminUser.password_hash).where(AdminUser.name == "pat")
    weak = site.scalar(hash_of_pat)
    sign_in(site.anonymous())
    assert site.scalar(hash_of_pat) == weak
    passwords._hasher = PasswordHasher(time_cost=2, memory_cost=16, parallelism=1)
    sign_in(site.anonymous())
    assert site.scalar(hash_of_pat) != weak
    assert "m=16,t=2" in site.scalar(hash_of_pat)
    assert sign_in(site.anonymous()).status_int == 303
