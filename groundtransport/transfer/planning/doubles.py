"""Find rows of one file that stand for the same record; a person decides which of them is right."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b

from groundtransport.transfer.planning.matching import Keys

Doubles = Mapping[int, tuple[int, ...]]  # the other lines of each line that is not alone
SHOWN = 10  # other lines that are named


class DoubleFinder:
    """Finds the lines that share a key with others. It keeps a digest of each key: 100,000 take about 15 MB."""

    def __init__(self) -> None:
        self._first: dict[bytes, int] = {}
        self._groups: dict[bytes, list[int]] = {}

    def add(self, line: int, keys: Keys) -> None:
        """Note the keys of a line."""
        for digest in _digests(keys):
            other = self._first.setdefault(digest, line)
            if other != line:
                self._groups.setdefault(digest, [other]).append(line)

    @property
    def doubles(self) -> Doubles:
        """The lines that are not alone, with the others."""
        return _others(self._groups.values())


def _digests(keys: Keys) -> Iterator[bytes]:
    for name, key in (("record", keys.record), ("source", keys.source)):
        if key is not None:
            yield blake2b(repr((name, key)).encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _others(groups: Iterable[list[int]]) -> Doubles:
    others: dict[int, set[int]] = defaultdict(set)
    for lines in groups:
        for line in lines:
            others[line].update([other for other in lines[: SHOWN + 1] if other != line])
    return {line: tuple(sorted(numbers)[:SHOWN]) for line, numbers in others.items()}
