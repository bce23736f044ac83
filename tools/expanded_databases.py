"""A plugin of pytest: the test databases of an old release are expanded by a newer one; see ``previous_release``.

It replaces ``template_url`` of the old release's ``tests/databases.py``, by which each database is filled once.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

INI = """[app:main]
use = egg:groundtransport
groundtransport.hosts = localhost
sqlalchemy.url = {url}

[alembic]
version_locations = {versions}
"""
EXPAND = "import sys; from groundtransport.cli import main; main(['-c', sys.argv[1], 'init', '--expand'])"


def pytest_sessionstart() -> None:
    """Expand each database after it was filled, and before it is copied."""
    databases: Any = import_module("tests.databases")
    template_url = databases.template_url

    def expanded_template_url(shared: Any, backend: str, server: Any, fill: Callable[[str], None]) -> str:
        @wraps(fill)
        def fill_and_expand(url: str) -> None:
            fill(url)
            expand(url)
            with Path(os.environ["EXPANDED"]).open("a") as names:
                names.write(f"{backend}\n")

        return template_url(shared, backend, server, fill_and_expand)

    databases.template_url = expanded_template_url


def expand(url: str) -> None:
    """Run the newer release's ``init --expand`` on the database; raise CalledProcessError if it fails."""
    release = Path(os.environ["NEXT_RELEASE"])
    with tempfile.TemporaryDirectory() as folder:
        ini = Path(folder) / "next.ini"
        ini.write_text(INI.format(url=url.replace("%", "%%"), versions=os.environ["NEXT_VERSIONS"]))
        command = [sys.executable, "-W", "ignore", "-c", EXPAND, str(ini)]
        environ = {**os.environ, "PYTHONPATH": str(release)}
        subprocess.run(command, cwd=release, env=environ, check=True)  # nosec B603 # of the other checkout
