"""The numbers of link checks by their results. They are in the database, as commands check most links."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily
from sqlalchemy import Engine, func, select
from sqlalchemy.exc import SQLAlchemyError

from groundtransport.db import autocommit_engine
from groundtransport.links.models import LinkCheck


class LinkCheckCollector:
    """Collects ``groundtransport_link_checks``; without the database it gives no numbers."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def collect(self) -> Iterator[GaugeMetricFamily]:
        text = "Links of records by the result of their last check"
        gauge = GaugeMetricFamily("groundtransport_link_checks", text, labels=("kind", "state"))
        query = select(LinkCheck.kind, LinkCheck.state, func.count()).group_by(LinkCheck.kind, LinkCheck.state)
        try:
            with autocommit_engine(self.engine).connect() as connection:
                for kind, state, number in connection.execute(query):
                    gauge.add_metric((kind, state), number)
        except SQLAlchemyError:
            return
        yield gauge

    def describe(self) -> list[GaugeMetricFamily]:
        """Return nothing: without this method, the registration would query the database."""
        return []
