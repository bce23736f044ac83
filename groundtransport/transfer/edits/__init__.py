"""Bulk edits: set or clear any fields of selected records, or of all that match a list's search and filters.

A bulk edit is a batch in the table of imports, without a file: a job writes it in chunks, and its page, stop, resume
and undo are those of imports (decision 103).
"""

from pyramid.config import Configurator

from groundtransport.transfer.imports import names


def includeme(config: Configurator) -> None:
    """Register the job and the views."""
    config.add_job_handler(names.EDIT, "groundtransport.transfer.edits.job.edit")
    config.scan("groundtransport.transfer.edits")
