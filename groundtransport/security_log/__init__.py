"""The security log: sign-ins, refused requests, and changes of accounts and sessions, in a signed chain."""

from pyramid.config import Configurator

from groundtransport.security_log.log import SecurityLog
from groundtransport.signing import make_key


def includeme(config: Configurator) -> None:
    registry = config.registry
    registry["security_log"] = SecurityLog(registry["engine"], make_key(registry["settings"].audit_secrets[0]))
    config.add_request_method("groundtransport.security_log.recording.security_events", reify=True)
