"""People, their passwords and their sessions."""

from pyramid.config import Configurator

from groundtransport.accounts.security_log import SecurityLog
from groundtransport.security import Role
from groundtransport.settings import PREFIX, SettingsError
from groundtransport.signing import make_key


def includeme(config: Configurator) -> None:
    check_roles(config.registry["settings"].second_factor_roles)
    config.set_session_factory("groundtransport.accounts.sessions.session.ServerSession")
    config.add_request_method("groundtransport.accounts.users.of_request", "find_user")
    registry = config.registry
    registry["security_log"] = SecurityLog(registry["engine"], make_key(registry["settings"].audit_secrets[0]))
    config.add_request_method("groundtransport.accounts.security_log.security_events", reify=True)
    config.add_jinja2_search_path("groundtransport:accounts/templates")
    config.scan("groundtransport.accounts")


def check_roles(names: tuple[str, ...]) -> None:
    """Raise SettingsError for a role that there is not."""
    for name in names:
        if name not in set(Role):
            raise SettingsError(f"{PREFIX}second_factor_roles: there is no role {name!r}, only {', '.join(Role)}")
