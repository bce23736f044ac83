"""Metrics for Prometheus and the access log: what an operator sees of the service from outside."""

from importlib.util import find_spec

from pyramid.config import Configurator
from pyramid.interfaces import IViewDeriverInfo

from groundtransport.monitoring.database_state import DatabaseCollector
from groundtransport.monitoring.metrics import PREFIX, Metrics
from groundtransport.monitoring.statements import listen
from groundtransport.request import Request, View
from groundtransport.resources import Node

VIEW = "groundtransport.view"  # key in the WSGI environ: the name of the view that answers the request


def label_view(view: View, info: IViewDeriverInfo) -> View:
    """Store the name of the view in the WSGI environ when it is called (a view deriver).

    Names of views are few; paths and view names of URLs are chosen by clients, and each would become a time series.
    """
    if info.exception_only:
        return view
    name = _name_of(info.original_view, info.options.get("attr"))

    def labelled(context: Node, request: Request) -> object:
        request.environ[VIEW] = name
        return view(context, request)

    return labelled


def _name_of(view: object, method: str | None) -> str:
    """Return ``module.function`` or ``module.Class.method`` of a view, without the package's name."""
    parts = (view.__module__, getattr(view, "__qualname__", type(view).__qualname__), method)
    return ".".join(filter(None, parts)).removeprefix("groundtransport.")


def includeme(config: Configurator) -> None:
    config.registry["metrics"] = Metrics(config.registry["engine"].pool)
    config.registry["metrics"].registry.register(DatabaseCollector(config.registry["engine"], PREFIX))
    listen(config.registry["engine"])
    if config.registry["replica"]:
        listen(config.registry["replica"].engine)
    if find_spec("opentelemetry"):
        config.include("groundtransport.monitoring.tracing")
    config.add_view_deriver(label_view)
    config.include("groundtransport.after_commit")
    config.add_after_commit_subscriber(config.registry["metrics"].count_change)
