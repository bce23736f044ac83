"""The security log: what is written of whom, also of a refused request, and what never is."""

import json
import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from groundtransport import db
from groundtransport.accounts.models import AdminUser
from groundtransport.security import Role
from groundtransport.security_log import event_chain, log, omitted_events, recording
from groundtransport.transfer.export import activity
from tests.functional.people import COOKIE, is_signed_in, sign_in
from tests.shell import Shell
from tests.site import PASSWORD, Client, Site

HERE = "192.0.2.1"


pytestmark = pytest.mark.usefixtures("cheaply")


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Any:
    """Return what the process log got of it."""
    caplog.set_level(logging.INFO, "groundtransport.security")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "groundtransport.security"]


def test_a_sign_in_says_who_from_where_and_when(site: Site, pat: AdminUser, lines: Any) -> None:
    before = db.now()
    answer = sign_in(site.anonymous(HERE))

    (event,) = site.events()
    assert (event["event"], event["name"], event["user_id"], event["about"]) == ("sign-in", "pat", pat.id, "")
    assert (event["address"], event["request_id"]) == (HERE, answer.headers["X-Request-Id"])
    assert before <= event["at"] <= db.now()
    (line,) = [json.loads(line) for line in lines()]
    assert (line["event"], line["name"], line["address"]) == ("sign-in", "pat", HERE)
    assert line["request_id"] == event["request_id"]
    assert line["at"].endswith("+00:00")


def test_a_sign_out_is_written_once(site: Site, pat: AdminUser) -> None:
    client = site.anonymous()
    sign_in(client)
    client.post("/logout")
    client.post("/logout")

    assert [(event["event"], event["name"]) for event in site.events()] == [("sign-in", "pat"), ("sign-out", "pat")]


def test_a_failed_sign_in_leaves_its_event_though_it_was_refused(site: Site, pat: AdminUser) -> None:
    assert sign_in(site.anonymous(HERE), "PAT", "wrong").status_int == 422

    (event,) = site.events()
    assert (event["event"], event["name"], event["address"]) == ("sign-in failed", "pat", HERE)


TYPED = [
    "a password in the wrong field",
    "",
    "<script>alert(1)</script>",
    "a\r\nsign-in pat",
    "x" * 10_000,
    "na\0me",
    "\u202eevil",
]


@pytest.mark.parametrize("typed", TYPED)
def test_a_name_that_nobody_has_is_not_written(site: Site, lines: Any, typed: str) -> None:
    sign_in(site.anonymous(), typed, PASSWORD)
    sign_in(site.anonymous(), typed, PASSWORD)
    sign_in(site.anonymous(), "another", PASSWORD)

    first, again, other = site.events()
    assert first["event"] == "sign-in failed"
    assert first["name"] == again["name"] != other["name"], "the same name is known again"
    assert first["name"].startswith("(unknown ")
    written = str(site.events()) + "".join(lines())
    assert PASSWORD not in written
    assert not typed or typed[:12] not in written
    assert all(line.isascii() and line.isprintable() for line in lines())


def test_throttling_is_written_once_for_a_person_and_an_address(site: Site, pat: AdminUser, lines: Any) -> None:
    for _ in range(14):
        sign_in(site.anonymous(HERE), "pat", "wrong")

    assert len(site.events("sign-in failed")) == 10
    (event,) = site.events("sign-in throttled")
    assert (event["name"], event["address"]) == ("pat", HERE)
    assert len(lines()) == 11


def test_who_lacks_a_permission_is_written_with_what_they_wanted(site: Site) -> None:
    viewer = site.client(Role.VIEWER)
    viewer.get("/admin/transit/create?secret=1")

    (event,) = site.events()
    assert (event["event"], event["name"]) == ("denied", "the-viewer")
    assert event["details"] == {"permission": "create", "method": "GET", "path": "/admin/transit/create"}


def test_a_stranger_at_the_gate_is_no_event(site: Site) -> None:
    site.anonymous().get("/admin/transit")
    assert site.events() == []


def test_a_bad_edit_key_is_written_without_the_key(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind)
    client.get(f"/admin/{kind}/{record_id}/edit?key={'0' * 32}")

    (event,) = site.events("bad edit key")
    assert (event["name"], event["details"]) == ("the-administrator", {"kind": kind, "record": str(record_id)})


@pytest.mark.parametrize(
    ("headers", "why"),
    [({"X_CSRF_Token": ""}, "token"), ({"X_CSRF_Token": "é"}, "token"), ({"Origin": "https://evil.example"}, "origin")],
)
def test_a_forged_request_is_written(site: Site, client: Client, headers: dict[str, str], why: str) -> None:
    assert client.post("/admin/transit", {}, **headers).status_int == 400

    (event,) = site.events()
    assert (event["event"], event["name"]) == ("request refused", "the-administrator")
    assert event["details"] == {"because": why, "method": "POST", "path": "/admin/transit"}


def test_an_export_is_written(site: Site, client: Client) -> None:
    client.create("transit")
    client.get("/admin/activity/csv")

    (event,) = site.events()
    assert (event["event"], event["name"]) == ("export", "the-administrator")
    assert event["details"] == {"what": "activity log", "format": "csv", "rows": "2"}


# Bounds


def test_a_flood_from_one_address_is_cut_off(site: Site, monkeypatch: pytest.MonkeyPatch, lines: Any) -> None:
    monkeypatch.setattr(log, "MOST_OF_ONE", 5)
    here, there = site.anonymous("2001:db8::1"), site.anonymous("2001:db8:0:1::1")
    for _ in range(8):
        here.post("/login", {}, X_CSRF_Token="")
    there.post("/login", {}, X_CSRF_Token="")

    assert [event["address"] for event in site.events()] == ["2001:db8::1"] * 5 + ["2001:db8:0:1::1"]
    assert len(lines()) == 6


def test_a_flood_from_everywhere_is_cut_off(site: Site, pat: AdminUser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "MOST_OF_ALL", 5)
    for i in range(8):
        site.anonymous(f"192.0.2.{i}").post("/login", {}, X_CSRF_Token="")
    sign_in(site.anonymous())

    assert [event["event"] for event in site.events()] == ["request refused"] * 5 + ["sign-in"]


def test_what_was_left_out_is_one_line_with_its_number(
    site: Site, pat: AdminUser, monkeypatch: pytest.MonkeyPatch, lines: Any
) -> None:
    monkeypatch.setattr(log, "MOST_OF_ONE", 5)
    here = site.anonymous("2001:db8::1")
    for _ in range(8):
        here.post("/login", {}, X_CSRF_Token="")
    site.anonymous().get("/healthz")
    assert site.events("events left out") == [], "it may become more"

    monkeypatch.setattr(recording, "now", lambda: db.now() + timedelta(minutes=5))
    for _ in range(2):
        site.anonymous().get("/healthz")
    (event,) = site.events("events left out")
    assert (event["address"], event["network"]) == ("2001:db8::/64", "2001:db8::/64")
    assert (event["details"]["event"], event["details"]["number"]) == ("request refused", "3")
    assert [json.loads(line)["event"] for line in lines()] == ["request refused"] * 5 + ["events left out"]


def test_what_was_left_out_is_written_when_the_service_ends(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "MOST_OF_ONE", 1)
    for _ in range(3):
        site.anonymous(HERE).post("/login", {}, X_CSRF_Token="")

    log.write_counts(site.registry["security_log"])

    (event,) = site.events("events left out")
    assert (event["address"], event["details"]["number"]) == (HERE, "2")


def test_many_networks_are_counted_as_one() -> None:
    omitted = omitted_events.OmittedEvents()
    for number in range(omitted_events.NETWORKS + 5):
        omitted.add("denied", f"192.0.2.{number}", db.now())

    counts = omitted.pop()
    assert len(counts) == omitted_events.NETWORKS + 1
    assert (counts[-1].network, counts[-1].number) == (omitted_events.ELSEWHERE, 5)
    assert omitted.pop() == []


# Never in the way


def test_a_change_that_was_not_committed_is_no_event(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*words: object) -> str:
        raise RuntimeError

    monkeypatch.setattr(activity, "read_activity", fail)
    assert client.get("/admin/activity/csv").status_int == 500
    assert site.events() == []


def test_a_log_that_cannot_be_written_stops_nobody(
    site: Site, pat: AdminUser, monkeypatch: pytest.MonkeyPatch, lines: Any
) -> None:
    def fail(*words: object) -> Any:
        raise DBAPIError("", {}, Exception("full"))

    monkeypatch.setattr(event_chain, "insert", fail)
    client = site.anonymous()

    assert sign_in(client).status_int == 303
    assert is_signed_in(client)
    assert site.events() == []
    assert any("sign-in" in line for line in lines())


def test_an_event_cannot_be_changed(site: Site, pat: AdminUser) -> None:
    sign_in(site.anonymous())
    (event,) = site.events()

    for statement in (
        "UPDATE security_event SET name = 'somebody'",
        "UPDATE security_event SET details = '{}' WHERE id = :id",
        "INSERT OR REPLACE INTO security_event SELECT id, at, event, user_id, 'somebody', about, address, network,"
        " request_id, details, key_id, mac FROM security_event",
    ):
        if "REPLACE" in statement and site.engine.dialect.name == "postgresql":
            continue
        with pytest.raises(DBAPIError, match="append-only"), site.engine.begin() as connection:
            connection.execute(text(statement), {"id": event["id"]} if ":id" in statement else {})
    assert site.events() == [event]


def test_no_cookie_and_no_password_is_ever_written(site: Site, pat: AdminUser, lines: Any) -> None:
    client = site.anonymous()
    sign_in(client)
    token = client.app.cookies[COOKIE]
    client.get("/admin/activity/csv")
    client.post("/logout")
    sign_in(client, "pat", "wrong horse")

    written = str(site.events()) + "".join(lines())
    assert len(site.events()) == 4
    for secret in (token, PASSWORD, "wrong horse"):
        assert secret not in written


def test_the_command_removes_what_is_older_than_the_ini_says(site: Site, pat: AdminUser, tmp_path: Path) -> None:
    shell = Shell(tmp_path, site.url)
    for days in (1000, 366, 364):
        row = dict.fromkeys(("about", "address", "network", "request_id"), "")
        at = db.now() - timedelta(days=days)
        site.add_event({**row, "event": "denied", "name": f"{days} days", "at": at, "user_id": None, "details": {}})
    sign_in(site.anonymous())

    assert "2 " in shell("security", "prune")

    assert [event["name"] for event in site.events()][:2] == ["364 days", "pat"]
    assert [event["details"]["through"] for event in site.events("events removed")] == ["2"]
    assert "0 " in shell("security", "prune")
    assert "3 security events" in shell("audit", "verify")
    shell.engine.dispose()
