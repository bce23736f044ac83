"""Load the kinds of record from the entry points of the group ``groundtransport.kinds``.

Each entry point names a module that defines ``KIND``. Our own are in setup.cfg; a deployment adds one by installing
a package. The application, the migrations and the command line all load kinds here.
"""

from importlib.metadata import entry_points
from types import ModuleType

from pyramid.config import Configurator

from groundtransport.records.kind import Kind

GROUP = "groundtransport.kinds"


def modules() -> list[ModuleType]:
    """Import the module of each kind, in the order of the entry points' names. The import defines its table.

    Raise TypeError if an entry point names anything but a module with a ``KIND``.
    """
    loaded = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        module = entry.load()
        if not isinstance(getattr(module, "KIND", None), Kind):
            raise TypeError(f"the entry point {entry.name} = {entry.value} of {GROUP} names no module with a KIND")
        loaded.append(module)
    return loaded


def kinds() -> dict[str, Kind]:
    """Return the kinds by name."""
    return {module.KIND.name: module.KIND for module in modules()}


def includeme(config: Configurator) -> None:
    """Register each kind, and scan its module for views."""
    for module in modules():
        config.add_kind(module.KIND)
        config.scan(module)
