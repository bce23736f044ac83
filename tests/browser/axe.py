"""axe-core: the rules of WCAG 2.2 A and AA, and of good practice, over a page as it stands."""

from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
TARGET_SIZE = "target-size"  # of WCAG 2.2 AA: 24 pixels
APART = {TARGET_SIZE: {"enabled": False}}
RUN = "([runOnly, rules]) => axe.run(document, { runOnly, rules, resultTypes: ['violations'] })"
# A row that is half under a header, a bar or an open menu is no small target: all of these are laid beside the rows.
PUT_BESIDE = """() => {
    for (const one of document.querySelectorAll("body *")) {
        const isOver = getComputedStyle(one).position === "sticky" || one.matches(".menu > form");
        if (isOver) one.style.setProperty("position", "static", "important");
    }
}"""
PUT_BACK = """() => {
    for (const one of document.querySelectorAll("body [style]")) one.style.removeProperty("position");
}"""


@cache
def source() -> str:
    assert AXE.exists(), "axe-core is missing: rm .venv/ready && make .venv/ready fetches it"
    return AXE.read_text(encoding="utf-8")


def check_axe(page: Page, *rules: str) -> None:
    """Fail on any violation that axe finds in the page, or on those of ``rules`` alone, and say where."""
    settle(page)
    if not page.evaluate("'axe' in window"):
        page.evaluate(source())  # past the page's CSP, which would refuse a script element
    result = page.evaluate(RUN, [list(rules), {}] if rules else [RULES, APART])["violations"]
    if not rules:
        page.evaluate(PUT_BESIDE)
        result += page.evaluate(RUN, [[TARGET_SIZE], {}])["violations"]
        page.evaluate(PUT_BACK)
    assert not result, "\n".join(_told(violation) for violation in result)


def settle(page: Page) -> None:
    """Wait for fonts and end what moves, so that no colour is measured half way."""
    page.evaluate(
        "async () => { await document.fonts.ready; document.getAnimations().forEach((one) => one.finish()); }"
    )


def _told(violation: dict[str, Any]) -> str:
    nodes = "\n".join(f"    {node['target']}: {node['failureSummary']}" for node in violation["nodes"])
    return f"axe {violation['id']} ({violation['impact']}): {violation['help']}\n{nodes}"
