"""Getting about by the keyboard alone."""

from playwright.sync_api import Locator, Page

MANY = 120  # presses of Tab; no page has as many places to stop


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until ``wanted`` has the focus; every place on the way must be seen to have it."""
    for _ in range(MANY):
        page.keyboard.press("Tab")
        if target.evaluate("(one) => one === document.activeElement"):
            assert_focus_is_seen(page)
            return
    raise AssertionError(f"{target} is not reached by Tab")


def assert_focus_is_seen(page: Page) -> None:
    """Fail unless what has the focus is outlined and on the screen."""
    style = page.evaluate(
        """() => {
            const one = document.activeElement, box = one.getBoundingClientRect();
            return { outline: parseFloat(getComputedStyle(one).outlineWidth),
                inside: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth };
        }"""
    )
    assert style["outline"] >= 2, page.evaluate("document.activeElement.outerHTML")
    assert style["inside"], page.evaluate("document.activeElement.outerHTML")
