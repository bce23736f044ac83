"""The first and the last day of a record: the status that is shown follows them, and nothing is deleted."""

import csv
import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from webtest import TestApp

from groundtransport import db
from groundtransport.audit.integrity.reconcile import reconcile
from groundtransport.public import ClientLimit, PublicFiles
from groundtransport.security import Role
from tests.api import Program, make_token
from tests.functional.importing import Importing
from tests.site import JFK, Client, Site

TODAY = datetime.now(UTC).date()
EARLIER, YESTERDAY, NOW, TOMORROW = ((TODAY + timedelta(days=n)).isoformat() for n in (-40, -1, 0, 1))
DAYS = {
    "Always": ("", ""),
    "Season": (YESTERDAY, TOMORROW),
    "One day": (NOW, NOW),
    "Next": (TOMORROW, ""),
    "Gone": (EARLIER, YESTERDAY),
}
STATES = {"current": {"Always", "Season", "One day"}, "not_yet": {"Next"}, "ended": {"Gone"}}
BADGES = {"not_yet": "Not yet valid", "ended": "Ended"}


@pytest.fixture
def editor(site: Site) -> Client:
    return site.client(Role.EDITOR)


@pytest.fixture
def ids(editor: Client, kind: str) -> dict[str, int]:
    """The ids of records in all states."""
    return {
        name: editor.create(kind, company_name=name, valid_from=first, valid_until=last)
        for name, (first, last) in DAYS.items()
    }


def text_of(element: object) -> str:
    return " ".join(element.get_text(" ").split())  # type: ignore[attr-defined]  # an element of Beautiful Soup


def test_the_list_shows_and_filters_the_state(site: Site, editor: Client, kind: str, ids: dict[str, int]) -> None:
    page = editor.get(f"/admin/{kind}").html
    for state, names in STATES.items():
        assert {row["company_name"] for row in editor.rows(kind, validity=state)} == names
        assert {row["validity"] for row in editor.rows(kind, validity=state)} == {state}
        for name in names:
            row = page.find(id=f"record-{ids[name]}")
            shown = [text_of(badge) for badge in row.select(".badge[class*=status-]")]
            assert shown == ([BADGES[state]] if state in BADGES else ["Active"] if kind == "transit" else [])
    if kind == "transit":
        assert {row["status"] for row in editor.rows(kind)} == {"active"}, "the stored status stays"
    assert len(editor.rows(kind, validity="never")) == len(DAYS)
    chips = editor.get(f"/admin/{kind}?validity=ended").html.select("[data-chip=validity]")
    assert [text_of(chip) for chip in chips] == ["Remove: Validity: Ended ×"]
    assert [row["company_name"] for row in editor.rows(kind, sort="-valid_until")][:2] == ["Season", "One day"]
    with db.transaction(site.engine) as dbsession:
        assert reconcile(dbsession, site.kinds) == []


def test_an_inactive_record_stays_inactive(editor: Client) -> None:
    gone = editor.create("transit", company_name="Gone", valid_until=YESTERDAY, status="inactive")
    row = editor.get("/admin/transit").html.find(id=f"record-{gone}")
    assert text_of(row.select_one(".col-status")) == "Inactive"


def test_the_details_show_the_days_and_the_state(editor: Client, kind: str, ids: dict[str, int]) -> None:
    def shown(name: str) -> str:
        return text_of(editor.get(f"/admin/{kind}/{ids[name]}").html)

    assert "Valid" not in shown("Always")
    assert "Not yet valid" not in shown("Season")
    assert ("Valid from" in shown("Next"), "Not yet valid" in shown("Next")) == (True, True)
    assert "Ended" in shown("Gone")
    assert "Active" not in shown("Gone")


def test_the_last_day_is_not_before_the_first(editor: Client, kind: str) -> None:
    record_id = editor.create(kind, company_name="Alpha", valid_from=NOW)
    form = editor.get(editor.edit_link(kind, record_id)).forms["record"]
    form["valid_until"] = YESTERDAY
    answer = form.submit(expect_errors=True)
    assert answer.status_int == 422
    assert answer.html.find(id="valid_until-error").text == "The last day cannot be before the first day."
    form["valid_until"] = "31 March"
    assert "must be a date" in form.submit(expect_errors=True).html.find(id="valid_until-error").text
    form["valid_until"] = NOW
    assert form.submit().status_int == 303
    entry = editor.site.entries()[-1]
    assert entry["changes"] == {"valid_until": {"old": None, "new": NOW}}


def test_the_api_has_both_days_and_the_state(site: Site, kind: str, ids: dict[str, int]) -> None:
    program = Program(site, make_token(site, Role.EDITOR))
    url = f"/api/v1/{kind}/{ids['Gone']}"
    record = program.get(url).json
    assert (record["valid_from"], record["valid_until"], record["validity"]) == (EARLIER, YESTERDAY, "ended")
    answer = program.put(url, record | {"valid_until": None}, If_Match='"1"')
    assert (answer.status_int, answer.json["validity"]) == (200, "current")
    answer = program.patch(url, {"valid_until": "2000-01-01"}, If_Match='"2"')
    assert (answer.status_int, set(answer.json["errors"])) == (422, {"valid_until"})
    answer = program.get(f"/api/v1/{kind}?validity=not_yet&limit=1")
    assert [item["company_name"] for item in answer.json["items"]] == ["Next"]
    assert program.get(f"/api/v1/{kind}?validity=maybe").status_int == 422
    first = program.get(f"/api/v1/{kind}?validity=current&limit=1").json
    second = program.get(first["next"].removeprefix("http://localhost")).json
    assert {item["validity"] for item in first["items"] + second["items"]} == {"current"}


def test_an_export_has_the_state(editor: Client, kind: str, ids: dict[str, int]) -> None:
    text = editor.get(f"/admin/{kind}/export?format=csv&validity=ended").text.removeprefix("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text)))
    found = [(row["company_name"], row["valid_until"], row["validity"]) for row in rows]
    assert (len(ids), found) == (len(DAYS), [("Gone", YESTERDAY, "ended")])


def test_an_import_sets_the_days_and_checks_their_order(editor: Client, kind: str) -> None:
    importing = Importing(editor, kind)
    lines = (f"JFK,Summer,{YESTERDAY},{TOMORROW},ended", f"JFK,Wrong,{TOMORROW},{YESTERDAY},")
    path = importing.start("\n".join(("airport,name,valid from,valid until,validity", *lines)).encode())
    page = importing.preview(f"{path}")
    assert "The last day cannot be before the first day." in importing.client.get(f"{path}?show=refused").text
    assert page.status_int == 200
    importing.commit(path)
    rows = [(row["company_name"], row["valid_until"], row["validity"]) for row in editor.rows(kind)]
    assert rows == [("Summer", TOMORROW, "current")]


def test_only_valid_records_are_public(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = site.client(Role.EDITOR)
    for name, (first, last) in DAYS.items():
        editor.create("transit", company_name=name, valid_from=first, valid_until=last)
    registry = site.registry
    monkeypatch.setitem(registry, "settings", replace(registry["settings"], public_kinds=("transit",)))
    monkeypatch.setitem(registry, "public_files", PublicFiles(site.engine, ()))
    monkeypatch.setitem(registry, "public_limit", ClientLimit(100))
    items = TestApp(site.wsgi).get("/public/v1/transit").json["items"]
    assert {item["company_name"] for item in items} == STATES["current"]
    assert {item["valid_until"] for item in items} == {None, TOMORROW, NOW}


def test_records_of_two_seasons_merge_to_an_order(site: Site, editor: Client, kind: str) -> None:
    one = editor.create(kind, company_name="Alpha", valid_from=TOMORROW)
    two = editor.create(kind, company_name="Alpha", valid_until=YESTERDAY)
    form = {"other": str(two), "survivor": str(one), "version": "1", "other_version": "1"}
    picks = {"pick-valid_from": str(one), "pick-valid_until": str(two)}
    answer = editor.post(f"/admin/{kind}/{one}/merge", form | picks)
    assert answer.status_int == 422
    assert "The last day cannot be before the first day." in answer.text
    assert len(editor.rows(kind)) == 2


def test_records_without_days_are_as_before(editor: Client, kind: str) -> None:
    editor.create(kind, company_name="Alpha", airport_name=JFK)
    row = editor.rows(kind)[0]
    assert (row["valid_from"], row["valid_until"], row["validity"]) == (None, None, "current")
    assert "display" not in row
