"""Notes on a record: plain text, shown newest first, audited by exactly one entry, deleted by their author."""

from typing import Any

import pytest

from groundtransport.notes.models import NOTE_MAX, RecordNote
from groundtransport.security import Role
from tests.functional.filling import fill
from tests.site import JFK, Client, Site


@pytest.fixture
def editor(site: Site) -> Client:
    return site.client(Role.EDITOR)


def write(client: Client, kind: str, record_id: int, text: str, **fields: str) -> Any:
    return client.post(f"/admin/{kind}/{record_id}/notes", {"text": text, "list_state": "q=0", **fields})


def notes(client: Client, kind: str, record_id: int) -> list[str]:
    """Return the notes in the details of a record."""
    page = client.get(f"/admin/{kind}/{record_id}").html
    return [note.get_text() for note in page.select(".note-text")]


def ids(client: Client, kind: str, record_id: int) -> list[str]:
    """Return the ids of the notes that the page lets the user delete."""
    return [button["value"] for button in client.get(f"/admin/{kind}/{record_id}").html.select("[name=delete]")]


def test_notes_are_in_the_details_newest_first_and_escaped(site: Site, editor: Client, kind: str) -> None:
    record_id = fill(site, kind, 1)[0]

    answer = write(editor, kind, record_id, "  first\r\nline <b>two</b>  ")
    write(editor, kind, record_id, "second")

    assert answer.location == f"http://localhost/admin/{kind}?q=0&view={record_id}"
    assert notes(editor, kind, record_id) == ["second", "first\nline <b>two</b>"]
    over_list = editor.get(f"/admin/{kind}?view={record_id}").html
    assert "the-editor" in over_list.select_one("#detail .notes").get_text()
    assert over_list.select_one("#detail .notes [name=list_state]") is not None
    viewer = site.client(Role.VIEWER)
    assert notes(viewer, kind, record_id) == ["second", "first\nline <b>two</b>"]
    assert "textarea" not in viewer.get(f"/admin/{kind}/{record_id}").text
    assert "missing=edit" in write(viewer, kind, record_id, "no").location


def test_a_note_is_one_entry_and_no_change_of_the_record(site: Site, editor: Client) -> None:
    record_id = editor.create("transit", company_name="Alpha")
    before = site.row("transit", record_id)

    write(editor, "transit", record_id, "called them", form_token="a" * 22)
    write(editor, "transit", record_id, "called them", form_token="a" * 22)

    assert site.row("transit", record_id) == before
    (entry,) = site.entries()[1:]
    assert (entry["action"], entry["record_id"], entry["version"], entry["label"]) == ("note", record_id, 1, "Alpha")
    assert entry["changes"] == {"note": {"old": None, "new": "called them"}}
    assert "called them" in editor.get("/admin/activity").text
    history = editor.get(f"/admin/transit/{record_id}/history")
    assert "called them" in history.html.find("main").get_text()
    assert editor.get("/admin/activity?action=note").html.select("ol.activity > li")


def test_a_note_is_deleted_by_its_author_or_an_administrator(site: Site, editor: Client, client: Client) -> None:
    record_id = client.create("transit", company_name="Alpha")
    write(client, "transit", record_id, "of the administrator")
    write(editor, "transit", record_id, "of the editor")
    (own,) = ids(editor, "transit", record_id)
    (other,) = set(ids(client, "transit", record_id)) - {own}
    address = f"/admin/transit/{record_id}/notes"

    assert "missing=notes" in editor.post(address, {"delete": other}).location
    assert editor.post(address, {"delete": own}).status_int == 303
    assert editor.post(address, {"delete": own}).status_int == 303
    assert notes(client, "transit", record_id) == ["of the administrator"]
    last = site.entries()[-1]
    assert (last["action"], last["actor"]) == ("unnote", "the-editor")
    assert last["changes"] == {"note": {"old": "of the editor", "new": None}}
    write(editor, "transit", record_id, "another")
    assert client.post(address, {"delete": ids(editor, "transit", record_id)[0]}).status_int == 303
    assert notes(client, "transit", record_id) == ["of the administrator"]


def test_what_is_no_note_is_refused_with_the_text_kept(site: Site, editor: Client) -> None:
    record_id = editor.create("transit", company_name="Alpha")
    for text, message in (("   ", "Write a note."), ("x" * (NOTE_MAX + 1), "at most"), ("a\x00b", "control character")):
        answer = write(editor, "transit", record_id, text)
        assert (answer.status_int, site.count(RecordNote)) == (422, 0), message
        assert message in answer.html.find(id="note-error").get_text()
    long = write(editor, "transit", record_id, "x" * (NOTE_MAX + 1))
    assert long.html.find("textarea").get_text().strip() == "x" * (NOTE_MAX + 1)
    assert write(editor, "transit", record_id, "x" * NOTE_MAX).status_int == 303
    assert editor.post(f"/admin/transit/{record_id}/notes", {"delete": "9" * 30}).status_int == 303
    assert editor.post("/admin/transit/999/notes", {"text": "lost"}).status_int == 404


def test_a_note_is_in_nobodys_way(site: Site, editor: Client) -> None:
    """It makes no conflict of an open form, and does not keep a batch from being undone."""
    (record_id,) = fill(site, "transit", 1)
    page = editor.post("/admin/transit/several", {"action": "status=inactive", "record": f"{record_id}.1"})
    done = next(form for form in page.forms.values() if form.action.endswith("/several")).submit("confirmed").follow()
    write(editor, "transit", record_id, "looked at it")

    next(form for form in done.forms.values() if form.action.endswith("/undo")).submit()

    assert site.row("transit", record_id)["status"] is None
    saved = editor.put(f"/admin/transit/{record_id}", {"airport_name": JFK, "version": "3", "city": "Queens"})
    assert saved.status_int == 303
