"""``python -m benchmarks.compare BEFORE AFTER``: time searches in two source trees, in turn, at a million records.

BEFORE and AFTER are checkouts, such as made by ``git worktree add``. `make bench` makes the databases. Each search runs
first in one tree, then in the other, spelled with other capitals each time, so that a noisy machine slows both and no
cache of results helps. The table shows the medians in ms, their ratio, and what each tree found.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from benchmarks.data import KIND, Database
from groundtransport import db, kinds, settings
from groundtransport.records.list import pages
from groundtransport.records.list.query import ListQuery

SECRETS = {"GROUNDTRANSPORT_SECRET": "s" * 32, "GROUNDTRANSPORT_AUDIT_SECRET": "s" * 32}  # nothing is signed
AIRPORT = {"airport_code": "SGN"}
SEARCHES: dict[str, dict[str, Any]] = {
    "list": {},
    "list by company": {"sort": "company_name"},
    "list, page at 90 %": {"page_no": "90000"},
    "airport": {"filters": AIRPORT},
    "common word": {"q": "limousine"},
    "common word by company": {"q": "limousine", "sort": "company_name"},
    "common word, page 1000": {"q": "limousine", "page_no": "1000"},
    "rare word": {"q": "zephyrine"},
    "no match": {"q": "qzxwvk"},
    "airport and word": {"q": "limousine", "filters": AIRPORT},
    "airport by company": {"filters": AIRPORT, "sort": "company_name"},
    "airport and short word": {"q": "kv", "filters": AIRPORT},
    "two words": {"q": "limousine airport"},
    "three words": {"q": "harbor bus sons"},
    "name and street": {"q": "peralta 908 airport"},
    "telephone number": {"q": "+1 201-555-6506"},
    "field": {"filters": {"company_name": "limousine"}},
    "field without the word": {"filters": {"company_name": "airport"}},
    "field and word": {"q": "sons", "filters": {"company_name": "harbor"}},
    "status and words": {"q": "harbor sons", "filters": {"status": "inactive"}},
    "kv": {"q": "kv"},
    "%": {"q": "%"},
    "kv bus": {"q": "kv bus"},
    "wk bus, no match": {"q": "wk bus"},
    "x y z by company": {"q": "x y z", "sort": "company_name"},
}


def main() -> None:
    """Print the table, or serve searches to the process that does."""
    words = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    words.add_argument("trees", nargs="+", type=Path)
    words.add_argument("--engine", default="sqlite", choices=("sqlite", "postgresql"))
    words.add_argument("--size", default=1_000_000, type=int, help="records")
    words.add_argument("--rounds", default=9, type=int)
    words.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = words.parse_args()
    if options.serve:
        serve(Database(options.engine, options.size))
        return
    processes = [start(tree, options.engine, options.size) for tree in options.trees]
    for name in SEARCHES:
        rounds = [[ask(process, name) for process in processes] for _ in range(options.rounds + 1)][1:]
        medians = [
            statistics.median(times) for times in zip(*([ms for ms, _ in answers] for answers in rounds), strict=True)
        ]
        found = "  ".join(dict.fromkeys(text for _, text in rounds[0]))
        figures = " ".join(f"{median:9.2f}" for median in medians)
        print(f"{name:32}{figures} x {medians[-1] / medians[0]:.2f}  {found}", flush=True)
    for process in processes:
        process.terminate()


def start(tree: Path, engine: str, size: int) -> "subprocess.Popen[str]":
    """Start a process that searches with the package in ``tree``."""
    code = (
        f"import sys; sys.path[:0] = [{str(tree.resolve())!r}]; sys.path.append({str(Path.cwd())!r}); "
        f"sys.argv = ['compare', '.', '--serve', '--engine', {engine!r}, '--size', '{size}']; "
        f"import runpy; runpy.run_path({str(Path(__file__).resolve())!r}, run_name='__main__')"
    )
    program = [sys.executable, "-W", "ignore", "-c", code]
    return subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(process: "subprocess.Popen[str]", name: str) -> tuple[float, str]:
    """Return the ms of a search, and what it found."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(name + "\n")
    process.stdin.flush()
    ms, found = json.loads(process.stdout.readline())
    return ms, found


def serve(database: Database) -> None:
    """Execute the searches that stdin names, one a line, and print the ms of each."""
    ini = {"sqlalchemy.url": database.url, "groundtransport.hosts": "127.0.0.1"}
    engine = db.read_engine(db.make_engine(settings.read(ini, SECRETS)))
    kind = kinds.kinds()[KIND]
    for line in sys.stdin:
        query = spelled_anew(SEARCHES[line.strip()])
        with Session(engine) as dbsession:
            began = time.perf_counter()
            page = pages.page(dbsession, kind, query)
            ms = (time.perf_counter() - began) * 1000
        marks = ("~" * page.is_estimate) + ("!" * page.truncated)
        print(json.dumps([ms, f"{marks}{page.filtered} ({len(page.rows)})"]), flush=True)


def spelled_anew(search: dict[str, Any]) -> ListQuery:
    """Return the query of a search in other capitals and with repeated words; neither changes what it finds."""

    def spell(text: str) -> str:
        return "".join(char.upper() if random.getrandbits(1) else char.lower() for char in text)

    texts = {name: spell(text) for name, text in search.get("filters", {}).items()}
    q = search.get("q", "")
    again = q.split()[:1] * random.randrange(60)  # noqa: S311  # no secret
    return ListQuery(**{**search, "q": " ".join([spell(q), *again]), "filters": texts})


if __name__ == "__main__":
    main()
