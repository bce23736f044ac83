"""Measure how many of the proposed doubles are doubles (precision), and how many doubles are proposed (recall).

    python -m benchmarks.doubles --data FOLDER

FOLDER holds ``transit_operators.csv`` and ``scheduled_bus.csv``, records of real operators that are no part of the
project: the Mobility Database (Apache-2.0) and the Transitland Atlas (CC BY 4.0), with an airport for each. They are
imported into a SQLite database, which takes ten seconds; ``--url`` names a database that has them already.

``doubles.csv`` has pairs of records that a person has judged by reading both: ``double`` if one record should stand for
both. Records of one company with two routes, or with a part of its services, are ``different``. Each sample was drawn
by doubles_sample.py and judged without the answer of the service; the rule was improved after the first and after the
second. A row stands for ``weight`` pairs.
"""

import argparse
import csv
import os
import secrets
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from sqlalchemy import Connection, create_engine, text

from benchmarks.importing import SECRETS

JUDGED = Path(__file__).parent / "doubles.csv"
FILES = {"transit": "transit_operators.csv", "scheduledbus": "scheduled_bus.csv"}
INI = Path(__file__).parent.parent / "production.ini"
PROPOSED = """
SELECT one.source, one.source_id, other.source, other.source_id FROM duplicate_pair
JOIN {kind} AS one ON one.id = first_id JOIN {kind} AS other ON other.id = second_id
WHERE duplicate_pair.kind = :kind AND duplicate_pair.state = 0
"""


def main() -> None:
    """Print precision and recall for each sample and for all."""
    words = argparse.ArgumentParser(prog="python -m benchmarks.doubles", description=__doc__)
    words.add_argument("--data", type=Path, help="the folder of the files")
    words.add_argument("--url", help="of a database with the imported records")
    words.add_argument("--misses", action="store_true", help="print the pairs whose answer is not the person's")
    given = words.parse_args()
    if bool(given.data) == bool(given.url):
        words.error("--data or --url is needed, and not both")
    with JUDGED.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with tempfile.TemporaryDirectory() as folder:
        url = given.url or import_files(given.data, f"sqlite:///{folder}/doubles.sqlite")
        with create_engine(url).connect() as connection:
            proposed = {pair for kind in FILES for pair in read_pairs(connection, kind)}
    print(f"{len(proposed):,} pairs are proposed")
    for sample in sorted({row["sample"] for row in rows}):
        report(f"sample {sample}", [row for row in rows if row["sample"] == sample], proposed)
    report("all", rows, proposed)
    for row in rows if given.misses else ():
        if (row["verdict"] == "double") != is_proposed(row, proposed):
            print("proposed" if is_proposed(row, proposed) else "missed", row["kind"], row["first"], row["second"])


def import_files(folder: Path, url: str) -> str:
    """Import the files into a new database; return its URL."""
    command = [sys.executable, "-c", "from groundtransport.cli import main; main()", "-c", str(INI)]
    environment = {
        **os.environ,
        **SECRETS,
        "DATABASE_URL": url,
        "GROUNDTRANSPORT_ADMIN_PASSWORD": secrets.token_urlsafe(),
    }
    runs = [["init"], *(["import", kind, str(folder / name)] for kind, name in FILES.items())]
    for run in runs:
        subprocess.run([*command, *run], env=environment, check=True, stdout=subprocess.DEVNULL)
    return url


def read_pairs(connection: Connection, kind: str) -> Iterable[tuple[str, frozenset[str]]]:
    """Yield the pairs that the service proposes, each as the kind and the sources of both records."""
    for row in connection.execute(text(PROPOSED.format(kind=kind)), {"kind": kind}):
        yield kind, frozenset((f"{row[0]}:{row[1]}", f"{row[2]}:{row[3]}"))


def is_proposed(row: dict[str, str], proposed: set[tuple[str, frozenset[str]]]) -> bool:
    """Return True if the service proposes a judged pair."""
    return (row["kind"], frozenset((row["first"], row["second"]))) in proposed


def report(name: str, rows: list[dict[str, str]], proposed: set[tuple[str, frozenset[str]]]) -> None:
    """Print the figures of some judged pairs, each counted with its weight."""
    sums: dict[tuple[bool, bool], float] = defaultdict(float)
    for row in rows:
        sums[is_proposed(row, proposed), row["verdict"] == "double"] += float(row["weight"])
    right = sums[True, True]
    precision, recall = right / (right + sums[True, False]), right / (right + sums[False, True])
    doubles = sum(row["verdict"] == "double" for row in rows)
    print(f"{name}: {len(rows)} pairs, {doubles} doubles: precision {precision:.1%}, recall {recall:.1%}")


if __name__ == "__main__":
    main()
