"""What the table of a kind has besides its columns: indexes for every sort, the index of searches, and counters.

The database keeps all of it by itself, in the transaction of the change (triggers), so that SQL by hand is counted
too. Migrations make it by ``op.create_derived``; ``groundtransport check`` compares it, ``reindex`` makes it anew.
"""

from groundtransport.indexes.facts import BLOCK, Indexed, facts_of, hint_for, mark, sort_key
from groundtransport.indexes.tables import RecordBlock, RecordChange, RecordCount, SearchLayout

__all__ = [
    "BLOCK",
    "Indexed",
    "RecordBlock",
    "RecordChange",
    "RecordCount",
    "SearchLayout",
    "facts_of",
    "hint_for",
    "mark",
    "sort_key",
]
