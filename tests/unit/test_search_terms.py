"""What an index is asked for first, of the words of a search."""

import pytest

from groundtransport.records.search.terms import telling


@pytest.mark.parametrize(
    ("term", "number", "pieces"),
    [
        ("limousine", 1, ["mou"]),
        ("heathrow", 2, ["row", "thr"]),
        ("kwik", 1, ["kwi"]),
        ("718-555-0199", 1, ["718-555-0199"]),  # any piece stands in many numbers
        ("7185550199", 1, ["7185550199"]),
        ("555", 1, ["555"]),
        ("2026", 1, ["202"]),
    ],
)
def test_a_search_begins_with_what_few_texts_hold(term: str, number: int, pieces: list[str]) -> None:
    assert telling(term, number) == pieces
