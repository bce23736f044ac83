"""The response of a file download."""

from pyramid.response import Response

from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.transfer.export.formats import CONTENT_TYPES, Format
from groundtransport.transfer.export.stream import Busy, Export, run_export, start
from groundtransport.web.errors import error

RETRY_AFTER = 60  # seconds
BUSY = _("Other people are exporting just now. Nothing was exported; try again in a minute.")


def download(request: Request, export: Export, file_format: Format, name: str) -> Response:
    """Return the response that streams an export as the file ``name``; a 503 if too many are running."""
    registry = request.registry
    try:
        parts = run_export(export, request.dbsession.get_bind().engine, registry["security_log"])
        body = start(registry["export_slots"], parts, request.environ)
    except Busy:
        response = error(request, 503, BUSY)
        response.headers["Retry-After"] = str(RETRY_AFTER)
        return response
    response = Response(app_iter=body, content_type=CONTENT_TYPES[file_format])
    if file_format is Format.CSV:
        response.charset = "utf-8"
    response.content_disposition = f'attachment; filename="{name}.{file_format}"'
    return response
