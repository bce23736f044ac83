"""The HTML of a page, read as strictly as its standard does."""

from collections import Counter

import html5lib
from bs4 import BeautifulSoup
from html5lib.html5parser import ParseError


def check_markup(html: str) -> None:
    """Fail on an error of parsing, an id that is given twice, or a list that holds what is no item."""
    parser = html5lib.HTMLParser(strict=True)
    try:
        parser.parse(html)
    except ParseError as error:
        line = parser.tokenizer.stream.position()[0]
        raise AssertionError(f"{error} in line {line}: {html.splitlines()[line - 1]}") from error
    page = BeautifulSoup(html, "html.parser")
    ids = Counter(tag["id"] for tag in page.find_all(id=True))
    assert [name for name, number in ids.items() if number > 1] == []
    for outer, inner in (("ul", ("li",)), ("ol", ("li",)), ("dl", ("div", "dt", "dd")), ("tr", ("th", "td"))):
        for tag in page.find_all(outer):
            wrong = [child.name for child in tag.find_all(True, recursive=False) if child.name not in inner]
            assert wrong == [], f"<{outer}> holds {wrong}"
