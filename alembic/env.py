"""Alembic's environment: the metadata of all features and kinds, on a given engine or on the ini's database."""

import os
from functools import partial
from logging.config import fileConfig
from pathlib import Path
from typing import Any

from alembic import context
from sqlalchemy import TypeDecorator

from groundtransport import db, kinds, settings
from groundtransport.accounts import models as accounts
from groundtransport.accounts.secondfactor import models as secondfactor
from groundtransport.audit import models as audit
from groundtransport.db import compatibility, migration_operations, migrations
from groundtransport.db.migration_locks import short_lock_waits
from groundtransport.db.revisions import read_schema
from groundtransport.indexes.operations import is_ours
from groundtransport.jobs import models as jobs
from groundtransport.records.duplicates import models as duplicates
from groundtransport.security_log import models as security_log
from groundtransport.transfer.imports import models as imports

TABLES = (
    accounts,
    secondfactor,
    security_log,
    audit,
    jobs,
    duplicates,
    imports,
    kinds.modules(),
)  # importing them defines the metadata
OPERATIONS = migration_operations  # importing it changes Alembic's operations
FIELDS = "groundtransport.records.fields"


def get_engine():
    """Return the engine that ``migrations.config`` sets, or else that of ``alembic -c FILE.ini``."""
    engine = context.config.attributes.get("engine")
    if engine is not None:
        return engine
    fileConfig(context.config.config_file_name, disable_existing_loggers=False)
    ini = context.config.file_config
    return db.make_engine(settings.read(dict(ini.items("app:main", raw=False)), os.environ))


def folders() -> list[Path]:
    """Return the version locations; the folder ``versions`` beside this file if the ini names none."""
    names = context.config.get_version_locations_list() or [str(Path(__file__).parent / "versions")]
    return [migrations.folder_of(name) for name in names]


def in_own_branch(_context: Any, _revision: Any, directives: list[Any]) -> None:
    """Add a new revision to the deployment's own branch, in the last version location, unless a path is given.

    It depends on the newest revision of the service. A revision of the service itself needs the options ``--head 0014
    --rev-id 0015 --version-path groundtransport/migrations/versions``.
    """
    locations, script = folders(), directives[0]
    if len(locations) < 2 or script.head not in (None, "head") or script.version_path:
        return
    heads = context.script.get_revisions("heads")
    own = [head.revision for head in heads if migrations.OWN in head.branch_labels]
    script.version_path = str(locations[-1])
    script.depends_on = [head.revision for head in heads if head.revision not in own] or None
    script.head = own or "base"
    script.branch_label = None if own else migrations.OWN


def render_plainly(item: str, value: Any, _context: Any) -> str | bool:
    """Render the type of a typed field's column as the SQLAlchemy type it stores: a migration imports no field."""
    if item == "type" and isinstance(value, TypeDecorator) and type(value).__module__.startswith(FIELDS):
        return f"sa.{value.impl!r}"
    return False


def note_contracted(ctx: Any, step: Any, heads: set[str], **_: Any) -> None:
    """Store which contracting revisions are applied, after each of them, for processes that do not know them."""
    schema = read_schema(folders())
    if step.up_revision_id in schema.contracts:
        compatibility.note_contracted(ctx.connection, schema.contracts & schema.applied(heads))


def run() -> None:
    """Run the migrations."""
    # Not `begin()`: Alembic begins the transaction. On SQLite write_engine makes it BEGIN IMMEDIATE, so two processes
    # that migrate at once run one after the other. On PostgreSQL each migration is a transaction, which ends soon,
    # because its locks hold writers up.
    with db.write_engine(db.index_build_engine(get_engine())).connect() as connection:
        context.configure(
            connection=connection,
            target_metadata=db.Base.metadata,
            render_as_batch=True,
            compare_type=True,
            include_name=partial(is_ours, tables=db.Base.metadata.tables),
            transaction_per_migration=connection.dialect.name == "postgresql",
            render_item=render_plainly,
            on_version_apply=note_contracted,
            process_revision_directives=in_own_branch,
        )
        with short_lock_waits(connection), context.begin_transaction():
            context.run_migrations()


run()
