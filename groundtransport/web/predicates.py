"""The ``ajax`` view predicate: the query's ``ajax`` selects JSON; no header does."""

from typing import Any

from pyramid.request import Request


def asks_for_json(request: Request) -> bool:
    """Whether ``ajax`` stands in the query, once, with any value but ``0`` and ``false``."""
    values = request.GET.getall("ajax")
    return len(values) == 1 and values[0].lower() not in ("0", "false")


class Ajax:
    def __init__(self, wanted: bool, info: Any) -> None:  # noqa: FBT001  # Pyramid's protocol
        self.wanted = wanted

    def text(self) -> str:
        return f"ajax = {self.wanted}"

    phash = text

    def __call__(self, context: Any, request: Request) -> bool:
        return asks_for_json(request) is self.wanted
