"""Alembic's entry: the tables of every feature and kind, on the engine given, or on the ini's database."""

import os
from functools import partial
from logging.config import fileConfig

from alembic import context

from groundtransport import db, kinds, settings
from groundtransport.accounts import models as accounts
from groundtransport.accounts.secondfactor import models as secondfactor
from groundtransport.audit import models as audit
from groundtransport.indexes.operations import is_ours

TABLES = (accounts, secondfactor, audit, kinds.modules())  # importing them defines the metadata


def engine():
    """The engine that the package hands over, else the one of ``alembic -c FILE.ini``."""
    given = context.config.attributes.get("engine")
    if given is not None:
        return given
    fileConfig(context.config.config_file_name, disable_existing_loggers=False)
    ini = context.config.file_config
    return db.make_engine(settings.read(dict(ini.items("app:main", raw=False)), os.environ))


def run() -> None:
    # Not `begin()`: Alembic opens the transaction, and on SQLite that is BEGIN IMMEDIATE, so two starts do not race.
    with db.write_engine(db.index_build_engine(engine())).connect() as connection:
        context.configure(
            connection=connection,
            target_metadata=db.Base.metadata,
            render_as_batch=True,
            compare_type=True,
            include_name=partial(is_ours, tables=db.Base.metadata.tables),
            transaction_per_migration=False,
        )
        with context.begin_transaction():
            context.run_migrations()


run()
