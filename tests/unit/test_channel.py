"""Server connections: the main loop waits for the thread that sends."""

import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from waitress.adjustments import Adjustments

from groundtransport.server.channel import Channel


@pytest.fixture
def channel() -> Iterator[Channel]:
    ours, theirs = socket.socketpair()
    adj = Adjustments()
    server = SimpleNamespace(adj=adj, active_channels={})
    yield Channel(server, ours, ("127.0.0.1", 1), adj, {})
    ours.close()
    theirs.close()


def test_the_loop_waits_while_a_thread_sends(channel: Channel) -> None:
    results: list[bool] = []
    loop = threading.Thread(target=lambda: results.append(channel.writable()))
    with channel.outbuf_lock:
        channel.total_outbufs_len = 5  # bytes being sent
        loop.start()
        loop.join(0.1)
        assert not results
        channel.total_outbufs_len = 0
    loop.join(5)

    assert results == [False]
    channel.total_outbufs_len = 5
    assert channel.writable()
