"""``/admin/imports/<id>/file``: the rows of one count, in the format that came in."""

import re
from pathlib import PurePath
from tempfile import TemporaryFile

from pyramid.response import FileIter, Response
from pyramid.view import view_config

from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.resources import Import
from groundtransport.security import Permission
from groundtransport.transfer import result_table
from groundtransport.transfer.imports import access, files, shown, store
from groundtransport.web.errors import error


@view_config(context=Import, name="file", request_method="GET", permission=Permission.IMPORT)
def result_file(context: Import, request: Request) -> Response:
    """Return the rows of the count ``show`` as a file."""
    batch, show = context.batch, request.GET.get("show", "refused")
    kind = request.registry["kinds"].get(batch.kind)
    if not access.may_see_rows(request, batch) or batch.source is None or kind is None:
        return error(request, 422, _("Only the person who uploaded the file and administrators see its rows."))
    show = show if show in shown.COUNTS else "refused"
    file = files.from_json(batch.source)
    planned = store.iterate_rows(request.dbsession, batch.id, [show])
    titles, are_bad = shown.field_titles(kind), show in store.BAD
    rows = result_table.result_rows(file, planned, titles, request.translate, are_bad=are_bad)
    target = TemporaryFile()  # noqa: SIM115  # the response closes it
    result_table.write(target, file, rows)
    target.seek(0)
    suffix = result_table.suffix_of(file)
    response = Response(app_iter=FileIter(target), content_type=result_table.CONTENT_TYPES[suffix])
    response.charset = None  # that of the file that came in, which a spreadsheet recognises by itself
    response.content_disposition = f'attachment; filename="{file_name(batch.filename, show, suffix)}"'
    return response


def file_name(name: str, show: str, suffix: str) -> str:
    """Return the name of the file in ASCII: ``buses.refused.csv``."""
    stem = re.sub(r"[^A-Za-z0-9_ -]", "_", PurePath(name).stem)
    return f"{stem or 'import'}.{show}.{suffix}"
