"""Records that people checked: marked by one click, by the form, in bulk and by a program; no change of the record."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from groundtransport import db
from groundtransport.audit.integrity.reconcile import reconcile
from groundtransport.security import Role
from tests.api import Program, make_token
from tests.functional.filling import fill
from tests.functional.importing import Importing
from tests.functional.test_bulk_actions import ask, confirm, notice_text, ticked, undo
from tests.site import JFK, Client, Site


@pytest.fixture
def editor(site: Site) -> Client:
    return site.client(Role.EDITOR)


def verified_at(site: Site, kind: str, record_id: int, days: int | None) -> None:
    """Store that a record was verified so many days ago; None for never."""
    at = None if days is None else datetime.now(UTC) - timedelta(days=days)
    model = site.kinds[kind].model
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(update(model).where(model.id == record_id).values(verified_at=at, verified_by=at and "pat"))


def names(client: Client, kind: str, **query: str) -> list[str]:
    return [row["company_name"] for row in client.rows(kind, **query)]


def detail(client: Client, kind: str, record_id: int) -> str:
    return " ".join(client.get(f"/admin/{kind}/{record_id}").html.get_text(" ").split())


def test_one_click_is_one_entry_and_no_new_version(site: Site, editor: Client, kind: str) -> None:
    record_id = editor.create(kind, company_name="Alpha")
    before = site.row(kind, record_id)
    assert "Never verified" in detail(editor, kind, record_id)
    page = editor.get(f"/admin/{kind}?company_name=alpha")
    button = page.html.select_one("tbody button[data-action=verify]")
    form = page.html.find("form", id=button["form"])
    fields = {field["name"]: field["value"] for field in form.select("input")} | {"version": button["value"]}

    for _ in range(2):  # a double click
        answer = editor.app.post(button["formaction"], fields)

    assert answer.location.endswith(f"/admin/{kind}?company_name=alpha")
    after = site.row(kind, record_id)
    assert {name for name in after if after[name] != before[name]} == {"verified_at", "verified_by"}
    assert after["verified_by"] == "the-editor"
    entry = site.entries()[1]
    assert (len(site.entries()), entry["action"], entry["version"]) == (2, "verify", 1)
    assert entry["changes"].keys() == {"verified_at", "verified_by"}
    assert "by the-editor" in detail(editor, kind, record_id)
    assert editor.rows(kind)[0]["verified_by"] == "the-editor"
    assert "the-editor" in editor.get(f"/admin/{kind}/{record_id}/history").html.select_one("dl.changes").get_text()
    assert editor.get(f"/admin/{kind}/{record_id}").headers["X-Changed-At"] < entry["at"].isoformat()
    with db.transaction(site.engine) as dbsession:
        assert reconcile(dbsession, site.kinds) == []


def test_it_does_not_disturb_an_open_form_and_is_undone(site: Site, editor: Client, kind: str) -> None:
    record_id = editor.create(kind, company_name="Alpha")
    form = editor.get(editor.edit_link(kind, record_id)).forms["record"]
    verified_at(site, kind, record_id, 300)
    editor.post(f"/admin/{kind}/{record_id}/verify", {"version": "1"})
    page = editor.get(f"/admin/{kind}")
    assert "Alpha was marked as verified." in " ".join(page.html.find(id="messages").get_text(" ").split())
    next(one for one in page.forms.values() if one.action.endswith("/unverify")).submit()
    row = site.row(kind, record_id)
    assert (row["verified_by"], row["verified_at"] < datetime.now(UTC) - timedelta(days=299)) == ("pat", True)
    form["company_name"] = "Beta"
    assert form.submit().status_int == 303
    assert site.row(kind, record_id)["version"] == 2
    assert [entry["action"] for entry in site.entries()] == ["create", "verify", "verify", "update"]


def test_what_was_not_seen_is_not_verified(site: Site, editor: Client, kind: str) -> None:
    record_id = editor.create(kind, company_name="Alpha")
    editor.put(f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_name": "Beta"})
    assert editor.post(f"/admin/{kind}/{record_id}/verify", {"version": "1"}).status_int == 409
    assert site.client(Role.VIEWER).post(f"/admin/{kind}/{record_id}/verify").location.endswith("missing=edit")
    editor.post(f"/admin/{kind}/{record_id}/verify")
    editor.post(f"/admin/{kind}/{record_id}/unverify", {"verified_at": "2026-01-01"})
    assert "was verified again since" in notice_text(editor, kind)
    assert site.row(kind, record_id)["verified_at"] is not None


def test_the_form_verifies_only_if_it_is_told_to(site: Site, editor: Client) -> None:
    record_id = editor.create("transit", company_name="Alpha")

    def saved(verify: Any = None, **fields: str) -> dict[str, Any]:
        form = editor.get(editor.edit_link("transit", record_id)).forms["record"]
        assert not form["mark_verified"].checked
        for name, value in fields.items():
            form[name] = value
        form["mark_verified"] = verify == "box"
        if verify == "button":
            form.submit("then", value="verify")
        else:
            form.submit()
        return site.row("transit", record_id)

    assert saved(company_phone1="+1 212 555 0142")["verified_at"] is None
    assert saved("box", company_phone1="+1 212 555 0143")["verified_by"] == "the-editor"
    verified_at(site, "transit", record_id, None)
    assert saved("button")["verified_by"] == "the-editor"
    assert [entry["action"] for entry in site.entries()] == ["create", "update", "update", "verify", "verify"]
    assert site.row("transit", record_id)["version"] == 3


def test_filters_sort_and_column(site: Site, editor: Client, kind: str) -> None:
    for name, days in {"Never": None, "Old": 200, "Older": 400, "New": 3}.items():
        verified_at(site, kind, editor.create(kind, company_name=name), days)
    assert sorted(names(editor, kind, verified="due")) == ["Never", "Old", "Older"]
    assert names(editor, kind, verified="never") == ["Never"]
    assert names(editor, kind, verified="current", company_name="n") == ["New"]
    assert len(names(editor, kind, verified="nonsense")) == 4
    day = (datetime.now(UTC) - timedelta(days=300)).date().isoformat()
    assert names(editor, kind, not_verified_since=day, sort="-verified_at") == ["Older", "Never"]
    assert names(editor, kind, sort="verified_at") == ["Never", "Older", "Old", "New"]
    page = editor.get(f"/admin/{kind}?verified=due")
    assert page.html.select_one(".chip").get_text(" ", strip=True).startswith("Remove: Verification: Due")
    assert page.html.select_one("th.col-verified_at") is None
    form = page.forms[next(key for key, one in page.forms.items() if "shown" in one.fields)]
    next(box for box in form.fields["shown"] if box._value == "verified_at").checked = True
    form.submit()
    cells = editor.get(f"/admin/{kind}?sort=verified_at").html.select("td.col-verified_at")
    assert [bool(cell.find("time")) for cell in cells] == [False, True, True, True]


def test_a_selection_is_verified_and_undone_as_one(site: Site, editor: Client, kind: str) -> None:
    ids = fill(site, kind, 3)
    confirm(ask(editor, kind, ("action", "verify"), *ticked(editor, kind, *ids[:2])))
    assert "2 records were marked as verified." in notice_text(editor, kind)
    assert [site.row(kind, one)["verified_by"] for one in ids] == ["the-editor", "the-editor", None]
    page = ask(editor, kind, ("action", "verify"), ("all", "1"))
    assert "1 record" in page.html.find("h1").get_text()  # the others are verified already
    confirm(page)
    page = editor.get(f"/admin/{kind}")
    editor.put(f"/admin/{kind}/{ids[2]}", {"airport_name": JFK, "company_name": "Changed since"})
    undo(page)
    assert [site.row(kind, one)["version"] for one in ids] == [1, 1, 2]
    assert site.row(kind, ids[2])["verified_by"] is None
    assert len([entry for entry in site.entries() if entry["action"] == "verify"]) == 4


def test_a_program_verifies_and_reads_it(site: Site, kind: str) -> None:
    record_id = site.client().create(kind, company_name="Alpha")
    program = Program(site, make_token(site))
    url = f"/api/v1/{kind}/{record_id}"
    assert program.post(f"{url}/verify").status_int == 428
    answer = program.post(f"{url}/verify", If_Match='"1"')
    assert (answer.status_int, answer.json["version"], answer.json["verified_by"]) == (200, 1, "the-editor")
    verified_at(site, kind, record_id, 300)
    assert program.put(url, {**answer.json, "company_name": "Beta"}, If_Match='"1"').json["version"] == 2
    assert program.get(f"/api/v1/{kind}?verified=due").json["total"] == 1
    assert program.get(f"/api/v1/{kind}?not_verified_since=yesterday").status_int == 422
    operation = {"op": "verify", "kind": kind, "id": record_id, "version": 2}
    assert program.post("/api/v1/bulk", {"operations": [operation]}).json["results"][0]["version"] == 2
    assert site.entries()[-1]["action"] == "verify"
    assert program.get(f"/api/v1/{kind}?verified=due").json["total"] == 0


def test_a_file_brings_verifications_and_never_an_older_one(site: Site, client: Client) -> None:
    importing = Importing(client)
    ids = [client.create("transit", company_name=name) for name in ("Old", "New", "None")]
    for record_id, days in zip(ids, (400, 1, None), strict=True):
        verified_at(site, "transit", record_id, days)
    lines = client.get("/admin/transit/export?format=csv").text.lstrip("\ufeff")
    path = importing.start(lines.encode())
    assert importing.preview(path, match="id", can_update="1").html.find(string=lambda text: "Unchanged" in text)
    file = f"id,Last verified,phone\n{ids[0]},2026-06-01,718 244 4444\n{ids[1]},2026-06-01,\n{ids[2]},2026-06-01,\n,,\n"
    path = importing.whole(file.encode(), match="id", can_update="1")
    rows = [site.row("transit", record_id) for record_id in ids]
    assert [str(row["verified_at"])[:10] == "2026-06-01" for row in rows] == [True, False, True]
    assert [(row["version"], row["verified_by"]) for row in rows] == [
        (2, "the-administrator"),
        (1, "pat"),
        (1, "the-administrator"),
    ]
    assert [entry["action"] for entry in site.entries()][3:] == ["update", "verify"]
    client.post(f"/admin/transit/{ids[0]}/verify")
    assert client.post(f"{path}/undo").status_int == 303
    importing.run()
    assert site.row("transit", ids[0])["company_phone1"] is None
    assert site.row("transit", ids[2])["verified_at"] is None
    with db.transaction(site.engine) as dbsession:
        differing = reconcile(dbsession, site.kinds)
    assert all(text.startswith(f"transit {ids[1]}: verified_") for text in differing)  # set past the log


def test_new_records_come_back_with_their_verification(site: Site, client: Client) -> None:
    importing = Importing(client)
    file = (
        "airport_name,company_name,verified_at\nJFK,Alpha,2026-06-01T10:00:00+02:00\nJFK,Beta,\nJFK,Gamma,2999-01-01\n"
    )
    importing.whole(file.encode())
    rows = {row["company_name"]: row["verified_at"] for row in client.rows("transit")}
    assert rows == {"Alpha": "2026-06-01T08:00:00+00:00", "Beta": None}
    assert [entry["action"] for entry in site.entries()] == ["create", "create"]
    with db.transaction(site.engine) as dbsession:
        assert reconcile(dbsession, site.kinds) == []
