"""Reading the text fields of a submitted form."""

from collections.abc import Iterable

from pyramid.httpexceptions import HTTPBadRequest
from pyramid.request import Request

from groundtransport.i18n import _


def submitted(request: Request, names: Iterable[str]) -> dict[str, str]:
    """Return the submitted values of the fields ``names``, without absent ones.

    Raise HTTPBadRequest if a field was sent twice or as a file.
    """
    fields = {}
    for name in names:
        values = request.POST.getall(name) if len(request.POST) else []
        if len(values) > 1:
            raise HTTPBadRequest(_("The field ${name} was sent more than once.", mapping={"name": name}))
        if values and not isinstance(values[0], str):
            raise HTTPBadRequest(_("The field ${name} holds a file where a text belongs.", mapping={"name": name}))
        if values:
            fields[name] = values[0]
    return fields
