"""``/admin/<kind>/import``: upload a file or paste rows. ``/admin/imports``: the imports, newest first."""

import hashlib
import secrets
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import PurePath

from pyramid.renderers import render_to_response
from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport.i18n import _
from groundtransport.jobs import housekeeping
from groundtransport.json_types import JsonObject
from groundtransport.records.list.query import page_numbers, read_page, single_values
from groundtransport.records.view_helpers import see_other
from groundtransport.request import Request
from groundtransport.resources import Collection, Imports
from groundtransport.security import Permission
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record
from groundtransport.transfer.imports import access, steps, store
from groundtransport.transfer.imports.models import FILENAME_MAX, ImportBatch, ImportState
from groundtransport.transfer.imports.shown import state_of, title_of
from groundtransport.web.actor import actor_of
from groundtransport.web.upload import UploadedFile

TEMPLATES = "groundtransport:transfer/imports/templates"
TOKEN_MAX = 64
PASTED = "pasted.tsv"  # the name of pasted rows


@view_defaults(context=Collection, name="import", permission=Permission.IMPORT)
class UploadViews:
    """The form of a new import, and its submission."""

    def __init__(self, context: Collection, request: Request) -> None:
        self.context, self.request, self.kind = context, request, context.kind

    @view_config(request_method="GET", renderer=f"{TEMPLATES}/upload.jinja2")
    def show(self) -> dict[str, object]:
        """Render the form."""
        settings = self.request.registry["settings"]
        return {
            "kind": self.kind,
            "settings": settings,
            "megabytes": settings.import_size // 1024**2,
            "form_token": secrets.token_urlsafe(24),
            "has_worker": housekeeping.is_alive(self.request.dbsession),
            "error": "",
            "pasted": "",
        }

    @view_config(request_method="POST", accept_upload="/admin/*/import")
    def upload(self) -> Response:
        """Store the file and let a job recognise it. The same form sent again leads to the same import."""
        content = _content(self.request)
        if content is None:
            return self._refuse(_("Choose a file, or paste rows."))
        limit = self.request.registry["settings"].import_size
        if content.size > limit:
            return self._refuse(_("The file is larger than ${size} MB.", mapping={"size": limit // 1024**2}))
        batch = new_import(self.request, self.kind.name, content)
        stored = store.add_once(self.request.dbsession, batch)
        if stored is batch:
            save(self.request, batch, content)
        return see_other(f"/admin/imports/{stored.id}")

    def _refuse(self, text: str) -> Response:
        pasted = self.request.POST.get("rows")
        typed = {"error": self.request.translate(text), "pasted": pasted if isinstance(pasted, str) else ""}
        response = render_to_response(f"{TEMPLATES}/upload.jinja2", {**self.show(), **typed}, request=self.request)
        response.status_int = 422
        return response


class _Content:
    """What was uploaded: a file, or pasted rows. ``blocks`` can be iterated several times."""

    def __init__(self, filename: str, size: int, source: UploadedFile | bytes) -> None:
        self.filename, self.size, self.source = filename, size, source

    def blocks(self) -> Iterator[bytes]:
        """Yield the content in parts of at most ``store.PART`` bytes."""
        if isinstance(self.source, UploadedFile):
            return self.source.blocks(store.PART)
        return iter([self.source])


def _content(request: Request) -> _Content | None:
    """Return the file of the form, else the pasted rows; None if there is neither."""
    file, rows = request.POST.get("file"), request.POST.get("rows")
    if isinstance(file, UploadedFile) and file.filename:
        # Some browsers send a path.
        name = PurePath(file.filename.replace("\\", "/")).name or file.filename
        return _Content("".join(filter(str.isprintable, name))[-FILENAME_MAX:], file.size, file)
    if isinstance(rows, UploadedFile):
        return _Content(PASTED, rows.size, rows)
    if isinstance(rows, str) and rows.strip():
        return _Content(PASTED, len(content := rows.encode()), content)
    return None


def new_import(request: Request, kind_name: str, content: _Content) -> ImportBatch:
    """Return the import of an upload by the user, not stored yet."""
    actor, token = actor_of(request), request.POST.get("form_token")
    return ImportBatch(
        batch=store.new_batch_name(),
        kind=kind_name,
        user_id=actor.user_id,
        actor=actor.name,
        address=actor.client_ip,
        form_token=token[:TOKEN_MAX] if isinstance(token, str) and token else None,
        filename=content.filename,
        digest=_digest(content.blocks()),
        size=content.size,
    )


def _digest(blocks: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


def save(request: Request, batch: ImportBatch, content: _Content) -> None:
    """Store the file of a new import, and add the job that recognises it."""
    dbsession = request.dbsession
    store.save_file(dbsession, batch.id, content.blocks())
    steps.begin(dbsession, batch, ImportState.READING)
    record(request, Event.IMPORT, what="upload", number=batch.id, kind=batch.kind, bytes=batch.size)


@view_config(
    context=Imports, request_method="GET", permission=Permission.IMPORT, renderer=f"{TEMPLATES}/imports.jinja2"
)
def imports(context: Imports, request: Request) -> JsonObject | Response:
    """List the imports that the user may see, newest first; lead to the one that ``batch`` names."""
    params = request.GET.dict_of_lists()
    if found := store.of_batch(request.dbsession, single_values(params).get("batch", "")):
        return see_other(f"/admin/imports/{found}")
    query = read_page(params, request.registry["settings"].page_size)
    conditions = access.visible(request)
    total = store.count(request.dbsession, conditions)
    number, last = page_numbers(query, total)
    start = (number - 1) * query.page_size
    workers = housekeeping.workers(request.dbsession)
    return {
        "imports": store.page(request.dbsession, conditions, start, query.page_size),
        "titles": {kind.name: kind.plural for kind in request.registry["kinds"].values()},
        "state_of": state_of,
        "title_of": partial(title_of, request),
        "total": total,
        "number": number,
        "last": last,
        "workers": workers[:3],
        "has_worker": housekeeping.is_alive(request.dbsession),
        "given": single_values(params),
    }
