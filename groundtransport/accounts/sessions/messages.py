"""The messages of a session for the next page, by the methods of Pyramid's ISession."""

from abc import ABC, abstractmethod

MESSAGES = 5  # stored at most: a program never reads them, and each request loads them


class FlashQueue(ABC):
    """Base class of the session: stores messages, which are plain JSON data, in ``_data["flash"]``."""

    _data: dict[str, list[object]]  # the content of the session, read at first access
    _loaded: bool  # whether the session's row was read
    _new_messages = 0  # of this request

    @abstractmethod
    def changed(self) -> None:
        """Have the session stored at the end of the request."""

    def flash(self, msg: object, queue: str = "", allow_duplicate: bool = True) -> None:  # noqa: FBT001, FBT002  # signature of ISession
        """Store a message for the next page; of more than ``MESSAGES`` the oldest are dropped."""
        messages = self._data.setdefault("flash", [])
        messages.append(msg)
        del messages[:-MESSAGES]
        self._new_messages += 1
        self.changed()

    def take_back_messages(self) -> None:
        """Drop the messages of this request: the change that they announce was not made."""
        if self._new_messages:
            del self._data["flash"][-self._new_messages :]
            self._new_messages = 0

    def pop_flash(self, queue: str = "") -> list[object]:
        """Return the messages, and remove them from the session."""
        if not self._loaded or "flash" not in self._data:
            return []
        self.changed()
        messages: list[object] = self._data.pop("flash")
        return messages

    def peek_flash(self, queue: str = "") -> list[object]:
        """Return the messages, and keep them."""
        return list(self._data.get("flash", []))
