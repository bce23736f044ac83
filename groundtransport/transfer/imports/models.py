"""The tables of imports and bulk edits: the batch, its file, its planned rows, and the records that an undo kept."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import JSON, ForeignKey, Index, LargeBinary, String, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base, Id, UTCDateTime, now
from groundtransport.json_types import Json, JsonObject
from groundtransport.security import NAME_MAX
from groundtransport.web.client import CLIENT_IP_MAX

FILENAME_MAX = 255
LABEL_MAX = 200


class ImportState(StrEnum):
    """The steps of an import; the values are stored. A step that ends in -ING is the work of a job."""

    READING = "reading"  # the format, the header and the first rows
    UNREADABLE = "unreadable"
    COLUMNS = "columns"  # a person maps the columns and chooses the options
    PREVIEWING = "previewing"
    PREVIEW = "preview"  # a person looks at the rows and decides
    COMMITTING = "committing"
    DONE = "done"
    REFUSED = "refused"  # all or nothing, and a record had changed: nothing was imported
    UNDOING = "undoing"
    UNDONE = "undone"


class ImportBatch(Base):
    """An import: who imports which file with which options, how far it has come, and what it did.

    A bulk edit is a batch without a file, whose ``edit`` is an EditPlan.to_json(); it begins with the commit.

    ``batch`` is its name in the activity log. ``position`` is the line of the last row that was committed, stored in
    the transaction of that row. ``user_id`` is None for an import of the command line.
    """

    __tablename__ = "import_batch"
    __table_args__ = (
        # A form that is sent twice with one file is one import.
        UniqueConstraint("user_id", "form_token", "digest"),
        Index(None, "kind", "header_digest"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    batch: Mapped[str] = mapped_column(String(64), unique=True)
    kind: Mapped[str] = mapped_column(String(64))
    user_id: Mapped[int | None] = mapped_column(Id)
    actor: Mapped[str] = mapped_column(String(NAME_MAX))
    address: Mapped[str] = mapped_column(String(CLIENT_IP_MAX), default="")  # the client IP
    form_token: Mapped[str | None] = mapped_column(String(64))
    filename: Mapped[str] = mapped_column(String(FILENAME_MAX))
    digest: Mapped[str] = mapped_column(String(64), index=True)  # SHA-256 of the file
    size: Mapped[int] = mapped_column(Id)  # bytes
    created_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)
    state: Mapped[str] = mapped_column(String(16), default=ImportState.READING)
    # Why the last step failed, as plan_json.text_to_json.
    problem: Mapped[Json] = mapped_column(JSON(none_as_null=True), nullable=True)
    # ReadOptions as a person chose them, and the recognised SourceFile: transfer/imports/source.py.
    read_options: Mapped[dict[str, str]] = mapped_column(JSON, default=dict)
    source: Mapped[JsonObject | None] = mapped_column(JSON(none_as_null=True))
    header_digest: Mapped[str | None] = mapped_column(String(64))
    # ImportOptions.to_json()
    options: Mapped[JsonObject | None] = mapped_column(JSON(none_as_null=True))
    edit: Mapped[JsonObject | None] = mapped_column(JSON(none_as_null=True))
    all_or_nothing: Mapped[bool] = mapped_column(default=False, server_default=false())
    # Of the preview: rows by outcome, and the groups of equal problems.
    counts: Mapped[dict[str, int]] = mapped_column(JSON, default=dict)
    problems: Mapped[list[Json]] = mapped_column(JSON, default=list)
    # Of the commit and of the undo: rows by result.
    results: Mapped[dict[str, int]] = mapped_column(JSON, default=dict)
    position: Mapped[int] = mapped_column(Id, default=0)
    job_id: Mapped[int | None] = mapped_column(Id)
    finished_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    # The batch of the undo, and the number of a log entry: of the last one before the rows were planned, by which the
    # commit sees what others wrote since; then of the last one that was undone.
    undo_batch: Mapped[str | None] = mapped_column(String(64))
    undo_position: Mapped[int] = mapped_column(Id, default=0)
    undone_by: Mapped[str | None] = mapped_column(String(NAME_MAX))
    undone_at: Mapped[datetime | None] = mapped_column(UTCDateTime)

    @property
    def is_edit(self) -> bool:
        return self.edit is not None

    @property
    def edited_texts(self) -> dict[str, str]:
        """The new texts of a bulk edit by field."""
        texts: dict[str, str] = self.edit["texts"] if self.edit else {}
        return texts

    @property
    def is_of_command(self) -> bool:
        """Whether ``groundtransport import`` writes it: the file is not stored, and there is no job."""
        return self.user_id is None and self.undo_batch is None


class ImportPart(Base):
    """A part of the uploaded file. The parts are removed when the import is done."""

    __tablename__ = "import_part"

    import_id: Mapped[int] = mapped_column(ForeignKey(ImportBatch.id, ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class ImportRow(Base):
    """A row of the file as the preview planned it, removed once it is written without a doubt.

    ``data`` is PlannedRow.to_json(); None for the written rows of imports before this rule.
    """

    __tablename__ = "import_row"
    __table_args__ = (Index("ix_import_row_import_id", "import_id", "outcome", "line"),)

    import_id: Mapped[int] = mapped_column(ForeignKey(ImportBatch.id, ondelete="CASCADE"), primary_key=True)
    line: Mapped[int] = mapped_column(primary_key=True)
    outcome: Mapped[str] = mapped_column(String(16))  # Outcome, or CONFLICT after the commit
    is_doubtful: Mapped[bool]
    is_similar: Mapped[bool]
    data: Mapped[Json] = mapped_column(JSON(none_as_null=True), nullable=True)


class ImportKept(Base):
    """A record that a bulk edit, or the undo of an import, left as it is, and why.

    ``problem`` is a message as plan_types.text_to_json, for records in which a new value is not valid.
    """

    __tablename__ = "import_kept"

    import_id: Mapped[int] = mapped_column(ForeignKey(ImportBatch.id, ondelete="CASCADE"), primary_key=True)
    record_id: Mapped[int] = mapped_column(Id, primary_key=True)
    label: Mapped[str] = mapped_column(String(LABEL_MAX))
    reason: Mapped[str] = mapped_column(String(16))
    problem: Mapped[Json] = mapped_column(JSON(none_as_null=True), nullable=True)


class KeptReason(StrEnum):
    """Why a bulk edit or an undo left a record as it is."""

    CHANGED = "changed"  # somebody changed it since
    DELETED = "deleted"  # somebody deleted it since
    WITHDRAWN = "withdrawn"  # its airport was withdrawn
    INVALID = "invalid"  # a new value is not valid for it
    CLASH = "clash"  # another record has its source and source id now
