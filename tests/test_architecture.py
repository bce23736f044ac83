"""Rules of the code base, checked by parsing the source files. A failure names each file that breaks the rule."""

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from pyramid.security import NO_PERMISSION_REQUIRED

import groundtransport
from groundtransport import resources
from groundtransport.request import Registry
from groundtransport.security import Permission
from tests.site import app_settings
from tests.source_tree import BY_NAME, FILES, PACKAGE, ROOT, TEMPLATES, SourceFile, import_cycle, module_imports

# The packages and modules from the lowest layer to the highest. Those of one row must not import each other.
ORDER: tuple[tuple[str, ...], ...] = (
    ("formats",),
    ("text", "json_types", "i18n", "settings", "logs", "cache", "outgoing"),
    ("db",),
    ("events", "indexes", "jobs"),
    ("security", "after_commit"),
    ("signing", "sealing", "request"),
    ("resources",),
    ("web",),
    ("security_log",),
    ("airports", "accounts", "notes"),
    ("records",),
    ("kinds", "links"),
    ("audit",),
    ("transfer",),
    ("api",),
    ("public",),
    ("webhooks",),
    ("review",),
    ("dashboard", "help", "monitoring"),
    ("cli", "server"),
    ("__init__",),
)
RANK = {name: rank for rank, row in enumerate(ORDER) for name in row}

READ = {
    Permission.VIEW,
    Permission.OWN_READ,
    Permission.USERS_READ,
    Permission.SECURITY,
    Permission.WEBHOOKS_READ,
}
PUBLIC = {("", "GET"), ("login", "GET"), ("login", "POST"), ("logout", "POST"), ("healthz", "GET"), ("readyz", "GET")}

# Further modules that write to the database, and the tables that they write; none holds records.
WRITERS = {
    "accounts/": "users, sessions and their security events",
    "security_log/": "the security log",
    "airports/loading.py": "airports and cities",
    "airports/edits.py": "airports and their edits",
    "notes/": "notes on records",
    "jobs/": "jobs, and the processes that execute them",
    "transfer/imports/store.py": "uploaded files, and what an import plans and did",
    "cli/airports.py": "airports",
    "audit/": "the activity log",
    "api/idempotency.py": "the answers kept for repeated requests",
    "links/results.py": "the results of link checks",
    "review/leases.py": "the leases of the review queue",
    "webhooks/": "webhooks and their deliveries",
    "db/bulk_insert.py": "rows of the writer, of the activity log, and of cities",
}


def offenders(check: Callable[[SourceFile], object], files: Iterable[SourceFile] = FILES) -> dict[str, object]:
    """Return the names of the files for which ``check`` returns something true, and what it returns."""
    return {file.name: result for file in files if (result := check(file))}


# Imports


def layer_name(name: str) -> str:
    """Return the package or module of ORDER that a name belongs to: ``groundtransport.web.urls`` -> ``web``."""
    part = name.split(".")[1] if "." in name else "__init__"
    return part if part in RANK else "__init__"


def upward_imports(file: SourceFile) -> list[str]:
    own = file.name.split("/")[0].removesuffix(".py")
    assert own in RANK, f"{own} is new: add it to ORDER"
    return [name for name in file.imports if layer_name(name) != own and RANK[layer_name(name)] >= RANK[own]]


def test_imports_point_downwards_only() -> None:
    assert offenders(upward_imports) == {}, "imports from the same layer or a higher one"


def test_no_modules_import_each_other() -> None:
    """A cycle hides which module is the lower one, and an import inside a function hides the cycle."""
    cycle = import_cycle(module_imports())
    assert cycle == [], f"import cycle, move what both need into a module below: {' -> '.join(cycle)}"


def test_a_cycle_is_found() -> None:
    assert import_cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert import_cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


KINDS = {path.stem for path in (PACKAGE / "kinds").glob("*.py")} - {"__init__"}


def kind_imports(file: SourceFile) -> list[str]:
    return [name for name in file.imports if name.startswith("groundtransport.kinds.") and name.split(".")[2] in KINDS]


def test_nothing_but_the_loader_imports_the_file_of_a_kind() -> None:
    env = SourceFile(ROOT / "alembic" / "env.py", ROOT)
    assert offenders(kind_imports, [*FILES, env]) == {}


def kind_names(file: SourceFile) -> list[str]:
    return [node.value for node in file.nodes if isinstance(node, ast.Constant) and node.value in KINDS]


def test_no_file_but_its_own_names_a_kind() -> None:
    files = [file for file in FILES if file.path.parent.name != "kinds"]
    assert offenders(kind_names, files) == {}, "code of one kind belongs into its own file"


# Writing

SESSION_WRITES = r"add|add_all|delete|merge|flush|bulk_\w+"


def session_writes(file: SourceFile) -> list[tuple[str, ast.Call]]:
    """Return the calls by which a file writes through a session, with their names."""
    calls = [(ast.unparse(call.func), call) for call in file.method_calls(SESSION_WRITES)]
    return [(name, call) for name, call in calls if re.fullmatch(rf".*session\.({SESSION_WRITES})", name)]


def writes(file: SourceFile) -> set[str]:
    """Return how a file writes to the database: by its session, or by statements."""
    statements = {
        f"{node.module}.{alias.name}"
        for node in file.nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sqlalchemy")
        for alias in node.names
        if alias.name in ("insert", "update", "delete")
    }
    return statements | {name for name, _ in session_writes(file)}


def record_writes(file: SourceFile) -> set[str]:
    """Return how a file might write records: any write, or in a file of WRITERS those that reach a kind's records."""
    names = writes(file)
    if not names or not file.name.startswith(tuple(WRITERS)):
        return names
    imports = {name for name in file.imports if name.startswith("groundtransport.records")}
    calls = [(name, call) for name, call in session_writes(file) if name.endswith("session.add")]
    return imports | {name for name, call in calls if "model" in ast.unparse(call)}


def assigned_attributes(file: SourceFile) -> list[str]:
    """Return the attributes of rows and records that a file sets."""
    assignments = [node for node in file.nodes if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)]
    targets = [
        target for node in assignments for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    attributes = [target for target in targets if isinstance(target, ast.Attribute)]
    return [
        ast.unparse(target) for target in attributes if re.fullmatch(r"(.*\.)?(row|record)", ast.unparse(target.value))
    ]


OTHERS = [file for file in FILES if file.name != "records/writer.py"]


def test_only_the_writer_adds_changes_or_deletes_a_record() -> None:
    assert offenders(record_writes, OTHERS) == {}, "only records/writer.py may write records"


def test_only_the_writer_the_log_and_the_loading_of_cities_insert_in_bulk() -> None:
    users = {
        file.name for file in FILES if any(name.startswith("groundtransport.db.bulk_insert") for name in file.imports)
    }
    assert users == {"records/writer.py", "audit/subscriber.py", "airports/loading.py"}


def test_only_the_writer_sets_what_a_record_holds() -> None:
    assert offenders(assigned_attributes, OTHERS) == {}, "only records/writer.py may change records"


def test_the_writer_sees_no_request_and_the_audit_no_view() -> None:
    for name in ("records/writer.py", "audit/subscriber.py", "events.py"):
        assert "pyramid" not in BY_NAME[name].text.replace("Pyramid", "")
    names = {node.id for node in BY_NAME["records/writer.py"].nodes if isinstance(node, ast.Name)}
    assert "request" not in names


# Permissions


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """The registry of the application on an empty database: its views are the same on every one."""
    app: Any = groundtransport.main({}, **app_settings(f"sqlite:///{tmp_path_factory.mktemp('empty')}/empty.sqlite"))
    yield app.registry
    app.registry["engine"].dispose()


def contexts() -> list[type]:
    matched, todo = [], [resources.Node]
    while todo:
        matched.append(todo.pop())
        todo += matched[-1].__subclasses__()
    return matched


def test_no_acl_is_a_property(registry: Registry) -> None:
    """An AttributeError inside one would make Pyramid skip it and ask the parent."""
    for context in contexts():
        acl = inspect.getattr_static(context, "__acl__")
        assert isinstance(acl, list) or inspect.isfunction(acl), context
        if inspect.isfunction(acl):
            assert not re.search(r"dbsession|select\(|scalar|execute", inspect.getsource(acl)), context


def views(registry: Registry) -> list[tuple[str, Any, set[str], Any]]:
    """Return every view of the running application: what it is, its name, its methods and its permission."""
    matched = []
    for entry in registry.introspector.get_category("views"):
        view = entry["introspectable"]
        permission = [item["value"] for item in entry["related"] if item.category_name == "permissions"]
        is_error = view["exception_only"] or "exception" in str(view["callable"])
        if is_error:
            continue
        methods = view["request_methods"]
        methods = {methods} if isinstance(methods, str) else set(methods or ())
        matched.append((f"{view['context']} {view['name']}", view, methods, permission[0] if permission else None))
    assert len(matched) > 20
    return matched


def test_every_view_has_a_permission_and_only_public_ones_need_none(registry: Registry) -> None:
    for label, view, methods, permission in views(registry):
        if permission == NO_PERMISSION_REQUIRED:
            is_static = view["route_name"] == "__static/"
            is_public = view["context"] is resources.Root and {(view["name"], method) for method in methods} <= PUBLIC
            is_document = (view["context"], view["name"]) == (resources.Api, "openapi.json")
            is_document |= view["route_name"] == "public"  # 404 unless the ini names kinds
            assert is_static or is_document or (is_public and methods), f"{label} needs no sign-in"
        else:
            assert permission in set(Permission), f"{label} has no permission"


def test_no_view_that_changes_something_stands_under_a_read_permission(registry: Registry) -> None:
    for label, view, methods, permission in views(registry):
        if view["route_name"] == "__static/":
            continue
        assert methods, f"{label} answers every method: name them"
        if methods - {"GET", "HEAD", "OPTIONS"}:
            assert permission not in READ, f"{label} writes under a read permission"


def test_a_view_without_a_permission_stops_the_start() -> None:
    from pyramid.config import Configurator
    from pyramid.exceptions import ConfigurationError

    config = Configurator()
    config.add_view_deriver("groundtransport.web.require_permission")
    config.add_view(lambda request: None, name="forgotten")
    with pytest.raises(ConfigurationError, match="permission"):
        config.commit()


# Templates


def misplaced_markup(file: SourceFile) -> list[str]:
    """Return the tags by which a template is a page without the layout, or a page without a title."""
    if file.path.name == "layout.jinja2":
        return [] if file.text.startswith("<!doctype html>") else ["no doctype"]
    if file.text.startswith('{% extends "layout.jinja2" %}'):
        return [] if "{% block title %}" in file.text else ["no title"]
    text = re.sub(r"<svg .*?</svg>", "", file.text, flags=re.DOTALL)  # a drawing's titles are its own
    return re.findall(r"<(!doctype|html|head|body|title|link|script)\b", text, re.IGNORECASE)


def test_every_template_extends_the_layout_or_is_a_fragment() -> None:
    assert offenders(misplaced_markup, TEMPLATES) == {}


INLINE = {
    "style": r"<style\b",
    "style attribute": r"""[\s"']style\s*=""",
    "handler": r"""<[^>]*[\s"']on[a-z]+\s*=""",
    "script URL": r"javascript:",
    "autoescape put aside": r"\|\s*safe\b",
}


def inline_code(file: SourceFile) -> list[str]:
    """Return what a template holds inline."""
    scripts = re.findall(r"<script\b([^>]*)>(.*?)</script>", file.text, re.IGNORECASE | re.DOTALL)
    inline = [f"script: {body}" for attributes, body in scripts if body.strip() or "src=" not in attributes]
    return inline + [name for name, pattern in INLINE.items() if re.search(pattern, file.text, re.IGNORECASE)]


def test_no_template_holds_an_inline_script_style_or_handler() -> None:
    """The content security policy refuses them all."""
    assert offenders(inline_code, TEMPLATES) == {}


def test_any_is_rare() -> None:
    """``Any`` switches the type checker off, so it stays at the border to untyped libraries and to JSON."""
    count = sum(len(re.findall(r"\bAny\b", file.text)) for file in FILES)
    assert count < 200, f"Any occurs {count} times: use the types of request.py, json_types.py and events.Values"
