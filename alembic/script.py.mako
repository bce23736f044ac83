"""${message}"""

import sqlalchemy as sa

import groundtransport.db
from alembic import op
${imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}
# "expand": workers of the release before work with the new schema; "contract": they do not (docs/deploy.md, Updates).
# No writer may wait for long: the rules are in docs/decisions/operations.md, 115.
PHASE = "expand"


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    ${downgrades if downgrades else "pass"}
