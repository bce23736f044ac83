"""Parse a JSON body strictly: I-JSON (RFC 7493), which has no double names, no lone surrogates and no NaN."""

import json
from collections.abc import Iterator
from typing import NoReturn

from groundtransport.api.problems import ApiProblem
from groundtransport.i18n import _
from groundtransport.request import Request

DEPTH_MAX = 10  # levels; the deepest body, a bulk request, has four

NO_JSON = _("The body is not valid JSON: ${reason}.")
NO_OBJECT = _("The body must be a JSON object.")


def read_object(request: Request) -> dict[str, object]:
    """Return the object in a request's body.

    Raise ApiProblem: 400 for invalid JSON, 422 for JSON that is not an object.
    """
    value = parse(request.body)
    if not isinstance(value, dict):
        raise ApiProblem(422, NO_OBJECT)
    return value


def parse(body: bytes) -> object:
    """Return the value of a JSON text. Raise ApiProblem (400) if it is not valid I-JSON, or too deeply nested."""
    try:
        value = json.loads(body.decode(), object_pairs_hook=_unique, parse_constant=_refuse_constant)
        _check(value)
    except UnicodeError:
        _refuse("it is not UTF-8")
    except RecursionError:
        _refuse(f"it has more than {DEPTH_MAX} levels")
    except json.JSONDecodeError as error:
        _refuse(f"{error.msg[:1].lower()}{error.msg[1:]}, line {error.lineno}, column {error.colno}")
    except ValueError as error:  # ours, and the standard library's for a number of thousands of digits
        _refuse(str(error))
    return value


def _refuse(reason: str) -> NoReturn:
    raise ApiProblem(400, _(NO_JSON, mapping={"reason": reason})) from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("an object has two members of one name")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _check(value: object) -> None:
    """Raise ValueError for an infinite number, RecursionError for too many levels, UnicodeError for surrogates."""
    for part in _parts(value, 1):
        if isinstance(part, str):
            part.encode()
        elif isinstance(part, float) and part in (float("inf"), float("-inf")):
            raise ValueError("a number is too large")


def _parts(value: object, depth: int) -> Iterator[object]:
    """Yield the names and the values in a JSON value."""
    if depth > DEPTH_MAX:
        raise RecursionError
    if isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from _parts(member, depth + 1)
    elif isinstance(value, list):
        for member in value:
            yield from _parts(member, depth + 1)
    else:
        yield value
