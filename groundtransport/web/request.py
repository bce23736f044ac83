"""The request: Pyramid's, with its body in memory. The guard has refused a body that is too large for that."""

from pyramid.request import Request


class MemoryRequest(Request):
    # WebOb's limit is 10 KiB; beyond it, a temporary file stays open until the garbage is collected.
    request_body_tempfile_limit = 1 << 40
