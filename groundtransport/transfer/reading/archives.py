"""Check a zip archive before anything unpacks it."""

import sys
import zipfile
from collections.abc import Collection
from pathlib import Path

from groundtransport.i18n import _
from groundtransport.transfer.reading.limits import Limits, beyond, megabytes
from groundtransport.transfer.reading.source_file import BadFile

_BLOCK = 1 << 16
_IS_ENCRYPTED = 1  # a bit of the flags of a file in an archive
DAMAGED = _("The file is damaged: it cannot be unpacked.")


def names_of(path: Path) -> list[str]:
    """Return the names of the files in an archive. Raise BadFile if it is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise BadFile(DAMAGED) from error


def check_unpacked_size(path: Path, limits: Limits, names: Collection[str] = ()) -> None:
    """Raise BadFile if an archive's files, or those in ``names``, are larger unpacked than the limit.

    First the sizes in the archive's directory are added up; because they can be false, each file is then unpacked,
    block by block, until it ends or the limit is reached.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if any(info.flag_bits & _IS_ENCRYPTED for info in archive.infolist()):
                raise BadFile(_("The archive is protected by a password. Save it without one."))
            infos = [info for info in archive.infolist() if not names or info.filename in names]
            _check(sum(info.file_size for info in infos), limits)
            left = limits.unpacked
            for info in infos:
                left -= _unpacked_size(archive, info, left)
                _check(limits.unpacked - left, limits)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError, RuntimeError) as error:
        if isinstance(error, BadFile):
            raise
        raise BadFile(DAMAGED) from error


def _unpacked_size(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> int:
    """Return the size of a file, counted up to a little over ``most``, whatever the directory says."""
    info.file_size = sys.maxsize  # else reading ends at the size in the directory
    size = 0
    with archive.open(info) as file:
        while size <= most and (block := file.read(_BLOCK)):
            size += len(block)
    return size


def _check(size: int, limits: Limits) -> None:
    if size > limits.unpacked:
        raise beyond(_("Unpacked, the file has more than ${number} MB."), megabytes(limits.unpacked))
