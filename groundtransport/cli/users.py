"""``groundtransport user``: manage users' accounts."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click
from sqlalchemy.orm import Session

from groundtransport import db
from groundtransport.accounts import passwords, secondfactor, users
from groundtransport.accounts.errors import Refused
from groundtransport.accounts.models import AdminUser
from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.i18n import _
from groundtransport.security import Role
from groundtransport.security_log.events import COMMAND_LINE, Entry, Event
from groundtransport.security_log.log import SecurityLog, write
from groundtransport.signing import make_key

ROLE = click.Choice([role.value for role in Role])


@click.group()
def user() -> None:
    """Add users, change their passwords and roles, disable their accounts."""


@contextmanager
def accounts(context: CommandContext) -> Iterator[Session]:
    """Yield the session of a transaction. Turn a refused change into a ClickException with the reason."""
    context.check_migrated()
    try:
        with db.transaction(context.engine) as dbsession:
            yield dbsession
    except Refused as refused:
        raise click.ClickException(str(refused)) from refused


def find_user(dbsession: Session, name: str) -> AdminUser:
    """Return the user with the row locked; raise UserRefused if there is none."""
    account = users.find_locked(dbsession, name)
    if account is None:
        raise users.UserRefused(_("There is no user ${name}.", mapping={"name": name}))
    return account


def log_event(context: CommandContext, event: Event, name: str, **details: str) -> None:
    """Write an event about a user's account to the security log."""
    actor = context.actor("user").name
    entry = Entry(event, actor, about=users.normal_name(name), address=COMMAND_LINE, details=details)
    write(SecurityLog(context.engine, make_key(context.settings.audit_secrets[0])), [entry])


def new_password() -> tuple[str, bool]:
    """Return the password from standard input and False; without input, a generated one-time password and True."""
    given = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
    return (given, False) if given else (passwords.generate(), True)


def print_password(name: str, password: str, *, is_made: bool) -> None:
    """Print a generated password."""
    if is_made:
        click.echo(f"One-time password of {name}: {password}")


@user.command()
@click.argument("name")
@click.option("--role", type=ROLE, required=True)
@click.option("--service", is_flag=True, help="A service account: it has tokens of the API, and cannot sign in.")
@pass_command_context
def add(context: CommandContext, name: str, role: str, *, service: bool) -> None:
    """Add a user. The password is read from standard input, or generated and printed once."""
    if service:
        add_service(context, name, role)
        return
    password, is_made = new_password()
    with accounts(context) as dbsession:
        users.add(dbsession, name, Role(role), password, one_time=is_made)
    log_event(context, Event.USER_ADDED, name, role=role)
    click.echo(f"Added {name}, {role}.")
    print_password(name, password, is_made=is_made)


def add_service(context: CommandContext, name: str, role: str) -> None:
    """Create a service account, which has no password."""
    with accounts(context) as dbsession:
        users.add_service(dbsession, name, Role(role))
    log_event(context, Event.USER_ADDED, name, role=role, what="service account")
    click.echo(f"Added the service account {name}, {role}.")


@user.command("password")
@click.argument("name")
@pass_command_context
def set_password(context: CommandContext, name: str) -> None:
    """Set a new password, from standard input or generated, and end the user's sessions."""
    replace_password(context, name, *new_password())


@user.command("reset-password")
@click.argument("name")
@pass_command_context
def reset_password(context: CommandContext, name: str) -> None:
    """Set a generated one-time password, printed once, and end the user's sessions."""
    replace_password(context, name, passwords.generate(), is_made=True)


def replace_password(context: CommandContext, name: str, password: str, is_made: bool) -> None:  # noqa: FBT001  # the result of new_password
    """Set a password, end the user's sessions, and print the password if it was generated."""
    with accounts(context) as dbsession:
        users.set_password(find_user(dbsession, name), password, one_time=is_made)
    log_event(context, Event.PASSWORD_RESET, name)
    click.echo(f"Changed the password of {name}.")
    print_password(name, password, is_made=is_made)


@user.command("role")
@click.argument("name")
@click.argument("role", type=ROLE)
@pass_command_context
def set_role(context: CommandContext, name: str, role: str) -> None:
    """Change the role, and end the user's sessions."""
    with accounts(context) as dbsession:
        account = find_user(dbsession, name)
        before = account.role
        users.set_role(dbsession, account, Role(role))
    log_event(context, Event.ROLE_CHANGED, name, before=before, after=role)
    click.echo(f"{name} is {role} now.")


@user.command("reset-second-factor")
@click.argument("name")
@pass_command_context
def reset_second_factor(context: CommandContext, name: str) -> None:
    """Remove the second factor of a user who lost it, and end the user's sessions."""
    with accounts(context) as dbsession:
        secondfactor.reset(dbsession, find_user(dbsession, name))
    log_event(context, Event.SECOND_FACTOR, name, what="reset")
    click.echo(f"{name} has no second factor now.")


@user.command()
@click.argument("name")
@pass_command_context
def disable(context: CommandContext, name: str) -> None:
    """Disable an account, and end its sessions. (Accounts are never deleted: the log refers to them.)"""
    with accounts(context) as dbsession:
        users.disable(dbsession, find_user(dbsession, name))
    log_event(context, Event.USER_DISABLED, name)
    click.echo(f"{name} is disabled.")


@user.command()
@click.argument("name")
@pass_command_context
def enable(context: CommandContext, name: str) -> None:
    """Enable an account."""
    with accounts(context) as dbsession:
        users.enable(find_user(dbsession, name))
    log_event(context, Event.USER_ENABLED, name)
    click.echo(f"{name} is enabled.")


@user.command("end-sessions")
@click.argument("name")
@pass_command_context
def end_sessions(context: CommandContext, name: str) -> None:
    """End all sessions of a user."""
    with accounts(context) as dbsession:
        users.end_sessions(find_user(dbsession, name))
    log_event(context, Event.SESSION_ENDED, name, session="all")
    click.echo(f"All sessions of {name} were ended.")


@user.command("list")
@pass_command_context
def show(context: CommandContext) -> None:
    """List all accounts."""
    with accounts(context) as dbsession:
        for account in users.all_users(dbsession):
            click.echo(f"{account.name}\t{account.role}\t{'disabled' if account.disabled_at else 'active'}")
