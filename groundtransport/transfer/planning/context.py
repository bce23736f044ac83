"""What the steps of a plan share: the options of one import, the caches of its kind, and a row with its keys."""

from dataclasses import dataclass

from groundtransport.records.kind import Kind
from groundtransport.transfer.plan_types import ImportOptions
from groundtransport.transfer.planning.matching import Keys
from groundtransport.transfer.planning.proposals import Proposals
from groundtransport.transfer.planning.row_texts import RowTexts, TextReader
from groundtransport.transfer.planning.schemas import Schemas


@dataclass(frozen=True)
class PlanContext:
    """The options and caches of one import."""

    kind: Kind
    options: ImportOptions
    reader: TextReader
    schemas: Schemas
    proposals: Proposals


@dataclass(frozen=True)
class KeyedRow:
    """The texts of a row, and the keys by which its record is searched for."""

    row_texts: RowTexts
    keys: Keys
