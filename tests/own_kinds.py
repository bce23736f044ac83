"""A copy of the code to which a test adds kinds and revisions, and the commands of the README on it.

Each command is a process of its own that imports the copy, so that its tables are none of the other tests'.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests import fresh_process
from tests.fresh_process import Program
from tests.site import ENVIRON

ROOT = Path(__file__).parents[1]
COMMANDS = {
    "alembic": "from alembic.config import main; main(prog='alembic')",
    "groundtransport": "from groundtransport.cli import main; main(prog_name='groundtransport')",
}


class OwnCode:
    """A copy of the package, its migrations and its ini in a folder, on one database."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        for name in ("groundtransport", "alembic"):
            shutil.copytree(ROOT / name, folder / name, symlinks=True)
        shutil.copy(ROOT / "development.ini", folder)

    def file(self, path: str, text: str) -> Path:
        """Write a file of the copy, such as ``groundtransport/kinds/shuttle.py``."""
        file = self.folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        for cached in file.parent.glob(f"__pycache__/{file.stem}.*"):
            cached.unlink()
        return file

    def kind(self, name: str, code: str) -> None:
        """Add a kind as an installed package would: the module ``groundtransport_<name>`` and its entry point."""
        self.file(f"groundtransport_{name}.py", code)
        self.file(f"groundtransport_{name}-1.0.dist-info/METADATA", f"Name: groundtransport-{name}\nVersion: 1.0\n")
        entry = f"[groundtransport.kinds]\n{name} = groundtransport_{name}\n"
        self.file(f"groundtransport_{name}-1.0.dist-info/entry_points.txt", entry)

    def install(self, source: Path) -> None:
        """Install a package from its source folder beside the copy, by pip, without its dependencies."""
        options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--upgrade")
        pip = [sys.executable, "-W", "ignore", "-m", "pip", "install", *options, "--target", str(self.folder)]
        process = subprocess.run([*pip, str(source)], capture_output=True, text=True, timeout=120)
        assert process.returncode == 0, process.stdout + process.stderr

    def run(self, line: str, *, fails: bool = False) -> str:
        """Run a command line of the README, and return what it printed."""
        program, *words = re.findall(r'"[^"]*"|\S+', line)
        words = [word.strip('"') for word in words]
        if program.endswith("pip") and words[0] == "install":
            self.install(self.folder / words[1])
            return ""
        return self.python(COMMANDS[program.removeprefix(".venv/bin/")], *words, fails=fails)

    def python(self, program: str, *words: str, fails: bool = False) -> str:
        """Run a program in a process that imports the copy, and return what it printed."""
        environ = {**os.environ, **ENVIRON, "DATABASE_URL": self.url}
        code, output = fresh_process.run(Program(program, words, self.folder, environ, (str(self.folder), str(ROOT))))
        assert (code != 0) is fails, output
        return output

    def revisions(self) -> list[Path]:
        """Return the deployment's own revisions, oldest first."""
        return sorted((self.folder / "alembic" / "own").glob("*.py"), key=lambda file: file.stat().st_mtime)


def readme_kind() -> tuple[dict[str, str], list[str]]:
    """Return the README's own kind: the texts of its files by path, and the commands that follow."""
    section = (ROOT / "README.md").read_text().split("## Add a kind")[1].split("\n## ")[0]
    paths = re.findall(r"`(shuttle/[\w.]+)`", section)
    texts = re.findall(r"```(?:python|toml)\n(.*?)```", section, re.DOTALL)
    commands = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)[0].splitlines()
    return dict(zip(paths, texts, strict=True)), [line.partition("  #")[0] for line in commands]
