"""``groundtransport user``: accounts from the command line."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click
from sqlalchemy.orm import Session

from groundtransport import db
from groundtransport.accounts import passwords, users
from groundtransport.accounts.models import AdminUser
from groundtransport.cli.office import Office, pass_office
from groundtransport.security import Role

ROLE = click.Choice([role.value for role in Role])


@click.group()
def user() -> None:
    """Add people, change their passwords and roles, lock them out."""


@contextmanager
def accounts(office: Office) -> Iterator[Session]:
    """Yield a session; a refusal ends the command with its reason, and nothing is changed."""
    office.check_migrated()
    try:
        with db.transaction(office.engine) as dbsession:
            yield dbsession
    except (users.UserRefused, passwords.PasswordRefused) as refused:
        raise click.ClickException(str(refused)) from refused


def known(dbsession: Session, name: str) -> AdminUser:
    found = users.find(dbsession, name)
    if found is None:
        raise users.UserRefused(f"There is no user {name}.")
    return found


def new_password() -> tuple[str, bool]:
    """Return the password of standard input, else a made one; and whether it is good for one sign-in only."""
    given = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
    return (given, False) if given else (passwords.make(), True)


def tell(name: str, password: str, *, is_made: bool) -> None:
    if is_made:
        click.echo(f"One-time password of {name}: {password}")


@user.command()
@click.argument("name")
@click.option("--role", type=ROLE, required=True)
@pass_office
def add(office: Office, name: str, role: str) -> None:
    """Add a person. The password comes from standard input, or is made and printed once."""
    password, is_made = new_password()
    with accounts(office) as dbsession:
        users.add(dbsession, name, Role(role), password, one_time=is_made)
    click.echo(f"Added {name}, {role}.")
    tell(name, password, is_made=is_made)


@user.command("password")
@click.argument("name")
@pass_office
def set_password(office: Office, name: str) -> None:
    """Give a new password, from standard input or made; ends all their sessions."""
    password, is_made = new_password()
    with accounts(office) as dbsession:
        users.set_password(known(dbsession, name), password, one_time=is_made)
    click.echo(f"Changed the password of {name}.")
    tell(name, password, is_made=is_made)


@user.command("role")
@click.argument("name")
@click.argument("role", type=ROLE)
@pass_office
def set_role(office: Office, name: str, role: str) -> None:
    """Give another role; ends all their sessions."""
    with accounts(office) as dbsession:
        users.set_role(dbsession, known(dbsession, name), Role(role))
    click.echo(f"{name} is {role} now.")


@user.command()
@click.argument("name")
@pass_office
def disable(office: Office, name: str) -> None:
    """Lock an account; ends all its sessions. (Accounts are never deleted: the log refers to them.)"""
    with accounts(office) as dbsession:
        users.disable(dbsession, known(dbsession, name))
    click.echo(f"{name} is disabled.")


@user.command("list")
@pass_office
def show(office: Office) -> None:
    """List all accounts."""
    with accounts(office) as dbsession:
        for person in users.everyone(dbsession):
            click.echo(f"{person.name}\t{person.role}\t{'disabled' if person.disabled_at else 'active'}")
