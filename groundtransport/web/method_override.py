"""Tween that turns a POST with the form field ``_method`` into PUT or DELETE; HTML forms can only GET and POST."""

from collections.abc import Callable

from pyramid.response import Response

from groundtransport.request import Registry, Request
from groundtransport.security import is_api

Handler = Callable[[Request], Response]
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


def tween(handler: Handler, registry: Registry) -> Handler:
    def override(request: Request) -> Response:
        if request.method == "POST" and request.content_type in FORMS and not is_api(request):
            methods = request.POST.getall("_method")
            if methods in (["PUT"], ["DELETE"]):
                request.method = methods[0]
        return handler(request)

    return override
