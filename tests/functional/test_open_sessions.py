"""The sessions that are open: a person sees and ends their own, an administrator anyone's."""

from datetime import timedelta

import pytest
from sqlalchemy import insert, select, update

from groundtransport import db
from groundtransport.accounts.models import AdminSession, AdminUser
from groundtransport.security import Role
from groundtransport.web.client import browser_of, network_of
from tests.functional.people import COOKIE, is_signed_in, sign_in
from tests.site import Client, Site, query_of

OWN = "/admin/profile/sessions"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


pytestmark = pytest.mark.usefixtures("cheaply")


def browsers(site: Site, number: int) -> list[Client]:
    """Return browsers in which pat is signed in, each from an address of its own."""
    clients = [site.anonymous(f"192.0.2.{i}") for i in range(number)]
    for client in clients:
        assert sign_in(client, User_Agent=FIREFOX).status_int == 303
    return clients


def listed(client: Client, address: str = OWN) -> dict[str, str]:
    """Return the sessions of a page: text by public id."""
    page = client.get(address)
    assert page.status_int == 200
    rows = page.html.select(".sessions li")
    return {row.find("input", {"name": "session"})["value"]: row.get_text(" ", strip=True) for row in rows}


def own_id(client: Client) -> str:
    (result,) = [public_id for public_id, text in listed(client).items() if "this one" in text]
    return result


def test_a_person_sees_their_own_sessions_and_which_is_this(site: Site, pat: AdminUser) -> None:
    current, other = browsers(site, 2)
    site.client()

    result = listed(current)

    assert len(result) == 2
    assert "Firefox on Linux" in result[own_id(current)]
    assert "192.0.2.0" in result[own_id(current)]
    assert "192.0.2.1" in result[own_id(other)]


def test_the_page_holds_nothing_that_opens_a_session(site: Site, pat: AdminUser) -> None:
    current, other = browsers(site, 2)
    text = current.get(OWN).text
    assert other.app.cookies[COOKIE] not in text
    for token_hash in (site.scalar(select(AdminSession.token_hash).offset(i).limit(1)) for i in range(2)):
        assert token_hash not in text


def test_one_is_ended_and_the_others_live(site: Site, pat: AdminUser) -> None:
    current, other, third = browsers(site, 3)

    assert current.post(OWN, {"session": own_id(other)}).status_int == 303

    assert [is_signed_in(client) for client in (current, other, third)] == [True, False, True]
    (event,) = site.events("session ended")
    assert (event["name"], event["about"]) == ("pat", "")


def test_all_others_are_ended_and_this_one_lives(site: Site, pat: AdminUser) -> None:
    current, other, third = browsers(site, 3)
    began = site.scalar(select(AdminSession.created_at).where(AdminSession.address == "192.0.2.0"))

    assert current.post(OWN).status_int == 303

    assert [is_signed_in(client) for client in (current, other, third)] == [True, False, False]
    assert len(listed(current)) == 1
    assert site.scalar(select(AdminSession.created_at)) == began, "the absolute limit goes on"


def test_ending_all_others_ends_edit_links(site: Site, pat: AdminUser, kind: str) -> None:
    record_id = site.client().create(kind)
    (current,) = browsers(site, 1)
    key = query_of(current.edit_link(kind, record_id))["key"]
    current.post(OWN)
    assert query_of(current.edit_link(kind, record_id))["key"] != key


def test_ending_this_one_is_signing_out(site: Site, pat: AdminUser) -> None:
    current, other = browsers(site, 2)
    answer = current.post(OWN, {"session": own_id(current)})
    assert answer.location == "http://localhost/login"
    assert [is_signed_in(client) for client in (current, other)] == [False, True]


@pytest.mark.parametrize("given", ["nope", "0" * 16, "\0", "x" * 5000, "<script>", "é"])
def test_what_is_no_session_of_theirs_ends_nothing(site: Site, pat: AdminUser, given: str) -> None:
    current, other = browsers(site, 2)
    assert current.post(OWN, {"session": given}).status_int == 303
    assert [is_signed_in(client) for client in (current, other)] == [True, True]
    assert site.events("session ended") == []


def test_nobody_ends_the_session_of_somebody_else(site: Site, pat: AdminUser) -> None:
    (current,) = browsers(site, 1)
    for role in Role:
        site.client(role).post(OWN, {"session": own_id(current)})
        site.client(role).post(OWN)
    assert is_signed_in(current)


def test_it_needs_a_token_and_a_post(site: Site, pat: AdminUser) -> None:
    current, other = browsers(site, 2)
    assert current.post(OWN, {"session": own_id(other)}, X_CSRF_Token="").status_int == 400
    current.get(f"{OWN}?session={own_id(other)}")
    assert is_signed_in(other)


def test_sessions_that_are_over_are_not_listed(site: Site, pat: AdminUser) -> None:
    current, _, _ = browsers(site, 3)
    with db.transaction(site.engine) as dbsession:
        for address, column in (("192.0.2.1", "seen_at"), ("192.0.2.2", "created_at")):
            then = db.now() - timedelta(hours=13)
            dbsession.execute(update(AdminSession).where(AdminSession.address == address).values({column: then}))
    assert len(listed(current)) == 1


def test_many_sessions_come_in_pages(site: Site, pat: AdminUser, client: Client) -> None:
    """As of a program that signs in for each of its requests; one's own stands first."""
    (current,) = browsers(site, 1)
    with db.transaction(site.engine) as dbsession:
        since, epoch = db.now() + timedelta(seconds=1), pat.session_epoch
        dbsession.execute(
            insert(AdminSession),
            [
                {"token_hash": f"{n:064}", "user_id": pat.id, "epoch": epoch, "seen_at": since + timedelta(seconds=n)}
                for n in range(2_000)
            ],
        )
    for browser, address, number in ((current, OWN, 81), (client, "/admin/users/pat", 81)):
        page = browser.get(address)
        assert len(page.html.select(".sessions li")) == 25
        assert len(page.body) < 100_000
        result = [listed(browser, f"{address}?page_no={n}") for n in (1, 2, number, number + 1, "9" * 30)]
        assert [len(ids) for ids in result] == [25, 25, 1, 1, 1]
        assert not result[0].keys() & result[1].keys()
        assert result[2] == result[3] == result[4]
        assert listed(browser, f"{address}?page_no=two") == listed(browser, f"{address}?page_no=0") == result[0]
        assert browser.get(f"{address}?page_no=2").html.find("nav", class_="pager")
    assert "this one" in next(iter(listed(current).values()))

    current.post(OWN)
    assert len(listed(current)) == 1


# An administrator


def test_an_administrator_sees_and_ends_anyones(site: Site, pat: AdminUser, client: Client) -> None:
    current, other, third = browsers(site, 3)
    assert set(listed(client, "/admin/users/pat")) == set(listed(current))

    assert client.post("/admin/users/pat/sessions", {"session": own_id(other)}).status_int == 303
    assert [is_signed_in(browser) for browser in (current, other, third)] == [True, False, True]
    assert client.post("/admin/users/pat/sessions").status_int == 303
    assert [is_signed_in(browser) for browser in (current, other, third)] == [False, False, False]
    assert listed(client, "/admin/users/pat") == {}
    assert [(e["name"], e["about"]) for e in site.events("session ended")] == [("the-administrator", "pat")] * 2


def test_only_sessions_of_that_person_are_ended(site: Site, pat: AdminUser, client: Client) -> None:
    (current,) = browsers(site, 1)
    client.post("/admin/users/the-editor/sessions", {"session": own_id(current)})
    client.post("/admin/users/the-editor/sessions")
    assert is_signed_in(current)


@pytest.mark.parametrize("agent", ["", "<script>alert(1)</script>", "x" * 5000, "na\x7fme", "\xff\xfe"])
def test_a_browser_with_a_hostile_name_is_shown_as_text(site: Site, pat: AdminUser, client: Client, agent: str) -> None:
    browser = site.anonymous()
    assert sign_in(browser, User_Agent=agent).status_int == 303
    page = client.get("/admin/users/pat")
    assert page.status_int == 200
    assert "<script>alert" not in page.text
    assert len(site.scalar(select(AdminSession.user_agent).join(AdminUser).where(AdminUser.name == "pat"))) <= 200


# Names and addresses


@pytest.mark.parametrize(
    ("agent", "names"),
    [
        (FIREFOX, ("Firefox", "Linux")),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36",
            ("Chrome", "Windows"),
        ),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140", ("Edge", "Windows")),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1", ("Safari", "iOS")),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Safari/537.36", ("Chrome", "Android")),
        ("curl/8", ("", "")),
    ],
)
def test_browsers_are_named(agent: str, names: tuple[str, str]) -> None:
    assert browser_of(agent) == names


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2::1]", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("unix:/run/x", "unix:/run/x"),
    ],
)
def test_what_counts_as_one_origin(address: str, network: str) -> None:
    assert network_of(address) == network
