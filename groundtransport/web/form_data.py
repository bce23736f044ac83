"""Form fields as they came over the wire: each once, and text."""

from collections.abc import Iterable

from pyramid.httpexceptions import HTTPBadRequest
from pyramid.request import Request

from groundtransport.i18n import _


def submitted(request: Request, names: Iterable[str]) -> dict[str, str]:
    """Return those of ``names`` that the form holds; raise HTTPBadRequest for one sent twice or as a file."""
    found = {}
    for name in names:
        values = request.POST.getall(name) if len(request.POST) else []
        if len(values) > 1:
            raise HTTPBadRequest(_("The field ${name} was sent more than once.", mapping={"name": name}))
        if values and not isinstance(values[0], str):
            raise HTTPBadRequest(_("The field ${name} holds a file where a text belongs.", mapping={"name": name}))
        if values:
            found[name] = values[0]
    return found
