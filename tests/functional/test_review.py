"""The review queue: one due record after the other, the busiest airport first, and none to two people at once."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from groundtransport import db
from groundtransport.accounts import users
from groundtransport.review import leases
from groundtransport.review.queue import Spot, next_due, take_next
from groundtransport.security import Role
from tests.functional.test_verification import verified_at
from tests.site import HEATHROW, JFK, Client, Site

QUIET = "Aachen Merzbruck Airport (AAH)"


@pytest.fixture
def editor(site: Site) -> Client:
    return site.client(Role.EDITOR)


def pressed(client: Client, do: str, page: Any = None, **place: str) -> Any:
    """Press a button of the queue's page, and return the page that follows."""
    if page is None:
        return client.post("/admin/review", {"do": do, **place}).follow()
    form = next(form for form in page.forms.values() if "record" in form.fields)
    return form.submit("do", value=do).follow()


def shown(page: Any) -> str:
    """Return the name of the record that a page of the queue shows; "" for none."""
    title = page.html.find(id="review-record")
    return title.find("a").next_sibling.strip() if title else ""


def test_the_order_and_the_way_through_the_queue(site: Site, editor: Client, kind: str) -> None:
    for name, airport, days in (
        ("Quiet", QUIET, None),
        ("New", JFK, 0),
        ("Old", JFK, 200),
        ("Oldest", QUIET, 300),
        ("Busy", HEATHROW, None),
    ):
        verified_at(site, kind, editor.create(kind, company_name=name, airport_name=airport), days)
    assert "Start" in editor.get("/admin/review").text
    page, names = pressed(editor, "next", kind=kind), []
    while shown(page):
        names.append(shown(page))
        page = pressed(editor, "skip" if shown(page) == "Old" else "verify", page)
    assert names == ["Busy", "Quiet", "Oldest", "Old"]
    assert "No record is due here" in page.text
    verified = [entry["label"] for entry in site.entries() if entry["action"] == "verify"]
    assert verified == ["Busy", "Quiet", "Oldest"]
    assert shown(pressed(site.client(), "next", kind=kind)) == "", "a skipped record is given to nobody for a day"
    facts = " ".join(editor.get("/admin").html.find(id=f"kind-{kind}").parent.get_text(" ").split())
    assert "Due for review 1" in facts
    assert "Never verified 0" in facts
    assert "Verified this week 4" in facts


def test_limits_of_place_and_of_permission(site: Site, editor: Client, kind: str) -> None:
    editor.create(kind, company_name="Busy", airport_name=HEATHROW)
    editor.create(kind, company_name="Quiet", airport_name=QUIET)
    assert shown(pressed(editor, "next", kind=kind, country="DE")) == "Quiet"
    assert shown(pressed(editor, "next", kind=kind, airport_code="aah")) == "Quiet"
    for place in ({"kind": "nonsense"}, {"kind": kind, "airport_code": "\0"}, {"kind": kind, "country": "ÄÖ"}):
        assert editor.post("/admin/review", {"do": "next", **place}).status_int == 303
    assert editor.get(f"/admin/review?kind={kind}&record={'9' * 30}").status_int == 200
    assert editor.post("/admin/review", {"do": "verify", "kind": kind, "record": "9" * 30}).status_int == 303
    assert site.client(Role.VIEWER).get("/admin/review").location.endswith("missing=edit")


def test_an_edit_comes_back_to_the_queue(site: Site, editor: Client, kind: str) -> None:
    record_id = editor.create(kind, company_name="Alpha")
    page = pressed(editor, "next", kind=kind)
    form = editor.get(page.html.find("a", attrs={"data-review": "edit"})["href"]).forms["record"]
    form["company_name"] = "Beta"
    form["airport_name"] = ""
    form = form.submit(expect_errors=True).forms["record"]  # refused: the form comes again
    form["airport_name"] = JFK
    answer = form.submit()
    assert answer.location == f"http://localhost/admin/review?kind={kind}&record={record_id}"
    assert pressed(editor, "verify", page).request.url.endswith(f"record={record_id}"), "it is another version now"
    assert site.row(kind, record_id)["verified_at"] is None
    assert shown(pressed(editor, "verify", answer.follow())) == ""
    assert site.row(kind, record_id)["verified_by"] == "the-editor"


def test_two_people_never_get_the_same_record(site: Site, editor: Client, kind: str) -> None:
    names = [f"{number:02}" for number in range(8)]
    for name in names:
        editor.create(kind, company_name=name)
    other = site.client()
    mine, theirs = pressed(editor, "next", kind=kind), pressed(other, "next", kind=kind)
    assert (shown(mine), shown(theirs)) == ("00", "01")
    assert shown(pressed(editor, "next", kind=kind)) == "00", "one's own record again"
    other.post(
        "/admin/review", {"do": "verify", "kind": kind, "record": mine.html.select_one("[name=record]")["value"]}
    )
    assert "Somebody else has this record" in other.get("/admin/review").text
    assert [entry for entry in site.entries() if entry["action"] == "verify"] == []


def test_two_connections_at_once(site: Site, editor: Client, kind: str) -> None:
    for number in range(8):
        editor.create(kind, company_name=f"{number}")
    declared = site.kinds[kind]
    with db.transaction(site.engine) as dbsession:
        ids = [users.find(dbsession, f"the-{role}").id for role in (Role.EDITOR, Role.ADMINISTRATOR)]
        first = next_due(dbsession, declared, Spot(kind), 180, ids[0])

    def go_through(user_id: int) -> list[int]:
        taken = []
        for _ in range(4):
            with db.transaction(site.engine) as dbsession:
                record_id = take_next(dbsession, declared, Spot(kind), 180, user_id)
                if record_id is not None:
                    taken.append(record_id)
                    leases.skip(dbsession, kind, record_id, user_id)
        return taken

    with ThreadPoolExecutor(2) as pool:
        mine, theirs = pool.map(go_through, ids)
    assert first in mine + theirs
    assert len(set(mine + theirs)) == len(mine + theirs) == 8
