"""Is a password easy to guess? It is where it is little more than common passwords and the person's own words.

A password is read as pieces: a common password, a word of the person or of the service, a run of the alphabet, a few
digits; any other character is a piece by itself. What needs more than ``FEW`` pieces passes, whatever characters it
has (NIST SP 800-63B-4: a blocklist, and no rules of composition). Repeating something adds nothing.
"""

import importlib.util
import re
import unicodedata
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path

FEW = 3
WORD_MIN = 3  # characters: a shorter word is no easier to guess than its letters
PIECE_MAX = 64
DIGITS_MAX = 4  # a year, a day
READ_MAX = 256  # characters: one of a password may fold into eighteen, and would cost as much
SERVICE = frozenset(
    """administration administrator admin airport bus company ground groundtransport scheduled scheduledbus service
    shuttle terminal transit transport transportation""".split()  # noqa: SIM905  # words read better than a list
)
_LOOKS_LIKE = str.maketrans("@4031!$57", "aaoeiisst")
_REPEATED = re.compile(r"(.{1,64}?)\1+", re.DOTALL)
_TAIL = re.compile(r"[\d\W_]{1,6}")


def is_common(password: str) -> bool:
    """Whether the password is little more than common passwords."""
    return _is_made_of(password, frozenset())


def is_own(password: str, words: Collection[str]) -> bool:
    """Whether the password is little more than these words, the service's, and common ones."""
    return _is_made_of(password, SERVICE | {_folded(word) for word in words})


def _is_made_of(password: str, own: Collection[str]) -> bool:
    text = _folded(password)[:READ_MAX]
    once = _REPEATED.sub(r"\1", text)
    words = {word for word in own if len(word) >= WORD_MIN} | _common_in(text)
    return min(_pieces(text, words), _pieces(once, words)) <= FEW


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _pieces(text: str, words: Collection[str]) -> int:
    """Return how few pieces make the text."""
    read = text.translate(_LOOKS_LIKE)
    fewest = [0]
    for end in range(1, len(text) + 1):
        starts = range(max(0, end - PIECE_MAX), end)
        fewest.append(1 + min(fewest[start] for start in starts if _is_piece(text, read, start, end, words)))
    return fewest[-1]


def _is_piece(text: str, read: str, start: int, end: int, words: Collection[str]) -> bool:
    part = text[start:end]
    return (
        end - start == 1
        or part in words
        or read[start:end] in words
        or (len(part) <= DIGITS_MAX and part.isdigit())
        or (end == len(text) and _TAIL.fullmatch(part) is not None)
        or _is_run(part)
    )


def _is_run(part: str) -> bool:
    """Whether the characters follow each other like abc, 321 or aaa."""
    steps = {ord(after) - ord(before) for before, after in pairwise(part)}
    return len(part) >= WORD_MIN and len(steps) == 1 and steps <= {-1, 0, 1}


def _common_in(text: str) -> set[str]:
    read = text.translate(_LOOKS_LIKE)
    return {word for word in _common() if len(word) >= WORD_MIN and (word in text or word in read)}


def _common() -> Iterator[str]:
    """Yield the 30,000 most common passwords, from zxcvbn's own list.

    The file is read for each new password: importing zxcvbn would keep 15 MB for good.
    """
    package = importlib.util.find_spec("zxcvbn")
    assert package is not None
    assert package.submodule_search_locations is not None
    file = Path(package.submodule_search_locations[0], "frequency_lists.py")
    spec = importlib.util.spec_from_file_location("frequency_lists", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield from module.FREQUENCY_LISTS["passwords"]
