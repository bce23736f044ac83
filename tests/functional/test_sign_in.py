"""Signing in: who gets in, where it leads, and what a one-time password opens."""

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from argon2 import PasswordHasher

from groundtransport import db
from groundtransport.accounts import users
from groundtransport.accounts.models import AdminUser
from groundtransport.resources import Node
from groundtransport.security import Role
from groundtransport.web.urls import next_url
from tests.functional.people import COOKIE, add_pat, is_signed_in, sign_in, with_cookie
from tests.site import JFK, PASSWORD, Site

OTHER_PASSWORD = "a short ride to the harbor"


pytestmark = pytest.mark.usefixtures("cheaply")


@pytest.fixture
def pat(site: Site) -> AdminUser:
    """An editor whose account a test may change."""
    return add_pat(site)


def test_the_right_password_opens_the_door_to_the_page_that_was_asked_for(site: Site, pat: AdminUser) -> None:
    client = site.anonymous()
    refused = client.get("/admin/transit?q=alpha&page_no=2")

    form = next(form for form in client.get(refused.location).forms.values() if "password" in form.fields)
    form["username"], form["password"] = "Pat", PASSWORD
    answer = form.submit()

    assert (answer.status_int, answer.location) == (303, "http://localhost/admin/transit?q=alpha&page_no=2")
    assert client.get(answer.location).status_int == 200


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_every_refusal_reads_the_same_and_hashes_once(
    site: Site, pat: AdminUser, monkeypatch: pytest.MonkeyPatch, accept: str
) -> None:
    with db.transaction(site.engine) as dbsession:
        users.disable(dbsession, users.add(dbsession, "gone", Role.EDITOR, PASSWORD, one_time=False))
    calls: list[str] = []
    verify = PasswordHasher.verify

    def counting(self: PasswordHasher, *args: Any) -> Any:
        calls.append("verify")
        return verify(self, *args)

    sign_in(site.anonymous(), "warm", "up")
    monkeypatch.setattr(PasswordHasher, "verify", counting)
    texts, hashed = set(), []
    for name, password in (("pat", "wrong"), ("nobody", PASSWORD), ("gone", PASSWORD), ("", ""), ("pat", "x" * 5000)):
        client = site.anonymous()
        calls.clear()
        answer = sign_in(client, name, password, Accept=accept)
        hashed.append(len(calls))
        assert answer.status_int == 422
        assert not is_signed_in(client)
        text = answer.html.find(role="alert").get_text() if accept == "text/html" else answer.json["detail"]
        texts.add(text)

    assert len(texts) == 1
    assert hashed == [1] * 5


def test_a_refused_sign_in_keeps_the_name_and_not_the_password(site: Site, pat: AdminUser) -> None:
    answer = sign_in(site.anonymous(), "pat", "wrong password", "/admin/transit")

    form = next(form for form in answer.forms.values() if "password" in form.fields)
    assert (form["username"].value, form["password"].value, form["next"].value) == ("pat", "", "/admin/transit")
    assert "wrong password" not in answer.text


def test_a_sign_in_begins_a_session_under_a_new_id(site: Site, pat: AdminUser) -> None:
    client = site.anonymous()
    client.get("/login")
    planted = client.app.cookies[COOKIE]

    sign_in(client)

    assert client.app.cookies[COOKIE] != planted
    first = client.app.cookies[COOKIE]
    sign_in(client)
    assert client.app.cookies[COOKIE] != first
    assert not is_signed_in(with_cookie(site, planted))
    assert not is_signed_in(with_cookie(site, first))
    assert is_signed_in(with_cookie(site, client.app.cookies[COOKIE]))


TARGETS = [
    "//evil.example",
    "///evil.example",
    "https://evil.example/",
    "http:evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/%09/evil.example",
    "javascript:alert(1)",
    "@evil.example",
    ".evil.example",
    ":80@evil.example/",
    " //evil.example",
    "/\r\nSet-Cookie: a=b",
    "/admin\0",
    "//",
    "/..//evil.example",
    "/é",
    "/admin/日本",
    "/admin?q=\u202e",
]


def test_a_sign_in_never_leads_elsewhere(site: Site, pat: AdminUser) -> None:
    for target in TARGETS:
        offered = site.anonymous().get("/login", {"next": target})
        assert offered.status_int == 200
        client = site.anonymous()
        answer = sign_in(client, target=target)
        parts = urlsplit(answer.location)
        assert (answer.status_int, parts.scheme, parts.netloc) == (303, "http", "localhost"), target
        assert not parts.path.startswith("//"), target
        assert re.fullmatch(r"[!-\[\]-~]+", answer.location), target  # a server could send no other
        assert "a=b" not in str(answer.headers.getall("Set-Cookie"))
        assert is_signed_in(client)


# One-time passwords


def test_a_one_time_password_opens_nothing_but_its_own_replacement(site: Site, kind: str) -> None:
    with db.transaction(site.engine) as dbsession:
        users.add(dbsession, "pat", Role.ADMINISTRATOR, PASSWORD, one_time=True)
    client = site.anonymous()
    sign_in(client)

    for answer in (client.get("/admin"), client.get(f"/admin/{kind}?ajax=1"), client.get("/admin/nope")):
        assert (answer.status_int, answer.location) == (303, "http://localhost/admin/profile")
    assert client.post(f"/admin/{kind}", {"airport_name": JFK}).status_int == 303
    assert site.count(site.kinds[kind].model) == 0

    same = client.post("/admin/profile", {"current": PASSWORD, "password": PASSWORD, "repeated": PASSWORD})
    assert same.status_int == 422
    new = {"current": PASSWORD, "password": OTHER_PASSWORD, "repeated": OTHER_PASSWORD}
    assert client.post("/admin/profile", new).status_int == 303
    assert is_signed_in(client)
    assert sign_in(site.anonymous(), password=PASSWORD).status_int == 422
    assert sign_in(site.anonymous(), password=OTHER_PASSWORD).status_int == 303


@pytest.mark.parametrize(
    ("current", "password", "repeated"),
    [
        ("wrong", OTHER_PASSWORD, OTHER_PASSWORD),
        (PASSWORD, OTHER_PASSWORD, "another one altogether"),
        (PASSWORD, "short", "short"),
        (PASSWORD, "", ""),
        (PASSWORD, "a" * 20, "a" * 20),
    ],
)
def test_a_bad_new_password_changes_nothing(
    site: Site, pat: AdminUser, current: str, password: str, repeated: str
) -> None:
    client = site.anonymous()
    sign_in(client)

    answer = client.post("/admin/profile", {"current": current, "password": password, "repeated": repeated})

    assert answer.status_int == 422
    assert is_signed_in(client)
    assert sign_in(site.anonymous()).status_int == 303


@pytest.mark.usefixtures("cheaply", "pat")
def test_a_sign_in_leads_to_no_address_that_takes_writes_alone(site: Site) -> None:
    record_id = site.client().create("transit")
    client = site.anonymous()
    writes = [
        "/logout",
        "/logout/?x=1",
        "/%6cogout",
        "/admin/../logout",
        "/admin/transit/several",
        "/admin/transit/undo",
    ]
    writes += [f"/admin/transit/{record_id}/restore", "/admin/profile/preferences", "/admin/users/pat/sessions"]
    pages = [
        "/admin/profile/second-factor",
        "/admin/profile/sessions",
        f"/admin/transit/{record_id}/history",
        "/admin/users",
    ]
    pages += ["/admin/transit?q=logout", "/admin/nothing", "/logout/nothing", "/"]

    for target in writes:
        assert client.get(target).status_int in (303, 405), "as the list says"
        assert sign_in(client, target=target).location == "http://localhost/admin"
        client = site.anonymous()
    for target in pages:
        assert sign_in(client, target=target).location == f"http://localhost{target}"
        assert client.get(target).status_int != 405
        client = site.anonymous()


def test_every_address_that_takes_writes_alone_is_known(site: Site) -> None:
    """What the tree says of a path without a look at the rows is what the views of its contexts answer."""
    samples = {
        "Root": "",
        "Admin": "/admin",
        "Collection": "/admin/transit",
        "Record": "/admin/transit/7",
        "AnyRecord": "/admin/transit/7",
        "DeletedRecord": "",
        "ScheduledBuses": "/admin/scheduledbus",
        "Activity": "/admin/activity",
        "Airports": "/admin/airports",
        "Airport": "/admin/airports/JFK",
        "Profile": "/admin/profile",
        "OwnSecondFactor": "/admin/profile/second-factor",
        "Users": "/admin/users",
        "User": "/admin/users/pat",
        "Security": "/admin/security",
        "Session": "/admin/session",
    }
    request = site.wsgi.request_factory.blank("/login")
    request.registry = site.registry
    methods: dict[str, set[str]] = {}
    for entry in site.registry.introspector.get_category("views"):
        view = entry["introspectable"]
        if (
            isinstance(view["context"], type)
            and issubclass(view["context"], Node)
            and samples.get(view["context"].__name__)
        ):
            address = "/".join(filter(None, [samples[view["context"].__name__], view["name"]]))
            methods.setdefault(address, set()).add(str(view["request_methods"]))

    wrong = [
        address
        for address, allowed in methods.items()
        if next_url(request, address) != (address if "GET" in allowed else "/admin")
    ]

    assert wrong == []
    assert len(methods) > 30
