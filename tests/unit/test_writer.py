"""The one writer: it flushes, publishes one frozen event, and takes a record softly or for good."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import MetaData, String, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.orm.exc import StaleDataError

from groundtransport import db
from groundtransport.airports.models import Airport
from groundtransport.events import Actor, RecordCreated, RecordDeleted, RecordRestored, RecordUpdated
from groundtransport.records.fields import Field, declare
from groundtransport.records.forms import RecordSchema
from groundtransport.records.kind import Kind
from groundtransport.records.model import RecordColumns
from groundtransport.records.writer import Writer
from tests.site import JFK, Site

Notify = Callable[[Any], None]
ACTOR = Actor("the-editor", 7, "request-1", "192.0.2.1")


class OwnBase(DeclarativeBase):
    metadata = MetaData()  # not the application's: what the tests make must not look like a missing migration


Airport.__table__.to_metadata(OwnBase.metadata)


class Parcel(RecordColumns, OwnBase):
    """A record that is deleted for good: no SoftDelete."""

    __tablename__ = "parcel"
    company_name: Mapped[str | None] = mapped_column(String(200))


class ParcelSchema(RecordSchema):
    company_name = declare(Field, Parcel.company_name, "Company Name")


PARCEL = Kind(
    "parcel",
    "Parcel",
    "Parcels",
    Parcel,
    ParcelSchema,
    ("airport_name",),
    {"company_name": ("company_name",)},
    label="company_name",
)


@pytest.fixture
def site(site: Site) -> Iterator[Site]:
    OwnBase.metadata.tables["parcel"].create(site.engine)
    yield site
    OwnBase.metadata.tables["parcel"].drop(site.engine)


@pytest.fixture
def events() -> list[Any]:
    return []


def values(site: Site, **fields: Any) -> dict[str, Any]:
    airport_id = site.scalar(select(Airport.id).where(Airport.code == "JFK"))
    return {"airport_name": JFK, "airport_id": airport_id, "airport_code": "JFK", **fields}


def kind_of(site: Site, name: str) -> Kind:
    return PARCEL if name == "parcel" else site.kinds[name]


def create(site: Site, kind: Kind, events: list[Any], **fields: Any) -> int:
    with db.transaction(site.engine) as dbsession:
        return Writer(dbsession, events.append, kind, ACTOR).create(values(site, **fields))


def change(site: Site, kind: Kind, notify: Notify, record_id: int, action: str, *more: Any) -> Any:
    with db.transaction(site.engine) as dbsession:
        record = dbsession.get_one(kind.model, record_id)
        return getattr(Writer(dbsession, notify, kind, ACTOR), action)(record, *more)


KINDS = pytest.mark.parametrize("name", ["scheduledbus", "transit", "parcel"])


@KINDS
def test_each_write_publishes_one_event_with_before_and_after(site: Site, events: list[Any], name: str) -> None:
    kind = kind_of(site, name)
    record_id = create(site, kind, events, company_name="Alpha")
    assert change(site, kind, events.append, record_id, "update", {"company_name": "Beta"}) is True
    change(site, kind, events.append, record_id, "delete")

    assert [type(event) for event in events] == [RecordCreated, RecordUpdated, RecordDeleted]
    created, updated, deleted = events
    assert {(event.kind, event.record_id, event.actor) for event in events} == {(name, record_id, ACTOR)}
    assert [event.action for event in events] == ["create", "update", "delete"]
    assert (created.before, created.after["company_name"], created.after["airport_code"]) == ({}, "Alpha", "JFK")
    assert (updated.before["company_name"], updated.after["company_name"]) == ("Alpha", "Beta")
    assert (deleted.before["company_name"], deleted.after) == ("Beta", {})
    assert set(created.after) == {*kind.fields, "airport_id", "airport_code"}
    assert [event.label for event in events] == ["Alpha", "Beta", "Beta"]


def test_an_event_is_frozen_through_and_through(site: Site, events: list[Any]) -> None:
    record_id = create(site, site.kinds["transit"], events, company_name="Alpha")
    change(site, site.kinds["transit"], events.append, record_id, "update", {"company_name": "Beta"})
    created, updated = events

    assert created.after["company_name"] == updated.before["company_name"] == "Alpha"  # no later change shows
    with pytest.raises(dataclasses.FrozenInstanceError):
        created.kind = "other"
    with pytest.raises(dataclasses.FrozenInstanceError):
        created.actor.name = "somebody else"
    for facts in (updated.before, updated.after):
        with pytest.raises(TypeError):
            facts["company_name"] = "forged"  # what one subscriber does, another must not see


def test_an_event_is_published_after_the_flush_and_inside_the_transaction(site: Site) -> None:
    seen: list[Any] = []

    def look(event: Any) -> None:
        inside = event.dbsession.scalar(select(Parcel.company_name).where(Parcel.id == event.record_id))
        with site.engine.connect() as outside:
            seen.append((inside, outside.scalar(select(func.count()).select_from(Parcel))))

    with db.transaction(site.engine) as dbsession:
        Writer(dbsession, look, PARCEL, ACTOR).create(values(site, company_name="Alpha"))
    assert seen == [("Alpha", 0)]
    assert site.count(Parcel) == 1


@KINDS
def test_a_subscriber_that_raises_takes_the_change_with_it(site: Site, events: list[Any], name: str) -> None:
    kind = kind_of(site, name)
    record_id = create(site, kind, events, company_name="Alpha")

    def refuse(event: Any) -> None:
        raise RuntimeError("the log is full")

    for action, more in (("update", ({"company_name": "Beta"},)), ("delete", ())):
        with pytest.raises(RuntimeError, match="full"):
            change(site, kind, refuse, record_id, action, *more)
    with Session(site.engine) as dbsession:
        record = dbsession.get_one(kind.model, record_id)
        assert (record.company_name, record.version, getattr(record, "deleted_at", None)) == ("Alpha", 1, None)


def test_without_the_mixin_a_deletion_is_for_good(site: Site, events: list[Any]) -> None:
    record_id = create(site, PARCEL, events, company_name="Alpha")
    change(site, PARCEL, events.append, record_id, "delete")
    assert site.count(Parcel) == 0
    assert create(site, PARCEL, events) > record_id  # a number is never given again


@pytest.mark.parametrize("name", ["scheduledbus", "transit"])
def test_with_the_mixin_a_deletion_hides_and_a_restoration_shows_again(
    site: Site, events: list[Any], name: str
) -> None:
    kind = site.kinds[name]
    record_id = create(site, kind, events, company_name="Alpha")
    change(site, kind, events.append, record_id, "delete")
    assert site.row(name, record_id)["deleted_at"] is not None
    assert site.scalar(select(func.count()).select_from(kind.model).where(kind.model.is_live())) == 0

    change(site, kind, events.append, record_id, "restore")
    assert site.row(name, record_id)["deleted_at"] is None
    restored = events[-1]
    assert (type(restored), restored.action, restored.before) == (RecordRestored, "restore", {})
    assert restored.after["company_name"] == restored.label == "Alpha"


@KINDS
def test_a_save_that_changes_nothing_is_no_update(site: Site, events: list[Any], name: str) -> None:
    kind = kind_of(site, name)
    record_id = create(site, kind, events, company_name="Alpha")
    with Session(site.engine) as dbsession:
        before = dbsession.get_one(kind.model, record_id)
    assert change(site, kind, events.append, record_id, "update", values(site, company_name="Alpha")) is False
    with Session(site.engine) as dbsession:
        after = dbsession.get_one(kind.model, record_id)
    assert (after.version, after.updated_at) == (before.version, before.updated_at) == (1, before.created_at)
    assert len(events) == 1


def test_an_update_counts_the_version_and_moves_the_time(site: Site, events: list[Any]) -> None:
    record_id = create(site, site.kinds["transit"], events, company_name="Alpha")
    before = site.row("transit", record_id)
    change(site, site.kinds["transit"], events.append, record_id, "update", {"company_name": None})
    after = site.row("transit", record_id)
    assert after["version"] == before["version"] + 1 == 2
    assert after["updated_at"] > before["updated_at"]
    assert (after["created_at"], after["company_name"]) == (before["created_at"], None)


@KINDS
@pytest.mark.parametrize(("action", "more"), [("update", ({"company_name": "Gamma"},)), ("delete", ())])
def test_a_record_that_another_changed_in_between_is_stale(
    site: Site, events: list[Any], name: str, action: str, more: tuple[Any, ...]
) -> None:
    kind = kind_of(site, name)
    record_id = create(site, kind, events, company_name="Alpha")
    with Session(site.engine) as dbsession:
        old = dbsession.get_one(kind.model, record_id)
    change(site, kind, events.append, record_id, "update", {"company_name": "Beta"})
    events.clear()

    def change_the_old() -> None:
        with db.transaction(site.engine) as dbsession:
            dbsession.add(old)  # as another transaction had read it
            getattr(Writer(dbsession, events.append, kind, ACTOR), action)(old, *more)

    with pytest.raises(StaleDataError):
        change_the_old()
    with Session(site.engine) as dbsession:
        assert dbsession.get_one(kind.model, record_id).company_name == "Beta"
    assert events == []


def test_nothing_but_fields_and_the_airport_is_stored(site: Site, events: list[Any]) -> None:
    forged = 999_999_999  # no sequence comes so far
    given = {"id": forged, "version": 77, "deleted_at": db.now(), "search_text": "forged", "company_name": "Alpha"}
    record_id = create(site, site.kinds["transit"], events, **given)
    row = site.row("transit", record_id)
    assert (row["id"] != forged, row["version"], row["deleted_at"]) == (True, 1, None)
    assert "forged" not in row["search_text"]


@KINDS
def test_a_record_without_company_is_called_by_its_kind_and_number(site: Site, events: list[Any], name: str) -> None:
    record_id = create(site, kind_of(site, name), events)
    title = {"scheduledbus": "Scheduled bus", "transit": "Transit service", "parcel": "Parcel"}[name]
    assert events[0].label == f"{title} {record_id}"
