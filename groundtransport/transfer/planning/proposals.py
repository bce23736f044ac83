"""Propose texts in place of an unknown airport, state or city, those written most alike, and of two numbers each."""

from collections.abc import Mapping, Sequence
from typing import Any

from rapidfuzz import fuzz, process, utils
from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.airports import lookup
from groundtransport.airports.models import Airport
from groundtransport.airports.names import named
from groundtransport.records.fields import AirportField, Field
from groundtransport.transfer.planning.row_texts import AIRPORT_NAME

MOST = 3  # proposals
ALIKE = 70  # percent
SHORTEST = 3  # characters of a code
DIFFERENT = (
    500  # texts for which proposals are made; in a file with more, the column is probably mapped to the wrong field
)


class Proposals:
    """Proposes texts for refused ones. The proposals for a text at an airport are computed once and cached."""

    def __init__(self) -> None:
        self._cache: dict[tuple[str, str, str], tuple[str, ...]] = {}
        self._names: dict[str, str] = {}

    def of(self, dbsession: Session, node: Field, code: str, text: str) -> tuple[str, ...]:
        """Return the proposals for a field's refused text at the airport of a code."""
        key = (node.name, "" if node.name == AIRPORT_NAME else code, text)
        if key not in self._cache and len(self._cache) < DIFFERENT:
            self._cache[key] = tuple(self._make(dbsession, node, text))
        return self._cache.get(key, ())

    def _make(self, dbsession: Session, node: Field, text: str) -> Sequence[str]:
        if isinstance(node, AirportField):
            return self._airports(dbsession, text)
        return node.proposals(text) or nearest(text, node.valid_texts())

    def _airports(self, dbsession: Session, text: str) -> Sequence[str]:
        """Return the airports that hold all words of the text before its code, else those with a similar name."""
        name = text.rpartition("(")[0].strip() or text
        suggestions = lookup.suggestions(dbsession, name)[:MOST] if len(name) > SHORTEST else []
        names = self._airport_names(dbsession)
        return suggestions or [names[key] for key in nearest(_without_common_words(name), list(names))]

    def _airport_names(self, dbsession: Session) -> Mapping[str, str]:
        """Return the airports by their names without the words that most names hold."""
        if not self._names:
            query = select(Airport.name, Airport.code).where(Airport.withdrawn_at.is_(None)).order_by(Airport.id)
            self._names = {_without_common_words(name): named(name, code) for name, code in dbsession.execute(query)}
        return self._names


_COMMON_WORDS = {"airport", "international", "intl", "regional", "municipal", "aeropuerto", "internacional"}


def _without_common_words(name: str) -> str:
    return " ".join(word for word in name.replace(",", " ").split() if word.casefold() not in _COMMON_WORDS)


def nearest(text: str, valid: Sequence[str]) -> list[str]:
    """Return the valid texts that are written most like a text, the nearest first."""
    matches: Any = process.extract(
        text, valid, scorer=fuzz.WRatio, processor=utils.default_process, limit=MOST, score_cutoff=ALIKE
    )
    return [match for match, _score, _index in matches]
