"""Stylesheets, templates and scripts agree: no rule for an unused class, no class without its stylesheet."""

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "groundtransport"
STYLES = sorted((PACKAGE / "static").glob("*.css"))
TEMPLATES = sorted(PACKAGE.rglob("*.jinja2"))
SOURCES = [*TEMPLATES, *sorted((PACKAGE / "static").glob("*.js")), *sorted(PACKAGE.rglob("*.py"))]
LAYOUT = PACKAGE / "web" / "templates" / "layout.jinja2"
# Made of a name at run time, or by DataTables.
COMPOSED = re.compile(r"(col|field|action|status|group|link)-\w+|dt-[\w-]+|row")
IN_SELECTOR = re.compile(r"\.([a-z][\w-]*)")
IN_MARKUP = re.compile(r'class="((?:\{\{.*?\}\}|\{%.*?%\}|[^"{])*)"')
LINKED = re.compile(r"asset\('([\w-]+\.css)'\)")


def selected_classes(stylesheet: Path) -> set[str]:
    """Return the classes that a stylesheet names in selectors."""
    text = re.sub(r'/\*.*?\*/|"[^"]*"', "", stylesheet.read_text(), flags=re.DOTALL)
    return {name for selector in re.findall(r"([^{};]+)\{", text) for name in IN_SELECTOR.findall(selector)}


def linked_styles(template: Path) -> set[str]:
    return set(LINKED.findall(template.read_text()))


@pytest.mark.parametrize("stylesheet", STYLES, ids=lambda path: path.name)
def test_a_stylesheet_styles_only_classes_in_use(stylesheet: Path) -> None:
    words = {word for source in SOURCES for word in re.findall(r"[\w-]+", source.read_text())}

    unused = {name for name in selected_classes(stylesheet) - words if not COMPOSED.fullmatch(name)}

    assert unused == set(), "delete their rules"


def test_every_stylesheet_is_linked_by_a_template() -> None:
    assert {path.name for path in STYLES} == set().union(*map(linked_styles, TEMPLATES))


def pages() -> list[Path]:
    return [path for path in TEMPLATES if '{% extends "layout.jinja2" %}' in path.read_text()]


@pytest.mark.parametrize("template", pages(), ids=lambda path: path.stem)
def test_a_page_links_the_stylesheets_of_its_classes(template: Path) -> None:
    linked = linked_styles(template) | linked_styles(LAYOUT)
    styled = {path.name: selected_classes(path) for path in STYLES}
    available = set().union(*(styled[name] for name in linked))
    elsewhere = set().union(*styled.values()) - available
    values = (re.sub(r"\{[{%].*?[}%]\}", " ", value) for value in IN_MARKUP.findall(template.read_text()))
    used = {name for value in values for name in value.split()}

    assert used & elsewhere == set(), "link their stylesheet in the block styles"
