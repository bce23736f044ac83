"""Checkpoints: the head of the chain, signed, in the process log. Whoever keeps that log elsewhere sees a cut end."""

import json
import logging
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from groundtransport.audit.chain import Key, canonical

log = logging.getLogger(__name__)

EVERY = 1_000  # entries
EVERY_SECONDS = 600
WORD = "audit-checkpoint "


@dataclass(frozen=True)
class Checkpoint:
    number: int
    mac: str
    at: str
    key_id: str
    signature: str = ""

    @property
    def text(self) -> str:
        """What is signed."""
        return "checkpoint " + canonical([self.number, self.mac, self.at, self.key_id])

    @property
    def line(self) -> str:
        return WORD + canonical(self.__dict__)


def make(key: Key, number: int, mac: str, at: datetime) -> Checkpoint:
    unsigned = Checkpoint(number, mac, at.isoformat(), key.key_id)
    return Checkpoint(number, mac, at.isoformat(), key.key_id, key.sign(unsigned.text))


def read(lines: Iterable[str]) -> Iterator[Checkpoint]:
    """Yield the checkpoints of a process log, plain or one JSON object a line; other lines are passed over."""
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
    """Decides when a checkpoint is due: after so many entries, or so many seconds."""

    def __init__(self) -> None:
        self._last = 0.0

    def due(self, before: int, after: int) -> bool:
        return before // EVERY != after // EVERY or time.monotonic() - self._last > EVERY_SECONDS

    def write(self, checkpoint: Checkpoint) -> None:
        self._last = time.monotonic()
        log.info("%s", checkpoint.line)
