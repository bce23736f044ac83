"""The links of records, and the states in which a check of a link ends (``groundtransport.links`` checks them)."""

from dataclasses import dataclass
from enum import StrEnum

from groundtransport.i18n import _
from groundtransport.records.fields import Link
from groundtransport.records.kind import Kind


class LinkState(StrEnum):
    """The result of a check. The values are stored, but for NEVER."""

    WORKING = "working"
    FAILING = "failing"  # it failed, but not yet twice at least a day apart
    DEAD = "dead"
    MOVED = "moved"
    CERTIFICATE = "certificate"
    PARKED = "parked"
    LANGUAGE = "language"
    SKIPPED = "skipped"  # the server refuses programs, or has no public address
    NEVER = "never"  # there is no result for the link as it is


STATE_TITLES = {
    LinkState.WORKING: _("Works"),
    LinkState.FAILING: _("No answer lately"),
    LinkState.DEAD: _("Dead"),
    LinkState.MOVED: _("Moved to another site"),
    LinkState.CERTIFICATE: _("Certificate not valid"),
    LinkState.PARKED: _("Domain for sale"),
    LinkState.LANGUAGE: _("Page in another language"),
    LinkState.SKIPPED: _("Cannot be checked"),
    LinkState.NEVER: _("Not checked yet"),
}


def link_fields(kind: Kind) -> list[str]:
    """Return the names of the fields that hold links."""
    return [name for name, node in kind.fields.items() if isinstance(node, Link)]


@dataclass(frozen=True)
class ShownCheck:
    """A link of a record with its last result; ``check`` is its row, None without a result for the link as it is."""

    field: str
    title: str
    state: LinkState
    state_title: str
    reason: str = ""  # why there was no answer
    final_url: str = ""
    check: object = None

    @property
    def is_moved(self) -> bool:
        return self.state == LinkState.MOVED
