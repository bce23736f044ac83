"""``python -m benchmarks.exports``: time and memory of exports of a whole kind, in each format on each database.

Each export is a process of its own, ``groundtransport export``; its peak memory includes the program itself.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data import KIND, Database, prepare
from groundtransport.transfer.export.formats import Format

MB = 1_000_000


@dataclass(frozen=True)
class Figures:
    """Seconds of an export, peak memory of its process and size of its file in bytes."""

    seconds: float
    memory: int
    size: int


def measure(database: Database, file_format: Format) -> Figures:
    """Export all records of a database into a file that is deleted."""
    program = Path(sys.executable).with_name("groundtransport")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "export"
        words = [program, "-c", database.ini, "export", KIND, "--format", file_format, "--output", file]
        started = time.monotonic()
        process = subprocess.Popen(words)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return Figures(time.monotonic() - started, usage.ru_maxrss * 1024, file.stat().st_size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", default="sqlite,postgresql")
    parser.add_argument("--size", type=int, default=1_000_000)
    options = parser.parse_args()
    print("| format | database | seconds | records/s | peak memory, MB | file, MB |\n|---|---|---|---|---|---|")
    for engine in options.engines.split(","):
        database = Database(engine, options.size)
        prepare(database)
        for file_format in Format:
            found = measure(database, file_format)
            cells = (found.seconds, options.size / found.seconds, found.memory / MB, found.size / MB)
            print(f"| {file_format} | {engine} | {' | '.join(f'{cell:,.0f}' for cell in cells)} |", flush=True)


if __name__ == "__main__":
    main()
