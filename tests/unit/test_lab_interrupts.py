"""How the laboratory finds the processes that it left, and what a second interrupt does."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lab import interrupts, processes


def test_processes_are_found_by_their_mark_and_by_their_parent(tmp_path: Path) -> None:
    """PostgreSQL is no child of Patroni, which started it."""
    orphan = "import subprocess; print(subprocess.Popen(['sleep', '60'], stdout=subprocess.DEVNULL).pid)"
    environ = {**os.environ, interrupts.MARK: str(tmp_path)}
    orphan_pid = int(subprocess.check_output([sys.executable, "-c", orphan], env=environ))
    child = subprocess.Popen(["sleep", "60"])
    try:
        assert {orphan_pid, child.pid} <= {*interrupts.left_over(tmp_path)}
        assert orphan_pid not in interrupts.left_over(tmp_path / "another")
    finally:
        processes.send([orphan_pid, child.pid], signal.SIGKILL)
        child.wait()
    assert not {orphan_pid, child.pid} & {*interrupts.left_over(tmp_path)}


def test_a_second_interrupt_is_ignored() -> None:
    """It would end the removal of what the first one ends."""
    before = {number: signal.getsignal(number) for number in interrupts.SIGNALS}
    try:
        interrupts.listen()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        interrupts.listen()
        with pytest.raises(SystemExit, match="143"):
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
