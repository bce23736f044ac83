"""The activity log: exactly one entry for each change of a record, in the same transaction, in a signed chain."""

from pyramid.config import Configurator

from groundtransport.audit.chain import make_key
from groundtransport.audit.subscriber import Auditor
from groundtransport.events import RecordChanged


def includeme(config: Configurator) -> None:
    key = make_key(config.registry["settings"].audit_secrets[0])
    # By name, not by a scan: taking the audit out is a line that can be seen.
    config.add_subscriber(Auditor(key), RecordChanged)
    # What a record said before, for views that may not know the log.
    config.add_request_method("groundtransport.audit.history.values_at")
    config.add_request_method("groundtransport.audit.history.last_change")
    config.add_request_method("groundtransport.audit.history.batch_entries")
    config.add_request_method("groundtransport.audit.history.changed_since")
    config.scan("groundtransport.audit")
