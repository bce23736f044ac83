"""Deleted records are listed and can be restored."""

from sqlalchemy import update

from groundtransport.airports.models import Airport
from groundtransport.db import now, transaction
from groundtransport.security import Role
from tests.site import Client, Site


def test_a_deletion_offers_an_undo_that_brings_the_record_back(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    page = client.delete(f"/admin/{kind}/{record_id}", {"list_state": "q=alp"}).follow()

    form = page.html.find(id="messages").find("form")
    fields = {field["name"]: field["value"] for field in form.find_all("input")}
    answer = client.post(form["action"], fields)

    assert answer.location == f"http://localhost/admin/{kind}?q=alp"
    assert [row["company_name"] for row in client.rows(kind)] == ["Alpha"]
    assert [entry["action"] for entry in site.entries()] == ["create", "delete", "restore"]
    assert site.row(kind, record_id)["deleted_by"] is None


def test_the_deleted_are_listed_with_who_and_searched(client: Client, kind: str) -> None:
    for name in ("Alpha", "Beta"):
        client.delete(f"/admin/{kind}/{client.create(kind, company_name=name)}")
    client.create(kind, company_name="Gamma")

    page = client.get(f"/admin/{kind}?deleted=1")
    text = page.html.find("tbody").get_text(" ", strip=True)
    assert "Alpha" in text
    assert "Gamma" not in text
    assert "by the-administrator" in text
    assert [row["company_name"] for row in client.rows(kind, deleted="1", q="bet")] == ["Beta"]


def test_the_history_of_a_deleted_record_is_whole(client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    client.put(f"/admin/{kind}/{record_id}", {"airport_name": "(JFK)", "company_name": "Beta"})
    client.delete(f"/admin/{kind}/{record_id}")

    items = client.get(f"/admin/{kind}/{record_id}/history").html.select("ol.activity > li")

    assert [item.find(class_="badge").get_text() for item in items] == ["delete", "update", "create"]
    assert (items[1].find("del").get_text(), items[1].find("ins").get_text()) == ("Alpha", "Beta")


def test_what_stands_at_a_vanished_airport_is_not_restored(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind)
    client.delete(f"/admin/{kind}/{record_id}")
    try:
        _withdraw(site, now())
        assert client.post(f"/admin/{kind}/{record_id}/restore").status_int == 422
    finally:
        _withdraw(site, None)
    assert site.row(kind, record_id)["deleted_at"] is not None


def _withdraw(site: Site, moment: object) -> None:
    with transaction(site.engine) as dbsession:
        dbsession.execute(update(Airport).where(Airport.code == "JFK").values(withdrawn_at=moment))


def test_a_live_record_is_not_restored_and_a_viewer_restores_nothing(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind)
    assert client.post(f"/admin/{kind}/{record_id}/restore").status_int == 404
    client.delete(f"/admin/{kind}/{record_id}")
    viewer = site.client(Role.VIEWER)
    assert "/login" in viewer.post(f"/admin/{kind}/{record_id}/restore").location
    assert viewer.get(f"/admin/{kind}?deleted=1").html.find("form", action=f"/admin/{kind}/{record_id}/restore") is None
