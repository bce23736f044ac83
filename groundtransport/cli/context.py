"""What every command works with: the ini's settings, the database, the configured application."""

import getpass
import secrets
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import plaster
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from groundtransport import db, settings
from groundtransport.db.migrations import current, head
from groundtransport.events import Actor


class CommandContext:
    """A deployment, as its ini describes it; each part is made when it is first asked for."""

    def __init__(self, ini: Path) -> None:
        self.ini = ini

    @cached_property
    def app_settings(self) -> dict[str, str]:
        found: dict[str, str] = plaster.get_settings(str(self.ini), "app:main")
        return found

    @cached_property
    def settings(self) -> settings.Settings:
        return settings.read(self.app_settings)

    @cached_property
    def engine(self) -> Engine:
        return db.make_engine(self.settings)

    @cached_property
    def registry(self) -> Any:
        """The application's registry: its kinds, its subscribers and its engine."""
        from pyramid.paster import get_app, setup_logging  # the whole application: only for who writes records

        self.check_migrated()
        setup_logging(str(self.ini))  # checkpoints of the activity log go where the server's go
        return get_app(str(self.ini)).registry

    def check_migrated(self) -> None:
        """End with a hint unless the database is at the newest revision."""
        try:
            is_current = current(self.engine) == head()
        except DBAPIError as error:
            raise click.ClickException(f"The database cannot be reached: {error.orig}") from error
        if not is_current:
            raise click.ClickException(f"The database is not set up: run groundtransport -c {self.ini} init")

    @staticmethod
    def actor(doing: str) -> Actor:
        """Return the person at the command line, with a batch of their own."""
        try:
            name = getpass.getuser()
        except (OSError, KeyError):
            name = "unknown"
        return Actor(f"{name} (command line)"[:64], batch=f"{doing}-{secrets.token_hex(6)}")


pass_command_context = click.make_pass_decorator(CommandContext)
