"""``/admin/review``: the review queue, which gives one record after the other that is due to be verified."""

from pyramid.config import Configurator


def includeme(config: Configurator) -> None:
    config.scan("groundtransport.review")
