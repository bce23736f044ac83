"""Rendering of the form of a record by our Jinja templates, its fields in groups."""

from collections.abc import Mapping
from typing import Any

import deform
from markupsafe import Markup
from pyramid.config import Configurator

from groundtransport.i18n import _
from groundtransport.records.kind import SOURCE, VALIDITY

GROUPS = {"airport": _("Airport"), "company": _("Company"), "contact": _("Contact"), "place": _("Place")}
GROUPS[VALIDITY] = _("Validity")
GROUPS[SOURCE] = _("Source")  # shown only if the record has one: imports set it


class DeformTemplates:
    """Deform renderer for our Jinja templates. Those of deform hold inline scripts, which our CSP forbids."""

    def __init__(self, environment: Any) -> None:
        self.environment = environment

    def __call__(self, name: str, **values: Any) -> Markup:
        template = self.environment.get_template(f"groundtransport:records/templates/fields/{name}.jinja2")
        groups = _grouped(values["field"].children, values["cstruct"])
        return Markup(template.render(groups=groups, **values))  # noqa: S704  # nosec B704 # rendered with autoescape


def _grouped(fields: list[deform.Field], values: Mapping[str, str]) -> list[tuple[str, str, list[deform.Field]]]:
    """Return the non-empty groups in order: name, title, and fields. The source is left out if it is empty."""
    groups = [
        (name, title, [field for field in fields if field.schema.group == name]) for name, title in GROUPS.items()
    ]
    return [group for group in groups if group[2] and (group[0] != SOURCE or _is_filled(group[2], values))]


def _is_filled(fields: list[deform.Field], values: Mapping[str, str]) -> bool:
    return any(field.error or values.get(field.name) for field in fields)


def includeme(config: Configurator) -> None:
    """Set ``registry["deform_renderer"]``."""

    def fetch_environment() -> None:
        environment = config.get_jinja2_environment(".jinja2")
        config.registry["deform_renderer"] = DeformTemplates(environment)

    # pyramid_jinja2 creates the environment when the configuration is committed: get it after that.
    config.action("deform_renderer", fetch_environment, order=9999)
