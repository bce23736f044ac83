"""Measure the plan of an import, which is the work of a preview.

    DATABASE_URL=URL groundtransport -c production.ini init
    DATABASE_URL=URL groundtransport -c production.ini sample transit --records 100000
    python -W ignore -m benchmarks.importing --url URL --rows 100000

The last command takes about a minute; the figure to compare is rows by second of processor time. The file
holds sample rows of another seed; with ``--match`` they are matched with the records. Nothing is written to the
database.
"""

import argparse
import csv
import os
import resource
import tempfile
import time
from collections import Counter
from pathlib import Path

from sqlalchemy.orm import Session

import groundtransport
from groundtransport.transfer.columns import guess_mapping
from groundtransport.transfer.plan_types import ImportOptions, Match
from groundtransport.transfer.planning import Planner
from groundtransport.transfer.reading.file_reader import FileReader
from groundtransport.transfer.reading.limits import Limits
from groundtransport.transfer.samples import Sampler

SECRETS = {"GROUNDTRANSPORT_SECRET": "s" * 48, "GROUNDTRANSPORT_AUDIT_SECRET": "a" * 48}


def main() -> None:
    """Make the file, plan it once, and print the speed and the memory."""
    words = argparse.ArgumentParser(prog="python -m benchmarks.importing", description=__doc__)
    words.add_argument("--url", required=True, help="of the database")
    words.add_argument("--rows", type=int, default=100_000)
    words.add_argument("--kind", default="transit")
    words.add_argument("--match", type=Match, default=Match.SOURCE)
    words.add_argument("--seed", type=int, default=1)
    given = words.parse_args()
    os.environ.update(SECRETS)
    registry = groundtransport.main({}, **{"sqlalchemy.url": given.url, "groundtransport.hosts": "localhost"}).registry
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "records.csv"
        write_file(registry, given.kind, file, given.rows, given.seed)
        measure(registry, given.kind, file, given.match)


def write_file(registry: object, kind_name: str, file: Path, number: int, seed: int) -> None:
    """Write sample rows as CSV, each with a source and a source id."""
    kind = registry["kinds"][kind_name]
    with Session(registry["engine"]) as dbsession:
        sampler = Sampler(dbsession, kind, seed)
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(kind.fields), restval="")
        writer.writeheader()
        for count, row in enumerate(sampler.rows(number)):
            writer.writerow({**row, "source": "benchmark", "source_id": f"{count}"})


def measure(registry: object, kind_name: str, path: Path, match: Match) -> None:
    """Print rows per second and the greatest memory of this process, which began with the file being made."""
    kind, reader = registry["kinds"][kind_name], FileReader(Limits.of(registry["settings"]))
    started, started_cpu = time.perf_counter(), time.process_time()
    file = reader.sniff(path, path.name)
    options = ImportOptions(guess_mapping(kind, file.header), match, can_update=True)
    planner = Planner(registry, kind, options)
    planner.find_doubles(reader.rows(file))
    first = time.perf_counter() - started
    counts = Counter(row.outcome.value for row in planner.plan(reader.rows(file)))
    seconds, number = time.perf_counter() - started, sum(counts.values())
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cpu = time.process_time() - started_cpu
    print(f"{number:,} rows in {seconds:.1f} s ({first:.1f} s for doubles): {number / seconds:,.0f} rows/s")
    print(f"{cpu:.1f} s of processor time: {number / cpu:,.0f} rows/s on a quiet machine")
    print(f"{dict(counts)}; at most {megabytes:.0f} MB")


if __name__ == "__main__":
    main()
