"""The activity log: exactly one entry for each change of a record, in the same transaction."""

from pyramid.config import Configurator

from groundtransport.audit.subscriber import record_activity
from groundtransport.events import RecordChanged


def includeme(config: Configurator) -> None:
    # By name, not by a scan: taking the audit out is a line that can be seen.
    config.add_subscriber(record_activity, RecordChanged)
    config.scan("groundtransport.audit")
