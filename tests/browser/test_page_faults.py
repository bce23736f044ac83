"""The check that fails a browser test on any fault in the page (decision 40) detects each kind of fault."""

import pytest
from playwright.sync_api import Page

from tests.browser.axe import check_axe
from tests.browser.chromium import Watch

INLINE = "(document.body.append(Object.assign(document.createElement('p'), { innerHTML: '<b style=color:red>x</b>' })))"


def test_watch_finds_what_goes_wrong_in_a_page(page: Page, watch: Watch) -> None:
    page.goto("/admin")
    assert watch.problems() == []

    page.evaluate("console.error('a console error')")
    page.evaluate("setTimeout(() => { throw new Error('an uncaught error') })")
    page.evaluate(INLINE)
    page.evaluate("fetch('http://127.0.0.1:1/').catch(() => {})")
    page.goto("/admin/nowhere")
    page.wait_for_load_state("load")

    report = "\n".join(watch.problems())
    for expected in ("a console error", "an uncaught error", "CSP violation: style-src", "connect-src", "404"):
        assert expected in report, report
    watch.allow("a console error", "an uncaught error", "violat", "connect-src", "Content Security Policy")
    watch.allow("404", "request failed")
    assert watch.problems() == []


SMALL = """document.querySelector("main").append(...["a", "b"].map((name) => {
    const small = Object.assign(document.createElement("button"), { textContent: name, className: "p-0" });
    small.style.fontSize = small.style.lineHeight = "8px";
    return small; }))"""


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [("document.querySelector('main').append(new Image())", "image-alt"), (SMALL, "target-size")],
    ids=["image-alt", "target-size"],
)
def test_axe_finds_what_is_wrong_in_a_page(page: Page, wrong: str, rule: str) -> None:
    page.goto("/admin")
    check_axe(page)

    page.evaluate(wrong)

    with pytest.raises(AssertionError, match=f"axe {rule}"):
        check_axe(page)
