"""``GET /public/v1/<kind>``: the active records for web sites, to everybody and from every origin."""

from pyramid.httpexceptions import HTTPNotAcceptable
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED
from pyramid.view import view_config

from groundtransport.accounts.tokens.authentication import add_limits
from groundtransport.accounts.tokens.limits import seconds_left
from groundtransport.i18n import _
from groundtransport.public.contexts import PUBLIC_ROUTE, TYPES, PublicKind
from groundtransport.public.files import MAX_AGE, NotMadeYet, PublicFile
from groundtransport.request import Request
from groundtransport.web.client import client_ip_of, network_of
from groundtransport.web.errors import RETRY_AFTER, problem

READ_HEADERS = "ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"


@view_config(
    route_name=PUBLIC_ROUTE,
    context=PublicKind,
    request_method="GET",
    permission=NO_PERMISSION_REQUIRED,
)
def records(context: PublicKind, request: Request) -> Response:
    """Return the active records of a kind, unless the client has reached its limit."""
    limit = request.registry["public_limit"]
    lease = limit.spend(network_of(client_ip_of(request)))
    response = too_many(request) if limit.limit and lease.permits < 0 else current_records(context, request)
    if limit.limit:
        add_limits(response, lease, limit.limit, "client")
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Access-Control-Expose-Headers"] = READ_HEADERS
    return response


@view_config(
    route_name=PUBLIC_ROUTE,
    context=PublicKind,
    request_method="OPTIONS",
    permission=NO_PERMISSION_REQUIRED,
)
def preflight(context: PublicKind, request: Request) -> Response:
    """Permit every origin to read; a browser asks first if a script sends ``If-None-Match``."""
    names = {"Origin": "*", "Methods": "GET, HEAD", "Headers": "If-None-Match", "Max-Age": "86400"}
    headers = [
        (f"Access-Control-{'' if name == 'Max-Age' else 'Allow-'}{name}", value) for name, value in names.items()
    ]
    return Response(status=204, headerlist=headers)


def too_many(request: Request) -> Response:
    """Return the 429 to a client that has reached its limit."""
    response = problem(request, 429, _("This address has reached its limit of requests a minute."))
    response.headers["Retry-After"] = str(seconds_left())
    return response


def current_records(context: PublicKind, request: Request) -> Response:
    """Return the records in the format that the URL or ``Accept`` names; a 304 if the client has them."""
    suffix = context.suffix or accepted_suffix(request)
    try:
        file = request.registry["public_files"].get(context.kind, suffix)
    except NotMadeYet:
        response = problem(request, 503, _("The file is being made. Please try again in a moment."))
        response.headers["Retry-After"] = str(RETRY_AFTER)
        return response
    response = Response(status=304) if is_not_modified(request, file) else file_response(request, file, suffix)
    response.etag = (file.etag, False)  # weak: it stands for the content, compressed or not
    response.last_modified = file.modified_at
    response.cache_control = f"public, max-age={MAX_AGE}"
    response.vary = ("Accept-Encoding",) if context.suffix else ("Accept", "Accept-Encoding")
    return response


def accepted_suffix(request: Request) -> str:
    """Return the suffix of the format that the client accepts best. Raise HTTPNotAcceptable."""
    offers = request.accept.acceptable_offers(list(TYPES.values()))
    if not offers:
        raise HTTPNotAcceptable(
            _("The records are available as: ${types}.", mapping={"types": ", ".join(TYPES.values())})
        )
    return next(suffix for suffix, content_type in TYPES.items() if content_type == offers[0][0])


def is_not_modified(request: Request, file: PublicFile) -> bool:
    """Return True if the client has the file; ``If-Modified-Since`` counts only without ``If-None-Match``."""
    if "If-None-Match" in request.headers:
        return file.etag in request.if_none_match
    since = request.if_modified_since
    return since is not None and file.modified_at <= since


def file_response(request: Request, file: PublicFile, suffix: str) -> Response:
    """Return the file, compressed if the client accepts gzip."""
    is_packed = request.accept_encoding and request.accept_encoding.acceptable_offers(["gzip"])
    response = Response(content_type=TYPES[suffix], charset="utf-8" if suffix == "csv" else None)
    response.app_iter = file.packed() if is_packed else file.unpacked()
    response.content_length = file.size if is_packed else file.full_size
    if is_packed:
        response.content_encoding = "gzip"
    return response
