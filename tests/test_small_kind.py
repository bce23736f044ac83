"""A kind with ``airport_name`` and one text field alone lives through every page; in a process of its own."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.own_kinds import OwnCode

pytestmark = pytest.mark.slow

STOP = '''"""Stops: a note at an airport."""

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base
from groundtransport.records.fields import Field, declare
from groundtransport.records.forms import RecordSchema
from groundtransport.records.kind import Kind
from groundtransport.records.model import RecordColumns, SoftDelete


class Stop(SoftDelete, RecordColumns, Base):
    __tablename__ = "stop"
    note: Mapped[str | None] = mapped_column(String(100))


class StopSchema(RecordSchema):
    note = declare(Field, Stop.note, "Note")


KIND = Kind(
    name="stop",
    title="Stop",
    plural="Stops",
    model=Stop,
    schema=StopSchema,
    columns=("airport_name", "note"),
    filters={filters},
)
'''


@pytest.mark.parametrize("filters", ['{"note": ("note",)}', "{}"])
def test_a_kind_of_one_text_lives_through_every_page(migrated_database_url: str, tmp_path: Path, filters: str) -> None:
    own = OwnCode(tmp_path, migrated_database_url)
    own.kind("stop", STOP.replace("{filters}", filters))
    assert "lived" in own.python("from tests.test_small_kind import live; live()").splitlines()
    for command in ("check", "audit verify", "audit reconcile", "reindex stop"):
        own.run(f"groundtransport {command}")
    own.file("stops.csv", "airport_name,note\nJFK (JFK),Door 5\nx (LHR),\n")
    own.run("groundtransport import stop stops.csv")
    own.run("groundtransport sample stop --records 3")
    own.run("groundtransport check")
    own.run("groundtransport audit reconcile")


# What runs in that process. (Imports stand inside: the package is the copy there.)


def live() -> None:
    site = start(os.environ["DATABASE_URL"], "stops")
    client = site.client()
    assert client.get("/readyz").status_int == 200
    is_made_and_found(site, client)
    is_changed(site, client)
    is_deleted_and_restored(client)
    is_changed_with_others(client)
    print("lived")


def start(url: str, message: str) -> Any:
    """Migrate, write and apply the revision of the installed kinds, add some places, and start the application."""
    import groundtransport
    from groundtransport import db, settings
    from groundtransport.accounts import users
    from groundtransport.db import migrations
    from groundtransport.security import Role
    from tests.shell import add_some_places, run
    from tests.site import ENVIRON, PASSWORD, Site, app_settings

    assert Path.cwd() in Path(groundtransport.__file__).parents, "this must run on the copy"
    engine = db.make_engine(settings.read(app_settings(url), ENVIRON))
    migrations.upgrade(engine)
    from alembic import command

    command.revision(migrations.config(engine), message, autogenerate=True)
    add_some_places(engine)
    with db.transaction(engine) as dbsession:
        for role in Role:
            users.add(dbsession, f"the-{role}", role, PASSWORD, one_time=False)
    engine.dispose()
    assert run("init").exit_code == 0

    site = Site.__new__(Site)  # without the whole world's airports
    site.url, site.app_settings = url, app_settings(url)
    site.start()
    return site


def is_made_and_found(site: Any, client: Any) -> None:
    shown(client, "/admin/stop", "There is no stop yet")
    shown(client, "/admin/stop/create", 'name="note"')
    shown(client, "/admin/stop/create?airport_code=JFK", 'name="note"')
    assert client.post("/admin/stop", {"note": "x"}).status_int == 422
    assert client.create("stop", note="Door 1") == 1
    assert client.create("stop") == 2  # without its only text
    shown(client, "/admin/stop", "Door 1", "was created.", "View John F Kennedy")
    assert [row["note"] for row in client.rows("stop")] == [None, "Door 1"]
    assert len(client.rows("stop", q="kennedy")) == 2
    assert [row["note"] for row in client.rows("stop", sort="note")] == [None, "Door 1"]
    shown(client, "/admin/stop?view=1", "Door 1")
    shown(client, "/admin/stop/1", "Door 1")
    shown(client, "/admin/stop/create?copy=1", "Door 1")
    shown(client, "/admin/stop/create?near=1", "John F Kennedy")
    shown(client, "/admin", "Stops")
    shown(client, "/admin/search?q=kennedy", "Stop 1", "Stop 2")
    shown(client, "/admin/activity", "Stop 1")
    query = "airport_name=x+(JFK)&note=Door+1&company_name=x"
    assert client.get(f"/admin/stop/similar?{query}").json == {"similar": []}
    assert client.get("/admin/stop/phone?field=note&number=1").json["international"] == ""


def is_changed(site: Any, client: Any) -> None:
    form = client.get(client.edit_link("stop", 1)).forms["record"]
    form["note"] = "Door 2"
    assert form.submit().status_int == 303
    shown(client, "/admin/stop", "was saved")
    stale = {"airport_name": "x (JFK)", "note": "Door 3", "version": "1"}
    answer = client.put("/admin/stop/1", stale)
    assert answer.status_int == 409, answer.text
    assert "Door 2" in answer.text
    stale["version"] = "2"
    refreshed = client.put("/admin/stop/1", {**stale, "refresh": "1"})
    assert refreshed.status_int == 200
    assert client.put("/admin/stop/1", stale).status_int == 303
    shown(client, "/admin/stop/1/history", "Door 1", "Door 3")
    compared = re.findall(r'href="([^"]*/history\?[^"]*)"', client.get("/admin/stop/1/history").text)
    for address in {one.replace("&amp;", "&") for one in compared}:
        shown(client, address, "Door")
    undo = client.get("/admin/stop/1/history").html.find_all("form", action=True)
    assert undo


def is_deleted_and_restored(client: Any) -> None:
    shown(client, "/admin/stop/1/delete", "Stop 1")
    assert client.delete("/admin/stop/1").status_int == 303
    assert client.delete("/admin/stop/2").status_int == 303
    shown(client, "/admin/stop", "Undo")
    shown(client, "/admin/stop?deleted=1", "John F Kennedy")
    shown(client, "/admin/stop?deleted=1&q=kennedy", "John F Kennedy")
    shown(client, "/admin/stop/1/history", "Door 1")
    for record in (1, 2):
        assert client.post(f"/admin/stop/{record}/restore").status_int == 303
    assert len(client.rows("stop")) == 2


def is_changed_with_others(client: Any) -> None:
    rows = client.rows("stop")
    chosen = [("record", f"{row['id']}.{row['version']}") for row in rows]
    page = client.post("/admin/stop/several", [("action", "delete"), *chosen])
    assert page.status_int == 200, page.text
    assert "Stop 1" in page.text
    form = next(form for form in page.forms.values() if "several" in form.action)
    assert form.submit("confirmed").status_int == 303
    assert client.rows("stop") == []
    undo = next(
        form for form in client.get("/admin/stop").forms.values() if "undo" in form.action or "batch" in form.action
    )
    assert undo.submit().status_int in (200, 303)
    assert len(client.rows("stop")) == 2
    shown(client, "/admin", "Stops")


def shown(client: Any, address: str, *texts: str) -> None:
    """A page is whole, and says these texts."""
    answer = client.get(address)
    assert answer.status_int == 200, (address, answer.status_int, answer.text)
    for one in texts:
        assert one in answer.text, (address, one, answer.text)
