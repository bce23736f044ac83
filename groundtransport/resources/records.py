"""The contexts of records, in the pages and in the API alike: a kind's collection, a live and a deleted record."""

from functools import cache
from typing import Any, ClassVar, Protocol

from sqlalchemy import bindparam, select

from groundtransport.db import SAFE_METHODS, AnySelect
from groundtransport.db.functions import advisory_lock
from groundtransport.request import Request
from groundtransport.resources.tree import ID, Node


class RecordRow(Protocol):
    """The row of a record, live or deleted."""

    id: int
    version: int
    airport_id: int

    @property
    def is_deleted(self) -> bool: ...


class KindDeclaration(Protocol):
    """The part of a kind's declaration (``records.kind.Kind``) that the tree needs."""

    name: str
    model: type[Any]
    grants: tuple[object, ...]
    collection: "type[Collection]"
    record: "type[Record]"


class Collection(Node):
    """``/admin/<kind>``: the records of one kind."""

    kind: Any  # a records.kind.Kind, which is in a package above
    # View names that return JSON or an HTML fragment: a sign-in does not return to them.
    partial: ClassVar[frozenset[str]] = frozenset({"phone", "similar"})

    def __init__(self, request: Request, kind: KindDeclaration, parent: Node) -> None:
        super().__init__(request, kind.name, parent)
        self.kind = kind

    def __acl__(self) -> list[object]:  # type: ignore[override]  # a kind declares its grants
        return list(self.kind.grants)

    def __getitem__(self, name: str) -> "AnyRecord":
        row = self._row(int(name)) if ID.fullmatch(name) else None
        if row is None:
            raise KeyError(name)
        if not row.is_deleted:
            return self.kind.record(self.request, row, self)
        # Only pages lead to the survivor: any other method is a 404, as for each deleted record.
        leads_on = self.request.method in ("GET", "HEAD") and getattr(row, "merged_into", None)
        return (MergedRecord if leads_on else DeletedRecord)(self.request, row, self)

    def get(self, name: str) -> "AnyRecord | None":
        """Return the record with an id, live or deleted; None if there is none."""
        try:
            return self[name]
        except KeyError:
            return None

    def live(self, name: str) -> "Record":
        """Return the live record with an id; raise KeyError if there is none or it is deleted."""
        record = self[name]
        if not isinstance(record, Record):
            raise KeyError(name)
        return record

    def _row(self, record_id: int) -> RecordRow | None:
        query = record_by_id(self.kind.model, write=self.request.method not in SAFE_METHODS)
        return self.request.dbsession.scalar(query, {"record_id": record_id})


@cache
def record_by_id(model: Any, *, write: bool) -> AnySelect:
    """Return the SELECT of a record by the bind parameter ``record_id``; with ``write``, it locks the row."""
    query = select(model).where(model.id == bindparam("record_id"))
    # The second of two writers waits and then reads what the first wrote.
    return query.where(advisory_lock(model.id)).with_for_update() if write else query


class AnyRecord(Node):
    """``/admin/<kind>/<id>``: a record, live or deleted; the context of the few views for both."""

    __parent__: Collection
    kind: Any  # a records.kind.Kind
    row: Any  # of the kind's model

    def __init__(self, request: Request, row: RecordRow, parent: Collection) -> None:
        super().__init__(request, str(row.id), parent)
        self.row = row
        self.kind = parent.kind


class Record(AnyRecord):
    """``/admin/<kind>/<id>`` of a record that is not deleted."""


class DeletedRecord(AnyRecord):
    """A deleted record. It has only a history and can be restored."""


class MergedRecord(DeletedRecord):
    """A deleted record that was merged into another one, where its pages lead (GET and HEAD); it can be restored."""
