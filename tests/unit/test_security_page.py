"""docs/security.md: each test that it names is there, and what holds nothing says so."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"\| (\d+\.\d+\.\d+) \| ([12]) \| (met|partly|not met|operator|n/a) \| (.+?) \| (.+?) \|")


def rows() -> list[tuple[str, ...]]:
    lines = (ROOT / "docs" / "security.md").read_text().splitlines()
    result = [match.groups() for line in lines if (match := ROW.fullmatch(line))]
    assert len(result) == len([line for line in lines if re.match(r"\| \d+\.\d+\.\d+ ", line)]), "a row in another form"
    return result


def test_each_requirement_stands_once() -> None:
    numbers = [number for number, *_ in rows()]
    assert len(numbers) > 150
    assert len(numbers) == len(set(numbers))


def test_each_named_test_is_there() -> None:
    for number, _, _, _, held in rows():
        for file, name in re.findall(r"`([\w/]+\.py)::(\w+)`", held):
            assert f"def {name}(" in (ROOT / "tests" / file).read_text(), f"{number}: {file}::{name} is not there"


def test_what_no_test_holds_says_so() -> None:
    for number, _, state, _, held in rows():
        assert "::" in held or held == "reading" or state in ("operator", "n/a", "not met"), number
        assert (
            state not in ("partly", "not met") or number in (ROOT / "docs" / "security.md").read_text().split("##")[0]
        )
