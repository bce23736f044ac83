"""View predicate ``ajax``: the query parameter ``ajax`` selects the JSON view; headers do not."""

from typing import Any

from pyramid.request import Request


def asks_for_json(request: Request) -> bool:
    """Return True if the query has ``ajax`` exactly once, with a value other than ``0`` and ``false``."""
    values = request.GET.getall("ajax")
    return len(values) == 1 and values[0].lower() not in ("0", "false")


class Ajax:
    """The predicate ``ajax=True`` or ``ajax=False`` of a view."""

    def __init__(self, value: bool, info: Any) -> None:  # noqa: FBT001  # Pyramid's protocol
        self.value = value

    def text(self) -> str:
        return f"ajax = {self.value}"

    phash = text

    def __call__(self, context: Any, request: Request) -> bool:
        return asks_for_json(request) is self.value
