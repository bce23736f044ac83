"""Subscribers after the commit: never called before it, never for a change that was rolled back, and isolated."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.event import listen
from sqlalchemy.orm import Session

from groundtransport.db import now, transaction
from groundtransport.events import Actor, RecordChanged, RecordDeleted
from groundtransport.records.writer import Writer
from tests.site import JFK, Site

Includeme = Callable[[Any], None]


@contextmanager
def site_with_plugin(whole_site: Site, includeme: Includeme) -> Iterator[Site]:
    """The application on the same database, with a plug-in that its ini names."""
    plugin = ModuleType("a_plugin")
    plugin.includeme = includeme
    site = copy(whole_site)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "a_plugin", plugin)
        site.app_settings = {**whole_site.app_settings, "pyramid.includes": "a_plugin"}
        site.start()
    try:
        site.clean()
        yield site
    finally:
        site.engine.dispose()


def plugin_of(*subscribers: Includeme, event_class: Any = RecordChanged) -> Includeme:
    """Return the ``includeme`` of a plug-in that subscribes these after the commit."""

    def includeme(config: Any) -> None:
        config.include("groundtransport.after_commit")
        for subscriber in subscribers:
            config.add_after_commit_subscriber(subscriber, event_class)

    return includeme


def test_each_committed_change_is_told_once_and_in_order(whole_site: Site, kind: str) -> None:
    published: list[RecordChanged] = []
    with site_with_plugin(whole_site, plugin_of(published.append)) as site:
        client = site.client()
        record_id = client.create(kind, company_name="Alpha")
        client.put(f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_name": "Beta"})
        client.delete(f"/admin/{kind}/{record_id}")
        client.post(f"/admin/{kind}/{record_id}/restore")
    assert [event.action for event in published] == ["create", "update", "delete", "restore"]
    assert {(event.kind, event.record_id) for event in published} == {(kind, record_id)}
    assert (published[1].before["company_name"], published[1].after["company_name"]) == ("Alpha", "Beta")
    assert published[1].actor.name == "the-administrator"


def test_it_is_told_when_the_change_can_be_seen_by_everybody(whole_site: Site, kind: str) -> None:
    seen: list[str | None] = []

    def look(event: RecordChanged) -> None:
        model = site.kinds[kind].model
        with site.engine.connect() as other:
            seen.append(other.scalar(select(model.company_name).where(model.id == event.record_id)))

    with site_with_plugin(whole_site, plugin_of(look)) as site:
        site.client().create(kind, company_name="Alpha")
    assert seen == ["Alpha"]


def test_it_may_write_by_a_transaction_of_its_own(whole_site: Site, kind: str) -> None:
    def rename(event: RecordChanged) -> None:
        if event.action == "create":
            with transaction(site.engine) as dbsession:
                record = dbsession.get_one(site.kinds[kind].model, event.record_id)
                Writer(dbsession, site.registry.notify, site.kinds[kind], Actor("a plug-in")).update(
                    record, {"company_name": "Beta"}
                )

    with site_with_plugin(whole_site, plugin_of(rename)) as site:
        record_id = site.client().create(kind, company_name="Alpha")
        assert site.row(kind, record_id)["company_name"] == "Beta"
        assert [entry["actor"] for entry in site.entries()] == ["the-administrator", "a plug-in"]


def test_a_class_of_events_is_asked_for(whole_site: Site, kind: str) -> None:
    published: list[RecordChanged] = []
    with site_with_plugin(
        whole_site, plugin_of(published.append, event_class="groundtransport.events.RecordDeleted")
    ) as site:
        client = site.client()
        client.delete(f"/admin/{kind}/{client.create(kind)}")
    assert [type(event) for event in published] == [RecordDeleted]


def test_one_that_fails_is_logged_and_nobody_else_notices(
    whole_site: Site, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    published: list[RecordChanged] = []

    def fail(event: RecordChanged) -> None:
        raise RuntimeError("the world does not answer")

    with site_with_plugin(whole_site, plugin_of(fail, published.append)) as site:
        client = site.client()
        answer = client.post(f"/admin/{kind}", {"airport_name": JFK, "company_name": "Alpha"})
        page = answer.follow()
        assert len(client.rows(kind)) == len(site.entries()) == 1
    assert answer.status_int == 303
    assert "does not answer" not in answer.text + page.text
    assert len(published) == 1
    (line,) = [record for record in caplog.records if record.name == "groundtransport.after_commit"]
    assert (line.levelno, line.exc_info is not None) == (logging.ERROR, True)
    assert "fail failed after the commit of create" in line.getMessage()
    assert "the world does not answer" in caplog.text


def test_the_session_that_has_ended_cannot_be_used(
    whole_site: Site, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    def write(event: RecordChanged) -> None:
        event.dbsession.execute(select(now()))

    with site_with_plugin(whole_site, plugin_of(write)) as site:
        assert site.client().post(f"/admin/{kind}", {"airport_name": JFK}).status_int == 303
        assert site.client().post(f"/admin/{kind}", {"airport_name": JFK}).status_int == 303  # nothing is left locked
    assert "'NoneType' object has no attribute 'execute'" in caplog.text


def test_what_is_refused_or_undone_is_never_told(whole_site: Site, kind: str) -> None:
    published: list[RecordChanged] = []

    def undo(event: RecordChanged) -> None:
        raise RuntimeError("undone")

    with site_with_plugin(whole_site, plugin_of(published.append)) as site:
        client = site.client()
        assert client.post(f"/admin/{kind}", {"airport_name": "Nowhere (QQQ)"}).status_int == 422
        site.registry.registerHandler(undo, (RecordChanged,))
        assert client.post(f"/admin/{kind}", {"airport_name": JFK}).status_int == 500
        site.registry.unregisterHandler(undo, (RecordChanged,))
        assert published == []
        client.create(kind)
    assert [event.action for event in published] == ["create"]


def test_a_commit_that_fails_is_not_told(whole_site: Site, kind: str) -> None:
    """The failure comes as late as it can: after every subscriber, at the commit itself."""
    published: list[RecordChanged] = []

    def fail_at_commit(event: RecordChanged) -> None:
        listen(event.dbsession, "before_commit", fail)

    def fail(dbsession: Session) -> None:
        if not dbsession.in_nested_transaction():  # the end of a savepoint is no commit
            raise RuntimeError("the disk is full")

    with site_with_plugin(whole_site, plugin_of(published.append)) as site:
        site.registry.registerHandler(fail_at_commit, (RecordChanged,))
        assert site.client().post(f"/admin/{kind}", {"airport_name": JFK}).status_int == 500
        assert site.entries() == published == []


def test_a_transaction_without_a_request_tells_too_once_it_is_over(whole_site: Site, kind: str) -> None:
    published: list[RecordChanged] = []
    with site_with_plugin(whole_site, plugin_of(published.append)) as site:
        record_id = site.client().create(kind, company_name="Alpha")
        with transaction(site.engine) as dbsession:
            record = dbsession.get_one(site.kinds[kind].model, record_id)
            writer = Writer(dbsession, site.registry.notify, site.kinds[kind], Actor("me (command line)", batch="b"))
            writer.update(record, {"company_name": "Beta"})
            writer.update(record, {"company_name": "Gamma"})
            assert len(published) == 1
    assert [event.after["company_name"] for event in published] == ["Alpha", "Beta", "Gamma"]


def test_every_event_and_every_field_of_it_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "events.md").read_text()
    for event in RecordChanged.__subclasses__():
        assert f"| `{event.__name__}` | `{event.action}` |" in text
    assert [field.name for field in fields(RecordChanged) if f"`{field.name}`" not in text] == []
