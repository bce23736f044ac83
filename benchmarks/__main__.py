"""``python -m benchmarks``: make the databases, measure, write docs/performance.md. See `make bench`."""

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

from benchmarks import profile, report
from benchmarks.data import HOME, Database, prepare
from benchmarks.ours import ROWS, measure
from benchmarks.peers import PEERS, Peers
from benchmarks.report import RATES

RESULTS = HOME / "results.json"


def main() -> None:
    """Measure each engine and size; what was measured before and not now stays in the report."""
    words = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    words.add_argument("--engines", default="sqlite,postgresql")
    words.add_argument("--sizes", default="10000,1000000", help="records, with commas")
    words.add_argument("--peers", type=Path, help="a folder with the peers' servers and their client")
    words.add_argument("--only-peers", default=",".join(PEERS), help="their names, with commas")
    given = words.parse_args()
    HOME.mkdir(parents=True, exist_ok=True)
    engines, sizes = given.engines.split(","), [int(size) for size in given.sizes.split(",")]
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for engine in engines:
        for size in sizes:
            measure_ours(results, Database(engine, size))
    if given.peers:
        largest = min(max(sizes), 1_000_000)
        with Peers(given.peers, [largest]) as peers:
            for engine in engines:
                measure_beside(results, peers, given.only_peers.split(","), Database(engine, largest))
    for engine in engines:
        measure_profile(results, Database(engine, min(max(sizes), 1_000_000)))
    report.write(results)


def measure_ours(results: dict[str, Any], database: Database) -> None:
    print(f"{database.engine}, {database.size:,} records", flush=True)
    key = f"{database.engine} {database.size}"
    rate = prepare(database)
    results[key] = {**results.get(key, {}), **measure(database)}
    if rate:
        results[key]["imported"] = rate
    RESULTS.write_text(json.dumps(results, indent=1))


def measure_profile(results: dict[str, Any], database: Database) -> None:
    """Measure where the time goes, and the bare limit."""
    results.setdefault(f"{database.engine} {database.size}", {}).update(profile.measure(database))
    RESULTS.write_text(json.dumps(results, indent=1))


def measure_beside(results: dict[str, Any], peers: Peers, names: list[str], database: Database) -> None:
    """Measure ours, a peer, ours, and so on, in one run, as the machine is not always the same; of ours the medians."""
    key = f"{database.engine} {database.size}"
    found, runs = {}, [dict(results[key])]
    for name in names:
        found[name] = peers.measure(name, database.engine, database.size)
        measure_ours(results, database)
        runs.append(dict(results[key]))
    medians = {name: statistics.median(run[name] for run in runs) for name in (*ROWS, *RATES)}
    results[key] |= {**medians, "peers": found}
    RESULTS.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
