"""A third kind is one new module with an entry point, and its migration: in a copy of the code, over HTTP.

The copy runs in a process of its own, so that its table is none of the other tests'.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.own_kinds import OwnCode

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]

SHUTTLE = '''
"""Hotel shuttles. A shuttle that is deleted is gone: its model has no SoftDelete."""

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base
from groundtransport.records.fields import Choice, Field, Phone, declare
from groundtransport.records.forms import RecordSchema
from groundtransport.records.kind import Kind
from groundtransport.records.model import RecordColumns


class Shuttle(RecordColumns, Base):
    __tablename__ = "shuttle"
    company_name: Mapped[str | None] = mapped_column(String(200))
    hotel: Mapped[str | None] = mapped_column(String(100))
    company_phone1: Mapped[str | None] = mapped_column(String(40))
    fare: Mapped[str | None] = mapped_column(String(8))


class ShuttleSchema(RecordSchema):
    company_name = declare(Field, Shuttle.company_name, "Company Name")
    hotel = declare(Field, Shuttle.hotel, "Hotel", group="place")
    company_phone1 = declare(Phone, Shuttle.company_phone1, "Company Phone")
    fare = declare(Choice, Shuttle.fare, "Fare", choices=(("free", "Free"), ("paid", "Paid")))


KIND = Kind(
    name="shuttle",
    title="Hotel shuttle",
    plural="Hotel shuttles",
    model=Shuttle,
    schema=ShuttleSchema,
    columns=("airport_name", "company_name", "hotel", "fare"),
    label="company_name",
    filters={"company_name": ("company_name",), "hotel": ("hotel",), "company_phone": ("company_phone1",)},
)
'''


def test_one_new_file_and_its_migration_are_a_whole_kind(migrated_database_url: str, tmp_path: Path) -> None:
    own = OwnCode(tmp_path, migrated_database_url)
    own.kind("shuttle", SHUTTLE)

    assert own.python("from tests.test_third_kind import live; live()").splitlines()[-1] == "lived"
    assert [path.name for path in (ROOT / "alembic" / "versions").glob("*shuttle*")] == []


# What runs in that process. (Imports stand inside: the package is the copy there.)


def live() -> None:
    import groundtransport

    assert ROOT not in Path(groundtransport.__file__).parents, "this must run on the copy"
    site = start(os.environ["DATABASE_URL"])
    lives_and_is_gone(site)
    is_guarded(site)
    site.engine.dispose()
    print("lived")


def start(url: str) -> Any:
    """Migrate to what is there, let Alembic write the new kind's migration, and start the application on it."""
    from alembic import command

    from groundtransport import db, kinds, settings
    from groundtransport.accounts import users
    from groundtransport.airports import loading, source
    from groundtransport.db import migrations
    from groundtransport.records import renewing
    from groundtransport.security import Role
    from tests.site import ENVIRON, PASSWORD, Site, app_settings

    engine = db.make_engine(settings.read(app_settings(url), ENVIRON))
    migrations.upgrade(engine)
    command.revision(migrations.config(engine), "shuttle", autogenerate=True)
    (written,) = Path("alembic/own").glob("*_shuttle.py")
    assert written.read_text().count("create_table") == 1
    assert "drop_column" not in written.read_text()
    migrations.upgrade(engine)
    command.check(migrations.config(engine))
    for kind in kinds.kinds().values():
        assert list(renewing.renew(engine, kind)) == []  # as init does
    airports = (row for row in source.packaged_airports() if row["code"] in ("JFK", "LHR"))
    with db.transaction(engine) as dbsession:
        loading.refresh_airports(dbsession, airports)
        for role in Role:
            users.add(dbsession, f"the-{role}", role, PASSWORD, one_time=False)
    engine.dispose()

    site = Site.__new__(Site)  # without the whole world's airports
    site.url, site.app_settings = url, app_settings(url)
    site.start()
    assert list(site.kinds) == ["scheduledbus", "shuttle", "transit"]
    return site


def lives_and_is_gone(site: Any) -> None:
    from tests.site import JFK

    client = site.client()
    assert client.get("/readyz").status_int == 200
    assert "Hotel shuttles" in client.get("/admin").text

    page = client.get("/admin/shuttle/create")
    assert page.html.find("input", {"name": "hotel"})["maxlength"] == "100"
    assert client.post("/admin/shuttle", {"hotel": "Grand"}).status_int == 422
    second_id, deleted = (
        client.create("shuttle", hotel="Grand"),
        client.create("shuttle", company_name="Alpha", hotel="Astoria"),
    )

    assert [row["hotel"] for row in client.rows("shuttle")] == ["Astoria", "Grand"]
    assert [row["hotel"] for row in client.rows("shuttle", hotel="ASTOR")] == ["Astoria"]
    assert [row["hotel"] for row in client.rows("shuttle", q="alpha jfk")] == ["Astoria"]
    assert [row["id"] for row in client.rows("shuttle", sort="hotel", fare="free")] == [deleted, second_id]
    assert "Astoria" in client.get("/admin/shuttle").text
    assert "Astoria" in client.get(f"/admin/shuttle/{deleted}").text

    form = client.get(client.edit_link("shuttle", deleted)).forms["record"]
    form["hotel"] = "Waldorf"
    form["fare"] = "paid"
    assert form.submit().status_int == 303
    row = site.row("shuttle", deleted)
    assert (row["hotel"], row["fare"], row["version"]) == ("Waldorf", "paid", 2)
    assert client.put(f"/admin/shuttle/{deleted}", {"airport_name": JFK, "hotel": "x" * 101}).status_int == 422

    assert "Alpha" in client.get(f"/admin/shuttle/{deleted}/delete").text
    assert client.delete(f"/admin/shuttle/{deleted}").status_int == 303
    assert site.count(site.kinds["shuttle"].model) == 1  # for good: it has no deleted_at
    assert client.get(f"/admin/shuttle/{deleted}").status_int == 404
    assert [row["id"] for row in client.rows("shuttle")] == [second_id]

    log = client.get("/admin/activity?ajax=1").json["data"]
    process = [(entry["action"], entry["label"]) for entry in log]
    assert process == [
        ("delete", "Alpha"),
        ("update", "Alpha"),
        ("create", "Alpha"),
        ("create", f"Hotel shuttle {second_id}"),
    ]
    assert log[1]["changes"] == {"hotel": {"old": "Astoria", "new": "Waldorf"}, "fare": {"old": "free", "new": "paid"}}
    assert "Waldorf" in client.get("/admin/activity").text


def is_guarded(site: Any) -> None:
    from groundtransport.security import Role

    assert site.anonymous().get("/admin/shuttle").location.endswith("/login?next=/admin/shuttle")
    viewer = site.client(Role.VIEWER)
    assert viewer.get("/admin/shuttle").status_int == 200
    assert viewer.post("/admin/shuttle", {}).location.startswith("http://localhost/login")
