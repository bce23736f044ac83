"""Render the guide: one Markdown file per section and language, ``<place>-<name>.md``, shown on one page.

A link to another file of the guide becomes a link to its section, and a picture becomes a static file. Text between
backticks is what the reader presses or types. A file that a language lacks is shown in English.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from groundtransport.i18n import DEFAULT
from groundtransport.request import Request
from groundtransport.web.static import FOLDER, asset_path

GUIDE = Path(__file__).parent.parent / "guide"
PICTURES = "../pictures/"  # where the files of a language find their pictures


@dataclass(frozen=True)
class Section:
    """A file of the guide: its id on the page, its title, its HTML without the title, and its language."""

    id: str
    title: str
    html: Markup
    language: str


@dataclass(frozen=True)
class _Source:
    """A parsed file of the guide: as Section, before it is rendered."""

    id: str
    title: str
    tokens: Sequence[Token]
    language: str


def sections(request: Request) -> list[Section]:
    """Return the guide in the language of a request."""
    env = {"request": request}
    return [
        Section(source.id, source.title, _rendered(source.tokens, env), source.language.replace("_", "-"))
        for source in _sources(request.locale_name)
    ]


def _rendered(tokens: Sequence[Token], env: dict[str, Request]) -> Markup:
    html = _markdown().renderer.render(tokens, _markdown().options, env)
    return Markup(html)  # noqa: S704  # nosec B704 # made of our own files; HTML in them is escaped


def section_id(file_name: str) -> str:
    """Return the id of a section: ``10-find.md`` -> ``find``."""
    return file_name.removesuffix(".md").split("-", 1)[1]


@cache
def _sources(language: str) -> list[_Source]:
    names = sorted(file.name for file in (GUIDE / DEFAULT).glob("*.md"))
    return [_read(language if (GUIDE / language / name).exists() else DEFAULT, name) for name in names]


def _read(language: str, name: str) -> _Source:
    """Return a parsed file, its title taken out and its other headings one level further down."""
    file = GUIDE / language / name
    tokens = _markdown().parse(file.read_text(encoding="utf-8"))
    title, body = tokens[1].content, tokens[3:]
    for token in body:
        if token.tag == "h2":
            token.tag = "h3"
    return _Source(section_id(name), title, body, language)


@cache
def _markdown() -> MarkdownIt:
    """Return the parser and renderer: CommonMark and tables; HTML in a file is shown as text."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.add_render_rule("code_inline", _keys)
    markdown.add_render_rule("image", _picture)
    markdown.add_render_rule("link_open", _link)
    return markdown


def _keys(renderer: object, tokens: Sequence[Token], index: int, options: object, env: object) -> str:
    return f"<kbd>{escape(tokens[index].content)}</kbd>"


def _link(renderer: object, tokens: Sequence[Token], index: int, options: object, env: object) -> str:
    """Return the start of a link; ``20-add.md`` leads to its section, every other URL stays."""
    url = str(tokens[index].attrs["href"])
    return f'<a href="{escape(f"#{section_id(url)}" if url.endswith(".md") else url)}">'


def _picture(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    """Return a picture of our own as a link to itself in full size."""
    path = "guide/" + str(tokens[index].attrs["src"]).removeprefix(PICTURES)
    url = escape(asset_path(env["request"], path))
    width, height = picture_size(FOLDER / path)
    size = f'width="{width}" height="{height}" loading="lazy" decoding="async"'
    return f'<a class="picture" href="{url}"><img src="{url}" alt="{escape(tokens[index].content)}" {size}></a>'


@cache
def picture_size(file: Path) -> tuple[int, int]:
    """Return the width and height of a PNG in pixels, read from its first chunk (IHDR)."""
    with file.open("rb") as stream:
        width, height = struct.unpack(">16x2I", stream.read(24))
    return width, height
