"""The context of every command: the settings of the ini file, the database and the configured application."""

import getpass
import logging
import os
import secrets
import sys
from functools import cached_property
from pathlib import Path
from typing import TextIO

import click
import plaster
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from groundtransport import db, settings
from groundtransport.audit import checkpoints
from groundtransport.db import compatibility
from groundtransport.db.migrations import schema
from groundtransport.events import Actor
from groundtransport.i18n import COMMAND_LINE, translated
from groundtransport.request import Registry


def keep_checkpoints_off_the_terminal() -> None:
    """Do not log checkpoints of the activity log to standard error, unless it is connected to systemd's journal.

    Checkpoints are for stored logs: other handlers of the ini file still receive them.
    """
    if is_journal(sys.stderr):
        return
    for handler in (*checkpoints.log.handlers, *logging.getLogger().handlers):
        if isinstance(handler, logging.StreamHandler) and handler.stream is sys.stderr:
            handler.addFilter(lambda record: record.name != checkpoints.log.name)


def is_journal(stream: TextIO) -> bool:
    """Return True if systemd connected the stream to the journal (systemd.exec(5), ``JOURNAL_STREAM``)."""
    try:
        status = os.fstat(stream.fileno())
    except OSError:
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{status.st_dev}:{status.st_ino}"


class CommandContext:
    """The parts of a deployment described by an ini file, each created on first access."""

    def __init__(self, ini: Path) -> None:
        self.ini = ini

    @cached_property
    def app_settings(self) -> dict[str, str]:
        """The section ``[app:main]`` of the ini file."""
        section: dict[str, str] = plaster.get_settings(str(self.ini), "app:main")
        return section

    @cached_property
    def settings(self) -> settings.Settings:
        """The settings. Raise SettingsError for an invalid one."""
        return settings.read(self.app_settings)

    @cached_property
    def engine(self) -> Engine:
        """The engine. Raise ClickException behind PgBouncer: commands hold locks of a session."""
        if self.settings.pgbouncer:
            raise click.ClickException(
                "Commands need a connection to PostgreSQL itself: set DATABASE_URL to its URL, "
                "and GROUNDTRANSPORT_PGBOUNCER to false."
            )
        return db.make_engine(self.settings)

    @cached_property
    def registry(self) -> Registry:
        """The application's registry: its kinds, its subscribers and its engine."""
        from pyramid.paster import get_app, setup_logging  # slow: only commands that write records need it

        self.check_migrated()
        setup_logging(str(self.ini))
        keep_checkpoints_off_the_terminal()
        return get_app(str(self.ini)).registry

    def check_migrated(self) -> None:
        """Raise ClickException unless the database has the schema of this release, or of one that it can work with."""
        known = schema(self.ini)
        try:
            state = compatibility.state_of(self.engine)
        except DBAPIError as error:
            raise click.ClickException(f"The database cannot be reached: {error.orig}") from error
        if not known.is_expanded(state.current):
            raise click.ClickException(f"The database is not set up: run groundtransport -c {self.ini} init")
        if reason := compatibility.why_incompatible(state, known):
            raise click.ClickException(translated(reason))

    @staticmethod
    def actor(doing: str) -> Actor:
        """Return the operating system's user as actor, with a new batch named after ``doing``."""
        try:
            name = getpass.getuser()
        except (OSError, KeyError):
            name = "unknown"
        return Actor(f"{name}{COMMAND_LINE}"[:64], batch=f"{doing}-{secrets.token_hex(6)}")


pass_command_context = click.make_pass_decorator(CommandContext)
