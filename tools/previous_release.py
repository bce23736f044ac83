"""Run functional tests of the release before on databases that this release has expanded; used by CI.

``PYTHON tools/previous_release.py`` compares ``alembic/versions`` with that of the commit in ``.ci/previous-release``.
If an expanding revision is new, it checks that commit out into a temporary folder and runs its tests, in the
environment of this checkout; ``expanded_databases`` migrates their databases by this checkout's ``init --expand``. It
exits with 1 if a test fails: the release before cannot work with the new schema, and the revision must be changed, or
marked ``PHASE = "contract"``.
"""

import argparse
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = Path("alembic/versions")
# What users and programs do most: lists, forms, imports, the API, the log. On SQLite and PostgreSQL.
NAMES = ("records", "list_state", "search", "edit_keys", "conflict", "api", "imports", "activity", "sign_in")
TESTS = tuple(f"tests/functional/test_{name}.py" for name in NAMES)
BACKENDS = ("sqlite", "postgresql")
# Built, and not committed. The pages of the release before need some files there, and no certain ones.
BUILT = ("groundtransport/static/vendor", "groundtransport/locale/*/LC_MESSAGES/*.mo")


def main() -> int:
    """Run the check; return the exit code."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--versions", type=Path, default=ROOT / VERSIONS, help="folder of this release's revisions")
    words.add_argument("tests", nargs="*", help="of the release before, with pytest's options after --")
    given = words.parse_args()
    commit = (ROOT / ".ci" / "previous-release").read_text().strip()
    if git("cat-file", "-e", f"{commit}^{{commit}}").returncode:
        print(f"The release before, commit {commit}, is not in this clone: git fetch --unshallow", file=sys.stderr)
        return 1
    new = new_revisions(given.versions, commit)
    if not new:
        print(f"No expanding migration is new since the release before ({commit[:8]}).")
        return 0
    print(f"Testing the release before ({commit[:8]}) on databases with {', '.join(new)} ...", flush=True)
    with tempfile.TemporaryDirectory(prefix="gt-previous-release-") as folder:
        check_out(commit, Path(folder) / "release")
        return run_tests(Path(folder), given.versions, given.tests)


def git(*words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=False)  # noqa: S607  # nosec # no shell


def new_revisions(versions: Path, commit: str) -> list[str]:
    """Return the names of the expanding revision files that the commit does not have."""
    listed = git("ls-tree", "--name-only", f"{commit}:{VERSIONS.as_posix()}").stdout.decode().split()
    return [file.name for file in sorted(versions.glob("*.py")) if file.name not in listed and is_expanding(file)]


def is_expanding(file: Path) -> bool:
    return 'PHASE = "expand"' in file.read_text(encoding="utf-8").splitlines()


def check_out(commit: str, folder: Path) -> None:
    """Write the files of a commit into a folder, with built files of this checkout and its own entry points."""
    with tarfile.open(fileobj=io.BytesIO(git("archive", commit).stdout)) as archive:
        archive.extractall(folder, filter="data")
    for source in (path for pattern in BUILT for path in ROOT.glob(pattern)):
        target = folder / source.relative_to(ROOT)
        copy(source, target)
    command = [sys.executable, "setup.py", "--quiet", "egg_info"]
    subprocess.run(command, cwd=folder, check=True, stderr=subprocess.DEVNULL)  # nosec B603 # of the commit


def copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    elif target.parent.is_dir():  # a language that is new
        shutil.copy(source, target)


def run_tests(folder: Path, versions: Path, words: Iterable[str]) -> int:
    """Run tests of the release in ``folder``; return 1 if one fails, or if a backend's databases were not expanded."""
    expanded = folder / "expanded"
    expanded.touch()
    paths = {"PYTHONPATH": str(Path(__file__).parent), "NEXT_RELEASE": str(ROOT), "NEXT_VERSIONS": str(versions)}
    options = list(words) or [*TESTS, "--numprocesses=2"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--quiet",
        "-p",
        "expanded_databases",
        "-p",
        "no:cacheprovider",
        *options,
    ]
    environ = {**os.environ, **paths, "EXPANDED": str(expanded)}
    code = subprocess.run(command, cwd=folder / "release", env=environ, check=False).returncode  # nosec B603 # pytest
    left = set(BACKENDS) - set(expanded.read_text().split())
    if not words and left:
        print(f"No database was expanded on {', '.join(sorted(left))}.", file=sys.stderr)
        return 1
    if code:
        print("The release before cannot work with the new schema (docs/deploy.md, Updates).", file=sys.stderr)
    return 1 if code else 0


if __name__ == "__main__":
    sys.exit(main())
