"""Processes of two releases on one database: ``init --expand``, ``init --contract``, and what ``/readyz`` says."""

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text, update
from webtest import TestApp

import groundtransport
from groundtransport import db, kinds
from groundtransport.db import migrations
from groundtransport.records import renewing
from groundtransport.records.maintenance import check
from tests.next_release import add_two_revisions
from tests.shell import Shell
from tests.site import JFK, Site

pytestmark = pytest.mark.slow

VERSIONS = Path(__file__).parents[2] / "alembic" / "versions"
NEW_INI = "\n[alembic]\nversion_locations = {folder}\n"


class Releases:
    """Two releases on one database: this one, and a next one with an expanding and a contracting revision."""

    def __init__(self, folder: Path, url: str) -> None:
        self.old, self.next = Shell(folder, url), Shell(folder, url)
        versions = Path(shutil.copytree(VERSIONS, folder / "versions"))
        (head,) = migrations.heads()
        add_two_revisions(versions, head)
        self.next.ini = folder / "next.ini"
        self.next.ini.write_text(self.old.ini.read_text() + NEW_INI.format(folder=versions))

    @property
    def current(self) -> frozenset[str]:
        return migrations.current(self.old.engine)

    def ready(self, shell: Shell) -> tuple[int, str]:
        """Return the status and the text of ``/readyz`` of a process of that release."""
        app = groundtransport.main({"__file__": str(shell.ini)}, **shell_settings(shell))
        answer = TestApp(app).get("/readyz", headers={"Accept": "application/json"}, expect_errors=True)
        app.registry["engine"].dispose()
        return answer.status_int, answer.text


def shell_settings(shell: Shell) -> dict[str, str]:
    lines = [line.partition(" = ") for line in shell.ini.read_text().splitlines() if " = " in line]
    return {
        name: value.replace("%%", "%")
        for name, _, value in lines
        if name.startswith(("sqlalchemy.", "groundtransport."))
    }


@pytest.fixture
def releases(small_database_url: str, tmp_path: Path) -> Iterator[Releases]:
    releases = Releases(tmp_path, small_database_url)
    releases.old("init")
    yield releases
    releases.old.engine.dispose()
    releases.next.engine.dispose()


def test_an_upgrade_without_a_gap(releases: Releases) -> None:
    old, following = releases.old, releases.next
    assert "not migrated" in following("init", "--check", fails=True)
    assert releases.ready(following)[0] == 503

    following("init", "--expand")
    assert releases.current == {"0990"}
    assert [old("init", "--check"), following("init", "--check")] == ["ready\n", "ready\n"]
    assert [releases.ready(old)[0], releases.ready(following)[0]] == [200, 200]
    assert "nothing to do" in old("init")  # of a container of the old release that is started again
    old("export", "transit")

    following("init", "--contract")
    assert releases.current == {"0991"}
    assert following("init", "--check") == "ready\n"
    assert releases.ready(following)[0] == 200
    status, page = releases.ready(old)
    assert (status, "A newer release has changed the database" in page) == (503, True)
    for command in (("init",), ("init", "--check"), ("export", "transit")):
        assert "A newer release has changed the database" in old(*command, fails=True)


def test_init_does_all_at_once_and_a_downgrade_makes_it_undone(releases: Releases) -> None:
    releases.next("init")
    assert releases.current == {"0991"}
    migrations.downgrade(releases.old.engine, "0990", releases.next.ini)
    assert releases.ready(releases.next)[0] == 200


def test_a_database_of_another_application_is_named(empty_database_url: str, tmp_path: Path) -> None:
    shell = Shell(tmp_path, empty_database_url)
    with db.write_engine(shell.engine).begin() as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('ae1027a6acf')"))
    for words in (("init", "--check"), ("init",)):
        assert "The database is that of another application." in shell(*words, fails=True)
    shell.engine.dispose()


@pytest.mark.parametrize("small_database_url", ["postgresql"], indirect=True)
def test_a_migration_that_waits_for_a_writer_holds_no_other_up(releases: Releases) -> None:
    """ALTER TABLE waits for the first writer, and without a limit all others would wait behind it."""
    engine = releases.old.engine
    lock = text("LOCK TABLE transit IN ROW EXCLUSIVE MODE")
    waits = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'ALTER TABLE%'")
    upgrade = threading.Thread(target=migrations.upgrade, args=(engine, "0990", releases.next.ini))
    with engine.connect() as first, engine.connect() as second, engine.connect() as observer:
        first.execute(lock)
        upgrade.start()
        while not observer.scalar(waits):
            observer.rollback()
        second.execute(text("SET LOCAL lock_timeout = '3s'"))
        second.execute(lock)  # granted as soon as the migration has given up
        second.rollback()
        assert releases.current != {"0990"}
        first.rollback()
    upgrade.join()
    assert releases.current == {"0990"}


# Search texts


def store_texts_of_the_release_before(site: Site) -> None:
    with db.write_engine(site.engine).begin() as connection:
        connection.execute(update(site.kinds["transit"].model).values(search_text="of the release before"))


def test_texts_are_renewed_beside_writers(site: Site, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renewing, "AT_ONCE", 1)
    ids = [client.create("transit", company_name=name) for name in ("Alpha", "Beta", "Gamma")]
    store_texts_of_the_release_before(site)
    kind = kinds.kinds()["transit"]

    steps = renewing.renew(site.engine, kind)
    assert next(steps) == 1
    changed = client.put(f"/admin/transit/{ids[2]}", {"airport_name": JFK, "company_name": "Delta"})
    assert changed.status_int == 303  # nobody waits
    assert list(steps) == [2, 3]

    with db.write_engine(site.engine).connect() as connection:
        assert list(check(connection, kind)) == []
    assert [row["id"] for row in client.rows("transit", q="delta")] == [ids[2]]
    assert list(renewing.renew(site.engine, kind)) == []
