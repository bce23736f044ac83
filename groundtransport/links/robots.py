"""robots.txt (RFC 9309): which URLs of a server a program may request.

Python's urllib.robotparser knows neither ``*`` and ``$`` in paths nor that the longest rule decides.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

_PRODUCT = re.compile(r"[A-Za-z_-]*", re.ASCII)


@dataclass(frozen=True)
class Rule:
    """A line ``Allow`` or ``Disallow``."""

    path: bytes  # a pattern, without percent encoding
    allows: bool


@dataclass(frozen=True)
class Rules:
    """The rules of a robots.txt for one program; without any, everything is permitted."""

    rules: tuple[Rule, ...] = ()

    def permits(self, path: str) -> bool:
        """Return True if the path, with its query, may be requested: the longest rule decides, of two ``Allow``."""
        plain = unquote_to_bytes(path)
        matching = [(len(rule.path), rule.allows) for rule in self.rules if matches(rule.path, plain)]
        return max(matching, default=(0, True))[1]


def product_token(user_agent: str) -> str:
    """Return the name by which robots.txt addresses a program: the first word of its User-Agent, in lower case."""
    return _PRODUCT.match(user_agent)[0].lower()  # type: ignore[index]  # it matches the empty text


def parse(text: str, user_agent: str) -> Rules:
    """Return the rules for a program: those of the groups with its name, else those for ``*``."""
    token = product_token(user_agent)
    groups: dict[str, list[Rule]] = {}
    names: list[str] = []
    is_open = False  # whether the last line named a program: several names may share the rules that follow
    for key, value in _lines(text):
        if key == "user-agent":
            names = [*(names if is_open else ()), value if value == "*" else product_token(value)]
            groups.setdefault(names[-1], [])
        elif key in ("allow", "disallow") and value:
            for name in dict.fromkeys(names):
                groups[name].append(Rule(unquote_to_bytes(value), key == "allow"))
        is_open = key == "user-agent"
    return Rules(tuple(groups.get(token, groups.get("*", ()))))


def _lines(text: str) -> Iterable[tuple[str, str]]:
    """Yield the names, in lower case, and values of the lines that matter."""
    for line in text.removeprefix("\ufeff").splitlines():
        key, _, value = line.partition("#")[0].partition(":")
        if key.strip().lower() in ("user-agent", "allow", "disallow"):
            yield key.strip().lower(), value.strip()


def matches(pattern: bytes, path: bytes) -> bool:
    """Return True if a path begins as the pattern says: ``*`` stands for any text, ``$`` at the end for the end.

    The time is linear in the length of the path for each part of the pattern, which a stranger has written.
    """
    is_whole = pattern.endswith(b"$")
    first, *others = pattern.removesuffix(b"$").split(b"*")
    if not path.startswith(first):
        return False
    position = len(first)
    last = others.pop() if others and is_whole else None
    for part in others:
        position = path.find(part, position)
        if position < 0:
            return False
        position += len(part)
    if last is not None:
        return len(path) - len(last) >= position and path.endswith(last)
    return not is_whole or position == len(path)
