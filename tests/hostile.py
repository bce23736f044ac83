"""Hostile requests to the API, drawn by a seed, each with the statuses that may answer it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import quote

from groundtransport.accounts.tokens import secret_text
from tests.site import JFK

V1 = "/api/v1"
USED_KEY = "used"  # an Idempotency-Key that came with another body before
HUGE = b'{"airport_name": "JFK (JFK)", "company_name": "' + b"x" * 10_000_000 + b'"}'
TEXTS = [
    "",
    "0",
    "-1",
    "9" * 30,
    "1e309",
    "1.0",
    "+1",
    " 1",
    "٣",
    "null",
    "true",
    "[]",
    "{}",
    "NaN",
    "'",
    '"',
    "\\",
    "%00",
]
TEXTS += [
    "' OR 1=1 --",
    "<script>alert(1)</script>",
    "${7*7}",
    "{{7*7}}",
    "%s%n",
    "../../etc/passwd",
    "\u202e",
    "𝕏" * 99,
]
NAMES = [
    "colour",
    "__proto__",
    "id ",
    "ID",
    "",
    "form_token",
    "search_text",
    "deleted_at",
    "airport_id",
    "a.b",
    "\u0000",
]
# Not JSON, or not I-JSON: members that stand in any object.
BAD_MEMBERS = [
    *(b'"place": NaN', b'"place": Infinity', b'"place": -Infinity', b'"place": 1e999', b'"place": "\\ud800"'),
    *(b'"\\udfff": 1', b'"place": "a", "place": "b"', b'"place": "\xff"', b'"place": "a\x00b"', b"\"place\": 'a'"),
    *(b'"place": 01', b'"place": .5', b'"place": 0x1F', b'"place": undefined', b'"place": "a",', b'"place" "a"'),
    *(b'place: "a"', b'"place": "\\x41"', b'"place": "\\u12"', b'"place": tru', b"/* */", b'"place": "a" // b'),
    *(
        b'"place": ' + b"9" * 5_000,
        b'"place": "\n"',
        b'"place": [1,]',
        b'"place": "\\ud83d"',
        b'"place": {"a": 1, "a": 2}',
    ),
]
BAD_BODIES = [
    b"",
    b" ",
    b"{",
    b"}",
    b"{]",
    b"[",
    b"\xef\xbb\xbf{}",
    "{}".encode("utf-16"),
    b"\x00",
    b"{}{}",
    b"a=b&c=d",
]
NO_OBJECTS = [b"[]", b'"text"', b"null", b"12", b"true", b"[{}]", b"-0.0"]


@dataclass(frozen=True)
class Hostile:
    """A request and the statuses that may answer it. ``name`` says how it is hostile, ``error`` what is named."""

    name: str
    method: str
    path: str
    statuses: tuple[int, ...]
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    error: str = ""
    has_token: bool = True  # the valid one of an editor


class Attacker:
    """Draws requests. ``record`` is the id of a record at version 1; ``tokens`` are refused, ``cursors`` of others."""

    def __init__(self, seed: int, record: int, tokens: list[str], cursors: dict[str, str]) -> None:
        self.random, self.record, self.tokens, self.cursors = Random(seed), record, tokens, cursors
        self.url = f"{V1}/transit/{record}"
        self.kinds: list[Callable[[], Hostile]] = [
            *(self.bad_token, self.bad_json, self.no_object, self.deep_json, self.unknown_member, self.wrong_type),
            *(self.bad_id, self.bad_condition, self.bad_cursor, self.bad_parameter, self.bad_bulk, self.bad_header),
            *(self.bad_method, self.bad_key),
        ]

    def draw(self) -> Hostile:
        """Return the next request; one of a thousand has 10 MB."""
        if self.random.random() < 0.001:
            return Hostile("10 MB", "POST", f"{V1}/transit", (413,), HUGE)
        return self.random.choice(self.kinds)()

    def one(self, *values: Any) -> Any:
        return self.random.choice(values)

    def write(self, name: str, body: bytes, *statuses: int, error: str = "") -> Hostile:
        """Return a create, replace or patch with a body."""
        method, path = self.one(("POST", f"{V1}/transit"), ("PUT", self.url), ("PATCH", self.url))
        return Hostile(name, method, path, statuses, body, {"If-Match": '"1"'}, error)

    # Tokens

    def bad_token(self) -> Hostile:
        text = self.one(*self.tokens, secret_text.generate(), self.random.randbytes(29).hex(), "gt_" + "x" * 10_000)
        scheme = self.one("Bearer ", "bearer  ", "BEARER ")
        value = self.one(
            scheme + text, text, f"Basic {text}", scheme + text + ", x", scheme, f"Token {text}", scheme + "é"
        )
        path = self.one(
            f"{V1}/me", self.url, f"{V1}/transit", f"{V1}/bulk", f"{V1}/nothing", f"{self.url}/restore", "/api"
        )
        method, headers = self.one("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"), {"Authorization": value}
        body = b"{}" if method in ("POST", "PUT", "PATCH") else None
        return Hostile("token", method, path, (401,), body, self.one({}, headers, headers, headers), has_token=False)

    # Bodies

    def bad_json(self) -> Hostile:
        whole = self.random.choice([*BAD_BODIES, *[b'{"airport_name": "JFK (JFK)", %s}' % bad for bad in BAD_MEMBERS]])
        if self.random.random() < 0.2:
            whole = b'{"operations": [{"op": "create", "kind": "transit", "values": {%s}}]}' % self.one(*BAD_MEMBERS)
            return Hostile("JSON in bulk", "POST", f"{V1}/bulk", (400,), whole)
        return self.write("JSON", whole, 400)

    def no_object(self) -> Hostile:
        return self.write("no object", self.one(*NO_OBJECTS), 422)

    def deep_json(self) -> Hostile:
        depth = self.one(20, 100, 1_000, 100_000)
        opening, closing = self.one((b"[", b"]"), (b'{"a": ', b"}"))
        inner = opening * depth + b"1" + closing * self.one(depth, depth, 0)
        return self.write("deep", self.one(inner, b'{"place": %s}' % inner), 400)

    def unknown_member(self) -> Hostile:
        name = self.one(*NAMES)
        value = self.one(None, 1, "a", [], {})
        return self.write("unknown member", json.dumps({"airport_name": JFK, name: value}).encode(), 422, error=name)

    def wrong_type(self) -> Hostile:
        name = self.one("company_name", "airport_name", "status", "company_link", "company_phone1", "id", "version")
        value = self.one(1.5, -7, 10**40, True, [], {}, ["a"], {"a": 1}, "a\0b", "x" * 6_000)
        return self.write("type", json.dumps({"airport_name": JFK} | {name: value}).encode(), 422, error=name)

    def bad_bulk(self) -> Hostile:
        good = {"op": "create", "kind": "transit", "values": {"airport_name": JFK}}
        bad: dict[str, Any] = self.one(
            {**good, "op": self.one("drop", None, 7, [])},
            {**good, "kind": self.one("plane", "admin_user", None, {})},
            {**good, "values": self.one(None, [], "x", {"airport_name": "Nowhere"}, {"colour": 1}, {})},
            {**good, "more": 1},
            {"op": "delete", "kind": "transit", "id": self.one(10**29, 0, -1, "1", None, 1.0), "version": 1},
            {"op": "delete", "kind": "transit", "id": self.record, "version": self.one(0, 2, -1, 10**29, "1", None)},
            {"op": "update", "kind": "transit", "id": self.record, "version": 1, "values": {"status": "open"}},
            {"op": "restore", "kind": "transit", "id": self.record},
            self.one(1, None, [], "create", {}),
        )
        good_ones = [good] * self.random.randrange(4)
        if not isinstance(bad, dict) or bad.get("op") != "restore":  # to delete and then restore a record is valid
            good_ones += [{"op": "delete", "kind": "transit", "id": self.record, "version": 1}] * self.one(0, 0, 1)
        operations: Any = [*good_ones, bad, *[good] * self.random.randrange(3)]
        body = self.one(
            {"operations": operations}, {"operations": operations}, {"operations": self.one([], {}, 7, None)}
        )
        if self.random.random() < 0.05:
            body = {"operations": [good] * 1_001}
        return Hostile("bulk", "POST", f"{V1}/bulk", (422,), json.dumps(body).encode())

    # URLs and headers

    def bad_id(self) -> Hostile:
        number = self.one(
            "9" * 30, "0", "-1", "1.5", "%D9%A3", "1%00", "x", "99999999", "1e3", f"+{self.record}", "%20", "1;2"
        )
        method = self.one("GET", "PUT", "PATCH", "DELETE")
        tail = self.one("", "", "/history", "/restore", "/verify")
        method = {"/history": "GET", "/restore": "POST", "/verify": "POST"}.get(tail, method)
        body = b"{}" if method in ("POST", "PUT", "PATCH") else None
        return Hostile("id", method, f"{V1}/transit/{number}{tail}", (404,), body, {"If-Match": '"1"'})

    def bad_condition(self) -> Hostile:
        tag, status = self.one(
            *((None, 428), ("*", 428), ("", 428), ('"2"', 412), ('W/"1"', 412), ('""', 412), ('"1', 400), ("1", 400)),
            *(('"1" "2"', 400), ('"0", "2"', 412), ('*, "1"', 400), ('"%s"' % ("9" * 30), 412), ('"x"' * 300, 400)),
            *(('"-1"', 412), ('"1.0"', 412), ("W/1", 400), (",", 400), ('w/"1"', 400), ('"\u00e9"', 412)),
        )
        headers = {} if tag is None else {"If-Match": tag}
        method, path = self.one(
            ("PUT", self.url), ("PATCH", self.url), ("DELETE", self.url), ("POST", f"{self.url}/verify")
        )
        return Hostile(
            "If-Match",
            method,
            path,
            (status,),
            None if method == "DELETE" else b'{"airport_name": "JFK (JFK)"}',
            headers,
        )

    def bad_cursor(self) -> Hostile:
        """Return a page with a cursor that is broken, or that of another page."""
        place, other = self.random.sample(sorted(self.cursors), 2)
        own = self.cursors[place]
        middle = self.random.randrange(len(own) - 1)
        broken = own[:middle] + self.one("", "é", "=", "%", "\0", "-" * 5_000) + own[middle + 1 :]
        cursor = self.one(self.cursors[other], broken, own[:middle], own + own, *TEXTS)
        return Hostile("cursor", "GET", f"{V1}/{place}&cursor={quote(cursor)}", (422,), error="cursor")

    def bad_parameter(self) -> Hostile:
        numbers = [text for text in TEXTS if text != "0"]
        path, name, value = self.one(
            ("transit", "limit", self.one("0", "1001", *TEXTS)),
            ("changes", "after", self.one(*numbers)),
            ("changes", "wait", self.one("31", *numbers)),
            ("transit", "sort", self.one("colour", "--id", "id,", "id;")),
            ("transit", self.one("q", "company_name", "airport_code"), "x" * 1_001),
            ("transit", "deleted", self.one("2", "true", "-1")),
            ("transit", "status", "open"),
            ("transit", "missing", "everything"),
            ("transit", "verified", "perhaps"),
            ("transit", "not_verified_since", self.one("yesterday", "2026-13-01", "0")),
            ("activity", "record_id", self.one(*numbers)),
            ("activity", self.one("from", "to"), self.one("yesterday", "2026-13-01", "0", "9" * 30)),
            (
                self.one("transit", "me", "changes", f"transit/{self.record}", "airports/JFK"),
                "colour",
                self.one(*TEXTS),
            ),
        )
        query = f"{name}={quote(value)}"
        if self.random.random() < 0.1:
            query = "&".join([query] * 2)
        return Hostile("parameter", "GET", f"{V1}/{path}?{query}", (422,), error=name)

    def bad_header(self) -> Hostile:
        name, value, status = self.one(
            ("Accept", self.one("text/html", "image/*", "application/json;q=0", "text/csv, text/html"), 406),
            ("If-None-Match", self.one("1", '"1', "a, b", '"1" "2"'), 400),
        )
        if self.random.random() < 0.5:
            return Hostile(name, "GET", self.url, (status,), headers={name: value})
        content = self.one(
            "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json"
        )
        refused = self.one({"Content-Type": content}, {"Content-Encoding": "gzip"})
        return Hostile("Content-Type", "POST", f"{V1}/transit", (415,), b'{"airport_name": "JFK (JFK)"}', refused)

    def bad_method(self) -> Hostile:
        method, path = self.one(
            (self.one("POST", "TRACE", "OPTIONS"), self.url),
            (self.one("PUT", "PATCH", "DELETE", "TRACE", "OPTIONS"), f"{V1}/transit"),
            (self.one("POST", "PUT", "DELETE"), self.one(f"{V1}/me", f"{V1}/changes", f"{self.url}/history")),
            (self.one("GET", "PUT", "DELETE"), self.one(f"{V1}/bulk", f"{self.url}/restore", f"{self.url}/verify")),
        )  # fmt: skip
        return Hostile("method", method, path, (405,), b"{}" if method in ("POST", "PUT", "PATCH") else None)

    def bad_key(self) -> Hostile:
        body = b'{"airport_name": "LHR (LHR)"}'
        key, status = self.one((USED_KEY, 422), *((text, 400) for text in ("two words", "x" * 256, '""', "\u00e9", "")))
        return Hostile("Idempotency-Key", "POST", f"{V1}/transit", (status,), body, {"Idempotency-Key": key})
