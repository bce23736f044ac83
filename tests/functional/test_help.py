"""The guide for users: the same in both languages, true to the screen, and shown as the help page."""

import io
import re
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from bs4 import Tag

from groundtransport import i18n
from groundtransport.help.guide import GUIDE, picture_size, section_id
from groundtransport.security import Role
from tests.site import Client, Site

DOCS = Path(__file__).parents[2] / "docs" / "guide"
PAGE = "/admin/help"
OTHERS = sorted(set(i18n.LANGUAGES) - {i18n.DEFAULT})
PICTURE = re.compile(r"!\[([^\]]+)\]\(\.\./pictures/([a-z]{2})/([a-z-]+\.png)\)")
LABEL = re.compile(r"\*\*([^*]+)\*\*")
KEY = re.compile(r"`([^`]+)`")
FILES = sorted(path.name for path in (GUIDE / i18n.DEFAULT).glob("*.md"))


def text_of(language: str, name: str) -> str:
    return (GUIDE / language / name).read_text(encoding="utf-8")


def structure(text: str) -> list[str]:
    """Return what a text is made of: levels of headings, steps, points, rows, pictures, and "text" for a paragraph."""
    blocks, before = [], ""
    for line in text.splitlines():
        mark = re.match(r"#+ |\d+\. |- |\||!\[", line)
        if mark:
            blocks.append(mark[0])
        elif line.strip() and not before.strip():
            blocks.append("text")
        before = line
    return blocks


def catalogues(language: str) -> list[Catalog]:
    folder = Path(i18n.__file__).parent / "locale" / language / "LC_MESSAGES"
    return [
        read_po(io.BytesIO((folder / f"{domain}.po").read_bytes()), locale=language)
        for domain in ("groundtransport", "scripts")
    ]


@pytest.fixture(params=i18n.LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return request.param


def ask(client: Client, language: str) -> Tag:
    answer = client.get(PAGE, Accept_Language=language)
    assert answer.status_int == 200, answer.text
    return answer.html


def test_the_guide_is_in_docs() -> None:
    assert DOCS.samefile(GUIDE)
    assert len(FILES) > 10


@pytest.mark.parametrize("other", OTHERS)
def test_each_file_is_the_same_in_every_language(other: str) -> None:
    assert sorted(path.name for path in (GUIDE / other).glob("*.md")) == FILES
    for name in FILES:
        ours, theirs = text_of(i18n.DEFAULT, name), text_of(other, name)
        assert structure(ours) == structure(theirs), name
        assert structure(ours).count("# ") == 1, name
        assert structure(ours)[0] == "# ", name


def test_each_picture_is_there_in_its_language_and_none_besides(language: str) -> None:
    pictures = PICTURE.findall("".join(text_of(language, name) for name in FILES))
    assert {folder for _, folder, _ in pictures} == {language}
    files = {path.name: picture_size(path) for path in (GUIDE / "pictures" / language).iterdir()}
    assert {name for _, _, name in pictures} == set(files), "run: make pictures"
    assert all(width > 1000 and height > 500 for width, height in files.values())


@pytest.mark.parametrize("other", OTHERS)
def test_what_is_in_bold_is_called_so_on_the_screen(other: str) -> None:
    """Say the new name in the guide when a text of the screen changes."""
    for name in FILES:
        ours, theirs = (LABEL.findall(text_of(language, name)) for language in (i18n.DEFAULT, other))
        for label, translation in zip(ours, theirs, strict=True):
            messages = [message for catalogue in catalogues(other) if (message := catalogue.get(label))]
            assert messages, f"{name}: nothing on the screen is called {label!r}"
            assert translation in {message.string for message in messages}, f"{name}: {label!r}"


def test_each_key_of_the_keys_help_is_explained(client: Client, language: str) -> None:
    page = ask(client, language)
    keys = {key.get_text() for key in page.select("#keys kbd")}
    assert len(keys) > 10
    assert keys <= {key.get_text() for key in page.select("section[aria-labelledby=shortcuts] td kbd")}


@pytest.mark.parametrize("role", Role)
def test_everybody_reads_it_in_their_language(site: Site, role: Role, language: str) -> None:
    page = ask(site.client(role), language)

    titles = [text_of(language, name).splitlines()[0].removeprefix("# ") for name in FILES]
    assert page.html["lang"] == language
    assert len(page.find_all("h1")) == 1
    assert [link.get_text() for link in page.select("nav.guide-contents a")] == titles
    assert [title.get_text() for title in page.select(".guide-text h2")] == titles
    assert page.select_one("header a[href='/admin/help'][aria-current=page]")


def test_its_links_and_pictures_lead_somewhere(client: Client, language: str) -> None:
    page = ask(client, language)
    ids = [tag["id"] for tag in page.find_all(id=True)]
    assert len(ids) == len(set(ids))
    assert {section_id(name) for name in FILES} <= set(ids)
    for link in page.select(".guide a"):
        if link["href"].startswith("#"):
            assert link["href"][1:] in ids, link
        else:
            assert client.get(link["href"]).content_type == "image/png"
    pictures = page.select(".guide img")
    assert len(pictures) == len(list((GUIDE / "pictures" / language).iterdir()))
    assert all(picture["alt"] and f"/{language}/" in picture["src"] for picture in pictures)


def test_html_in_the_guide_is_text(site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from groundtransport.help import guide

    file = tmp_path / "en" / "10-find.md"
    file.parent.mkdir()
    file.write_text("# T\n\n<script>x</script> `<b>` [a](javascript:alert(1))\n")
    monkeypatch.setattr(guide, "GUIDE", tmp_path)
    rendered = guide._rendered(guide._read("en", file.name).tokens, {})

    assert "<script" not in rendered
    assert "<kbd>&lt;b&gt;</kbd>" in rendered
    assert "href" not in rendered


@pytest.mark.parametrize("role", [*Role, None])
def test_an_error_page_leads_to_it(site: Site, role: Role | None) -> None:
    client = site.client(role) if role else site.anonymous()
    answer = client.get("/nowhere")

    assert answer.status_int == 404
    link = answer.html.select_one("main a[href^='/admin/help']")
    path, _, fragment = link["href"].partition("#")
    if role:
        assert client.get(path).html.find(id=fragment)
    else:
        assert client.get(path).location == "http://localhost/login?next=/admin/help"


def test_a_refusal_leads_to_it(site: Site) -> None:
    client = site.client(Role.VIEWER)
    refused = client.get(client.get("/admin/users").location)
    assert refused.html.select_one("main a[href='/admin/help#problems']")
