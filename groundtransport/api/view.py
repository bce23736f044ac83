"""The decorator of the API's views: the checks that all share, JSON as the answer, and what OpenAPI tells of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

import orjson
from pyramid.httpexceptions import HTTPNotAcceptable, HTTPUnsupportedMediaType
from pyramid.response import Response
from pyramid.view import view_config

from groundtransport.api.parameters import read_parameters
from groundtransport.i18n import _
from groundtransport.json_types import Json, JsonObject
from groundtransport.request import Request, View
from groundtransport.resources import API_ROUTE, Node

JSON, MERGE_PATCH, PROBLEM = "application/json", "application/merge-patch+json", "application/problem+json"
BODY_TYPES = {"POST": (JSON,), "PUT": (JSON,), "PATCH": (MERGE_PATCH, JSON)}
OPTIONS = orjson.OPT_UTC_Z


@dataclass(frozen=True)
class Operation:
    """What the OpenAPI document tells of a view besides its path and docstring.

    ``body`` and ``answer`` name schemas of the document ("" for none; ``{kind}`` stands for the kind's name),
    ``parameters`` its parameters, ``statuses`` the errors besides those of every operation.
    """

    answer: str = ""
    body: str = ""
    is_body_required: bool = True
    parameters: tuple[str, ...] = ()
    success: int = 200
    statuses: tuple[int, ...] = ()
    is_hidden: bool = False  # from the document

    @property
    def has_query(self) -> bool:
        """Return True if the view reads parameters of the URL; the names of headers begin with a capital letter."""
        return any(not name[0].isupper() for name in self.parameters)


def api_view(operation: Operation, **settings: object) -> Callable[[View], View]:
    """Return the decorator that registers a view of the API; ``settings`` are those of ``view_config``.

    The view returns a Response, or data for a JSON answer with status 200. No CSRF token is needed, because no cookie
    identifies anybody.
    """
    # _depth: the scan looks for views in the module that uses this decorator.
    register = view_config(route_name=API_ROUTE, require_csrf=False, renderer="api_json", _depth=1, **settings)

    def decorate(view: View) -> View:
        @wraps(view)
        def check(context: Node, request: Request) -> object:
            check_accept(request)
            check_content_type(request)
            if not (operation.has_query or operation.is_hidden):
                read_parameters(request, ())
            return view(context, request)

        check.operation = operation  # type: ignore[attr-defined]  # read by api/openapi
        registered: View = register(check)
        return registered

    return decorate


def check_accept(request: Request) -> None:
    """Raise HTTPNotAcceptable if the client accepts neither JSON nor problem details."""
    if not request.accept.acceptable_offers([JSON, PROBLEM]):
        raise HTTPNotAcceptable(_("The API answers in application/json."))


def check_content_type(request: Request) -> None:
    """Raise HTTPUnsupportedMediaType for a body that is not JSON. Without a body its type is ignored."""
    accepted = BODY_TYPES.get(request.method)
    if accepted and request.content_length and request.content_type not in accepted:
        raise HTTPUnsupportedMediaType(_("Send ${types}.", mapping={"types": ", ".join(accepted)}))


def render_json(value: Json, system: JsonObject) -> bytes:
    """Render an answer: JSON in UTF-8, times in RFC 3339 with ``Z``."""
    system["request"].response.content_type = JSON
    return orjson.dumps(value, option=OPTIONS)


def json_response(value: object, status: int = 200) -> Response:
    """Return a JSON response."""
    response = Response(orjson.dumps(value, option=OPTIONS), status=status)
    response.content_type = JSON
    return response
