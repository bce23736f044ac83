"""Estimate whether a password is easy to guess.

A password is split into as few pieces as possible: a common password, a word of the user or of the service, a run of
the alphabet, up to four digits, or any single character. A password of at most ``FEW`` pieces is weak. There are no
rules about character classes (NIST SP 800-63B-4: a blocklist, no composition rules). Repetition adds no strength.
"""

import importlib.util
import re
import unicodedata
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path

FEW = 3
WORD_MIN = 3  # characters; a shorter word is as hard to guess as its letters
PIECE_MAX = 64
DIGITS_MAX = 4  # a year or a date
READ_MAX = 256  # characters; bounds the cost, for NFKC turns one character into up to 18
SERVICE = frozenset(
    """administration administrator admin airport bus company ground groundtransport scheduled scheduledbus service
    shuttle terminal transit transport transportation""".split()  # noqa: SIM905  # words read better than a list
)
_LOOKS_LIKE = str.maketrans("@4031!$57", "aaoeiisst")
_REPEATED = re.compile(r"(.{1,64}?)\1+", re.DOTALL)
_TAIL = re.compile(r"[\d\W_]{1,6}")


def is_common(password: str) -> bool:
    """Return True if the password is composed of few common passwords."""
    return _is_made_of(password, frozenset())


def is_personal(password: str, words: Collection[str]) -> bool:
    """Return True if the password is composed of few of ``words``, words of the service and common passwords."""
    return _is_made_of(password, SERVICE | {_folded(word) for word in words})


def _is_made_of(password: str, component_words: Collection[str]) -> bool:
    text = _folded(password)[:READ_MAX]
    once = _REPEATED.sub(r"\1", text)
    words = {word for word in component_words if len(word) >= WORD_MIN} | _common_in(text)
    return min(_pieces(text, words), _pieces(once, words)) <= FEW


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _pieces(text: str, words: Collection[str]) -> int:
    """Return the least number of pieces that compose the text."""
    unleeted = text.translate(_LOOKS_LIKE)
    fewest = [0]
    for end in range(1, len(text) + 1):
        starts = range(max(0, end - PIECE_MAX), end)
        fewest.append(1 + min(fewest[start] for start in starts if _is_piece(text, unleeted, start, end, words)))
    return fewest[-1]


def _is_piece(text: str, unleeted: str, start: int, end: int, words: Collection[str]) -> bool:
    part = text[start:end]
    return (
        end - start == 1
        or part in words
        or unleeted[start:end] in words
        or (len(part) <= DIGITS_MAX and part.isdigit())
        or (end == len(text) and _TAIL.fullmatch(part) is not None)
        or _is_run(part)
    )


def _is_run(part: str) -> bool:
    """Return True for a run of at least WORD_MIN characters such as abc, 321 or aaa."""
    steps = {ord(after) - ord(before) for before, after in pairwise(part)}
    return len(part) >= WORD_MIN and len(steps) == 1 and steps <= {-1, 0, 1}


def _common_in(text: str) -> set[str]:
    unleeted = text.translate(_LOOKS_LIKE)
    common = _common_passwords()
    return {word for word in common if len(word) >= WORD_MIN and (word in text or word in unleeted)}


def _common_passwords() -> Iterator[str]:
    """Yield the 30,000 most common passwords of zxcvbn's list.

    The file is loaded for each new password and dropped again: an imported zxcvbn would occupy 15 MB permanently.
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
