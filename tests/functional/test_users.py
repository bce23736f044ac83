"""``/admin/users``: administrators manage the accounts."""

import threading
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from sqlalchemy import func, select

from groundtransport import db
from groundtransport.accounts import passwords, users
from groundtransport.accounts.models import AdminUser
from groundtransport.accounts.secondfactor.models import SecondFactor
from groundtransport.security import NAME_MAX, Role
from tests.functional.people import add_pat, is_signed_in, sign_in
from tests.site import PASSWORD, Client, Site

PAT = "/admin/users/pat"


pytestmark = pytest.mark.usefixtures("cheaply")


@pytest.fixture
def pat(site: Site) -> AdminUser:
    """An editor."""
    return add_pat(site)


def row(site: Site, name: str = "pat") -> Any:
    with site.engine.connect() as connection:
        return connection.execute(select(AdminUser.__table__).where(AdminUser.name == name)).one_or_none()


def signed_in(site: Site) -> Client:
    client = site.anonymous()
    assert sign_in(client).status_int == 303
    return client


def shown_password(answer: Any) -> str:
    assert answer.status_int == 200, answer.text
    return answer.html.select_one(".secret code").get_text()


def alert(answer: Any) -> str:
    return " ".join(result.get_text(" ", strip=True) for result in answer.html.find_all(role="alert"))


# Who may

ADDRESSES = [
    ("GET", "/admin/users"),
    ("POST", "/admin/users"),
    ("GET", PAT),
    *[("POST", f"{PAT}/{name}") for name in ("role", "disable", "enable", "password", "second-factor", "sessions")],
    ("GET", "/admin/security"),
    ("GET", "/admin/security/csv"),
]


@pytest.mark.parametrize("role", [None, Role.VIEWER, Role.EDITOR])
def test_only_administrators_get_in(site: Site, pat: AdminUser, role: Role | None) -> None:
    before = row(site)
    client = site.client(role) if role else site.anonymous()
    for method, address in ADDRESSES:
        answer = client.get(address) if method == "GET" else client.post(address, {"role": "viewer", "name": "new"})
        assert (answer.status_int, urlsplit(answer.location).path) == (303, "/login"), address
    assert (row(site), row(site, "new")) == (before, None)


def test_who_may_not_see_people_does_not_learn_who_is_there(site: Site, pat: AdminUser) -> None:
    viewer = site.client(Role.VIEWER)
    there, not_there = viewer.get(PAT), viewer.get("/admin/users/nobody")
    assert there.status_int == not_there.status_int == 303
    assert urlsplit(there.location).path == urlsplit(not_there.location).path == "/login"


@pytest.mark.parametrize(("role", "links"), [(Role.VIEWER, 0), (Role.EDITOR, 0), (Role.ADMINISTRATOR, 2)])
def test_only_administrators_are_shown_the_way(site: Site, role: Role, links: int) -> None:
    page = site.client(role).get("/admin").html
    assert len(page.select('nav a[href="/admin/users"], nav a[href="/admin/security"]')) == links


def test_every_change_needs_a_token(site: Site, client: Client, pat: AdminUser) -> None:
    before = row(site)
    for method, address in ADDRESSES:
        if method == "POST":
            assert client.post(address, {"role": "viewer", "name": "new"}, X_CSRF_Token="").status_int == 400
    assert (row(site), row(site, "new")) == (before, None)


# The list


def test_the_list_shows_everybody(site: Site, client: Client, pat: AdminUser) -> None:
    client.post(f"{PAT}/disable")
    lines = [tr.get_text(" ", strip=True) for tr in client.get("/admin/users").html.select("tbody tr")]
    assert [line.split()[0] for line in lines] == ["pat", "the-administrator", "the-editor", "the-viewer"]
    assert lines[0] == "pat editor Disabled off never"


def test_the_last_sign_in_is_shown(site: Site, client: Client, pat: AdminUser) -> None:
    sign_in(site.anonymous(), password="wrong")
    assert row(site).signed_in_at is None
    before = db.now()
    signed_in(site)
    assert before.replace(tzinfo=None) <= row(site).signed_in_at.replace(tzinfo=None)
    assert "never" not in client.get(PAT).html.select_one(".account-facts").get_text()


# Adding


def test_a_new_person_gets_a_password_that_is_shown_once(site: Site, client: Client) -> None:
    answer = client.post("/admin/users", {"name": "Anna", "role": "editor"})

    password = shown_password(answer)
    anna = row(site, "anna")
    assert passwords.verify(password, anna.password_hash)
    assert (anna.role, anna.must_change_password, anna.disabled_at) == ("editor", True, None)
    assert answer.headers["Cache-Control"] == "no-store"
    for address in ("/admin", "/admin/users", "/admin/users/anna"):
        assert password not in client.get(address).text
    (event,) = site.events()
    assert (event["event"], event["name"], event["about"]) == ("user added", "the-administrator", "anna")


def test_the_password_is_stored_nowhere(site: Site, client: Client, pat: AdminUser) -> None:
    shown = [shown_password(client.post("/admin/users", {"name": "anna", "role": "viewer"}))]
    shown.append(shown_password(client.post(f"{PAT}/password")))
    with site.engine.connect() as connection:
        for table in db.Base.metadata.sorted_tables:
            if table.name in ("airport", "city"):
                continue
            text = str(connection.execute(select(table)).all())
            assert not [password for password in shown if password in text], table.name


NAMES = [
    "",
    " ",
    "a b",
    "x" * (NAME_MAX + 1),
    "<b>pat</b>",
    "a\0b",
    "a/b",
    "..",
    ".",
    "@@role",
    "a\tb",
    "-x",
    "a'b",
    "x" * 9000,
]


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_name_is_refused_at_its_field_and_kept(site: Site, client: Client, name: str) -> None:
    before = site.count(AdminUser)
    answer = client.post("/admin/users", {"name": name, "role": "editor"})

    assert answer.status_int == 422
    assert "user name" in alert(answer)
    field = answer.html.find("input", {"name": "name"})
    assert field["aria-invalid"] == "true"
    assert field["value"] == name.replace("\0", "\ufffd") or field["value"] == name
    assert answer.html.select_one("option[selected]")["value"] == "editor"
    assert site.count(AdminUser) == before
    assert site.events() == []


@pytest.mark.parametrize("name", ["pat", "PAT", " Pat "])
def test_a_taken_name_is_refused(client: Client, pat: AdminUser, name: str) -> None:
    answer = client.post("/admin/users", {"name": name, "role": "viewer"})
    assert answer.status_int == 422
    assert "already" in alert(answer)


@pytest.mark.parametrize("role", ["", "king", "VIEWER"])
def test_there_are_no_other_roles(site: Site, client: Client, pat: AdminUser, role: str) -> None:
    assert client.post("/admin/users", {"name": "anna", "role": role}).status_int == 422
    assert row(site, "anna") is None
    before = row(site)
    assert client.post(f"{PAT}/role", {"role": role}).status_int == 422
    assert row(site) == before


def test_a_program_is_told_in_its_own_words(client: Client, pat: AdminUser) -> None:
    answer = client.post("/admin/users", {"name": "a b", "role": "viewer"}, Accept="application/json")
    assert (answer.status_int, answer.content_type) == (422, "application/problem+json")
    assert list(answer.json["errors"]) == ["name"]


@pytest.mark.parametrize("name", ["ünal", "maria.lópez", "o-neil+x@example.com", "अनिल", "0day", "create", "role"])
def test_a_name_of_any_script_has_a_page(site: Site, client: Client, name: str) -> None:
    shown_password(client.post("/admin/users", {"name": name, "role": "viewer"}))
    links = [a["href"] for a in client.get("/admin/users").html.select("tbody a")]
    (link,) = [link for link in links if link == "/admin/users/" + quote(name, safe="@+")]
    assert client.get(link).html.find("h1").get_text() == name
    assert client.post(f"{link}/role", {"role": "editor"}).status_int == 303
    assert row(site, name).role == "editor"


@pytest.mark.parametrize("name", ["nobody", "PAT", "pat%00", "p%00at", "%3Cb%3E", "x" * 500, "pat/nope", "pat/pat"])
def test_what_is_not_there_is_a_404(client: Client, pat: AdminUser, name: str) -> None:
    assert client.get(f"/admin/users/{name}").status_int == 404


def test_nothing_that_no_form_offers_is_set(site: Site, client: Client, pat: AdminUser) -> None:
    more = {"id": "1", "password_hash": "x", "session_epoch": "99", "must_change_password": "0", "disabled_at": "2020"}
    shown_password(client.post("/admin/users", {"name": "anna", "role": "viewer", **more}))
    anna = row(site, "anna")
    assert (anna.session_epoch, anna.must_change_password, anna.disabled_at) == (0, True, None)
    assert anna.id != 1


# Changing


def test_another_role_counts_from_the_next_request_on(site: Site, client: Client, pat: AdminUser) -> None:
    browser = signed_in(site)
    answer = client.post(f"{PAT}/role", {"role": "viewer"})

    assert (answer.status_int, urlsplit(answer.location).path) == (303, PAT)
    assert "viewer" in client.get(PAT).html.find(id="messages").get_text()
    assert not is_signed_in(browser)
    assert row(site).role == "viewer"
    assert sign_in(browser).status_int == 303
    assert urlsplit(browser.get("/admin/transit/create").location).path == "/login"
    (event,) = site.events("role changed")
    assert (event["about"], event["details"]) == ("pat", {"before": "editor", "after": "viewer"})


def test_a_disabled_person_is_out_at_once_until_enabled(site: Site, client: Client, pat: AdminUser) -> None:
    browser = signed_in(site)
    assert client.post(f"{PAT}/disable").status_int == 303
    assert not is_signed_in(browser)
    assert sign_in(browser).status_int == 422

    assert client.post(f"{PAT}/enable").status_int == 303
    assert not is_signed_in(browser)
    assert sign_in(browser).status_int == 303
    assert [e["about"] for e in site.events("user disabled", "user enabled")] == ["pat", "pat"]


def test_a_reset_password_is_one_time(site: Site, client: Client, pat: AdminUser) -> None:
    browser = signed_in(site)
    password = shown_password(client.post(f"{PAT}/password"))

    assert not is_signed_in(browser)
    assert sign_in(browser).status_int == 422
    assert sign_in(browser, password=password).status_int == 303
    assert urlsplit(browser.get("/admin").location).path == "/admin/profile"
    (event,) = site.events("password reset")
    assert (event["name"], event["about"]) == ("the-administrator", "pat")


def with_factor(site: Site) -> None:
    """Let pat have a second factor."""
    with db.transaction(site.engine) as dbsession:
        dbsession.add(SecondFactor(user_id=users.find(dbsession, "pat").id, sealed="sealed", since=db.now()))


def test_a_lost_second_factor_is_reset(site: Site, client: Client, pat: AdminUser) -> None:
    browser = signed_in(site)
    with_factor(site)
    assert "on" in client.get("/admin/users").html.select_one("tbody tr").get_text(" ", strip=True).split()
    (form,) = client.get(PAT).html.select(f'form[action="{PAT}/second-factor"]')
    version = form.find("input", {"name": "version"})["value"]

    assert client.post(f"{PAT}/second-factor", {"version": version}).status_int == 303

    assert site.count(SecondFactor) == 0
    assert not is_signed_in(browser)
    assert sign_in(browser).status_int == 303
    assert is_signed_in(browser)
    assert client.get(PAT).html.select(f'form[action="{PAT}/second-factor"]') == []
    (event,) = site.events("second factor changed")
    assert (event["name"], event["about"]) == ("the-administrator", "pat")
    assert client.post(f"{PAT}/second-factor", {"version": version}).status_int == 409


@pytest.mark.parametrize("change", ["role", "disable", "password", "second-factor"])
def test_ones_own_account_is_not_changed_by_mistake(site: Site, client: Client, change: str) -> None:
    site.client()  # whoever else is an administrator
    with db.transaction(site.engine) as dbsession:
        users.add(dbsession, "second", Role.ADMINISTRATOR, PASSWORD, one_time=False)
    before = row(site, "the-administrator")
    address = f"/admin/users/the-administrator/{change}"

    answer = client.post(address, {"role": "viewer"})

    assert answer.status_int == 422
    assert "your own account" in alert(answer)
    assert row(site, "the-administrator") == before
    assert is_signed_in(client)


def test_an_account_is_never_deleted(site: Site, client: Client, pat: AdminUser) -> None:
    assert client.delete(PAT).status_int == 405
    assert client.post(PAT, {"_method": "DELETE"}).status_int == 405
    assert row(site) is not None


# Two administrators


def versioned(client: Client) -> str:
    return client.get(PAT).html.find("input", {"name": "version"})["value"]


CHANGES = {"role": {"role": "viewer"}, "disable": {}, "password": {}}


@pytest.mark.parametrize("first", CHANGES)
@pytest.mark.parametrize("second", CHANGES)
def test_a_change_is_not_made_over_one_that_was_not_seen(
    site: Site, client: Client, pat: AdminUser, first: str, second: str
) -> None:
    version = versioned(client)
    assert client.post(f"{PAT}/{first}", {**CHANGES[first], "version": version}).status_int < 400
    before = row(site)

    answer = client.post(f"{PAT}/{second}", {**CHANGES[second], "version": version})

    assert answer.status_int == 409
    assert "in the meantime" in alert(answer)
    assert row(site) == before
    if second == "role":
        assert answer.html.select_one("#role option[selected]")["value"] == "viewer"
    again = answer.html.find("input", {"name": "version"})["value"]
    assert client.post(f"{PAT}/{second}", {**CHANGES[second], "version": again}).status_int < 400


def test_of_two_administrators_who_demote_each_other_one_stays(site: Site, pat: AdminUser) -> None:
    clients = {}
    for name in ("anna", "bert"):
        with db.transaction(site.engine) as dbsession:
            users.add(dbsession, name, Role.ADMINISTRATOR, PASSWORD, one_time=False)
            users.find(dbsession, "the-administrator").role = Role.VIEWER
        clients[name] = site.anonymous()
        sign_in(clients[name], name)
    tokens = {name: client.csrf for name, client in clients.items()}
    barrier, answers = threading.Barrier(2), []

    def demote(mine: str, other: str) -> None:
        barrier.wait()
        address = f"/admin/users/{other}/role"
        answers.append(clients[mine].post(address, {"role": "viewer"}, X_CSRF_Token=tokens[mine]).status_int)

    try:
        threads = [threading.Thread(target=demote, args=pair) for pair in (("anna", "bert"), ("bert", "anna"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        left = site.scalar(select(func.count()).select_from(AdminUser).where(AdminUser.role == Role.ADMINISTRATOR))
    finally:
        with db.transaction(site.engine) as dbsession:
            users.find(dbsession, "the-administrator").role = Role.ADMINISTRATOR

    assert left == 1, answers
    assert answers.count(303) >= 1


def test_of_two_who_add_the_same_name_one_is_told(site: Site, client: Client) -> None:
    clients = [site.client() for _ in range(4)]
    tokens = [client.csrf for client in clients]
    barrier, answers = threading.Barrier(len(clients)), []

    def add(client: Client, token: str) -> None:
        barrier.wait()
        answers.append(client.post("/admin/users", {"name": "anna", "role": "viewer"}, X_CSRF_Token=token).status_int)

    threads = [threading.Thread(target=add, args=pair) for pair in zip(clients, tokens, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200, 422, 422, 422]


def test_the_last_administrator_stays(site: Site, pat: AdminUser) -> None:
    """Also past the rule about one's own account: by another whose session was read just before."""
    with db.transaction(site.engine) as dbsession:
        user = users.find_locked(dbsession, "the-administrator")
        for change in (lambda: users.set_role(dbsession, user, Role.VIEWER), lambda: users.disable(dbsession, user)):
            with pytest.raises(users.UserRefused, match="last administrator"):
                change()
