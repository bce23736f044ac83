"""``/admin/<kind>/export``: choose what a file of a list holds, and download it."""

import re
from urllib.parse import parse_qsl, urlencode

from pyramid.httpexceptions import HTTPUnprocessableEntity
from pyramid.renderers import render_to_response
from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport import formats
from groundtransport.db import now
from groundtransport.i18n import _
from groundtransport.records.bulk import batch
from groundtransport.records.bulk.views import selection_of
from groundtransport.records.list import columns as list_columns
from groundtransport.records.list.execute import execute
from groundtransport.records.list.query import query_from_request, single_values
from groundtransport.records.list.window import Window
from groundtransport.records.urls import list_url, sent_query
from groundtransport.records.view_helpers import see_other
from groundtransport.request import Request
from groundtransport.resources import Collection
from groundtransport.security import Permission
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import make_entry
from groundtransport.transfer.export.columns import UnknownColumn, columns_of
from groundtransport.transfer.export.formats import Format, TooManyRows
from groundtransport.transfer.export.records import XLSX_RECORDS, Options, export_of
from groundtransport.transfer.export.response import download
from groundtransport.transfer.export.rows import Selection

PAGE = "groundtransport:transfer/export/templates/export.jinja2"
_IDS = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})*", re.ASCII)  # of selected records


class BadExport(Exception):
    """The file that the form describes cannot be made; the message is for the page."""


@view_defaults(context=Collection, name="export", permission=Permission.EXPORT)
class ExportViews:
    """The page of an export, and its file."""

    def __init__(self, context: Collection, request: Request) -> None:
        self.request, self.kind = request, context.kind
        self.query = query_from_request(self.kind, request)

    @view_config(request_method="POST")
    def select(self) -> Response:
        """Redirect from the list to the page for the selected records, or for all that match."""
        chosen, state = selection_of(self.request), sent_query(self.request, self.kind).state(page_no="")
        ids = () if chosen.is_all else chosen.versions
        params = [*parse_qsl(state), *([("ids", ".".join(map(str, ids)))] if ids else [])]
        url = f"/admin/{self.kind.name}/export"
        return see_other(f"{url}?{urlencode(params)}" if params else url)

    @view_config(request_method="GET", renderer=PAGE)
    def page(self) -> dict[str, object]:
        """Show the choice of format and columns."""
        problem = " ".join(list_columns.refusals(self.request, self.kind, self.query).values())
        self.request.response.status_int = 422 if problem else 200
        return self.values(Options(has_labels=True, has_bom=True), problem)

    @view_config(request_method="GET", request_param="format")
    def file(self) -> Response:
        """Return the file; the page with an error message if it cannot be made."""
        options = Options(has_labels=True, has_bom=True)
        try:
            options = self.read_options()
            entry = make_entry(self.request, Event.EXPORT, what=self.kind.name, format=options.file_format)
            export = export_of(self.selection(), options, entry, self.request.translate)
            return download(self.request, export, options.file_format, f"{self.kind.name}-{now():%Y-%m-%d}")
        except BadExport as error:
            return self.refuse(options, str(error))
        except UnknownColumn as error:
            return self.refuse(options, self.translate(_("There is no column ${name}."), name=str(error)))
        except TooManyRows:
            text = _("An XLSX file holds at most ${number} records, and this list has more. Choose CSV, or filter it.")
            return self.refuse(options, self.translate(text, number=formats.number(XLSX_RECORDS)))

    def read_options(self) -> Options:
        """Return the options of the URL. Raise BadExport for those that cannot be meant."""
        sent = single_values(self.request.GET.dict_of_lists())
        names, is_form = self.request.GET.getall("column"), "chosen" in sent
        if sent.get("format") not in set(Format):
            raise BadExport(self.translate(_("Choose one of the formats.")))
        if is_form and not names and sent["format"] != Format.GEOJSON:
            raise BadExport(self.translate(_("Choose at least one column.")))
        return Options(
            Format(sent["format"]),
            names,
            has_labels=sent.get("headers") == "labels",
            has_bom="bom" in sent,
            has_guard="guard" in sent or not is_form,
        )

    def selection(self) -> Selection:
        """Return the records of the URL. Raise BadExport if it is too long or names records wrongly."""
        refusals = list_columns.refusals(self.request, self.kind, self.query)
        if refusals:
            raise BadExport(" ".join(refusals.values()))
        return Selection(self.kind, self.query, self.ids())

    def ids(self) -> tuple[int, ...]:
        """Return the ids of the selected records, () for all that match."""
        text = single_values(self.request.GET.dict_of_lists()).get("ids", "")
        ids = tuple(map(int, text.split("."))) if _IDS.fullmatch(text) else ()
        if len(ids) > batch.MOST or ("ids" in self.request.GET and not ids):
            raise HTTPUnprocessableEntity(_("The selected records could not be read. Select them again."))
        return ids

    def values(self, options: Options, problem: str = "") -> dict[str, object]:
        """Return the template values of the page."""
        ids = self.ids()
        matches = None if ids or problem else execute(self.request.dbsession, self.kind, self.query, Window(0, 1))
        state = self.query.state(page_no="", page_size="")
        return {
            "kind": self.kind,
            "columns": columns_of(self.kind, deleted=self.query.deleted),
            "options": options,
            "formats": Format,
            "problem": problem,
            "ids": ids,
            "matches": matches,
            "chips": [] if ids else list_columns.chips(self.request, self.kind, self.query),
            "params": parse_qsl(state),
            "back": list_url(self.request, self.kind, self.query.state()),
            "most": XLSX_RECORDS,
        }

    def refuse(self, options: Options, problem: str) -> Response:
        """Return the page with the choice as it was made and an error message."""
        response = render_to_response(PAGE, self.values(options, problem), request=self.request)
        response.status_int = 422
        return response

    def translate(self, text: object, **values: str) -> str:
        """Return a text in the user's language, with its values inserted."""
        translated: str = self.request.translate(_(text, mapping=values) if values else text)
        return translated
