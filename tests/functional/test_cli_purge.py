"""The command line: what was deleted long ago leaves for good, after a question, and is in the log."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from groundtransport.db import now, transaction
from tests.shell import Shell
from tests.site import Client, Site


@pytest.fixture
def kind() -> str:
    """One kind is enough: nothing here knows which it is."""
    return "scheduledbus"


@pytest.fixture
def shell(site: Site, tmp_path: Path) -> Iterator[Shell]:
    """The command on the database of the whole site."""
    shell = Shell(tmp_path, site.url)
    yield shell
    shell.engine.dispose()


def deleted(site: Site, client: Client, kind: str, name: str, days: int) -> int:
    """Return a record that was deleted so many days ago, and an hour."""
    record_id = client.create(kind, company_name=name)
    client.delete(f"/admin/{kind}/{record_id}")
    model = site.kinds[kind].model
    with transaction(site.engine) as dbsession:
        moment = now() - timedelta(days=days, hours=1)
        dbsession.execute(update(model).where(model.id == record_id).values(deleted_at=moment))
    return record_id


def left(site: Site, kind: str) -> list[str]:
    table = site.kinds[kind].model.__table__
    with site.engine.connect() as connection:
        return list(connection.scalars(select(table.c.company_name).order_by(table.c.id)))


def test_nothing_is_removed_before_the_question_is_answered_with_yes(
    site: Site, client: Client, shell: Shell, kind: str
) -> None:
    deleted(site, client, kind, "Old", 91)
    before = site.entries()
    for answer in ("n\n", "\n", ""):
        output = shell("purge", "--older-than", "90d", stdin=answer, fails=True)
        assert f"1 {site.kinds[kind].plural.lower()}" in output
        assert (left(site, kind), site.entries()) == (["Old"], before)

    assert "1 records were removed" in shell("purge", "--older-than", "90d", stdin="y\n")
    assert left(site, kind) == []


def test_only_what_was_deleted_long_enough_ago_is_removed(site: Site, client: Client, shell: Shell, kind: str) -> None:
    client.create(kind, company_name="Live")
    for days in (89, 90, 400):
        deleted(site, client, kind, f"{days} days", days)

    shell("purge", "--older-than", "1y", "--yes")
    assert left(site, kind) == ["Live", "89 days", "90 days"]
    shell("purge", "--older-than", "90d", "--yes")
    assert left(site, kind) == ["Live", "89 days"]
    assert "Nothing" in shell("purge", "--older-than", "90d")  # and there is no question
    shell("purge", "--older-than", "12w", "--yes")
    assert left(site, kind) == ["Live"]


def test_each_record_is_in_the_log_as_purged_and_all_are_one_batch(site: Site, client: Client, shell: Shell) -> None:
    gone = {(kind, deleted(site, client, kind, f"{kind} {number}", 91)) for kind in site.kinds for number in range(3)}
    output = shell("purge", "--older-than", "90d", "--yes")

    entries = [entry for entry in site.entries() if entry["action"] == "purge"]
    assert {(entry["kind"], entry["record_id"]) for entry in entries} == gone
    assert len(entries) == 6
    assert entries[0]["label"] == "scheduledbus 0"
    assert entries[0]["changes"]["company_name"] == {"old": "scheduledbus 0", "new": None}
    ((batch, actor),) = {(entry["batch"], entry["actor"]) for entry in entries}
    assert batch
    assert batch in output
    assert "command line" in actor
    assert "agree" in shell("audit", "reconcile")
    shell("audit", "verify")


def test_a_purged_record_is_nowhere_but_in_the_log(site: Site, client: Client, shell: Shell, kind: str) -> None:
    record_id = deleted(site, client, kind, "Old", 91)
    shell("purge", "--older-than", "90d", "--yes")

    for path in ("", "/history", "/edit", "/delete"):
        assert client.get(f"/admin/{kind}/{record_id}{path}").status_int == 404
    assert client.post(f"/admin/{kind}/{record_id}/restore").status_int == 404
    assert client.rows(kind, deleted="1") == []
    page = client.get("/admin/activity").html.find("ol", class_="activity")
    assert [badge.get_text() for badge in page.find_all(class_="badge")] == ["purge", "delete", "create"]
    assert page.get_text().count("Old") >= 3


def test_no_entry_of_a_purged_record_leads_to_a_page_that_is_not_there(
    site: Site, client: Client, shell: Shell, kind: str
) -> None:
    deleted(site, client, kind, "Old", 91)
    shell("purge", "--older-than", "90d", "--yes")
    links = {link["href"] for link in client.get("/admin/activity").html.select("ol.activity a")}
    assert {link: client.get(link).status_int for link in links} == dict.fromkeys(links, 200)


def test_the_next_record_does_not_take_the_number_of_a_purged_one(
    site: Site, client: Client, shell: Shell, kind: str
) -> None:
    record_id = deleted(site, client, kind, "Old", 91)
    shell("purge", "--older-than", "90d", "--yes")
    assert client.create(kind, company_name="New") > record_id
    assert "agree" in shell("audit", "reconcile")


def test_an_age_that_is_none_is_refused_in_words(site: Site, client: Client, shell: Shell) -> None:
    deleted(site, client, "transit", "Old", 91)
    for age in ("", "90", "d", "-90d", "1.5y", "90 d", "90m", "1d2w", "٩٠d", "999999d", "99999y"):
        output = shell("purge", f"--older-than={age}", "--yes", fails=True)
        assert "--older-than" in output, age
        assert "90d" in output, age
    assert "--older-than" in shell("purge", "--yes", fails=True)
    assert left(site, "transit") == ["Old"]
