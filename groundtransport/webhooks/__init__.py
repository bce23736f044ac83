"""Webhooks: URLs that get the changes of records, signed and in order (decision 102)."""

from pyramid.config import Configurator


def includeme(config: Configurator) -> None:
    """Register ``request.find_webhook`` and the views."""
    config.add_request_method("groundtransport.webhooks.subscriptions.find_webhook")
    config.scan("groundtransport.webhooks")
