"""The trigrams of a search term that give the candidates."""

import pytest

from groundtransport.records.search.terms import selective_trigrams


@pytest.mark.parametrize(
    ("term", "number", "pieces"),
    [
        ("limousine", 1, ["lim"]),
        ("heathrow", 2, ["hea", "row"]),
        ("kwik", 1, ["kwi"]),
        ("718-555-0199", 1, ["718-555-0199"]),  # its trigrams are in many numbers
        ("7185550199", 1, ["7185550199"]),
        ("555", 1, ["555"]),
        ("2026", 1, ["202"]),
    ],
)
def test_candidates_contain_the_first_and_the_last_trigram(term: str, number: int, pieces: list[str]) -> None:
    assert selective_trigrams(term, number) == pieces
