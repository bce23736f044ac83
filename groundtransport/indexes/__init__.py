"""What the table of a kind has besides its columns: indexes for every sort, the index of searches, and counters.

The database keeps all of it by itself, in the transaction of the change (triggers), so that SQL by hand is counted
too. Migrations make it by ``op.index_records``; ``groundtransport check`` compares it, ``reindex`` makes it anew.
"""

from groundtransport.indexes.counter_tables import RecordBlock, RecordChange, RecordCount
from groundtransport.indexes.spec import BLOCK, TableSpec, hint_for, mark, sort_key, spec_of

__all__ = [
    "BLOCK",
    "RecordBlock",
    "RecordChange",
    "RecordCount",
    "TableSpec",
    "hint_for",
    "mark",
    "sort_key",
    "spec_of",
]
