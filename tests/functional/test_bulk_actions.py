"""Bulk actions: confirmed first, reported exactly, one batch of the activity log, and undone as one."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from groundtransport.records.bulk import batch
from groundtransport.records.search.time_limit import Budget, OutOfTime
from groundtransport.security import Role
from tests.functional.filling import fill
from tests.site import JFK, Client, Site


@pytest.fixture
def editor(site: Site) -> Client:
    return site.client(Role.EDITOR)


def ticked(client: Client, kind: str, *ids: int) -> list[tuple[str, str]]:
    """Return the boxes of these records, as the page holds them."""
    page = client.get(f"/admin/{kind}?page_size=100").html
    return [("record", page.select_one(f"#record-{record_id} input[name=record]")["value"]) for record_id in ids]


def ask(client: Client, kind: str, *fields: tuple[str, str]) -> Any:
    return client.post(f"/admin/{kind}/several", list(fields))


def confirm(page: Any) -> Any:
    """Press the button of the page that asks."""
    form = next(form for form in page.forms.values() if form.action.endswith("/several"))
    return form.submit("confirmed")


def notice_text(client: Client, kind: str) -> str:
    return " ".join(client.get(f"/admin/{kind}").html.find(id="messages").get_text(" ").split())


def undo(page: Any) -> Any:
    return next(form for form in page.forms.values() if form.action.endswith("/undo")).submit()


def status(client: Client) -> dict[str, str]:
    return {row["company_name"]: row["status"] for row in client.rows("transit", page_size="100")}


def test_nothing_is_done_before_the_question_is_answered(site: Site, editor: Client, kind: str) -> None:
    ids = fill(site, kind, 3)

    page = ask(editor, kind, ("action", "delete"), ("list_state", "q=00"), *ticked(editor, kind, *ids[:2]))

    assert page.status_int == 200
    assert "2 records" in page.html.find("h1").get_text()
    assert [item.get_text() for item in page.html.select("main li")] == ["001", "002"]
    assert page.html.find("a", string="Cancel")["href"] == f"/admin/{kind}?q=00"
    assert len(editor.rows(kind)) == 3


def test_several_are_deleted_as_one_batch_and_come_back_as_one(site: Site, editor: Client, kind: str) -> None:
    ids = fill(site, kind, 4)
    page = ask(editor, kind, ("action", "delete"), ("list_state", "q=00"), *ticked(editor, kind, *ids[:3]))

    answer = confirm(page)

    assert answer.location == f"http://localhost/admin/{kind}?q=00"
    assert [row["id"] for row in editor.rows(kind)] == [ids[3]]
    entries = site.entries()
    assert [(entry["action"], entry["record_id"]) for entry in entries] == [("delete", one) for one in ids[:3]]
    assert len({entry["batch"] for entry in entries}) == 1
    shown = answer.follow()
    text = shown.html.find(id="messages").get_text(" ", strip=True)
    assert " ".join(text.split()) == "3 records were deleted. Undo"
    log = editor.get(shown.html.select_one("#messages a")["href"])
    assert len(log.html.select("ol.activity > li")) == 3

    back = undo(shown)

    assert back.location == f"http://localhost/admin/{kind}?q=00"
    assert len(editor.rows(kind)) == 4
    assert [entry["action"] for entry in site.entries()[3:]] == ["restore"] * 3
    assert "3 records are again as they were before." in notice_text(editor, kind)


def test_a_status_is_set_and_put_back(site: Site, editor: Client) -> None:
    ids = fill(site, "transit", 3)
    first = editor.put(f"/admin/transit/{ids[0]}", {"airport_name": JFK, "status": "inactive"})
    assert first.status_int == 303
    editor.get("/admin")
    before = status(editor)

    answer = confirm(ask(editor, "transit", ("action", "status=inactive"), *ticked(editor, "transit", *ids)))

    assert set(status(editor).values()) == {"inactive"}
    page = answer.follow()
    text = " ".join(page.html.find(id="messages").get_text(" ").split())
    assert "2 records were changed." in text
    assert "1 record stayed as it was. Nothing to change: 001" in text
    undo(page)
    assert status(editor) == before


def test_all_that_match_are_told_in_words_and_done(site: Site, editor: Client, kind: str) -> None:
    fill(site, kind, 30)
    editor.create(kind, company_name="Alpha")

    page = ask(editor, kind, ("action", "delete"), ("all", "1"), ("list_state", "q=0&airport_code=jfk&page_size=10"))

    words = " ".join(page.html.find("main").get_text(" ").split())
    assert "30 records" in words
    assert "All that match: Search: 0 Airport Code: jfk" in words
    assert "and 20 more" in words
    confirm(page)
    assert [row["company_name"] for row in editor.rows(kind)] == ["Alpha"]


def test_of_all_those_count_that_would_change(site: Site, editor: Client) -> None:
    ids = fill(site, "transit", 5)
    confirm(ask(editor, "transit", ("action", "status=inactive"), *ticked(editor, "transit", *ids[:2])))

    page = ask(editor, "transit", ("action", "status=inactive"), ("all", "1"))

    assert "3 records" in page.html.find("h1").get_text()


def test_there_is_a_most_and_the_rest_is_done_by_doing_it_again(
    site: Site, editor: Client, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MOST", 4)
    ids = fill(site, kind, 6)
    fields = (("action", "delete"), ("all", "1"))

    page = ask(editor, kind, *fields)
    assert "At most 4 are done at once" in page.text
    confirm(page)
    assert len(editor.rows(kind)) == 2
    confirm(ask(editor, kind, *fields))
    assert editor.rows(kind) == []
    too_many = [("record", f"{record_id}.1") for record_id in ids]
    assert ask(editor, kind, ("action", "delete"), *too_many).status_int == 400


# What is not done, and why


def test_what_somebody_else_touched_stays_and_is_named(site: Site, client: Client, editor: Client, kind: str) -> None:
    ids = fill(site, kind, 4)
    page = ask(editor, kind, ("action", "delete"), *ticked(editor, kind, *ids))
    client.put(f"/admin/{kind}/{ids[0]}", {"airport_name": JFK, "company_name": "Alpha"})
    client.delete(f"/admin/{kind}/{ids[1]}")

    confirm(page)

    text = notice_text(editor, kind)
    assert "2 records were deleted." in text
    assert "2 records stayed as they were." in text
    assert "Changed by somebody in the meantime: Alpha" in text
    assert "Deleted by somebody in the meantime: 002" in text
    assert [row["company_name"] for row in editor.rows(kind)] == ["Alpha"]


def test_all_is_what_was_shown_not_what_came_later(site: Site, client: Client, editor: Client, kind: str) -> None:
    ids = fill(site, kind, 3)
    page = ask(editor, kind, ("action", "delete"), ("all", "1"))
    client.put(f"/admin/{kind}/{ids[0]}", {"airport_name": JFK, "company_name": "Alpha"})
    client.create(kind, company_name="New")

    confirm(page)

    assert {row["company_name"] for row in editor.rows(kind)} == {"Alpha", "New"}
    assert "Changed by somebody in the meantime: Alpha" in notice_text(editor, kind)


def test_a_second_click_does_nothing_twice(site: Site, editor: Client, kind: str) -> None:
    ids = fill(site, kind, 2)
    page = ask(editor, kind, ("action", "delete"), *ticked(editor, kind, *ids))

    confirm(page)
    confirm(page)

    assert len(site.entries()) == 2
    assert "That was done already; it was not done again." in notice_text(editor, kind)


def test_an_undo_leaves_what_changed_since(site: Site, client: Client, editor: Client, kind: str) -> None:
    ids = fill(site, kind, 3)
    shown = confirm(ask(editor, kind, ("action", "delete"), *ticked(editor, kind, *ids))).follow()
    client.post(f"/admin/{kind}/{ids[0]}/restore")
    client.delete(f"/admin/{kind}/{ids[0]}")  # on purpose, by somebody else

    undo(shown)

    assert {row["id"] for row in editor.rows(kind)} == set(ids[1:])
    assert "Changed by somebody in the meantime: 001" in notice_text(editor, kind)


def test_only_the_kind_s_own_batch_is_undone(site: Site, editor: Client) -> None:
    ids = fill(site, "transit", 2)
    shown = confirm(ask(editor, "transit", ("action", "delete"), *ticked(editor, "transit", *ids))).follow()
    (name,) = {entry["batch"] for entry in site.entries()}

    for kind, sent in (("scheduledbus", name), ("transit", "x"), ("transit", "several-0000000000000000")):
        assert editor.post(f"/admin/{kind}/undo", {"batch": sent}).status_int == 303
        assert editor.rows("transit") == []
    undo(shown)
    assert len(editor.rows("transit")) == 2


def test_what_makes_no_sense_changes_nothing(site: Site, editor: Client, kind: str) -> None:
    (record_id,) = fill(site, kind, 1)
    box = ("record", f"{record_id}.1")
    for fields in (
        [("action", "delete")],
        [("action", "delete"), ("record", "x"), ("record", "1"), ("record", "1.1.1")],
        [("action", ""), box],
        [("action", "purge"), box],
        [("action", "status=broken"), box],
        [("action", "company_name=x"), box],
        [box],
    ):
        assert ask(editor, kind, *fields, ("confirmed", "1")).status_int == 303, fields
    assert site.entries() == []
    assert editor.rows(kind)[0]["version"] == 1


def test_a_viewer_has_no_boxes_and_is_refused(site: Site, kind: str) -> None:
    (record_id,) = fill(site, kind, 1)
    viewer = site.client(Role.VIEWER)

    page = viewer.get(f"/admin/{kind}").html

    assert page.select("input[type=checkbox][name=record], #several") == []
    for name in ("several", "undo"):
        answer = viewer.post(
            f"/admin/{kind}/{name}", [("action", "delete"), ("record", f"{record_id}.1"), ("confirmed", "1")]
        )
        assert (answer.status_int, "/login" in answer.location) == (303, True)
    assert site.entries() == []


def test_it_needs_the_token(site: Site, editor: Client, kind: str) -> None:
    (record_id,) = fill(site, kind, 1)
    fields = [("action", "delete"), ("record", f"{record_id}.1"), ("confirmed", "1")]

    assert editor.post(f"/admin/{kind}/several", fields, X_CSRF_Token="").status_int == 400
    assert len(editor.rows(kind)) == 1


@pytest.mark.parametrize("as_of", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "yesterday", "2026-13-01"])
def test_a_time_that_there_is_not_is_the_time_of_the_request(site: Site, editor: Client, kind: str, as_of: str) -> None:
    fill(site, kind, 2)

    page = ask(editor, kind, ("action", "delete"), ("all", "1"), ("as_of", as_of))

    assert page.status_int == 200
    assert "2 records" in page.html.find("h1").get_text()


def test_all_that_take_too_long_to_find_are_refused_in_words(
    site: Site, editor: Client, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(site, kind, 3)

    @contextmanager
    def limit(self: Budget) -> Iterator[None]:
        raise OutOfTime
        yield

    monkeypatch.setattr(Budget, "limit", limit)
    answer = ask(editor, kind, ("action", "delete"), ("list_state", "sort=company_name"), ("all", "1"))

    assert (answer.status_int, answer.location.split("/admin")[1]) == (303, f"/{kind}?sort=company_name")
    assert "Narrow the search" in notice_text(editor, kind)
    assert len(editor.rows(kind)) == 3
