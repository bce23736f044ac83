"""Programs that use the API: a token, and a client that sends it."""

import json
from typing import Any

from webtest import TestApp

from groundtransport import db
from groundtransport.accounts import users
from groundtransport.accounts.tokens import issuing
from groundtransport.security import Role
from tests.site import Site

MERGE_PATCH = "application/merge-patch+json"


def make_token(site: Site, role: Role = Role.EDITOR, *, user: str = "", name: str = "", **options: Any) -> str:
    """Create a token of a user (the person of the role, unless named) and return its text."""
    with db.transaction(site.engine) as dbsession:
        owner = users.find(dbsession, user or f"the-{role}")
        assert owner is not None
        number = len(issuing.tokens_of(dbsession, owner.id))
        wanted = issuing.TokenRequest(name or f"token {number}", role, **options)
        maker = issuing.Maker(owner.name, Role(owner.role))
        return issuing.create(dbsession, owner, maker, wanted, site.kinds)[1]


class Program:
    """A client of the API. Its methods never fail on a status: the test looks at it."""

    def __init__(self, site: Site, token: str = "", address: str = "127.0.0.1") -> None:
        self.site, self.token = site, token
        self.app = TestApp(site.wsgi, extra_environ={"REMOTE_ADDR": address})

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Send ``body`` as JSON, or as it is if it is bytes."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            named.setdefault("Authorization", f"Bearer {self.token}")
        usual = MERGE_PATCH if method == "PATCH" else "application/json"
        options: dict[str, Any] = {}
        if body is not None:
            options["body"] = body if isinstance(body, bytes) else json.dumps(body).encode()
            options["content_type"] = named.pop("Content-Type", usual)
        return self.app.request(path, method=method, headers=named, expect_errors=True, **options)

    def get(self, path: str, **headers: str) -> Any:
        return self.send("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.send("POST", path, body, **headers)

    def put(self, path: str, body: Any, **headers: str) -> Any:
        return self.send("PUT", path, body, **headers)

    def patch(self, path: str, body: Any, **headers: str) -> Any:
        return self.send("PATCH", path, body, **headers)

    def delete(self, path: str, **headers: str) -> Any:
        return self.send("DELETE", path, **headers)
