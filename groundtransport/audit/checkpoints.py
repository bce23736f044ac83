"""Checkpoints: the signed chain head in the process log.

If the process log is kept elsewhere, a comparison with it reveals that the newest entries were removed.
"""

import json
import logging
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from groundtransport.signing import Key, canonical

log = logging.getLogger(__name__)

EVERY = 1_000  # entries
EVERY_SECONDS = 600
WORD = "audit-checkpoint "


@dataclass(frozen=True)
class Checkpoint:
    """The chain head: number and signature of the last entry, the time (ISO 8601), and a signature of these."""

    number: int
    mac: str
    at: str
    key_id: str
    signature: str = ""

    @property
    def text(self) -> str:
        """The signed text."""
        return "checkpoint " + canonical([self.number, self.mac, self.at, self.key_id])

    @property
    def line(self) -> str:
        """The line of the process log, which ``read`` parses."""
        return WORD + canonical(self.__dict__)


def make(key: Key, number: int, mac: str, at: datetime) -> Checkpoint:
    """Return a signed checkpoint."""
    unsigned = Checkpoint(number, mac, at.isoformat(), key.key_id)
    return Checkpoint(number, mac, at.isoformat(), key.key_id, key.sign(unsigned.text))


def read(lines: Iterable[str]) -> Iterator[Checkpoint]:
    """Yield the checkpoints in the lines of a process log, plain text or JSON; skip other lines.

    Raise ValueError or TypeError for a malformed checkpoint.
    """
    for line in lines:
        text = line
        if line.lstrip().startswith("{"):
            try:
                text = str(json.loads(line).get("message", ""))
            except ValueError:
                text = line
        if WORD in text:
            yield Checkpoint(**json.loads(text[text.index(WORD) + len(WORD) :]))


class CheckpointWriter:
    """Writes a checkpoint to the process log after EVERY entries or EVERY_SECONDS seconds."""

    def __init__(self) -> None:
        self._last = 0.0

    def due(self, before: int, after: int) -> bool:
        """Return True if a checkpoint is due after the log grew from number ``before`` to ``after``."""
        return before // EVERY != after // EVERY or time.monotonic() - self._last > EVERY_SECONDS

    def write(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint to the process log."""
        self._last = time.monotonic()
        log.info("%s", checkpoint.line)
