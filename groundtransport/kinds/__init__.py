"""One file a kind. This loader finds them; it serves the application, the migrations and the tests alike.

Nothing else imports a file of this folder, and a new kind edits no other file.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from pyramid.config import Configurator

from groundtransport.records.kind import Kind


def modules() -> list[ModuleType]:
    """Return the modules of this folder, by name; importing them defines their tables."""
    return [import_module(f"{__name__}.{found.name}") for found in sorted(iter_modules(__path__), key=lambda m: m.name)]


def kinds() -> dict[str, Kind]:
    """Return the kinds by name."""
    return {module.KIND.name: module.KIND for module in modules()}


def includeme(config: Configurator) -> None:
    for module in modules():
        config.add_kind(module.KIND)
        config.scan(module)
