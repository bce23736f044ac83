"""Which fields of a record are public."""

from collections.abc import Collection, Mapping

from groundtransport.records.kind import SOURCE, Kind
from groundtransport.settings import PREFIX, Settings, SettingsError


def public_names(kind: Kind, chosen: Collection[str]) -> list[str]:
    """Return the columns of a kind that are public, in the order of an export: those ``chosen``, or all that can be.

    Who changed a record, its version and where it comes from are internal.
    """
    fields = [name for name, node in kind.fields.items() if node.group != SOURCE]
    names = ["id", "airport_code", *fields, "updated_at"]
    return [name for name in names if not chosen or name in chosen]


def check_settings(settings: Settings, kinds: Mapping[str, Kind]) -> None:
    """Raise SettingsError for a public kind that does not exist, or a public field that none of the kinds has.

    Without public kinds, a public field must be one of any kind.
    """
    if unknown := [name for name in settings.public_kinds if name not in kinds]:
        raise SettingsError(f"{PREFIX}public_kinds names {unknown[0]!r}, which is not a kind")
    known = {name for kind in settings.public_kinds or kinds for name in public_names(kinds[kind], ())}
    if unknown := [name for name in settings.public_fields if name not in known]:
        raise SettingsError(f"{PREFIX}public_fields names {unknown[0]!r}; it can name: {', '.join(sorted(known))}")
