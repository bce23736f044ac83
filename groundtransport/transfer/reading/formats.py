"""Recognise the format of a file by its content, because names of files are wrong as often as not."""

import codecs
import mmap
import re
from collections.abc import Collection
from pathlib import Path

from groundtransport.i18n import _
from groundtransport.transfer.reading import archives, gtfs, workbook
from groundtransport.transfer.reading.source_file import BadFile, Format

_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # an old .xls, or an encrypted .xlsx
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")  # the name of a stream
_JSON_LIST = re.compile(rb"\[\s*[\[{]")


def recognise_format(path: Path) -> Format:
    """Return the format of a file. Raise BadFile for a known one that cannot be read."""
    with path.open("rb") as file:
        start = file.read(512)
    if start.startswith(_OLE):
        raise _old_format(path)
    if start.startswith(_ZIP):
        return _of_archive(archives.names_of(path))
    text = start.removeprefix(codecs.BOM_UTF8).lstrip()
    if text.startswith(b"<"):
        raise BadFile(_("The file is a web page or XML, whatever its name says. Save it as .xlsx or CSV."))
    if _JSON_LIST.match(text):
        raise BadFile(_("The file is a JSON list. JSON is read as one object on each line."))
    return Format.JSON_LINES if text.startswith(b"{") else Format.CSV


def _old_format(path: Path) -> BadFile:
    """Return the error of a file in the container of old workbooks: it has a password, or is no .xlsx."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        is_encrypted = content.find(_ENCRYPTED) >= 0
    return BadFile(
        workbook.PASSWORD if is_encrypted else _("The workbook is in the old format .xls. Save it as .xlsx or CSV.")
    )


def _of_archive(names: Collection[str]) -> Format:
    if gtfs.is_feed(names):
        return Format.GTFS
    if "xl/workbook.xml" in names:
        return Format.XLSX
    if "xl/workbook.bin" in names:
        raise BadFile(_("The workbook is in the binary format .xlsb. Save it as .xlsx or CSV."))
    if {"mimetype", "content.xml"} <= {*names}:
        raise BadFile(_("The file is in the OpenDocument format (.ods). Save it as .xlsx or CSV."))
    raise BadFile(_("The archive is neither a workbook (.xlsx) nor a GTFS feed with agency.txt and routes.txt."))
