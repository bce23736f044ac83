"""Who sees an import: before the commit its uploader; then everybody who may import, but the rows of its file."""

from sqlalchemy import ColumnElement, or_

from groundtransport.db import SAFE_METHODS
from groundtransport.request import Request
from groundtransport.security import Role
from groundtransport.transfer.imports import store
from groundtransport.transfer.imports.models import ImportBatch


def find_import(request: Request, import_id: int) -> ImportBatch | None:
    """``request.find_import(id)``: return an import that the user may see, locked if the request may change it."""
    batch = store.find(request.dbsession, import_id, lock=request.method not in SAFE_METHODS)
    return batch if batch is not None and (is_own(request, batch) or is_public(batch)) else None


def is_own(request: Request, batch: ImportBatch) -> bool:
    """Return True if the user uploaded the file."""
    return bool(batch.user_id == request.user.user_id)


def is_public(batch: ImportBatch) -> bool:
    """Return True if the import has begun to write records."""
    return batch.state not in store.UNFINISHED


def may_see_rows(request: Request, batch: ImportBatch) -> bool:
    """Return True if the user may see the rows of the file: the uploader and, after the commit, administrators."""
    return is_own(request, batch) or (is_public(batch) and request.user.role == Role.ADMINISTRATOR)


def visible(request: Request) -> list[ColumnElement[bool]]:
    """Return the condition of the imports that the user may see."""
    own = ImportBatch.user_id == request.user.user_id
    return [or_(own, ImportBatch.state.not_in(store.UNFINISHED))]
