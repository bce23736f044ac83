"""Interrupts by Ctrl-C and SIGTERM, after which no process of the laboratory may be left."""

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

from lab import processes

MARK = "LABORATORY_FOLDER"  # environment variable of all processes of a laboratory
SIGNALS = (signal.SIGINT, signal.SIGTERM)
PATIENCE = 10  # seconds


def listen() -> None:
    """Have the first Ctrl-C or SIGTERM end the laboratory."""
    for number in SIGNALS:
        signal.signal(number, _interrupt)


def ignore() -> None:
    """Ignore Ctrl-C and SIGTERM from now on: while everything is ended, another would leave processes behind."""
    for number in SIGNALS:
        signal.signal(number, _do_nothing)


def _do_nothing(number: int, frame: FrameType | None) -> None:
    """Ignore a signal. Not SIG_IGN, which the programs that are started later would inherit."""


def _interrupt(number: int, frame: FrameType | None) -> None:
    del frame
    ignore()
    if number == signal.SIGTERM:
        sys.exit(128 + number)
    raise KeyboardInterrupt


def mark(folder: Path) -> None:
    """Mark all processes that are started from now on as those of the laboratory in ``folder``."""
    os.environ[MARK] = str(folder)


def left_over(folder: Path) -> list[int]:
    """Return the ids of the processes that are left: our children, and all that have the mark, with theirs.

    An interrupt may come between the start of a program and the note of its id. PostgreSQL is no child of anybody.
    """
    text = f"{MARK}={folder}".encode()
    marked = [os.getpid()]
    for file in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if text in file.read_bytes().split(b"\0"):
                marked.append(int(file.parent.name))
    return [pid for pid in processes.with_children(marked) if pid != os.getpid()]


def kill_left_over(folder: Path) -> None:
    """Kill what is left, until nothing is."""
    until = time.monotonic() + PATIENCE
    while (pids := left_over(folder)) and time.monotonic() < until:
        processes.send(pids, signal.SIGKILL)
        time.sleep(0.1)
