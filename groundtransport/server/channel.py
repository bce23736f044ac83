"""Connections, and the tasks that write their responses."""

import select
from collections.abc import Callable

from waitress.channel import HTTPChannel
from waitress.task import ErrorTask, WSGITask

from groundtransport.monitoring.tween import ARRIVED
from groundtransport.server.parser import Parser
from groundtransport.web.request_guard import HEADERS


class SecurityHeadersMixin:
    """Task whose response has the security headers, also if waitress writes the response itself."""

    channel: HTTPChannel
    response_headers: list[tuple[str, str]]
    set_close_on_finish: Callable[[], None]

    def build_response_header(self) -> object:
        """Return the response head; close the connection after the response while the server shuts down."""
        if not any(name in HEADERS for name, _value in self.response_headers):
            self.response_headers.extend([*HEADERS.items(), ("Cache-Control", "no-store")])
        if getattr(self.channel.server, "is_ending", False):
            self.set_close_on_finish()
        return super().build_response_header()  # type: ignore[misc]  # a method of waitress' task


class ResponseTask(SecurityHeadersMixin, WSGITask):
    """Response of the application, or waitress' 400 for invalid headers of a proxy."""

    def get_environment(self) -> dict[str, object]:
        """Return the WSGI environ, with the time at which the request was complete."""
        return {**super().get_environment(), ARRIVED: self.request.arrived}


class ErrorResponseTask(SecurityHeadersMixin, ErrorTask):
    """Waitress' response to a request that it could not parse."""


def _is_closed(socket: int) -> bool:
    """Return True if the other end of a socket sends no more."""
    poll = select.poll()
    poll.register(socket, select.POLLRDHUP)
    return bool(poll.poll(0))


class Channel(HTTPChannel):
    """A connection."""

    parser_class = Parser
    task_class = ResponseTask
    error_task_class = ErrorResponseTask

    def send_continue(self) -> None:
        """Send ``100 Continue``, unless the request has no body: waitress would then wait for one for ever."""
        if not self.request.completed:
            super().send_continue()

    def check_client_disconnected(self) -> bool:
        """Return True if the client has closed the connection, or its half of it, while a response is made."""
        if self.connected and _is_closed(self.socket.fileno()):
            return True
        return bool(super().check_client_disconnected())

    def writable(self) -> bool:
        """Return True if the loop has something to send; wait while a thread sends.

        Otherwise the loop would poll without a pause and take CPU time from that thread: docs/performance.md, "Server".
        """
        with self.outbuf_lock:
            return bool(super().writable())

    @property
    def is_busy(self) -> bool:
        """Return True while a request is received, processed or answered."""
        return bool(self.requests or self.request is not None or self.total_outbufs_len or self.close_when_flushed)
