"""Debian's Chromium under Playwright; any fault in a page fails the test."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request, sync_playwright

HOW_TO = (
    "The browser tests did not run. Install Chromium (Debian: apt install chromium), or name the program of one: "
    "CHROMIUM=/path/to/chromium make test"
)
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]

# Chromium reports a violation in the console as well, but not every one of them.
REPORT_VIOLATIONS = """
addEventListener("securitypolicyviolation", (event) => {
  const { violatedDirective, blockedURI, sourceFile, lineNumber } = event;
  console.error(`CSP violation: ${violatedDirective} ${blockedURI} ${sourceFile}:${lineNumber}`);
});
"""


def find_program() -> str | None:
    """Return the path of Chromium; None where there is none."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def launch(program: str) -> Iterator[Browser]:
    """Run Chromium without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


def wait_until(page: Page, condition: str, seconds: float = 10) -> None:
    """Wait for a JavaScript expression or function to be true; raise AssertionError after ``seconds``.

    Playwright's ``wait_for_function`` evaluates text in the page from its second attempt on, which the pages' Content
    Security Policy forbids: it succeeds only if the condition is true at once.
    """
    deadline = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < deadline, f"not true after {seconds} s: {condition}"
        page.wait_for_timeout(50)


class Watch:
    """What went wrong in the pages of one test: console errors, uncaught errors, CSP violations, failed requests."""

    def __init__(self) -> None:
        self.result: list[str] = []
        self.allowed: list[str] = []

    def over(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", self._page_error)
        page.on("requestfailed", self._request_failed)

    def allow(self, *texts: str) -> None:
        """Expect problems that hold one of these texts, such as "404": they do not fail this test."""
        self.allowed += texts

    def problems(self) -> list[str]:
        return [text for text in self.result if not any(allowed in text for allowed in self.allowed)]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "assert"):
            place = urlsplit(message.location.get("url", ""))
            self.result.append(f"console: {message.text} ({place.path}?{place.query})")

    def _page_error(self, error: Error) -> None:
        self.result.append(f"page error: {error.message}\n{error.stack}")

    def _request_failed(self, request: Request) -> None:
        # A request that the page itself gave up, or left behind, has not failed.
        if request.failure != "net::ERR_ABORTED":
            self.result.append(f"request failed: {request.method} {request.url}: {request.failure}")
