"""Random changes by three users: acknowledged changes are stored, refused ones are not."""

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import func, select

from groundtransport import db
from groundtransport.accounts import users
from groundtransport.audit.models import AdminActivity
from groundtransport.security import Role
from tests.functional.people import cheap_hashes
from tests.integrity import Known, Person, assert_whole, expected_values, person, rows
from tests.site import HEATHROW, JFK, PASSWORD, Site

pytestmark = pytest.mark.slow

EXAMPLES = 20
NAMES = ("ann", "bob", "cyd")
FREE = ("company_name", "company_address", "zip_code")  # texts that every kind has
TRACKED = ("airport_name", *FREE)

who = st.sampled_from(NAMES)
which = st.integers(0, 1)
fields = st.fixed_dictionaries(
    {"airport_name": st.sampled_from((JFK, JFK, JFK, HEATHROW))},
    optional={name: st.sampled_from(("A", "B", "C", "")) for name in FREE},
)


class RecordChanges(RuleBasedStateMachine):
    """Three people write over HTTP; the model knows what they were told."""

    site: Site

    def __init__(self) -> None:
        super().__init__()
        self.site.clean()
        with cheap_hashes(), db.transaction(self.site.engine) as dbsession:
            for name in NAMES:
                users.add(dbsession, name, Role.EDITOR, PASSWORD, one_time=False)
        self.people: dict[str, Person] = {name: person(self.site, name) for name in NAMES}
        self.records: list[Known] = []
        self.tokens: dict[tuple[str, str], Known] = {}
        self.undos: dict[str, tuple[str, Known, dict[str, str], int]] = {}

    def pick(self, number: int) -> Known:
        return self.records[-1 - number % len(self.records)]

    def check_message(self, name: str, answer: Any, record: Known, action: str) -> None:
        """Follow an acknowledged change to the next page, and remember the way back that it offers."""
        assert answer.status_int == 303, answer.text
        form = self.people[name].get(answer.location).html.find(id="messages").find_all("form")[-1]
        matched = {field["name"]: field.get("value", "") for field in form.find_all("input")}
        assert form["action"].startswith(record.address)
        self.undos[name] = (action, record, {**matched, "action": form["action"]}, record.version)

    # What people do

    @initialize(name=who, kind=st.sampled_from(("scheduledbus", "transit")), sent=fields)
    def begin(self, name: str, kind: str, sent: dict[str, str]) -> None:
        self.create(name, kind, sent, None)

    @precondition(lambda self: len(self.records) < 2 or self.tokens)
    @rule(
        name=who,
        kind=st.sampled_from(("scheduledbus", "transit")),
        sent=fields,
        token=st.sampled_from((None, "1", "2")),
    )
    def create(self, name: str, kind: str, sent: dict[str, str], token: str | None) -> None:
        if len(self.records) > 1 and (kind, f"the-token-of-form-{token}") not in self.tokens:
            return  # few records, so that people meet
        full = f"the-token-of-form-{token}"
        form = {**sent, "form_token": full} if token else sent
        answer = self.people[name].post(f"/admin/{kind}", form)
        assert answer.status_int == 303, answer.text
        if token and (kind, full) in self.tokens:
            return  # the invariant counts the entries
        model = self.site.kinds[kind].model
        record = Known(
            kind, self.site.scalar(select(func.max(model.id))), dict.fromkeys(TRACKED) | expected_values(sent), name
        )
        self.records.append(record)
        if token:
            self.tokens[kind, full] = record

    @rule(name=who, number=which, sent=fields, back=st.sampled_from((None, 0, 0, 1, 1, 2, 3, -1)))
    def update(self, name: str, number: int, sent: dict[str, str], back: int | None) -> None:
        """Save from the current version, from one so many changes ago, from none, or from one that never was."""
        record = self.pick(number)
        version = None if back is None else record.version - back
        form = sent if version is None else {**sent, "version": str(version)}
        answer = self.people[name].put(record.address, form)
        result = record.merged(expected_values(sent), version)
        if record.deleted_by:
            assert answer.status_int == 404
        elif result is None:
            assert answer.status_int == 409
        else:
            assert answer.status_int == 303, answer.text
            if record.save(result, name):
                self.check_message(name, answer, record, "update")

    @rule(name=who, number=which, sent=fields)
    def save_what_is_no_record(self, name: str, number: int, sent: dict[str, str]) -> None:
        record = self.pick(number)
        bad = {**sent, "airport_name": "Nowhere (QQQ)"}
        assert self.people[name].put(record.address, bad).status_int == (404 if record.deleted_by else 422)
        assert self.people[name].post(f"/admin/{record.kind}", bad).status_int == 422

    @rule(name=who, number=which, back=st.sampled_from((None, 0, 0, 1)))
    def delete(self, name: str, number: int, back: int | None) -> None:
        record = self.pick(number)
        version = {} if back is None else {"version": str(record.version - back)}
        answer = self.people[name].delete(record.address, version)
        if record.deleted_by:
            assert answer.status_int == 404
        elif back:
            assert answer.status_int == 409
        else:
            record.deleted_by = name
            record.log.append(("delete", name))
            self.check_message(name, answer, record, "delete")

    @rule(name=who, number=which)
    def restore(self, name: str, number: int) -> None:
        record = self.pick(number)
        answer = self.people[name].post(f"{record.address}/restore")
        if not record.deleted_by:
            assert answer.status_int == 404
            return
        record.deleted_by = ""
        record.log.append(("restore", name))
        self.check_message(name, answer, record, "restore")

    @rule(name=who, number=which, back=st.integers(-1, 3))
    def bring_a_version_back(self, name: str, number: int, back: int) -> None:
        record = self.pick(number)
        target_version = record.version - back
        sent = {"to_version": str(target_version), "version": str(record.version)}
        if record.deleted_by:
            return
        answer = self.people[name].post(f"{record.address}/restore", sent)
        if not 0 < target_version <= record.version:
            assert answer.status_int == 404
        elif record.save(record.versions[target_version - 1], name):
            self.check_message(name, answer, record, "update")
        else:
            assert answer.status_int == 303

    @precondition(lambda self: self.undos)
    @rule(name=who)
    def undo(self, name: str) -> None:
        """Press the Undo of one's last change, whatever others have done to the record in between."""
        if name not in self.undos:
            return
        action, record, form, version = self.undos.pop(name)
        answer = self.people[name].post(form.pop("action"), form)
        untouched = record.version == version
        if action == "delete":
            self.is_done_if(bool(record.deleted_by), answer)
        else:
            self.is_done_if(untouched and not record.deleted_by, answer)
        if answer.status_int != 303:
            return
        if action == "update":
            record.save(record.versions[version - 2], name)
        else:
            record.log.append(("restore" if action == "delete" else "delete", name))
            record.deleted_by = "" if action == "delete" else name

    def is_done_if(self, possible: bool, answer: Any) -> None:
        assert answer.status_int in ((303,) if possible else (404, 409)), answer.text

    # What is asked afterwards

    @invariant()
    def every_change_has_one_entry_and_nothing_else_has(self) -> None:
        count = self.site.scalar(select(func.count()).select_from(AdminActivity))
        assert count == sum(len(record.log) for record in self.records)

    def teardown(self) -> None:
        matched, entries = rows(self.site), self.site.entries()
        assert set(matched) == {(record.kind, record.id) for record in self.records}
        for record in self.records:
            row = matched[record.kind, record.id]
            assert {name: row[name] for name in TRACKED} == record.values
            assert (row["version"], row["deleted_by"] or "") == (record.version, record.deleted_by)
            mine = [entry for entry in entries if (entry["kind"], entry["record_id"]) == (record.kind, record.id)]
            assert [(entry["action"], entry["actor"]) for entry in mine] == record.log
        for kind in self.site.kinds:
            for deleted in (True, False):
                listed = self.people["ann"].rows(kind, page_size="100", **({"deleted": "1"} if deleted else {}))
                target_version = {
                    record.id for record in self.records if (record.kind, bool(record.deleted_by)) == (kind, deleted)
                }
                assert {row["id"] for row in listed} == target_version
        assert_whole(self.site)


def machine_on(site: Site) -> type[RecordChanges]:
    return type("LifeOnThisDatabase", (RecordChanges,), {"site": site})


def test_a_life_of_records_is_what_was_acknowledged(site: Site) -> None:
    in_ci = bool(os.environ.get("CI"))
    bounds = settings(
        max_examples=EXAMPLES,
        stateful_step_count=30,
        deadline=None,
        derandomize=in_ci,
        database=None,
        phases=[Phase.generate],  # to shrink a failure takes minutes: add Phase.shrink where that is wanted
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine_on(site), settings=bounds)


def test_the_undo_of_an_update_does_not_revive_what_somebody_else_deleted(site: Site) -> None:
    life = machine_on(site)()
    life.create("ann", "transit", {"airport_name": JFK}, None)
    life.update("ann", 0, {"airport_name": JFK, "company_name": "A"}, 0)
    life.delete("bob", 0, 0)
    life.undo("ann")
    life.teardown()


def test_the_undo_of_a_restoration_does_not_delete_what_somebody_else_changed(site: Site) -> None:
    life = machine_on(site)()
    life.create("ann", "transit", {"airport_name": JFK}, None)
    life.delete("bob", 0, 0)
    life.restore("bob", 0)
    life.update("ann", 0, {"airport_name": JFK, "company_name": "A"}, 0)
    life.undo("bob")
    life.teardown()
