"""``groundtransport tokens``: the rules and the security log are those of the pages."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from groundtransport.accounts.tokens.models import ApiToken
from groundtransport.accounts.tokens.secret_text import hash_of, is_well_formed
from groundtransport.security_log.models import SecurityEvent
from tests.shell import Shell, run


@pytest.fixture
def shell(small_database_url: str, tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, small_database_url)
    shell("user", "add", "feed", "--role", "editor", "--service")
    yield shell
    shell.engine.dispose()


def test_a_token_of_a_service_account_is_created_listed_and_revoked(shell: Shell) -> None:
    options = ("--role", "viewer", "--kind", "transit", "--read-only", "--days", "7", "--network", "192.0.2.1/24")
    result = run("-c", str(shell.ini), "tokens", "create", "FEED", "nightly", *options)

    assert "Created the token nightly of feed" in result.stderr
    text = result.stdout.strip()
    assert is_well_formed(text)
    with shell.engine.connect() as connection:
        token = connection.execute(select(ApiToken.__table__)).one()
    assert token.token_hash == hash_of(text)
    assert (token.role, token.kinds, token.is_read_only) == ("viewer", ["transit"], True)
    assert (token.networks, round((token.expires_at - token.created_at).total_seconds() / 86400)) == (
        ["192.0.2.0/24"],
        7,
    )
    assert token.created_by.endswith("(command line)")

    (line,) = shell("tokens", "list").splitlines()
    assert line.startswith(f"feed\tnightly\t...{text[-4:]}\tviewer\ttransit, read only, 192.0.2.0/24\texpires ")
    assert text not in line
    assert shell("tokens", "list", "feed").splitlines() == [line]

    assert shell("tokens", "revoke", "feed", "nightly") == "Revoked the token nightly of feed.\n"
    assert shell("tokens", "list") == ""
    shell("tokens", "revoke", "feed", "nightly", fails=True)

    events = shell.all(SecurityEvent.id, SecurityEvent.event, SecurityEvent.about, SecurityEvent.details)
    assert [event[1:] for event in events] == [
        ("user added", "feed", {"role": "editor", "what": "service account"}),
        ("token created", "feed", {"token": "nightly"}),
        ("token revoked", "feed", {"token": "nightly"}),
    ]


def test_what_the_pages_refuse_is_refused(shell: Shell) -> None:
    shell("user", "add", "anna", "--role", "editor", stdin="a long walk to the gate\n")
    create = ("tokens", "create")
    assert "Only the user can create" in shell(*create, "anna", "hers", fails=True)
    assert "There is no user nobody" in shell(*create, "nobody", "x", fails=True)
    assert "not above yours" in shell(*create, "feed", "x", "--role", "administrator", fails=True)
    assert "no kind trains" in shell(*create, "feed", "x", "--kind", "trains", fails=True)
    assert "1 to 365 days" in shell(*create, "feed", "x", "--days", "366", fails=True)
    assert "Write networks" in shell(*create, "feed", "x", "--network", "everywhere", fails=True)
    shell("user", "disable", "feed")
    shell(*create, "feed", "x", fails=True)
    assert shell.all(ApiToken.id) == []
    assert "token created" not in shell.all(SecurityEvent.event)
