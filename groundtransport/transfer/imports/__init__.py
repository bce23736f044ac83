"""Imports in the browser: an upload, its columns, a preview, the commit in the background, the result and the undo."""

from pyramid.config import Configurator

from groundtransport.transfer.imports import names

PURGE_EVERY = 60 * 60  # seconds


def includeme(config: Configurator) -> None:
    """Register the jobs, ``request.find_import`` and the views."""
    here = "groundtransport.transfer.imports"
    config.add_job_handler(names.READ, f"{here}.recognise.recognise")
    config.add_job_handler(names.PREVIEW, f"{here}.preview.preview")
    config.add_job_handler(names.COMMIT, f"{here}.commit.commit")
    config.add_job_handler(names.UNDO, f"{here}.undo.undo")
    config.add_job_handler(names.PURGE, f"{here}.purge.purge", every=PURGE_EVERY)
    config.add_request_method(f"{here}.access.find_import")
    config.scan(here)
