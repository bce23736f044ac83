"""View predicates: ``ajax`` selects a view by the query parameter of that name, ``html`` by the header ``Accept``."""

from groundtransport.request import Request


def asks_for_json(request: Request) -> bool:
    """Return True if the query has ``ajax`` exactly once, with a value other than ``0`` and ``false``."""
    values = request.GET.getall("ajax")
    return len(values) == 1 and values[0].lower() not in ("0", "false")


def prefers_html(request: Request) -> bool:
    """Return True if ``Accept`` names HTML, and not JSON with the same or a higher quality."""
    named = {kind.lower() for kind, _quality, *_ in request.accept.parsed or ()}
    offers = request.accept.acceptable_offers(["application/json", "text/html"])
    return "text/html" in named and bool(offers) and offers[0][0] == "text/html"


class PrefersHtml:
    """The predicate ``html=True`` or ``html=False`` of a view."""

    def __init__(self, value: bool, info: object) -> None:  # noqa: FBT001  # Pyramid's protocol
        self.value = value

    def text(self) -> str:
        return f"html = {self.value}"

    phash = text

    def __call__(self, context: object, request: Request) -> bool:
        return prefers_html(request) is self.value


class Ajax:
    """The predicate ``ajax=True`` or ``ajax=False`` of a view."""

    def __init__(self, value: bool, info: object) -> None:  # noqa: FBT001  # Pyramid's protocol
        self.value = value

    def text(self) -> str:
        return f"ajax = {self.value}"

    phash = text

    def __call__(self, context: object, request: Request) -> bool:
        return asks_for_json(request) is self.value
