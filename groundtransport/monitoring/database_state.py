"""Metrics of the database: what all processes share, read when the metrics are asked for."""

from collections.abc import Iterator
from typing import NamedTuple

from prometheus_client.core import GaugeMetricFamily
from sqlalchemy import Engine, case, func, select
from sqlalchemy.exc import SQLAlchemyError

from groundtransport.accounts.models import AdminSession, SignInTry
from groundtransport.audit.models import AuditHead
from groundtransport.db import AnySelect, autocommit_engine
from groundtransport.jobs.models import Job
from groundtransport.links.models import LinkCheck
from groundtransport.webhooks.models import Delivery, Webhook


class Numbers(NamedTuple):
    """A metric without its prefix, and the query of its numbers: a column for each label, then the number."""

    name: str
    text: str
    labels: tuple[str, ...]
    query: AnySelect


_NUMBER = func.count()
_DELIVERY = case((Delivery.done_at.is_not(None), "done"), (Delivery.attempts > 0, "retried"), else_="waiting")
_WEBHOOK = case((Webhook.is_on, "on"), (Webhook.problem != "", "switched_off"), else_="off")
ALL = (
    Numbers("log_position", "Number of the last entry of the activity log", (), select(AuditHead.number)),
    Numbers(
        "sessions",
        "Sessions of users, with those that ended in the last hours",
        (),
        select(_NUMBER).select_from(AdminSession),
    ),
    Numbers(
        "sign_in_failures",
        "Failed attempts to sign in that count towards the limits",
        (),
        select(_NUMBER).select_from(SignInTry).where(SignInTry.is_decided),
    ),
    Numbers(
        "jobs",
        "Background jobs by name and state",
        ("name", "state"),
        select(Job.name, Job.state, _NUMBER).group_by(Job.name, Job.state),
    ),
    Numbers("deliveries", "Messages to webhooks by state", ("state",), select(_DELIVERY, _NUMBER).group_by(_DELIVERY)),
    Numbers("webhooks", "Webhooks by state", ("state",), select(_WEBHOOK, _NUMBER).group_by(_WEBHOOK)),
    Numbers(
        "link_checks",
        "Links of records by the result of their last check",
        ("kind", "state"),
        select(LinkCheck.kind, LinkCheck.state, _NUMBER).group_by(LinkCheck.kind, LinkCheck.state),
    ),
)


class DatabaseCollector:
    """Collects the metrics ``ALL`` with the prefix ``prefix``; without the database it gives none."""

    def __init__(self, engine: Engine, prefix: str) -> None:
        self.engine, self.prefix = engine, prefix

    def collect(self) -> Iterator[GaugeMetricFamily]:
        try:
            with autocommit_engine(self.engine).connect() as connection:
                rows = [(numbers, connection.execute(numbers.query).all()) for numbers in ALL]
        except SQLAlchemyError:
            return
        for numbers, values in rows:
            gauge = GaugeMetricFamily(self.prefix + numbers.name, numbers.text, labels=numbers.labels)
            for *labels, number in values:
                gauge.add_metric(labels, number)
            yield gauge

    def describe(self) -> list[GaugeMetricFamily]:
        """Return nothing: without this method, the registration would query the database."""
        return []
