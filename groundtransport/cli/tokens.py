"""``groundtransport tokens``: the tokens of service accounts, by the rules of the pages below ``/admin/users``."""

import sys
from typing import TypedDict, Unpack

import click

from groundtransport.accounts import users
from groundtransport.accounts.tokens import issuing
from groundtransport.accounts.tokens.models import ApiToken
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.cli.users import ROLE, accounts, find_user, log_event
from groundtransport.kinds import kinds
from groundtransport.security import Role
from groundtransport.security_log.events import Event


class Limits(TypedDict):
    """The options of a new token, as they were written."""

    names: tuple[str, ...]
    read_only: bool
    days: str
    networks: tuple[str, ...]


@click.group()
def tokens() -> None:
    """List, create and revoke tokens of the API."""


@tokens.command("list")
@click.argument("user", required=False)
@pass_command_context
def show(context: CommandContext, user: str | None) -> None:
    """List the tokens that were not revoked, of USER or of all users."""
    with accounts(context) as dbsession:
        for account in [find_user(dbsession, user)] if user else users.all_users(dbsession):
            for token in issuing.tokens_of(dbsession, account.id):
                click.echo("\t".join((account.name, *described(token))))


def described(token: ApiToken) -> tuple[str, ...]:
    """Return the columns of a token's line: name, last characters, what it permits, its end and its last use."""
    state = "expires" if token.is_live else "expired"
    used = f"used {token.used_at:%Y-%m-%d %H:%M}" if token.used_at else "never used"
    limits = (*token.kinds, *(["read only"] if token.is_read_only else []), *token.networks)
    return (token.name, f"...{token.hint}", token.role, ", ".join(limits), f"{state} {token.expires_at:%Y-%m-%d}", used)


@tokens.command()
@click.argument("user")
@click.argument("name")
@click.option("--role", type=ROLE, help="At most that of the account, which is the default.")
@click.option("--kind", "names", multiple=True, help="A kind of record that the token permits; all by default.")
@click.option("--read-only", is_flag=True, help="Permit no change.")
@click.option("--days", default=str(issuing.DAYS), show_default=True, help="The days until it expires.")
@click.option("--network", "networks", multiple=True, help="A network from which it can be used; all by default.")
@pass_command_context
def create(context: CommandContext, /, user: str, name: str, role: str | None, **limits: Unpack[Limits]) -> None:
    """Create the token NAME of the service account USER, and print it once, alone, to standard output."""
    with accounts(context) as dbsession:
        account = find_user(dbsession, user)
        token_request = token_request_of(name, role or account.role, limits)
        if not issuing.is_open_to_others(account):
            raise issuing.TokenRefused("name", issuing.NOT_OPEN)
        maker = issuing.Maker(context.actor("token").name, Role.ADMINISTRATOR)
        token, text = issuing.create(dbsession, account, maker, token_request, kinds())
        about, token_name, end = account.name, token.name, token.expires_at
    log_event(context, Event.TOKEN_CREATED, about, token=token_name)
    click.echo(f"Created the token {token_name} of {about}, valid until {end:%Y-%m-%d}:", file=sys.stderr)
    click.echo(text)


def token_request_of(name: str, role: str, limits: Limits) -> issuing.TokenRequest:
    """Return the request of a token as the web form would send it."""
    networks = " ".join(limits["networks"])
    return issuing.TokenRequest(name, role, limits["names"], limits["read_only"], limits["days"], networks)


@tokens.command()
@click.argument("user")
@click.argument("name")
@pass_command_context
def revoke(context: CommandContext, user: str, name: str) -> None:
    """End the token NAME of USER at once."""
    with accounts(context) as dbsession:
        account = find_user(dbsession, user)
        same_name = [token for token in issuing.tokens_of(dbsession, account.id) if token.name == name]
        if not same_name:
            raise click.ClickException(f"{account.name} has no token {name}.")
        for token in same_name:  # expired ones may have the same name
            issuing.revoke(dbsession, account.id, token.id)
        about = account.name
    log_event(context, Event.TOKEN_REVOKED, about, token=name)
    click.echo(f"Revoked the token {name} of {about}.")
