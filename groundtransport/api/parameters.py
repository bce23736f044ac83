"""Reading the query parameters of the API: each is known, sent once and valid, or the answer is 422 and names it."""

from collections.abc import Collection
from urllib.parse import urlencode

from groundtransport.api.problems import InvalidFields
from groundtransport.i18n import _
from groundtransport.records.list.query import TEXT_MAX
from groundtransport.request import Request
from groundtransport.text import parse_number

CURSOR = "cursor"  # signed, and as long as the key of a record
LIMIT, LIMIT_MAX = 100, 1_000  # items of a page: usual, and at most
UNKNOWN = _("There is no parameter of this name.")
TWICE = _("Send this parameter once.")
TOO_LONG = _("Send at most ${number} characters.")
NO_NUMBER = _("Send a whole number from ${low} to ${high}.")


def read_parameters(request: Request, known: Collection[str]) -> dict[str, str]:
    """Return the parameters of a URL, empty ones too. Raise InvalidFields for unknown, repeated and long ones."""
    errors: dict[str, list[str]] = {}
    values: dict[str, list[str]] = request.GET.dict_of_lists()
    for name, texts in values.items():
        if name not in known:
            errors[name] = [UNKNOWN]
        elif len(texts) > 1:
            errors[name] = [TWICE]
        elif name != CURSOR and len(texts[0]) > TEXT_MAX:
            errors[name] = [_(TOO_LONG, mapping={"number": str(TEXT_MAX)})]
    if errors:
        raise InvalidFields(errors)
    return {name: texts[0] for name, texts in values.items()}


def read_number(given: dict[str, str], name: str, low: int, high: int, usual: int) -> int:
    """Return a parameter that is a whole number. Raise InvalidFields if it is not from ``low`` to ``high``."""
    if name not in given:
        return usual
    number = parse_number(given[name])
    if number is None or not low <= number <= high:
        raise InvalidFields({name: [_(NO_NUMBER, mapping={"low": str(low), "high": str(high)})]})
    return number


def read_limit(given: dict[str, str]) -> int:
    """Return the number of items of a page."""
    return read_number(given, "limit", 1, LIMIT_MAX, LIMIT)


def next_url(request: Request, given: dict[str, str], **changes: object) -> str:
    """Return the URL of the next page: the same parameters with ``changes``."""
    return f"{request.path_url}?{urlencode({**given, **changes})}"


def with_link(request: Request, page: dict[str, object]) -> dict[str, object]:
    """Return a page, and give its answer the ``Link`` header (RFC 8288) of the next one."""
    if page["next"]:
        request.response.headers["Link"] = f'<{page["next"]}>; rel="next"'
    return page
