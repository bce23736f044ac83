"""The tables of webhooks and of their deliveries."""

from datetime import datetime

from sqlalchemy import JSON, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base, Id, UTCDateTime, now

URL_MAX = 1000  # characters
SEALED_MAX = 200  # characters; a secret of 50 characters with nonce and tag has 120 in base64
ANSWER_KEPT = 500  # characters of an answer


class Webhook(Base):
    """A URL that gets the changes of records. The process that holds the lease delivers."""

    __tablename__ = "webhook"

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    url: Mapped[str] = mapped_column(String(URL_MAX))
    kinds: Mapped[list[str]] = mapped_column(JSON)  # [] for all
    events: Mapped[list[str]] = mapped_column(JSON)  # [] for all
    # Encrypted: webhooks/signatures.py. The old secret signs, too, until its end.
    secret: Mapped[str] = mapped_column(String(SEALED_MAX), default="")
    old_secret: Mapped[str | None] = mapped_column(String(SEALED_MAX))
    old_secret_until: Mapped[datetime | None] = mapped_column(UTCDateTime)
    # The number of the last entry of the activity log that became a delivery or was passed over.
    position: Mapped[int] = mapped_column(Id)
    is_on: Mapped[bool] = mapped_column(default=True)
    # Why the service has switched it off; "" if a person has.
    problem: Mapped[str] = mapped_column(String(16), default="")
    # When it is looked at again, the process that delivers, and the time until which no other may.
    next_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)
    owner: Mapped[str | None] = mapped_column(String(32))
    leased_until: Mapped[datetime | None] = mapped_column(UTCDateTime)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)
    created_by: Mapped[str] = mapped_column(String(64))


class Delivery(Base):
    """A message to a webhook: an entry of the activity log, or a test without one."""

    __tablename__ = "webhook_delivery"
    __table_args__ = (Index(None, "webhook_id", "done_at", "id"),)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    webhook_id: Mapped[int] = mapped_column(ForeignKey(Webhook.id))
    # The same in all attempts, so that the receiver recognizes a message that it has had already.
    message_id: Mapped[str] = mapped_column(String(40))
    event: Mapped[str] = mapped_column(String(16))
    number: Mapped[int | None] = mapped_column(Id)
    kind: Mapped[str] = mapped_column(String(64), default="")
    record_id: Mapped[int | None] = mapped_column(Id)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)
    attempts: Mapped[int] = mapped_column(default=0)
    first_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    next_at: Mapped[datetime] = mapped_column(UTCDateTime, default=now)
    # The last attempt: when it ended, the status and the beginning of the answer or why there was none, and how long.
    tried_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    status: Mapped[int | None]
    failure: Mapped[str] = mapped_column(String(16), default="")
    answer: Mapped[str] = mapped_column(Text, default="")
    milliseconds: Mapped[int | None]
    # When it was accepted, or given up: then ``failure`` says why.
    done_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
