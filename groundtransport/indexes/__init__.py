"""Derived objects of a kind's table: an index for each sort, the search index, and counters.

Triggers update them in the transaction of the change, so changes by manual SQL are included. Migrations create them
with ``op.create_derived``; ``groundtransport check`` verifies them and ``groundtransport reindex`` rebuilds them.
"""

from groundtransport.indexes.counter_tables import RecordBlock, RecordChange, RecordCount, SearchLayout
from groundtransport.indexes.spec import (
    BLOCK,
    TableSpec,
    fold_for_sort,
    folded_columns,
    folded_texts,
    hint_for,
    mark,
    sort_column,
    sort_key,
    spec_of,
)

__all__ = [
    "BLOCK",
    "RecordBlock",
    "RecordChange",
    "RecordCount",
    "SearchLayout",
    "TableSpec",
    "fold_for_sort",
    "folded_columns",
    "folded_texts",
    "hint_for",
    "mark",
    "sort_column",
    "sort_key",
    "spec_of",
]
