"""HTML forms can only GET and POST: the body field ``_method`` makes a POST the PUT or DELETE it stands for."""

from collections.abc import Callable

from pyramid.registry import Registry
from pyramid.request import Request
from pyramid.response import Response

Handler = Callable[[Request], Response]
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


def tween(handler: Handler, registry: Registry) -> Handler:
    def override(request: Request) -> Response:
        if request.method == "POST" and request.content_type in FORMS:
            meant = request.POST.getall("_method")
            if meant in (["PUT"], ["DELETE"]):
                request.method = meant[0]
        return handler(request)

    return override
