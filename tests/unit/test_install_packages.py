"""tools/install_packages.py, with a script in the place of pip."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "install_packages.py"


def install(folder: Path, says: str, exit_code: int = 0) -> "subprocess.CompletedProcess[str]":
    """Run the script on an environment whose Python prints ``says`` and ends with ``exit_code``."""
    (folder / "bin").mkdir()
    (folder / "pip.txt").write_text(says)
    python = folder / "bin" / "python"
    python.write_text(f'#!/bin/sh\necho "$@" > {folder}/words\ncat {folder}/pip.txt\nexit {exit_code}\n')
    python.chmod(0o755)
    words = [sys.executable, str(SCRIPT), str(folder), "-r", "x.lock"]
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


def test_each_package_is_named_once_and_the_rest_goes_to_a_file(tmp_path: Path) -> None:
    says = """Looking in indexes: https://packages.example/simple
Collecting zope-interface==8.1 (from -r x.lock (line 1))
  Downloading zope_interface-8.1.whl (26 kB)
Processing /packages/argon2_cffi-25.1.0-py3-none-any.whl (from -r x.lock (line 2))
Requirement already satisfied: click==8.5.1 in x (from -r x.lock (line 3))
Collecting zope-interface==8.1
  Installing build dependencies: started
  Installing build dependencies: finished with status 'done'
Installing collected packages: zope-interface, argon2_cffi
"""
    done = install(tmp_path, says)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.strip() for line in done.stdout.splitlines()] == [
        "zope-interface",
        "argon2_cffi",
        "npm, which fetches the front end",
        "unpacking and compiling them",
    ]
    assert (tmp_path / "install.log").read_text() == says
    assert (tmp_path / "words").read_text().startswith("-m pip install ")
    assert (tmp_path / "words").read_text().endswith(" -r x.lock\n")


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        ("WARNING: Retrying (...) after connection broken by 'NewConnectionError(...)'", "can PyPI be reached?"),
        ("ERROR: No matching distribution found for airportsdata==20260905", "can PyPI be reached?"),
        ("Traceback (most recent call last):\nnpm could not fetch the front end; ...", "can its registry be reached?"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "the lock file"),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "the disk is full"),
        ("\udcff anything else".encode(errors="surrogateescape").decode(errors="replace"), "pip could not do it"),
    ],
)
def test_a_failure_is_one_sentence_that_names_the_cause(tmp_path: Path, says: str, reason: str) -> None:
    done = install(tmp_path, says + "\n", exit_code=2)
    assert done.returncode == 1
    assert reason in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "Traceback" not in done.stdout + done.stderr
