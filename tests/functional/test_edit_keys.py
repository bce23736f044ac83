"""The key of an edit link: for one person, one kind and one record, and no longer than the person's sessions."""

import re
from collections.abc import Iterator

import pytest
from sqlalchemy import insert

from groundtransport import db
from groundtransport.accounts import users
from groundtransport.security import Role
from tests.functional.people import add_pat, cheap_hashes, sign_in
from tests.site import JFK, PASSWORD, Client, Site, query_of

STATE = "q=alpha&page_no=3&page_size=10&sort=-company_name"


def key_of(client: Client, kind: str, record_id: int) -> str:
    return query_of(client.edit_link(kind, record_id))["key"][0]


def assert_refused(client: Client, kind: str, record_id: int, query: str) -> None:
    """Assert a redirect to the list in the same state, with a message there and without the form."""
    answer = client.get(f"/admin/{kind}/{record_id}/edit?{query}{'&' if query else ''}{STATE}")

    assert answer.status_int == 303, query
    assert answer.location.partition("?")[0] == f"http://localhost/admin/{kind}"
    assert query_of(answer.location) == query_of(f"/?{STATE}")
    assert client.get(answer.location).html.find(id="messages").get_text(strip=True)


def test_a_key_is_an_md5_hash_in_small_letters(client: Client, kind: str) -> None:
    assert re.fullmatch(r"[0-9a-f]{32}", key_of(client, kind, client.create(kind)))


def test_a_key_opens_its_record_again_and_again_until_it_is_deleted(client: Client, kind: str) -> None:
    record_id = client.create(kind)
    link = client.edit_link(kind, record_id)

    assert [client.get(link).status_int for _ in range(2)] == [200, 200]
    client.put(f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_name": "Beta"})
    assert client.get(link).status_int == 200
    client.delete(f"/admin/{kind}/{record_id}")
    assert client.get(link).status_int == 404


def test_a_wrong_key_leads_back_to_the_list_as_it_was(client: Client, kind: str) -> None:
    record_id, other = client.create(kind), client.create(kind)
    key = key_of(client, kind, record_id)
    wrong = [
        "",
        "key=",
        "key=" + "0" * 32,
        f"key={key.upper()}" if key.upper() != key else "key=A",
        f"key={key[:-1]}",
        f"key={key}0",
        f"key=%20{key}",
        f"key={key}%0A",
        f"key={key}&key={key}",
        f"key={'0' * 32}&key={key}",
        f"key={key}&key=",
        f"key={key_of(client, kind, other)}",
        "key=%C3%A9",
        "key=" + "%EF%BC%90" * 32,
        "key=%00",
        f"KEY={key}",
    ]

    for query in wrong:
        assert_refused(client, kind, record_id, query)
    assert client.get(f"/admin/{kind}/{record_id}/edit?key={key}").status_int == 200


def test_a_key_of_another_person_is_wrong(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind)
    editor = site.client(Role.EDITOR)

    assert_refused(editor, kind, record_id, f"key={key_of(client, kind, record_id)}")
    assert_refused(client, kind, record_id, f"key={key_of(editor, kind, record_id)}")


def test_a_key_of_another_kind_is_wrong(site: Site, client: Client) -> None:
    record_ids = {kind: client.create(kind) for kind in ("scheduledbus", "transit")}
    record_id = max(record_ids.values())
    for kind, number in record_ids.items():
        if number != record_id:  # let both kinds have a record of the same number
            with site.engine.begin() as connection:
                connection.execute(insert(site.kinds[kind].model), site.row(kind, number) | {"id": record_id})

    assert_refused(client, "transit", record_id, f"key={key_of(client, 'scheduledbus', record_id)}")
    assert_refused(client, "scheduledbus", record_id, f"key={key_of(client, 'transit', record_id)}")


def test_a_key_serves_all_sessions_of_its_person(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind)
    link = client.edit_link(kind, record_id)

    assert site.client().get(link).status_int == 200


@pytest.mark.parametrize("ending", ["role", "password"])
def test_a_key_dies_with_the_sessions_of_its_person(site: Site, client: Client, kind: str, ending: str) -> None:
    record_id, pat = client.create(kind), site.anonymous()
    with cheap_hashes():
        add_pat(site)
        sign_in(pat)
    old = key_of(pat, kind, record_id)

    with db.transaction(site.engine) as dbsession:
        user = users.find(dbsession, "pat")
        if ending == "role":
            users.set_role(dbsession, user, Role.ADMINISTRATOR)
        else:
            users.set_password(user, PASSWORD, one_time=False)
    sign_in(pat)

    assert_refused(pat, kind, record_id, f"key={old}")
    assert key_of(pat, kind, record_id) != old


def test_the_key_is_never_the_only_guard(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind)
    link = client.edit_link(kind, record_id)

    for other in (site.anonymous(), site.client(Role.VIEWER)):
        answer = other.get(link)
        assert answer.status_int == 303
        assert answer.location.startswith("http://localhost/login?")


def test_writes_never_look_at_the_key(client: Client, kind: str) -> None:
    address = f"/admin/{kind}/{client.create(kind)}"

    assert client.put(f"{address}?key=wrong", {"airport_name": JFK, "company_name": "Beta"}).status_int == 303
    assert client.delete(address).status_int == 303


def test_a_page_number_beside_the_key_may_be_anything(client: Client, kind: str) -> None:
    record_id = client.create(kind)
    key = key_of(client, kind, record_id)

    for number in ("2", "last", "0", "abc", "9" * 40, "%00"):
        assert client.get(f"/admin/{kind}/{record_id}/edit?key={key}&page_no={number}").status_int == 200


# Another secret


@pytest.fixture
def restarted(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """The application started anew with another secret, the old one still known."""
    monkeypatch.setenv("GROUNDTRANSPORT_SECRET_OLD", "s" * 48)
    monkeypatch.setenv("GROUNDTRANSPORT_SECRET", "t" * 48)
    with site.again() as later:
        yield later


def moved(client: Client, site: Site) -> Client:
    """Return the same browser at another start of the application."""
    browser = site.anonymous()
    browser.app.set_cookie("groundtransport", client.app.cookies["groundtransport"].strip('"'))
    return browser


def test_while_the_secret_is_changed_cookies_keys_and_forms_of_both_are_taken(
    site: Site, client: Client, restarted: Site, kind: str
) -> None:
    record_id = client.create(kind)
    old_link, old_token = client.edit_link(kind, record_id), client.csrf

    browser = moved(client, restarted)

    assert browser.get(old_link).status_int == 200
    new_link = browser.edit_link(kind, record_id)
    assert query_of(new_link)["key"] != query_of(old_link)["key"]
    assert browser.get(new_link).status_int == 200
    fields = {"airport_name": JFK, "company_name": "Beta"}
    assert browser.put(f"/admin/{kind}/{record_id}", fields, X_CSRF_Token=old_token).status_int == 303


def test_once_the_old_secret_is_gone_so_are_its_keys(
    site: Site, client: Client, restarted: Site, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record_id = client.create(kind)
    key = key_of(client, kind, record_id)
    monkeypatch.delenv("GROUNDTRANSPORT_SECRET_OLD")
    restarted.engine.dispose()
    restarted.start()

    assert_refused(restarted.client(), kind, record_id, f"key={key}")
