"""Tween for the paths below ``/api``: require a valid token, hold its rate limit, and answer CORS requests."""

from collections.abc import Callable

from pyramid.response import Response

from groundtransport.accounts.tokens.limits import WINDOW, Lease, seconds_left
from groundtransport.accounts.tokens.verification import TokenCheck
from groundtransport.i18n import _
from groundtransport.request import Registry, Request
from groundtransport.security import is_api
from groundtransport.web.errors import MESSAGES, problem

Handler = Callable[[Request], Response]

PUBLIC = ("/api/v1/openapi.json",)  # describes the API, and holds no data
REALM = 'Bearer realm="groundtransport"'
METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
SENT_HEADERS = "Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Prefer"
READ_HEADERS = "ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, Preference-Applied, X-Request-Id"


def tween(handler: Handler, registry: Registry) -> Handler:
    settings = registry["settings"]

    def require_token(request: Request) -> Response:
        if not is_api(request):
            return handler(request)
        origin = request.headers.get("Origin", "")
        response = preflight() if is_preflight(request) else admit(request)
        if origin in settings.api_origins:
            allow_origin(response, origin)
        return response

    def admit(request: Request) -> Response:
        if request.environ["PATH_INFO"] in PUBLIC:
            return handler(request)
        check: TokenCheck = request.token_check
        if check.identity is None:
            return unauthorized(request, check)
        # Traversal would follow ".." out of /api, with the rights of the token.
        if ".." in request.environ["PATH_INFO"].split("/"):
            return problem(request, 404, MESSAGES[404])
        response = too_many(request) if check.is_over_limit else handler(request)
        if check.lease is not None:
            add_limits(response, check.lease, registry["token_leases"].limit)
        return response

    return require_token


def unauthorized(request: Request, check: TokenCheck) -> Response:
    """Return the 401 to a missing or invalid token. It does not tell why a token is invalid (RFC 6750, 3.1)."""
    if check.refusal:
        response = problem(request, 401, _("The token is not valid: it is unknown, expired or revoked."))
        response.headers["WWW-Authenticate"] = f'{REALM}, error="invalid_token"'
    else:
        response = problem(request, 401, _("Send a token: Authorization: Bearer gt_..."))
        response.headers["WWW-Authenticate"] = REALM
    return response


def too_many(request: Request) -> Response:
    """Return the 429 to a token that has reached its rate limit."""
    response = problem(request, 429, _("The token has reached its limit of requests a minute."))
    response.headers["Retry-After"] = str(seconds_left())
    return response


def add_limits(response: Response, lease: Lease, limit: int, name: str = "token") -> None:
    """Add the fields of draft-ietf-httpapi-ratelimit-headers-10.

    They are the limit of requests, their remaining number, and the seconds until the next window.
    """
    response.headers["RateLimit-Policy"] = f'"{name}";q={limit};w={WINDOW}'
    response.headers["RateLimit"] = f'"{name}";r={max(0, lease.remaining)};t={seconds_left()}'


def is_preflight(request: Request) -> bool:
    """Return True for a CORS preflight request."""
    return request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers


def preflight() -> Response:
    """Return the answer to a CORS preflight request; ``allow_origin`` adds the permission, if there is one."""
    return Response(status=204)


def allow_origin(response: Response, origin: str) -> None:
    """Permit the scripts of an origin to send the request and to read the response (CORS)."""
    response.headers["Access-Control-Allow-Origin"] = origin
    response.headers["Access-Control-Allow-Methods"] = METHODS
    response.headers["Access-Control-Allow-Headers"] = SENT_HEADERS
    response.headers["Access-Control-Expose-Headers"] = READ_HEADERS
    response.headers["Access-Control-Max-Age"] = "600"
    response.headers.add("Vary", "Origin")
