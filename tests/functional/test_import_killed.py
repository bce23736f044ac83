"""An import survives the death of the process that writes it: no row is lost or doubled."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, update

from groundtransport import db
from groundtransport.audit.models import AdminActivity
from groundtransport.jobs.models import Job
from groundtransport.transfer.imports.models import ImportState
from tests.functional.importing import Importing, rows_of
from tests.integrity import assert_whole
from tests.shell import Shell
from tests.site import ENVIRON, Site

pytestmark = pytest.mark.slow

ROWS, KILLS = 6_000, 3


@contextmanager
def worker(ini: Path, url: str) -> Iterator[Any]:
    """Yield a process ``groundtransport worker``."""
    command = [sys.executable, "-c", "from groundtransport.cli import main; main()", "-c", str(ini), "worker"]
    process = subprocess.Popen(command, env={**os.environ, **ENVIRON, "DATABASE_URL": url})
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def until(condition: Callable[[], object], seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def expire(site: Site) -> None:
    """Let the lease of a killed worker run out at once."""
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(update(Job).values(leased_until=db.now() - timedelta(seconds=1)))


def test_an_import_and_its_undo_survive_every_kill(full_database_url: str, tmp_path: Path) -> None:
    site = Site(full_database_url)
    ini = Shell(tmp_path, full_database_url).ini
    importing = Importing(site.client())
    path = importing.start(rows_of(*(f"Company {number:05}" for number in range(ROWS))))
    importing.preview(path, match="never")
    importing.client.post(f"{path}/commit")
    killed(site, importing, path, ini, lambda: importing.batch(path).position)

    assert importing.batch(path).state == ImportState.DONE
    assert importing.batch(path).results == {"created": ROWS}
    assert len(set(importing.names())) == len(importing.names()) == ROWS
    assert site.count(AdminActivity) == ROWS

    importing.client.post(f"{path}/undo")
    killed(site, importing, path, ini, lambda: importing.batch(path).undo_position)
    assert importing.batch(path).state == ImportState.UNDONE
    assert importing.batch(path).results == {"created": ROWS, "deleted": ROWS}
    assert importing.names() == []
    deleted = select(func.count(AdminActivity.record_id.distinct())).where(AdminActivity.action == "delete")
    assert site.scalar(deleted) == ROWS
    assert_whole(site)
    site.engine.dispose()


def killed(site: Site, importing: Importing, path: str, ini: Path, position: Callable[[], int]) -> None:
    """Let workers do a step; kill each as soon as it has advanced, but for the last two, which work side by side."""
    for _ in range(KILLS):
        before = position()
        with worker(ini, site.url) as process:
            until(lambda before=before: position() > before)
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert importing.batch(path).state in (ImportState.COMMITTING, ImportState.UNDOING)
        expire(site)
    with worker(ini, site.url) as one, worker(ini, site.url) as other:
        until(lambda: importing.batch(path).state in (ImportState.DONE, ImportState.UNDONE))
        for process in (one, other):
            process.send_signal(signal.SIGTERM)
            assert process.wait(15) == 0
