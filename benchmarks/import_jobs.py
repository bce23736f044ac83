"""Measure an import of the browser, with the saves of other people beside it.

    DATABASE_URL=URL groundtransport -c production.ini init
    python -W ignore -m benchmarks.import_jobs --url URL --rows 100000

The jobs of the preview, the commit and the undo run in this process, as in the server's thread. Meanwhile another
thread saves records, as other people do. The database (of the URL, set up by ``groundtransport init``) is as before
afterwards, but for the log.
"""

import argparse
import os
import resource
import tempfile
import threading
import time
from pathlib import Path

import groundtransport
from benchmarks.importing import SECRETS, write_file
from groundtransport import db
from groundtransport.db import now
from groundtransport.events import Actor
from groundtransport.jobs.runner import Runner
from groundtransport.records.writer import Writer
from groundtransport.transfer.imports import steps, store
from groundtransport.transfer.imports.models import ImportBatch, ImportState

PAUSE = 0.2  # seconds between two saves: a team saves a few times a second


def main() -> None:
    """Import a file step by step, and print the speed, the memory and the delays of others."""
    words = argparse.ArgumentParser(prog="python -m benchmarks.import_jobs", description=__doc__)
    words.add_argument("--url", required=True, help="of the database")
    words.add_argument("--rows", type=int, default=100_000)
    words.add_argument("--kind", default="transit")
    given = words.parse_args()
    os.environ.update(SECRETS)
    registry = groundtransport.main({}, **{"sqlalchemy.url": given.url, "groundtransport.hosts": "localhost"}).registry
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "records.csv"
        write_file(registry, given.kind, file, given.rows, 1)
        import_id = upload(registry, given.kind, file)
    measure(registry, import_id, "read", ImportState.READING, given.rows)
    measure(registry, import_id, "preview", ImportState.PREVIEWING, given.rows)
    with Saver(registry, given.kind) as saver:
        measure(registry, import_id, "commit", ImportState.COMMITTING, given.rows)
    saver.report()
    measure(registry, import_id, "undo", None, given.rows)


def upload(registry: object, kind_name: str, file: Path) -> int:
    """Store a file as an upload, and return the id of its import."""
    values = {"kind": kind_name, "actor": "benchmark", "filename": file.name, "digest": "0" * 64}
    with db.transaction(registry["engine"]) as dbsession, file.open("rb") as content:
        batch = ImportBatch(batch=store.new_batch_name(), size=file.stat().st_size, **values)
        store.add(dbsession, batch)
        store.save_file(dbsession, batch.id, iter(lambda: content.read(store.PART), b""))
        return batch.id


def measure(registry: object, import_id: int, name: str, state: ImportState | None, rows: int) -> None:
    """Execute the job of a step, and print its speed and the greatest memory of this process up to now.

    A commit ends for the user when its last row is committed (``finished_at``); the update of the database's
    statistics that follows is printed apart.
    """
    with db.transaction(registry["engine"]) as dbsession:
        batch = store.locked(dbsession, import_id)
        if state is None:
            steps.begin_undo(dbsession, batch, Actor("benchmark"))
        else:
            steps.begin(dbsession, batch, state)
    started, started_cpu = now(), time.thread_time()
    Runner(registry).run_pending()
    ended, cpu = now(), time.thread_time() - started_cpu
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with db.transaction(registry["engine"]) as dbsession:
        batch = store.locked(dbsession, import_id)
        written = batch.finished_at if state == ImportState.COMMITTING and batch.finished_at else ended
        state_of_batch, counts = batch.state, f"{batch.counts} {batch.results}"
    speed = rows / (written - started).total_seconds()
    print(f"{name}: {speed:,.0f} rows/s, {rows / cpu:,.0f} by processor time; {megabytes:.0f} MB", flush=True)
    print(f"  {state_of_batch}: {counts}; {(ended - written).total_seconds():.1f} s more for statistics", flush=True)


class Saver:
    """Saves a record again and again in a thread, and measures how long each save takes."""

    def __init__(self, registry: object, kind_name: str) -> None:
        self.registry, self.kind = registry, registry["kinds"][kind_name]
        self.seconds: list[float] = []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.save)

    def __enter__(self) -> "Saver":
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.over.set()
        self.thread.join()

    def save(self) -> None:
        record_id = None
        while not self.over.wait(PAUSE):
            started = time.perf_counter()
            with db.transaction(self.registry["engine"]) as dbsession:
                writer = Writer(dbsession, self.registry.notify, self.kind, Actor("somebody"))
                record = dbsession.get(self.kind.model, record_id) if record_id else None
                if record is None:
                    record_id = writer.create(AT_JFK)
                else:
                    writer.update(record, {self.kind.label: f"Name {len(self.seconds)}"})
            self.seconds.append(time.perf_counter() - started)

    def report(self) -> None:
        """Print the percentiles of the saves."""
        found = sorted(self.seconds)
        for share in (0.5, 0.99, 1.0):
            print(f"  saves of others: {share:.0%} within {found[int(share * (len(found) - 1))] * 1000:,.0f} ms")


AT_JFK = {"airport_name": "John F Kennedy International Airport (JFK)", "airport_code": "JFK", "airport_id": 1}


if __name__ == "__main__":
    main()
