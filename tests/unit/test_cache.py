"""What was found a moment ago."""

import pytest
from sqlalchemy import create_engine

from groundtransport import cache
from groundtransport.cache import TTLCache


def test_it_is_kept_for_a_while_and_for_its_own_database(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 100.0
    monkeypatch.setattr(cache.time, "monotonic", lambda: clock)
    one, other = create_engine("sqlite://"), create_engine("sqlite://")
    found: TTLCache[str] = TTLCache(seconds=60)

    found.put(one, "cities", "Newark")
    assert found.get(one, "cities") == "Newark"
    assert found.get(one.execution_options(isolation_level="AUTOCOMMIT"), "cities") == "Newark"
    assert found.get(one, "others") is None
    assert found.get(other, "cities") is None

    clock += 60
    assert found.get(one, "cities") is None

    found.put(one, "cities", "Newark")
    found.put(other, "cities", "Hayes")
    found.forget(one)
    assert (found.get(one, "cities"), found.get(other, "cities")) == (None, "Hayes")


def test_it_does_not_grow_without_end() -> None:
    engine, found = create_engine("sqlite://"), TTLCache[int](seconds=60, most=3)
    for number in range(10):
        found.put(engine, number, number)
    assert len([number for number in range(10) if found.get(engine, number) is not None]) <= 3
    assert found.get(engine, 9) == 9
