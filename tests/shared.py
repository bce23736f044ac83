"""Resources that all processes of a test run share. The first process that needs one makes it; others wait for it."""

import fcntl
from collections.abc import Callable
from pathlib import Path

TEMPLATE = "template-"  # prefix of the names of databases that tests copy


class Shared:
    """Names of resources, such as a database's URL, in files of a folder that belongs to one test run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def once(self, name: str, make: Callable[[], str]) -> str:
        """Return what ``make`` returned for this name in the first process that called it."""
        with (self.folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (self.folder / name).exists():
                (self.folder / name).write_text(make())
            return (self.folder / name).read_text()

    def get(self, name: str) -> str | None:
        """Return what was made for this name, if anything."""
        file = self.folder / name
        return file.read_text() if file.exists() else None

    def all(self, prefix: str) -> list[str]:
        """Return what was made for the names with this prefix."""
        files = (file for file in self.folder.glob(f"{prefix}*") if file.suffix != ".lock")
        return [file.read_text() for file in files if file.is_file()]
