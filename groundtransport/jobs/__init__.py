"""Background jobs: a table of jobs with leases, and runners that execute them (decision 88).

A feature registers a handler by ``config.add_job_handler(name, function)``, and adds jobs by ``queue.add``. The runner
is a thread of the server, or the command ``groundtransport worker``.
"""

from pyramid.config import Configurator

from groundtransport.jobs.housekeeping import PURGE, PURGE_EVERY, purge_jobs
from groundtransport.jobs.run import Ending, Handler, HandlerEntry, JobRun, LeaseLost, Stopped

__all__ = ["Ending", "Handler", "HandlerEntry", "JobRun", "LeaseLost", "Stopped"]


def add_job_handler(config: Configurator, name: str, handler: Handler | str, *, every: int = 0) -> None:
    """Directive ``config.add_job_handler``: execute the jobs called ``name`` by a function, or by its dotted name.

    With ``every``, a job of that name, without parameters, is added every so many seconds. Two handlers of one name are
    a conflict.
    """

    def register() -> None:
        config.registry["job_handlers"][name] = HandlerEntry(config.maybe_dotted(handler), every)

    config.action(("job handler", name), register)


def includeme(config: Configurator) -> None:
    config.registry["job_handlers"] = {}
    config.add_directive("add_job_handler", add_job_handler)
    config.add_job_handler(PURGE, purge_jobs, every=PURGE_EVERY)
