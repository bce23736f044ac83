"""The HTML of a page, read as strictly as its standard does."""

import re
from collections import Counter

import html5lib
from bs4 import BeautifulSoup
from html5lib.html5parser import ParseError

WHITESPACE = " \t\n\f\r"  # as HTML understands it: a space that does not break is a word
TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?\+00:00)?")


def check_markup(html: str) -> None:
    """Fail on what a validator finds: an error of parsing, an id given twice, a list that holds what is no item, a
    choice without words, a time that is none."""
    parser = html5lib.HTMLParser(strict=True)
    try:
        parser.parse(html)
    except ParseError as error:
        line = parser.tokenizer.stream.position()[0]
        raise AssertionError(f"{error} in line {line}: {html.splitlines()[line - 1]}") from error
    page = BeautifulSoup(html, "html.parser")
    ids = Counter(tag["id"] for tag in page.find_all(id=True))
    assert [name for name, number in ids.items() if number > 1] == []
    assert [str(tag) for tag in page.select("select option") if not tag.get_text().strip(WHITESPACE)] == []
    assert [time["datetime"] for time in page.find_all("time") if not TIME.fullmatch(time["datetime"])] == []
    for outer, inner in (("ul", ("li",)), ("ol", ("li",)), ("dl", ("div", "dt", "dd")), ("tr", ("th", "td"))):
        for tag in page.find_all(outer):
            wrong = [child.name for child in tag.find_all(True, recursive=False) if child.name not in inner]
            assert wrong == [], f"<{outer}> holds {wrong}"
