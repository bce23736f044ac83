"""Imports in the browser: upload, columns, preview, commit, result and undo, without JavaScript."""

import json
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from sqlalchemy import Connection, func, select, update
from sqlalchemy.exc import OperationalError

from groundtransport import db
from groundtransport.audit.models import AdminActivity
from groundtransport.db import postgresql
from groundtransport.jobs import queue
from groundtransport.security import Role
from groundtransport.transfer.imports import commit, names, store
from groundtransport.transfer.imports.models import ImportBatch, ImportPart, ImportRow, ImportState
from tests.functional.importing import HEADER, Importing, rows_of
from tests.shell import Shell
from tests.site import JFK, Site

BAD = HEADER.encode() + b"JFK,Alpha,1,no number at all\nXXXX,Beta,2,\nJFK,Gamma,3,\n"

BROKEN_FORMS = (
    b"",
    b"no part",
    b"--xyz\r\nX: y\r\n\r\n1\r\n--xyz--",
    b"--xyz\r\nContent-Disposition: form-data",
)


@pytest.fixture
def importing(site: Site) -> Importing:
    return Importing(site.client(Role.EDITOR))


def test_a_file_is_imported_from_the_upload_to_the_result(importing: Importing) -> None:
    path = importing.start(rows_of("Alpha", "Beta"))
    page = importing.client.get(path)
    assert "records.csv" in page.text
    assert "Beta" in page.html.find(class_="import-sample").get_text()
    assert importing.form(path)["column-1"] == "company_name"
    assert importing.names() == []

    page = importing.preview(path)
    assert importing.names() == [], "the preview writes nothing"
    assert "Import 2 rows" in page.text

    page = importing.commit(path)
    assert importing.names() == ["Alpha", "Beta"]
    batch = importing.batch(path)
    assert (batch.state, batch.results) == (ImportState.DONE, {"created": 2})
    assert importing.site.count(ImportPart) == 0, "the file is not kept"
    entries = importing.site.entries()
    assert {(entry["batch"], entry["actor"], entry["action"]) for entry in entries} == {
        (batch.batch, "the-editor", "create")
    }
    assert f"/admin/activity?batch={batch.batch}" in page.text
    assert "records.csv" in importing.client.get("/admin/imports").text


def test_the_same_file_again_with_a_changed_cell_changes_that_cell(importing: Importing) -> None:
    importing.whole(rows_of("Alpha", "Beta"))
    path = importing.start(rows_of("Alpha") + b"JFK,Beta,1,+1 212 555 0123\n")
    assert "same file" not in importing.client.get(path).text
    page = importing.preview(path, match="place")

    assert importing.batch(path).counts == {"unchanged": 1, "changed": 1, "doubtful": 0, "similar": 0}
    changes = page.html.find(class_="import-changes").get_text(" ", strip=True)
    assert "+1 212 555 0123" in changes
    importing.commit(path)
    assert importing.batch(path).results == {"updated": 1}
    assert importing.names() == ["Alpha", "Beta"]


def test_the_same_upload_sent_twice_is_one_import(importing: Importing) -> None:
    first = importing.upload(rows_of("Alpha"), form_token="token")
    second = importing.upload(rows_of("Alpha"), form_token="token")
    other = importing.upload(rows_of("Beta"), form_token="token")

    assert first.location == second.location != other.location
    assert importing.site.count(ImportBatch) == 2


def test_a_file_that_was_imported_before_is_named(importing: Importing) -> None:
    earlier = importing.whole(rows_of("Alpha"))
    path = importing.start(rows_of("Alpha"))

    assert f'href="{earlier}"' in importing.client.get(path).text


def test_pasted_rows_are_imported(importing: Importing) -> None:
    pasted = "airport_name\tcompany_name\r\nJFK\tAlpha\r\n"
    answer = importing.client.app.post(
        "/admin/transit/import",
        {"csrf_token": importing.client.csrf, "rows": pasted},
        upload_files=[("file", "", b"")],
    )
    importing.run()
    path = answer.location.removeprefix("http://localhost")
    importing.preview(path)
    importing.commit(path)

    assert importing.names() == ["Alpha"]


def test_a_large_file_is_stored_in_parts_and_read_again_whole(importing: Importing) -> None:
    names = [f"Company {number:05}" for number in range(15_000)]
    content = rows_of(*names)
    assert len(content) > store.PART
    path = importing.start(content)

    assert importing.site.count(ImportPart) == -(-len(content) // store.PART)
    assert importing.batch(path).size == len(content)
    with db.transaction(importing.site.engine) as dbsession:
        target = BytesIO()
        store.write_file(dbsession, importing.batch(path).id, target)
    assert target.getvalue() == content


def test_the_columns_are_remembered_for_the_next_file_with_the_same_header(importing: Importing) -> None:
    strange = b"where,who,what\nJFK,Alpha,x\n"
    path = importing.start(strange)
    assert importing.form(path)["column-2"] == ""
    importing.preview(path, **{"column-0": "airport_name", "column-1": "company_name", "column-2": "description"})

    again = importing.start(strange)
    form = importing.form(again)
    assert [form[f"column-{index}"] for index in range(3)] == ["airport_name", "company_name", "description"]


def test_impossible_options_are_refused_with_all_that_was_chosen(importing: Importing) -> None:
    path = importing.start(rows_of("Alpha"))
    fields = importing.form(path, match="id", **{"column-3": "company_name", "default-source": "my list"})
    fields.pop("can_add"), fields.pop("can_update")
    answer = importing.client.post(f"{path}/preview", fields)

    assert answer.status_int == 422
    errors = answer.html.find(role="alert").get_text()
    for words in ("Two columns hold Company Name", "No column holds the ID", "Choose whether rows add"):
        assert words in errors
    form = next(one for one in answer.forms.values() if one.action.endswith("/preview"))
    assert (form["column-3"].value, form["match"].value, form["default-source"].value) == (
        "company_name",
        "id",
        "my list",
    )


def test_a_status_is_read_in_any_language_and_for_another_text_each_status_is_proposed(importing: Importing) -> None:
    path = importing.start(b"airport;company;status\nJFK;Alpha;Activo\nJFK;Beta;INACTIVO\nJFK;Gamma;closed\n")
    page = importing.preview(path)
    assert importing.batch(path).counts["new"] == 2
    buttons = page.html.find_all("button", {"name": "replace"})
    assert [button.get_text() for button in buttons] == ["Use Active", "Use Inactive"]
    importing.client.post(f"{path}/decide", {"replace": buttons[1]["value"]})
    importing.run()
    importing.commit(path)
    rows = {row["company_name"]: row["status"] for row in importing.client.rows("transit")}
    assert rows == {"Alpha": "active", "Beta": "inactive", "Gamma": "inactive"}


def test_from_an_empty_sheet_another_one_can_be_chosen(importing: Importing) -> None:
    content = BytesIO()
    with xlsxwriter.Workbook(content) as book:
        book.add_worksheet("Data").write_row(0, 0, ["airport_name", "company_name"])
        book.get_worksheet_by_name("Data").write_row(1, 0, ["JFK", "Alpha"])
        book.add_worksheet("Empty")
    path = importing.start(content.getvalue(), "records.xlsx")
    importing.client.post(f"{path}/read", {"sheet": "Empty"})
    importing.run()

    page = importing.client.get(path)
    assert "The file has no row." in page.text
    form = next(one for one in page.forms.values() if one.action.endswith("/read"))
    assert form["sheet"].value == "Empty"
    assert "encoding" not in form.fields
    importing.client.post(f"{path}/read", {"sheet": "Data"})
    importing.run()
    assert importing.form(path)["column-1"] == "company_name"


def test_refused_rows_keep_a_column_line_of_their_own_and_their_surplus_cells(importing: Importing) -> None:
    content = b"Line,Airport,Company\nQ10,JFK,Alpha, Inc\nQ11,XXXX,Beta\n"
    path = importing.start(content)
    importing.preview(path)
    answer = importing.client.get(f"{path}/file?show=refused")
    rows = [line.split(",") for line in answer.body.decode("utf-8-sig").splitlines()]
    assert rows[0] == ["Line", "Airport", "Company", "line", "field", "value", "reason"]
    assert (rows[1][:4], rows[1][-1]) == (["Q10", "JFK", "Alpha", "2"], " Inc")
    assert rows[2][:4] == ["Q11", "XXXX", "Beta", "3"]

    again = importing.start(answer.body)
    assert importing.form(again)["column-0"] == "route_name"
    page = importing.preview(again)
    assert "more cells than the header" in page.text, "the surplus cell is not lost unseen"


def test_refused_objects_keep_a_name_line_of_their_own(importing: Importing) -> None:
    path = importing.start(b'{"line": "Q10", "airport": "XXXX", "company": "Alpha"}\n', "records.jsonl")
    importing.preview(path)
    answer = importing.client.get(f"{path}/file?show=refused")
    assert json.loads(answer.body)["line"] == "Q10"


def test_an_unreadable_file_says_why_and_can_be_discarded(importing: Importing) -> None:
    path = importing.start(b"")
    page = importing.client.get(path)

    assert "The file is empty." in page.html.find(role="alert").get_text()
    assert importing.client.post(f"{path}/discard").status_int == 303
    assert importing.client.get(path).status_int == 404
    assert importing.site.count(ImportPart) == 0


def test_a_file_of_blanks_has_no_row(importing: Importing) -> None:
    assert "The file has no row." in importing.client.get(importing.start(b"\n  \n ,\n")).text


def test_bytes_that_are_invalid_are_shown_in_every_step(importing: Importing) -> None:
    title, good = "Größe,".encode("latin-1"), rows_of("Müller", "Größe").split(b"\n", 1)
    content = title + good[0] + b"\n" + b"".join(b"," + row + b"\n" for row in good[1].splitlines())
    path = importing.start(content + b",JFK,K\xe4se,1,\n")
    assert "K\ufffdse" in importing.client.get(path).text
    page = importing.preview(path)
    assert importing.batch(path).counts["refused"] == 1
    assert "K\ufffdse" in page.text
    assert "Created" in importing.commit(path).text
    assert b"K\xe4se" in importing.client.get(f"{path}/file").body


def test_another_encoding_and_delimiter_can_be_chosen(importing: Importing) -> None:
    path = importing.start("airport_name;company_name\nJFK;Café\n".encode("cp1252"))
    assert "guess" in importing.client.get(path).text
    answer = importing.client.post(f"{path}/read", {"encoding": "cp1252", "delimiter": ";"})
    assert answer.status_int == 303
    importing.run()

    assert "Café" in importing.client.get(path).html.find(class_="import-sample").get_text()


def test_nothing_sent_is_refused_with_a_sentence(importing: Importing) -> None:
    answer = importing.client.app.post(
        "/admin/transit/import", {"csrf_token": importing.client.csrf}, upload_files=[], expect_errors=True
    )
    assert answer.status_int in (415, 422)
    answer = importing.upload(b"", name="")
    assert answer.status_int == 422
    assert "Choose a file" in answer.text


def test_a_file_beyond_the_limit_is_refused_with_the_limit(
    importing: Importing, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = importing.site.registry["settings"]
    object.__setattr__(settings, "import_size", 2 * 1024**2)
    try:
        answer = importing.upload(b"x" * (2 * 1024**2 + 5))
    finally:
        object.__setattr__(settings, "import_size", type(settings).import_size)

    assert answer.status_int == 413
    assert "2 MB" in answer.text
    assert importing.site.count(ImportBatch) == 0


def test_a_forged_upload_and_a_malformed_form_are_refused(importing: Importing) -> None:
    url, files = "/admin/transit/import", [("file", "a.csv", rows_of("Alpha"))]
    forged = importing.client.app.post(url, {"csrf_token": "0" * 64}, upload_files=files, expect_errors=True)
    headers = {"Content-Type": "multipart/form-data; boundary=xyz", "X-CSRF-Token": importing.client.csrf}
    broken = [
        importing.client.app.post(url, body, headers=headers, expect_errors=True).status_int for body in BROKEN_FORMS
    ]

    assert forged.status_int == 400
    assert set(broken) <= {400, 422}
    assert importing.site.count(ImportBatch) == 0


# Who sees what


def test_an_upload_is_seen_by_nobody_else_and_its_rows_by_administrators_after_the_commit(site: Site) -> None:
    mine, admin = Importing(site.client(Role.EDITOR)), site.client(Role.ADMINISTRATOR)
    path = mine.start(BAD)
    assert admin.get(path).status_int == 404
    assert "records.csv" not in admin.get("/admin/imports").text
    assert admin.post(f"{path}/discard").status_int == 404
    mine.preview(path)
    assert admin.get(path).status_int == 404
    mine.commit(path)
    assert "no number at all" in admin.get(f"{path}?show=refused").text
    assert admin.get(f"{path}/file?show=refused").status_int == 200

    with db.transaction(site.engine) as dbsession:  # somebody else's, for an editor
        dbsession.execute(update(ImportBatch).values(user_id=None))
    other = site.client(Role.EDITOR)
    page = other.get(f"{path}?show=refused")
    assert page.status_int == 200
    assert "no number at all" not in page.text
    assert other.get(f"{path}/file?show=refused").status_int == 422


def test_the_lines_of_all_cells_are_joined_by_one_press(importing: Importing) -> None:
    rows = "".join(f'JFK,Line {number},"Street {number}\nTown"\n' for number in range(3))
    path = importing.start(f"airport_name,company_name,company_address\n{rows}".encode())
    page = importing.preview(path, match="never")
    (button,) = page.html.find_all("button", attrs={"name": "join_lines"})
    assert importing.batch(path).counts["refused"] == 3
    answer = importing.client.post(f"{path}/decide", {button["name"]: button["value"]})
    assert answer.status_int == 303
    importing.run()
    assert importing.batch(path).counts["new"] == 3
    importing.commit(path)
    addresses = [row["company_address"] for row in importing.client.rows("transit", sort="company_name")]
    assert addresses == ["Street 0, Town", "Street 1, Town", "Street 2, Town"]


def test_a_viewer_can_neither_upload_nor_look(site: Site) -> None:
    viewer = site.client(Role.VIEWER)
    for url in ("/admin/transit/import", "/admin/imports", "/admin/imports/1"):
        assert "missing=import" in viewer.get(url).location


# Decisions


def test_a_refused_row_gets_another_value_or_loses_a_cell_or_is_left_out(importing: Importing) -> None:
    path = importing.start(BAD)
    page = importing.preview(path)
    assert importing.batch(path).counts["refused"] == 2
    refused = page.html.find(class_="import-rows").get_text()
    assert "no number at all" in refused

    importing.client.post(f"{path}/decide", {"drop_cell": '[2, "company_phone1"]'})
    importing.run()
    importing.client.post(f"{path}/decide", {"replace_value": '["airport_name", "XXXX"]', "text": "LHR"})
    importing.run()
    importing.client.post(f"{path}/decide", {"leave_out": "1", "line": "4"})
    importing.run()
    counts = importing.batch(path).counts
    assert (counts.get("new"), counts.get("skipped"), counts.get("refused")) == (2, 1, None)
    importing.commit(path)
    assert importing.names() == ["Alpha", "Beta"]


def test_nonsense_as_a_decision_changes_nothing(importing: Importing) -> None:
    path = importing.start(BAD)
    importing.preview(path)
    before = importing.batch(path).options
    nonsense = ({"drop_cell": "[1"}, {"drop_cell": '["x", 2]'}, {"replace": "{}"}, {"line": "x" * 50}, {"forget": "x"})
    for fields in nonsense:
        assert importing.client.post(f"{path}/decide", fields).status_int == 303
        importing.run()
    assert importing.batch(path).options == before


def test_the_refused_rows_are_a_file_in_the_format_that_came_in(importing: Importing) -> None:
    path = importing.start(BAD.replace(b",", b";"))
    importing.preview(path)
    importing.commit(path)
    answer = importing.client.get(f"{path}/file?show=refused")

    lines = answer.body.decode("utf-8-sig").splitlines()
    assert lines[0].split(";")[-4:] == ["line", "field", "value", "reason"]
    assert len(lines) == 3
    assert "no number at all" in lines[1]
    assert "records.refused.csv" in answer.headers["Content-Disposition"]
    again = importing.start(answer.body)
    assert {importing.form(again)[f"column-{index}"] for index in range(4, 8)} == {""}


def test_the_refused_rows_are_in_the_encoding_that_came_in(importing: Importing) -> None:
    text = HEADER.replace(",", ";") + "".join(f"JFK;Gr\u00fcne Stra\u00dfe {number};1;none\n" for number in range(90))
    path = importing.start(text.encode("cp1252"))
    importing.preview(path)
    answer = importing.client.get(f"{path}/file?show=refused")

    assert (
        answer.body.decode("cp1252")
        .splitlines()[1]
        .startswith("JFK;Gr\u00fcne Stra\u00dfe 0;1;none;2;Company Phone 1;none;")
    )


def test_the_refused_rows_of_json_lines_are_json_lines(importing: Importing) -> None:
    path = importing.start(
        b'{"airport": "QQQ", "company": "Alpha"}\n{"airport": "JFK", "company": "Beta"}\n', "a.jsonl"
    )
    importing.preview(path)
    answer = importing.client.get(f"{path}/file?show=refused")

    (row,) = map(json.loads, answer.body.splitlines())
    assert [row[name] for name in ("airport", "company", "line", "value")] == ["QQQ", "Alpha", "1", "QQQ"]
    assert "a.refused.jsonl" in answer.headers["Content-Disposition"]


# The commit


def test_a_record_that_was_changed_after_the_preview_is_a_conflict_and_stays(importing: Importing) -> None:
    importing.whole(rows_of("Alpha", "Beta"))
    path = importing.start(rows_of("Alpha", "Beta", phone="+1 212 555 0123"))
    importing.preview(path, match="place")
    row = next(row for row in importing.client.rows("transit") if row["company_name"] == "Alpha")
    changed = importing.client.put(f"/admin/transit/{row['id']}", {"airport_name": JFK, "place": "Bay 4"})
    assert changed.status_int == 303
    page = importing.commit(path)

    assert importing.batch(path).results == {"updated": 1, "conflict": 1}
    assert importing.site.row("transit", row["id"])["company_phone1"] is None
    assert "Alpha" in page.html.find(class_="import-rows").get_text()


def test_a_record_that_somebody_created_after_the_preview_is_not_created_again(importing: Importing) -> None:
    importing.whole(rows_of("Moves"))
    path = importing.start(rows_of("Alpha", "Beta", "Gamma", "Delta", "Epsilon"))
    importing.preview(path, match="place")
    place = {"airport_name": JFK, "route_name": "1"}
    importing.client.create("transit", company_name="ALPHA", **place)
    importing.client.create("transit", company_name="Beta", **(place | {"route_name": "2"}))
    deleted = importing.client.create("transit", company_name="Gamma", **place)
    importing.client.delete(f"/admin/transit/{deleted}")
    moved = next(row["id"] for row in importing.client.rows("transit") if row["company_name"] == "Moves")
    importing.client.put(f"/admin/transit/{moved}", {"company_name": "Delta", **place})
    page = importing.commit(path)

    assert importing.batch(path).results == {"created": 3, "conflict": 2}
    assert importing.names() == ["ALPHA", "Beta", "Beta", "Delta", "Epsilon", "Gamma"]
    assert "its place" in page.html.find(class_="import-rows").get_text()


def test_all_or_nothing_imports_nothing_if_there_is_a_conflict(importing: Importing) -> None:
    importing.whole(rows_of("Alpha", "Beta"))
    path = importing.start(rows_of("Alpha", "Beta", phone="+1 212 555 0123"))
    importing.preview(path, match="place")
    row = importing.client.rows("transit")[0]
    importing.client.put(f"/admin/transit/{row['id']}", {"airport_name": JFK, "place": "Bay 4"})
    page = importing.commit(path, all_or_nothing="1")

    assert importing.batch(path).state == ImportState.REFUSED
    assert importing.batch(path).results == {"conflict": 1}
    assert "Nothing was imported" in page.text
    assert [one["company_phone1"] for one in importing.client.rows("transit")] == [None, None]


def test_all_or_nothing_imports_everything_in_one_transaction(
    importing: Importing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit, "CHUNK", 2)
    path = importing.start(rows_of("Alpha", "Beta", "Gamma"))
    importing.preview(path)
    importing.commit(path, all_or_nothing="1")

    assert importing.names() == ["Alpha", "Beta", "Gamma"]
    assert importing.batch(path).results == {"created": 3}
    assert len({entry["at"] for entry in importing.site.entries()}) == 1


def test_all_or_nothing_is_refused_while_rows_are_refused(importing: Importing) -> None:
    path = importing.start(BAD)
    importing.preview(path)
    importing.commit(path, all_or_nothing="1")

    assert importing.batch(path).state == ImportState.PREVIEW
    assert importing.names() == []


def test_a_stopped_import_goes_on_where_it_was(importing: Importing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit, "CHUNK", 2)
    path = importing.start(rows_of("Alpha", "Beta", "Gamma", "Delta"))
    importing.preview(path)
    original = commit.commit_chunk

    def stop_after_one(*given: Any) -> bool:
        goes_on = original(*given)
        assert importing.client.post(f"{path}/stop").status_int == 303
        return goes_on

    monkeypatch.setattr(commit, "commit_chunk", stop_after_one)
    page = importing.commit(path)
    assert importing.names() == ["Alpha", "Beta"]
    assert "Stopped" in page.text

    monkeypatch.setattr(commit, "commit_chunk", original)
    assert importing.client.post(f"{path}/continue").status_int == 303
    importing.run()
    assert importing.names() == ["Alpha", "Beta", "Delta", "Gamma"]
    assert importing.batch(path).results == {"created": 4}


def test_a_stopped_import_can_be_left_or_undone(importing: Importing, monkeypatch: pytest.MonkeyPatch) -> None:
    for step, left in (("close", ["Alpha"]), ("undo", ["Alpha"])):
        path = importing.start(rows_of("Alpha" if step == "close" else "Beta"))
        importing.preview(path)
        importing.client.post(f"{path}/commit")
        importing.client.post(f"{path}/stop")
        if step == "undo":
            importing.client.post(f"{path}/continue")
            importing.run()
        else:
            importing.client.post(f"{path}/continue")
            importing.run()
        importing.client.post(f"{path}/{step}")
        importing.run()
        assert importing.names() == left


def test_a_step_that_is_over_changes_nothing(importing: Importing) -> None:
    path = importing.whole(rows_of("Alpha"))
    before = importing.batch(path)
    for step in ("read", "preview", "columns", "decide", "commit", "continue", "close", "discard"):
        assert importing.client.post(f"{path}/{step}").status_int == 303
        importing.run()
    assert importing.batch(path) == before
    assert importing.names() == ["Alpha"]


# The undo


def test_an_undo_takes_back_what_nobody_changed_since_and_lists_the_rest(
    importing: Importing, monkeypatch: pytest.MonkeyPatch
) -> None:
    importing.whole(rows_of("Old", "Other"))
    path = importing.start(rows_of("Old", "Other", "New", "Newer", "Gone", phone="+1 212 555 0123"))
    importing.preview(path, match="place")
    importing.commit(path)
    rows = {row["company_name"]: row for row in importing.client.rows("transit")}
    importing.client.put(f"/admin/transit/{rows['Other']['id']}", {"airport_name": JFK, "place": "Bay 4"})
    importing.client.put(f"/admin/transit/{rows['Newer']['id']}", {"airport_name": JFK, "place": "Bay 4"})
    importing.client.delete(f"/admin/transit/{rows['Gone']['id']}")
    monkeypatch.setattr("groundtransport.transfer.imports.undo.CHUNK", 2)

    assert importing.client.post(f"{path}/undo").status_int == 303
    importing.run()

    batch = importing.batch(path)
    assert batch.state == ImportState.UNDONE
    assert batch.results == {"created": 3, "updated": 2, "deleted": 1, "reverted": 1, "kept": 3}
    assert importing.names() == ["Newer", "Old", "Other"]
    after = {row["company_name"]: row for row in importing.client.rows("transit")}
    assert after["Old"]["company_phone1"] is None
    assert after["Other"]["company_phone1"] == "+1 212 555 0123"
    text = importing.client.get(path).text
    for name in ("Other", "Newer", "Gone"):
        assert name in text
    own = select(func.count()).select_from(AdminActivity).where(AdminActivity.batch == batch.undo_batch)
    assert importing.site.scalar(own) == 2


def test_an_undo_after_that_of_a_second_import_is_whole(importing: Importing) -> None:
    first = importing.start(rows_of("Alpha", "Beta", "Gamma"))
    importing.preview(first, match="place")
    importing.commit(first)
    second = importing.start(rows_of("Alpha", "Beta", phone="+1 212 555 0123"))
    importing.preview(second, match="place")
    importing.commit(second)
    (beta,) = (row for row in importing.client.rows("transit") if row["company_name"] == "Beta")
    importing.client.put(f"/admin/transit/{beta['id']}", {"airport_name": JFK, "place": "Bay 4"})

    for path in (second, first):
        assert importing.client.post(f"{path}/undo").status_int == 303
        importing.run()

    assert importing.batch(second).results == {"updated": 2, "reverted": 1, "kept": 1}
    assert importing.batch(first).results == {"created": 3, "deleted": 2, "kept": 1}
    assert importing.names() == ["Beta"]


def test_another_editor_can_undo_and_the_log_names_them(site: Site) -> None:
    mine = Importing(site.client(Role.EDITOR))
    path = mine.whole(rows_of("Alpha"))
    assert site.client(Role.ADMINISTRATOR).post(f"{path}/undo").status_int == 303
    mine.run()
    assert mine.names() == []
    assert site.entries()[-1]["actor"] == "the-administrator"
    assert mine.batch(path).undone_by == "the-administrator"


# What is kept


def test_an_upload_is_removed_after_a_day_and_a_result_stays(importing: Importing) -> None:
    finished, left = importing.whole(BAD), importing.start(BAD)
    importing.preview(left)
    with db.transaction(importing.site.engine) as dbsession:
        dbsession.execute(update(ImportBatch).values(created_at=db.now() - timedelta(days=2)))
        queue.add(dbsession, names.PURGE)
    importing.run()

    assert importing.client.get(left).status_int == 404
    assert importing.client.get(finished).status_int == 200
    assert importing.site.count(ImportRow) == 2, "the refused rows of the result"


def test_the_security_log_holds_the_upload_the_commit_and_the_undo(importing: Importing) -> None:
    path = importing.whole(rows_of("Alpha"))
    importing.client.post(f"{path}/undo")
    importing.run()

    assert [event["details"]["what"] for event in importing.site.events("import")] == ["upload", "commit", "undo"]


def test_progress_is_told_as_json(importing: Importing) -> None:
    path = importing.start(rows_of("Alpha", "Beta"))
    importing.client.post(f"{path}/preview", importing.form(path))
    assert importing.client.get(f"{path}/progress").json == {
        "state": "previewing",
        "is_active": True,
        "done": 0,
        "total": None,
    }
    assert "http-equiv" in importing.client.get(path).text
    importing.run()
    assert importing.client.get(f"{path}/progress").json["state"] == "preview"


# The command line


def test_imports_are_listed_resumed_and_undone_from_the_command_line(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    importing, shell = Importing(site.client()), Shell(tmp_path, site.url)
    path = importing.start(rows_of("Alpha", "Beta", "Gamma"))
    importing.preview(path)
    importing.client.post(f"{path}/commit")
    importing.client.post(f"{path}/stop")
    number = path.rpartition("/")[2]
    assert "committing" in shell("imports", "list")

    assert "done: 3 created" in shell("imports", "resume", number)
    assert importing.names() == ["Alpha", "Beta", "Gamma"]
    assert "nothing to resume" in shell("imports", "resume", number, fails=True)
    assert "undone: 3 created, 3 deleted" in shell("imports", "undo", number)
    assert importing.names() == []
    assert site.entries()[-1]["actor"].endswith("(command line)")
    assert "cannot be undone" in shell("imports", "undo", number, fails=True)
    assert "no import 999" in shell("imports", "undo", "999", fails=True)
    assert "0 jobs" in shell("worker", "--once")


# The batch


def test_the_lists_and_the_log_are_filtered_by_the_batch(importing: Importing) -> None:
    importing.whole(rows_of("Old"))
    path = importing.whole(rows_of("New", "Newer"))
    batch = importing.batch(path).batch

    assert sorted(row["company_name"] for row in importing.client.rows("transit", batch=batch)) == ["New", "Newer"]
    assert [row["company_name"] for row in importing.client.rows("transit", batch=batch, q="newer")] == ["Newer"]
    assert importing.client.rows("transit", batch="import-0") == []
    page = importing.client.get(f"/admin/transit?batch={batch}")
    assert "Old" not in page.html.find(id="records").get_text()
    assert batch in page.html.find(class_="chips").get_text()
    log = importing.client.get(f"/admin/activity?batch={batch}")
    assert f"/admin/imports?batch={batch}" in log.text
    assert importing.client.get(f"/admin/imports?batch={batch}").location.endswith(path)


def test_the_statistics_after_an_import_have_no_time_limit(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    if site.engine.dialect.name == "sqlite":
        return
    limits = []

    def tidy(connection: Connection, *_: object) -> None:
        limits.append(connection.exec_driver_sql("SHOW statement_timeout").scalar_one())
        raise OperationalError("VACUUM", {}, Exception("a failure"))

    monkeypatch.setattr("groundtransport.indexes.postgresql.tidy", tidy)
    with site.again() as again:
        importing = Importing(again.client())
        importing.whole(rows_of("Alpha"))
        assert importing.names() == ["Alpha"]
        assert postgresql.has_limits(again.engine), "the limit of requests is back"
    assert limits == ["0"]


def test_a_group_of_different_values_shows_one_as_an_example(importing: Importing) -> None:
    path = importing.start(HEADER.encode() + b"JFK,A,1,abc\nJFK,B,1,xyz\nJFK,C,1,\nQQQ,D,1,\nQQQ,E,1,\n")
    problems = importing.preview(path).html.select("[aria-labelledby=problems] .import-problem")
    texts = [" ".join(problem.get_text().split()) for problem in problems]
    assert len(texts) == 2
    assert any(text.startswith("For example: abc") for text in texts)
    assert any(text.startswith("QQQ") for text in texts)
