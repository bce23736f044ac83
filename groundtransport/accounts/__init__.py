"""People, their passwords and their sessions."""

from pyramid.config import Configurator

from groundtransport.web import DB, TM


def includeme(config: Configurator) -> None:
    config.set_session_factory("groundtransport.accounts.sessions.ServerSession")
    config.add_tween(
        "groundtransport.accounts.sessions.tween",
        under="groundtransport.web.guard.tween",
        over=["groundtransport.web.gate.tween", DB, TM],
    )
    config.scan("groundtransport.accounts")
