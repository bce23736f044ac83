"""``/admin/<kind>/views``: the saved views of a kind, and the forms that save, rename, replace and delete them."""

from dataclasses import dataclass

from pyramid.httpexceptions import HTTPForbidden, HTTPNotFound
from pyramid.renderers import render_to_response
from pyramid.response import Response
from pyramid.view import view_config, view_defaults

from groundtransport.accounts.saved_views import store
from groundtransport.accounts.saved_views.models import EVERYBODY, TITLE_MAX, SavedView
from groundtransport.accounts.saved_views.store import ViewRefused
from groundtransport.i18n import _
from groundtransport.records.flash import flash
from groundtransport.records.kind import Kind
from groundtransport.records.list import columns
from groundtransport.records.list import query as queries
from groundtransport.records.saved_views.urls import view_url
from groundtransport.records.urls import list_url, sent_query
from groundtransport.records.view_helpers import see_other
from groundtransport.request import Request
from groundtransport.resources import Collection
from groundtransport.security import Permission
from groundtransport.security_log.events import Event
from groundtransport.security_log.recording import record
from groundtransport.web.errors import prefers_json, problem
from groundtransport.web.form_data import read_form

TEMPLATE = "groundtransport:records/saved_views/templates/views.jinja2"
GONE = _("That view was deleted in the meantime.")
STALE = _("Somebody changed this view in the meantime. This is how it is now; nothing of yours was saved.")


@dataclass(frozen=True)
class ViewForm:
    """A form of the page. ``do`` is "save", "rename", "replace", "delete" or "restore".

    ``view`` and ``version`` name a view. ``state`` is the query string of a deleted one that is to be restored.
    """

    do: str = "save"
    view: str = ""
    version: str = ""
    name: str = ""
    shared: str = ""
    state: str = ""


@view_defaults(context=Collection, name="views")
class SavedViewsViews:
    def __init__(self, context: Collection, request: Request) -> None:
        self.context, self.request, self.dbsession = context, request, request.dbsession
        self.kind: Kind = context.kind
        self.here = f"/admin/{self.kind.name}/views"

    @view_config(request_method="GET", permission=Permission.VIEW, renderer=TEMPLATE)
    def show(self) -> dict[str, object]:
        """Show the views, and a form that saves the list's query of the URL as one."""
        return self.page(queries.query_from_request(self.kind, self.request), ViewForm())

    def page(self, query: queries.ListQuery, form: ViewForm, refused: ViewRefused | None = None) -> dict[str, object]:
        """Return the values of the template; ``form`` and ``refused`` are those of a form that was refused."""
        state = columns.full_state(self.request, self.kind, query)
        return {
            "kind": self.kind,
            "views": store.visible(self.dbsession, self.request.user.user_id, self.kind.name),
            "url_of": lambda view: view_url(self.request, self.kind, view),
            "may_share": self.may_share,
            "may_change": lambda view: self.may_share or not view.is_shared,
            "form": form,
            "error": self.request.translate(refused.text) if refused else "",
            "same": refused.same if refused else None,
            "title_max": TITLE_MAX,
            "state": state,
            "chips": columns.chips(self.request, self.kind, query),
            "back": list_url(self.request, self.kind, query.state()),
            "here": self.here_with(query),
        }

    def here_with(self, query: queries.ListQuery) -> str:
        """Return the URL of this page for a list."""
        state = query.state()
        return f"{self.here}?{state}" if state else self.here

    @property
    def may_share(self) -> bool:
        return bool(self.request.has_permission(Permission.VIEWS, self.context))

    @view_config(request_method="POST", permission=Permission.OWN)
    def change(self) -> Response:
        """Do what the form says; with an error, show the page again."""
        form = read_form(self.request, ViewForm)
        actions = {
            "save": self.save,
            "rename": self.rename,
            "replace": self.replace,
            "delete": self.delete,
            "restore": self.restore,
        }
        if form.do not in actions:
            raise HTTPNotFound
        try:
            return actions[form.do](form)
        except ViewRefused as refused:
            return self.refuse(form, refused)

    def refuse(self, form: ViewForm, refused: ViewRefused) -> Response:
        """Return the page with the error and what was typed; problem details for a JSON client."""
        self.dbsession.expire_all()  # a name that was refused is not the view's
        status = 409 if refused.text == STALE else 422
        if prefers_json(self.request):
            text = self.request.translate(refused.text)
            return problem(self.request, status, text, errors={"name": [text]})
        page = self.page(sent_query(self.request, self.kind), form, refused)
        response = render_to_response(TEMPLATE, page, request=self.request)
        response.status_int = status
        return response

    def save(self, form: ViewForm) -> Response:
        view = self.add(form, self.sent_state())
        return self.done(view, "saved", _("The view {} was saved."), to_list=True)

    def restore(self, form: ViewForm) -> Response:
        """Save a deleted view again, under its name."""
        query = queries.query_from_state(self.kind, form.state, queries.default_page_size(self.request))
        view = self.add(form, columns.full_state(self.request, self.kind, query))
        return self.done(view, "restored", _("The view {} is there again."))

    def add(self, form: ViewForm, state: str) -> SavedView:
        """Store a new view with a query string. Raise ViewRefused if that cannot be."""
        owner_id = EVERYBODY if form.shared else self.request.user.user_id
        if form.shared:
            self.check_sharing()
        view = SavedView(
            owner_id=owner_id,
            kind=self.kind.name,
            name=store.checked_name(form.name),
            state=state,
            created_by=self.request.user.name,
        )
        store.add(self.dbsession, view)
        return view

    def rename(self, form: ViewForm) -> Response:
        if (view := self.find(form)) is None:
            return self.gone()
        store.rename(self.dbsession, view, store.checked_name(form.name))
        return self.done(view, "renamed", _("The view is now called {}."))

    def replace(self, form: ViewForm) -> Response:
        if (view := self.find(form)) is None:
            return self.gone()
        store.replace(self.dbsession, view, self.sent_state())
        return self.done(view, "replaced", _("The view {} was replaced."), to_list=True)

    def delete(self, form: ViewForm) -> Response:
        if (view := self.find(form)) is None:
            return self.gone()
        store.remove(self.dbsession, view)
        shared = "1" if view.is_shared else ""
        undo = {"do": "restore", "name": view.name, "shared": shared, "state": view.state}
        return self.done(view, "deleted", _("The view {} was deleted."), undo=undo)

    def check_sharing(self) -> None:
        """Raise HTTPForbidden if the user may not change views for all."""
        result = self.request.has_permission(Permission.VIEWS, self.context)
        if not result:
            raise HTTPForbidden(result=result)

    def sent_state(self) -> str:
        """Return the query string of the list that the form carries, with its columns."""
        return columns.full_state(self.request, self.kind, sent_query(self.request, self.kind))

    def find(self, form: ViewForm) -> SavedView | None:
        """Return the form's view; raise ViewRefused if it was changed, HTTPForbidden if the user may not change it."""
        number = queries.parse_int(form.view) or 0
        view = store.find(self.dbsession, self.request.user.user_id, self.kind.name, number)
        if view is not None and view.is_shared:
            self.check_sharing()
        if view is not None and form.version not in ("", str(view.version)):
            raise ViewRefused(STALE)
        return view

    def gone(self) -> Response:
        flash(self.request, GONE, level="warning")
        return see_other(self.here_with(sent_query(self.request, self.kind)))

    def done(
        self, view: SavedView, what: str, text: str, *, to_list: bool = False, undo: dict[str, str] | None = None
    ) -> Response:
        """Return the redirect with a message. A change of a view for all is recorded in the security log.

        ``undo`` are the fields of the form that reverts the change.
        """
        if view.is_shared:
            record(self.request, Event.VIEW, what=what, kind=view.kind, view=view.name)
        query = sent_query(self.request, self.kind)
        more = {"undo_url": self.here, "undo_fields": undo, "list_state": query.state()} if undo else {}
        flash(self.request, text, name=view.name, **more)
        return see_other(view_url(self.request, self.kind, view) if to_list else self.here_with(query))
