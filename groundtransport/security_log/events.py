"""The types of security events, and the entry that is written for one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from groundtransport.db import now
from groundtransport.web.client import network_of

COMMAND_LINE = "command line"  # stands in ``address`` for an event of a command


class Event(StrEnum):
    """The type of an event. The values are stored in the database."""

    SIGN_IN = "sign-in"
    SIGN_IN_FAILED = "sign-in failed"
    THROTTLED = "sign-in throttled"
    SIGN_OUT = "sign-out"
    SESSION_ENDED = "session ended"
    DENIED = "denied"
    BAD_EDIT_KEY = "bad edit key"
    FORGED = "request refused"  # CSRF token missing or wrong, or a foreign Origin
    PASSWORD_CHANGED = "password changed"  # by its owner
    PASSWORD_RESET = "password reset"  # by another user
    SECOND_FACTOR = "second factor changed"
    ROLE_CHANGED = "role changed"
    USER_ADDED = "user added"
    USER_DISABLED = "user disabled"
    USER_ENABLED = "user enabled"
    TOKEN_CREATED = "token created"
    TOKEN_REVOKED = "token revoked"
    TOKEN_REFUSED = "token refused"
    WEBHOOK_CREATED = "webhook created"
    WEBHOOK_CHANGED = "webhook changed"  # its URL, kinds or events; switched on or off; removed
    WEBHOOK_SECRET = "webhook secret replaced"
    EXPORT = "export"
    IMPORT = "import"  # a file was uploaded, its import begun, stopped or undone
    VIEW = "view for all"  # a view of a list for all users was saved, renamed, replaced or deleted
    PRUNED = "events removed"  # events older than the retention period; the log begins after them
    RESEALED = "key replaced"  # the newest key vouches for the events signed with an older key
    LEFT_OUT = "events left out"  # the number of events of one type that were too many to write


# Events that anybody can cause at will: written also when the request was refused, and limited in number.
REFUSALS = frozenset(
    {
        Event.SIGN_IN_FAILED,
        Event.THROTTLED,
        Event.DENIED,
        Event.BAD_EDIT_KEY,
        Event.FORGED,
        Event.TOKEN_REFUSED,
    }
)


@dataclass(frozen=True)
class Entry:
    """One event to be written. ``name`` is the user who caused it, ``about`` the user whose account it concerns."""

    event: Event
    name: str
    user_id: int | None = None
    about: str = ""
    address: str = ""
    request_id: str = ""
    details: Mapping[str, str] = field(default_factory=dict)
    at: datetime = field(default_factory=now)

    @property
    def network(self) -> str:
        return network_of(self.address)

    @property
    def row(self) -> dict[str, object]:
        """The columns of SecurityEvent, without number and signature."""
        return {**vars(self), "network": self.network}

    @property
    def line(self) -> str:
        """The line of the process log: JSON in ASCII, so that line breaks and control characters are escaped."""
        values = {name: value for name, value in vars(self).items() if value and name != "at"}
        return json.dumps({"at": self.at.isoformat(), **values})
