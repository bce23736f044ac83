"""Revisions of a next release, for tests of upgrades."""

from pathlib import Path

ADD, DROP = "ALTER TABLE transit ADD COLUMN next_text VARCHAR(9)", "ALTER TABLE transit DROP COLUMN next_text"
REVISION = '''"""A revision of the next release"""

from alembic import op

revision = "{name}"
down_revision = "{down}"
branch_labels = None
depends_on = None
PHASE = "{phase}"


def upgrade() -> None:
    op.execute("{upgrade}")


def downgrade() -> None:
    op.execute("{downgrade}")
'''


def add_revision(folder: Path, name: str, *, down: str, phase: str, upgrade: str = ADD, downgrade: str = DROP) -> None:
    """Write the file of a revision after ``down`` into ``folder``; ``upgrade`` and ``downgrade`` are SQL statements."""
    text = REVISION.format(name=name, down=down, phase=phase, upgrade=upgrade, downgrade=downgrade)
    (folder / f"{name}_next.py").write_text(text)


def add_two_revisions(folder: Path, head: str) -> None:
    """Write an expanding revision after ``head``, 0990, and a contracting one, 0991."""
    add_revision(folder, "0990", down=head, phase="expand")
    add_revision(folder, "0991", down="0990", phase="contract", upgrade=DROP, downgrade=ADD)
