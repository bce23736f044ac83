"""The activity log: one entry for each change of a record, written in its transaction, in a signed chain."""

from pyramid.config import Configurator

from groundtransport.audit.subscriber import Auditor
from groundtransport.events import Change
from groundtransport.signing import make_key


def includeme(config: Configurator) -> None:
    key = make_key(config.registry["settings"].audit_secrets[0])
    # Registered explicitly, not by a scan, so that the removal of the audit would be visible here.
    config.add_subscriber(Auditor(key), Change)
    # For views of records, which must not import this package.
    config.add_request_method("groundtransport.audit.history.values_at")
    config.add_request_method("groundtransport.audit.history.last_change")
    config.add_request_method("groundtransport.audit.history.last_verification")
    config.add_request_method("groundtransport.audit.history.batch_entries")
    config.add_request_method("groundtransport.audit.history.changed_since")
    config.scan("groundtransport.audit")
