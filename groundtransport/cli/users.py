"""``groundtransport user``: accounts from the command line."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click
from sqlalchemy.orm import Session

from groundtransport import db
from groundtransport.accounts import passwords, secondfactor, users
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
    """Add people, change their passwords and roles, lock them out."""


@contextmanager
def accounts(office: CommandContext) -> Iterator[Session]:
    """Yield a session; a refusal ends the command with its reason, and nothing is changed."""
    office.check_migrated()
    try:
        with db.transaction(office.engine) as dbsession:
            yield dbsession
    except (users.UserRefused, passwords.PasswordRefused) as refused:
        raise click.ClickException(str(refused)) from refused


def known(dbsession: Session, name: str) -> AdminUser:
    found = users.find_locked(dbsession, name)
    if found is None:
        raise users.UserRefused(_("There is no user ${name}.", mapping={"name": name}))
    return found


def note(office: CommandContext, event: Event, name: str, **details: str) -> None:
    """Write down in the security log what was done to an account."""
    actor = office.actor("user").name
    entry = Entry(event, actor, about=users.normal_name(name), address=COMMAND_LINE, details=details)
    write(SecurityLog(office.engine, make_key(office.settings.audit_secrets[0])), [entry])


def new_password() -> tuple[str, bool]:
    """Return the password of standard input, else a made one; and whether it is good for one sign-in only."""
    given = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
    return (given, False) if given else (passwords.generate(), True)


def tell(name: str, password: str, *, is_made: bool) -> None:
    if is_made:
        click.echo(f"One-time password of {name}: {password}")


@user.command()
@click.argument("name")
@click.option("--role", type=ROLE, required=True)
@pass_command_context
def add(office: CommandContext, name: str, role: str) -> None:
    """Add a person. The password comes from standard input, or is made and printed once."""
    password, is_made = new_password()
    with accounts(office) as dbsession:
        users.add(dbsession, name, Role(role), password, one_time=is_made)
    note(office, Event.USER_ADDED, name, role=role)
    click.echo(f"Added {name}, {role}.")
    tell(name, password, is_made=is_made)


@user.command("password")
@click.argument("name")
@pass_command_context
def set_password(office: CommandContext, name: str) -> None:
    """Give a new password, from standard input or made; ends all their sessions."""
    replace_password(office, name, *new_password())


@user.command("reset-password")
@click.argument("name")
@pass_command_context
def reset_password(office: CommandContext, name: str) -> None:
    """Give a one-time password, made and printed once; ends all their sessions."""
    replace_password(office, name, passwords.generate(), is_made=True)


def replace_password(office: CommandContext, name: str, password: str, is_made: bool) -> None:  # noqa: FBT001  # of new_password
    with accounts(office) as dbsession:
        users.set_password(known(dbsession, name), password, one_time=is_made)
    note(office, Event.PASSWORD_RESET, name)
    click.echo(f"Changed the password of {name}.")
    tell(name, password, is_made=is_made)


@user.command("role")
@click.argument("name")
@click.argument("role", type=ROLE)
@pass_command_context
def set_role(office: CommandContext, name: str, role: str) -> None:
    """Give another role; ends all their sessions."""
    with accounts(office) as dbsession:
        person = known(dbsession, name)
        before = person.role
        users.set_role(dbsession, person, Role(role))
    note(office, Event.ROLE_CHANGED, name, before=before, after=role)
    click.echo(f"{name} is {role} now.")


@user.command("reset-second-factor")
@click.argument("name")
@pass_command_context
def reset_second_factor(office: CommandContext, name: str) -> None:
    """Forget the second factor of somebody who lost it; ends all their sessions."""
    with accounts(office) as dbsession:
        secondfactor.reset(dbsession, known(dbsession, name))
    note(office, Event.SECOND_FACTOR, name, what="reset")
    click.echo(f"{name} has no second factor now.")


@user.command()
@click.argument("name")
@pass_command_context
def disable(office: CommandContext, name: str) -> None:
    """Lock an account; ends all its sessions. (Accounts are never deleted: the log refers to them.)"""
    with accounts(office) as dbsession:
        users.disable(dbsession, known(dbsession, name))
    note(office, Event.USER_DISABLED, name)
    click.echo(f"{name} is disabled.")


@user.command()
@click.argument("name")
@pass_command_context
def enable(office: CommandContext, name: str) -> None:
    """Unlock an account."""
    with accounts(office) as dbsession:
        users.enable(known(dbsession, name))
    note(office, Event.USER_ENABLED, name)
    click.echo(f"{name} is enabled.")


@user.command("end-sessions")
@click.argument("name")
@pass_command_context
def end_sessions(office: CommandContext, name: str) -> None:
    """Sign somebody out everywhere."""
    with accounts(office) as dbsession:
        users.end_sessions(known(dbsession, name))
    note(office, Event.SESSION_ENDED, name, session="all")
    click.echo(f"All sessions of {name} were ended.")


@user.command("list")
@pass_command_context
def show(office: CommandContext) -> None:
    """List all accounts."""
    with accounts(office) as dbsession:
        for person in users.all_users(dbsession):
            click.echo(f"{person.name}\t{person.role}\t{'disabled' if person.disabled_at else 'active'}")
