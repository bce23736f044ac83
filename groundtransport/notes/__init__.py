"""Notes on records: plain text by a person, stored apart from the record; each is an entry of the activity log."""

from pyramid.config import Configurator

from groundtransport.events import RecordPurged
from groundtransport.notes import store


def includeme(config: Configurator) -> None:
    """Remove the notes of a record with it."""
    config.add_subscriber(store.remove_with_record, RecordPurged)
