"""The peers on the same work: a folder with their servers and their client is named, nothing of it is ours.

The folder holds ``setup.sh``, ``pg.sh``, ``prepare.sh`` and ``bench.py PEER sqlite|pg SIZE``, which appends one JSON
object to the file named by BENCH_RESULTS.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.data import HOME

PEERS = ("django", "django_tuned", "flask_admin", "sqladmin", "starlette_admin")


class Peers:
    """The peers' programs, with their environments and data under var/bench/peers."""

    def __init__(self, folder: Path, sizes: list[int]) -> None:
        self.folder = folder.resolve()
        self.home = HOME / "peers"
        self.results = self.home / "results.jsonl"
        self.environ = {**os.environ, "BENCH_HOME": str(self.home), "SIZES": " ".join(map(str, sizes))}

    def __enter__(self) -> "Peers":
        self.home.mkdir(parents=True, exist_ok=True)
        self.home.chmod(0o755)
        for words in (["./setup.sh"], ["./pg.sh", "start"], ["./prepare.sh"]):
            subprocess.run(words, cwd=self.folder, env=self.environ, check=True)
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(["./pg.sh", "stop"], cwd=self.folder, env=self.environ, check=False)

    def measure(self, peer: str, engine: str, size: int) -> dict[str, Any]:
        """Return a peer's figures: milliseconds by row, requests a second; what failed is left out."""
        python = self.home / "venvs" / "gen" / "bin" / "python"
        words = [str(python), "bench.py", peer, {"sqlite": "sqlite", "postgresql": "pg"}[engine], str(size)]
        if subprocess.run(words, cwd=self.folder, env=self.environ, check=False).returncode:
            return {}
        told = json.loads(self.results.read_text().splitlines()[-1])
        medians = {name: row["med"] for name, row in told["ops"].items() if row.get("med")}
        rates = {"rps_list": told.get("rps_a_list"), "rps_rare": told.get("rps_e_rare")}
        return {**medians, **{name: rate for name, rate in rates.items() if rate}, "memory": told["rss_mb"]}
