"""The TTL cache."""

import pytest
from sqlalchemy import create_engine

from groundtransport import cache
from groundtransport.cache import TTLCache


def test_it_is_kept_for_a_while_and_for_its_own_database(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 100.0
    monkeypatch.setattr(cache.time, "monotonic", lambda: clock)
    one, other = create_engine("sqlite://"), create_engine("sqlite://")
    result: TTLCache[str] = TTLCache(seconds=60)

    result.put(one, "cities", "Newark")
    assert result.get(one, "cities") == "Newark"
    assert result.get(one.execution_options(isolation_level="AUTOCOMMIT"), "cities") == "Newark"
    assert result.get(one, "others") is None
    assert result.get(other, "cities") is None

    clock += 60
    assert result.get(one, "cities") is None

    result.put(one, "cities", "Newark")
    result.put(other, "cities", "Hayes")
    result.forget(one)
    assert (result.get(one, "cities"), result.get(other, "cities")) == (None, "Hayes")


def test_it_does_not_grow_without_end() -> None:
    engine, result = create_engine("sqlite://"), TTLCache[int](seconds=60, max_size=3)
    for number in range(10):
        result.put(engine, number, number)
    assert len([number for number in range(10) if result.get(engine, number) is not None]) <= 3
    assert result.get(engine, 9) == 9
