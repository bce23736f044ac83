"""The check that the release before works with new migrations: it accepts a harmless one, and finds one that is not."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from groundtransport.db import migrations
from tests.next_release import ADD, add_revision

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
CHECK = [sys.executable, str(ROOT / "tools" / "previous_release.py")]
# A test whose fixture creates records, on the smallest database.
ONE_TEST = ("--", "tests/functional/test_backup.py", "-k", "never_replaces and sqlite")


def check(folder: Path, *words: str, phase: str, statement: str = ADD) -> tuple[int, str]:
    """Return the exit code and the output of the check, for the migrations of this release and one more."""
    versions = Path(shutil.copytree(ROOT / "alembic" / "versions", folder / "versions"))
    (head,) = migrations.heads()
    add_revision(versions, "0990", down=head, phase=phase, upgrade=statement)
    command = [*CHECK, "--versions", str(versions), *words]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    if "is not in this clone" in result.stdout:
        pytest.skip("this is not a clone with the release before")  # CI runs the check by itself, and fails then
    return result.returncode, result.stdout


@pytest.mark.parametrize(("nullable", "expected"), [(True, 0), (False, 1)])
def test_an_expanding_migration_that_breaks_the_release_before_is_found(
    tmp_path: Path, nullable: bool, expected: int
) -> None:
    code, output = check(tmp_path, *ONE_TEST, phase="expand", statement=ADD if nullable else f"{ADD} NOT NULL")
    assert code == expected, output
    assert "0990_next.py ...\n" in output  # after those that are new since the release before
    assert ("1 passed" in output) is nullable, output
    assert ("cannot work with the new schema" in output) is not nullable


def test_a_contracting_migration_is_not_run(tmp_path: Path) -> None:
    code, output = check(tmp_path, phase="contract", statement=f"{ADD} NOT NULL")
    assert code == 0
    assert "0990" not in output
