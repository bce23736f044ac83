"""Recognise the encoding of a text file: UTF-8, UTF-16 by its byte order mark, else a guess."""

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

from charset_normalizer import from_bytes

from groundtransport.i18n import _
from groundtransport.transfer.reading.source_file import BadFile

UTF_8 = "utf-8-sig"  # with or without a byte order mark
USUAL = "cp1252"  # what Excel writes in the Americas and western Europe
# What a person can choose, and a guess is among: the encodings of spreadsheets on Windows and on old Macs.
ENCODINGS = {
    UTF_8: "UTF-8",
    "utf-16": "UTF-16",
    USUAL: "Windows-1252",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "cp1253": "Windows-1253",
    "cp1254": "Windows-1254",
    "cp1256": "Windows-1256",
    "cp932": "Shift JIS",
    "gb18030": "GB 18030",
    "big5": "Big5",
    "cp949": "Korean (949)",
    "mac_roman": "Mac Roman",
}
SAMPLE = 256 * 1024  # bytes of lines with other characters than ASCII, for a guess
NEEDED = 200  # such bytes, below which a guess other than USUAL is too uncertain

_BLOCK = 1 << 20
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_BAD = re.compile("[\udc80-\udcff]")
_GOOD = re.compile("[^\x00-\x7f\udc80-\udcff]")


def recognise(path: Path) -> tuple[str, bool]:
    """Return the encoding of a file and True if it is a guess. Raise BadFile if the file is no text.

    Bytes that are invalid in UTF-8 make another encoding likely only if they are more than the valid sequences: a row
    with a broken character does not change how all others are read.
    """
    with path.open("rb") as file:
        start = file.read(4096)
    if start[:2] in _MARKS:
        return _MARKS[start[:2]], False
    if b"\0" in start:
        raise BadFile(_("The file holds NUL characters near its beginning: it is no text file in a known format."))
    good = bad = 0
    for text in _decoded(path):
        good, bad = good + len(_GOOD.findall(text)), bad + len(_BAD.findall(text))
    return (_guess(path), True) if bad > good else (UTF_8, False)


def _decoded(path: Path) -> Iterator[str]:
    """Yield the blocks of a file that are not ASCII, decoded as UTF-8; invalid bytes become surrogates."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            if not block.isascii():
                yield decoder.decode(block)


def _guess(path: Path) -> str:
    """Return the likeliest encoding of the lines that are not ASCII; USUAL if they are too few to tell."""
    sample = _sample(path)
    if sum(byte > 127 for byte in sample) < NEEDED:
        return USUAL
    matches = from_bytes(sample, cp_isolation=list(ENCODINGS))
    best = matches.best()
    if best is None:
        return USUAL
    # French and Spanish texts are as likely in Windows-1250, which has other letters in place of some of theirs.
    equal = [match for match in matches if (match.chaos, match.coherence) == (best.chaos, best.coherence)]
    names = {name for match in equal for name in match.could_be_from_charset}
    return best.encoding if best.encoding in ENCODINGS and USUAL not in names else USUAL


def _sample(path: Path) -> bytes:
    sample = bytearray()
    with path.open("rb") as file:
        while len(sample) < SAMPLE and (line := file.readline(_BLOCK)):
            if not line.isascii():
                sample += line
    return bytes(sample)
