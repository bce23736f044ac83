"""The export of lists and logs as files: CSV, XLSX, JSON Lines and GeoJSON, streamed from one snapshot."""

from pyramid.config import Configurator

from groundtransport.transfer.export.stream import Slots


def includeme(config: Configurator) -> None:
    config.registry["export_slots"] = Slots()
    config.scan("groundtransport.transfer.export")
