"""Paths and links in README.md, CHANGES.md and docs/ lead to existing files, and each decision has one number."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGES.md", *sorted((ROOT / "docs").rglob("*.md"))]
DECISIONS = ROOT / "docs" / "decisions"

FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w.-]*(?:/[\w.-]+)*\.(?:py|jinja2|md|sql|conf|service|timer|ini|toml|lock|js|css|po|html)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
ANCHOR = re.compile(r'<a id="([\w-]+)"></a>')

# A path is given from one of these folders, as its page says.
FOLDERS = (ROOT, ROOT / "groundtransport", ROOT / "tests", ROOT / "docs", ROOT / "groundtransport" / "static")
# Named without their folder, or created by the reader.
OTHER = {"list.jinja2", "test_pages.py", "shuttle/groundtransport_shuttle.py", "shuttle/pyproject.toml"}
OTHER |= {"postgresql.auto.conf"}  # PostgreSQL's own, in its data folder


def prose(page: Path) -> str:
    """Return the text of a page without its fenced blocks."""
    return FENCED.sub("", page.read_text())


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page: explicit ones, and those that GitHub makes of headings."""
    text = prose(page)
    slugs = (re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text))
    return {*slugs, *ANCHOR.findall(text)}


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_each_path_in_backquotes_exists(page: Path) -> None:
    paths = {code.partition("::")[0] for code in CODE.findall(prose(page))}
    files = {path for path in paths if FILE.fullmatch(path)} - OTHER
    assert [path for path in sorted(files) if not any((folder / path).exists() for folder in FOLDERS)] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_each_module_in_backquotes_exists(page: Path) -> None:
    """A dotted name such as ``db.sqlite.HintingCompiler`` names a module, and something that is defined in it."""
    for code in CODE.findall(prose(page)):
        parts = code.split("(")[0].removeprefix("groundtransport.").split(".")
        if len(parts) < 2 or not all(part.isidentifier() for part in parts):
            continue
        package = ROOT / "groundtransport"
        if not (package / parts[0]).is_dir() or (package / parts[0]).name in {"static", "locale"}:
            continue
        while len(parts) > 1 and (package / parts[0]).is_dir():
            package /= parts.pop(0)
        module = package / f"{parts[0]}.py"
        rest = parts[1:] if module.exists() else parts
        source = module if module.exists() else package / "__init__.py"
        if rest and not (package / rest[0]).is_dir():
            assert re.search(rf"\b{rest[0]}\b", source.read_text()), f"{name(page)}: {code} is not there"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_each_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for link in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name(page)}: {link}"
        assert not anchor or anchor in anchors(target), f"{name(page)}: {link}"


def test_each_decision_has_one_number_and_is_in_the_index() -> None:
    numbers: dict[int, str] = {}
    for page in sorted(DECISIONS.glob("*.md")):
        for anchor, number in re.findall(r'^<a id="decision-(\d+)"></a>\n## (\d+)\. ', page.read_text(), re.MULTILINE):
            assert anchor == number
            assert int(number) not in numbers, f"decision {number} is in {numbers[int(number)]} and {page.name}"
            numbers[int(number)] = page.name
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    index = re.findall(
        r"^- \[(\d+)\]\(([\w-]+\.md)#decision-(\d+)\) ", (DECISIONS / "README.md").read_text(), re.MULTILINE
    )
    assert {int(number): file for number, file, _ in index} == numbers
    assert len(index) == len(numbers)
    assert all(number == anchor for number, _, anchor in index)


def test_each_reference_to_a_decision_names_one() -> None:
    numbers = {
        int(number) for number in re.findall(r"^- \[(\d+)\]", (DECISIONS / "README.md").read_text(), re.MULTILINE)
    }
    sources = [path for folder in ("groundtransport", "tests") for path in (ROOT / folder).rglob("*.py")]
    for path in (*PAGES, *sources):
        for number in re.findall(r"\b[Dd]ecision (\d+)\b", path.read_text()):
            assert int(number) in numbers, f"{name(path)}: decision {number}"
        assert "docs/decisions" + ".md" not in path.read_text(), f"{name(path)}: decisions are in docs/decisions/"


def test_readme_names_each_part_of_the_package() -> None:
    section = (ROOT / "README.md").read_text().split("## Where things live")[1].split("## ")[0]
    tree = section.split("```")[1].split("\nalembic/")[0]
    package = ROOT / "groundtransport"
    parts = {path.name for path in package.glob("*.py")} | {
        f"{path.parent.name}/" for path in package.glob("*/__init__.py")
    }
    parts |= {f"{path.parent.name}/" for path in (package / "records").glob("*/__init__.py")}
    assert parts - set(re.findall(r"[\w.]+/|\w+\.py", tree)) == set()
