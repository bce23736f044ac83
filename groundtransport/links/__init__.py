"""Checks of the links of records: whether each still leads to a page (decision 106)."""

from pyramid.config import Configurator

from groundtransport.links.checking import JOB, check_record


def includeme(config: Configurator) -> None:
    """Register the job of one record, the request methods for views of records, and the view of the button."""
    config.add_job_handler(JOB, check_record)
    config.add_request_method("groundtransport.links.shown.link_checks")
    config.add_request_method("groundtransport.links.shown.proposed_links")
    config.scan("groundtransport.links")
