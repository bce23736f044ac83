"""Reading the text fields of a submitted form."""

from collections.abc import Iterable
from dataclasses import fields
from typing import TypeVar

from pyramid.httpexceptions import HTTPBadRequest

from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.text import parse_number

Form = TypeVar("Form")


def submitted(request: Request, names: Iterable[str]) -> dict[str, str]:
    """Return the submitted values of the fields ``names``, without absent ones.

    Raise HTTPBadRequest if a field was sent twice or as a file.
    """
    form, values_by_name = {}, _sent(request)
    for name in names:
        values = _texts(values_by_name, name)
        if len(values) > 1:
            raise HTTPBadRequest(_("The field ${name} was sent more than once.", mapping={"name": name}))
        if values:
            form[name] = values[0]
    return form


def read_form(request: Request, form_class: type[Form]) -> Form:
    """Return the submitted values of a form as a dataclass, whose fields are texts with a default for absent ones.

    Raise HTTPBadRequest as ``submitted`` does.
    """
    names = [field.name for field in fields(form_class)]  # type: ignore[arg-type]  # a dataclass
    return form_class(**submitted(request, names))


def submitted_id(request: Request, name: str) -> int:
    """Return the id in a submitted field; 0 if there is none, or no whole number of at most 18 digits.

    Raise HTTPBadRequest as ``submitted`` does.
    """
    return parse_number(submitted(request, (name,)).get(name, "")) or 0


def submitted_all(request: Request, names: Iterable[str]) -> dict[str, str]:
    """Return the submitted values of fields that may be sent several times, as checkboxes are, joined by commas.

    Absent fields are left out. Raise HTTPBadRequest if a field was sent as a file.
    """
    values_by_name = _sent(request)
    values = {name: _texts(values_by_name, name) for name in names}
    return {name: ", ".join(filter(None, each)) for name, each in values.items() if each}


def _sent(request: Request) -> dict[str, list[object]]:
    """Return all values of each submitted field: a text or, for a file, a ``cgi.FieldStorage``.

    The dictionary is built once, because ``getall`` reads the whole form for each name.
    """
    values: dict[str, list[object]] = request.POST.dict_of_lists() if len(request.POST) else {}
    return values


def _texts(values_by_name: dict[str, list[object]], name: str) -> list[str]:
    """Return the texts of a field, none if it was not sent. Raise HTTPBadRequest if one of its values is a file."""
    values = values_by_name.get(name, [])
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < len(values):
        raise HTTPBadRequest(_("The field ${name} holds a file where a text belongs.", mapping={"name": name}))
    return texts
