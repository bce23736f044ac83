"""The shape of the house, held by reading the code: a lesson that was learned once is a rule here."""

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pyramid.security import NO_PERMISSION_REQUIRED

from groundtransport import resources
from groundtransport.security import Permission
from tests.site import Site

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "groundtransport"
FILES = sorted(path for path in PACKAGE.rglob("*.py") if "migrations" not in path.parts)
TEMPLATES = sorted(PACKAGE.rglob("*.jinja2"))

# From the ground up; names of one row do not know each other.
ORDER: tuple[tuple[str, ...], ...] = (
    ("formats",),
    ("text", "i18n", "settings", "logs", "cache"),
    ("db",),
    ("events", "indexes"),
    ("security", "after_commit"),
    ("signing",),
    ("resources",),
    ("web",),
    ("security_log",),
    ("airports", "accounts"),
    ("records",),
    ("kinds",),
    ("audit", "transfer"),
    ("dashboard", "help"),
    ("cli", "server"),
    ("__init__",),
)
RANK = {name: rank for rank, row in enumerate(ORDER) for name in row}

READ = {Permission.VIEW, Permission.OWN_READ, Permission.USERS_READ, Permission.SECURITY}
PUBLIC = {("", "GET"), ("login", "GET"), ("login", "POST"), ("logout", "POST"), ("healthz", "GET"), ("readyz", "GET")}

# Who else writes to the database, and what: none of it is a record.
WRITERS = {
    "accounts/": "people, their sessions, and what happened to them",
    "security_log/": "the security log",
    "airports/loading.py": "airports and cities",
    "cli/airports.py": "airports",
    "audit/": "the activity log",
    "db/bulk_insert.py": "what the writer or the activity log hands it",
}


def here(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def imports(path: Path) -> Iterator[str]:
    """Yield the full names that a file imports of ours, wherever in the file."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{here(path)}: import by the full name"
            if node.module == "groundtransport":
                yield from (f"groundtransport.{alias.name}" for alias in node.names)
            elif (node.module or "").startswith("groundtransport."):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "groundtransport")


def room(name: str) -> str:
    """Return the room of an imported name: ``groundtransport.web.urls`` -> ``web``."""
    part = name.split(".")[1] if "." in name else "__init__"
    return part if part in RANK else "__init__"


@pytest.mark.parametrize("path", FILES, ids=here)
def test_imports_point_downwards_only(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert own in RANK, f"{own} is a new room: say in ORDER where it stands"
    wrong = [name for name in imports(path) if room(name) != own and RANK[room(name)] >= RANK[own]]
    assert wrong == [], f"{here(path)} imports what stands above or beside it"


def modules() -> dict[str, Path]:
    """Return the path of each module by its full name; a package stands for its ``__init__``."""
    named = {path: ["groundtransport", *path.relative_to(PACKAGE).with_suffix("").parts] for path in FILES}
    return {".".join(parts[:-1] if parts[-1] == "__init__" else parts): path for path, parts in named.items()}


def module_imports(known: dict[str, Path]) -> dict[str, set[str]]:
    """Return the modules that each module imports, inside functions too, and the packages that this initializes."""
    graph: dict[str, set[str]] = {}
    for module, path in known.items():
        targets = {name if name in known else name.rpartition(".")[0] for name in imports(path)}
        parents = {target[:end] for target in targets for end, sign in enumerate(target) if sign == "."}
        own = {module[:end] for end, sign in enumerate(module + ".") if sign == "."}
        graph[module] = (targets | (parents - own)) & known.keys() - {module}
    return graph


def import_cycle(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of an import cycle, in order; [] if there is none."""
    done: set[str] = set()

    def visit(module: str, path: list[str]) -> list[str]:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        for target in sorted(graph[module]):
            if cycle := visit(target, [*path, module]):
                return cycle
        done.add(module)
        return []

    return next((cycle for module in sorted(graph) if (cycle := visit(module, []))), [])


def test_no_modules_import_each_other() -> None:
    """A cycle hides which module is the lower one, and an import inside a function hides the cycle."""
    cycle = import_cycle(module_imports(modules()))
    assert cycle == [], f"import cycle, move what both need into a module below: {' -> '.join(cycle)}"


def test_a_cycle_is_found() -> None:
    assert import_cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert import_cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_nothing_but_the_loader_imports_the_file_of_a_kind() -> None:
    kinds = {path.stem for path in (PACKAGE / "kinds").glob("*.py")} - {"__init__"}
    wrong = [
        (str(path.relative_to(ROOT)), name)
        for path in [*FILES, ROOT / "alembic" / "env.py"]
        for name in imports(path)
        if name.startswith("groundtransport.kinds.") and name.split(".")[2] in kinds
    ]
    assert wrong == []


def test_no_file_but_its_own_names_a_kind() -> None:
    kinds = {path.stem for path in (PACKAGE / "kinds").glob("*.py")} - {"__init__"}
    words = re.compile("|".join(kinds))
    for path in FILES:
        if path.parent.name == "kinds":
            continue
        values = [node.value for node in ast.walk(tree(path)) if isinstance(node, ast.Constant)]
        named = [value for value in values if isinstance(value, str) and words.fullmatch(value)]
        assert named == [], f"{here(path)}: what is special to a kind stands in its file"


# Writing


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield ast.unparse(node.func), node


def writes(path: Path) -> set[str]:
    """Return how a file writes to the database: by its session, or by statements."""
    words = r".*session\.(add|add_all|delete|merge|flush|bulk_\w+)"
    statements = {
        f"{node.module}.{alias.name}"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sqlalchemy")
        for alias in node.names
        if alias.name in ("insert", "update", "delete")
    }
    return statements | {name for name, _ in calls(path) if re.fullmatch(words, name)}


@pytest.mark.parametrize("path", [path for path in FILES if here(path) != "records/writer.py"], ids=here)
def test_only_the_writer_adds_changes_or_deletes_a_record(path: Path) -> None:
    found = writes(path)
    if not here(path).startswith(tuple(WRITERS)):
        assert found == set(), "only records/writer.py writes records; let it"
    elif found:  # of its own, then: it neither knows a kind's model when it writes, nor anything of records
        assert not [name for name in imports(path) if name.startswith("groundtransport.records")]
        assert not [call for call, node in calls(path) if call.endswith("session.add") and "model" in ast.unparse(node)]


def test_only_the_writer_and_the_log_insert_in_bulk() -> None:
    users = {
        here(path) for path in FILES if any(name.startswith("groundtransport.db.bulk_insert") for name in imports(path))
    }
    assert users == {"records/writer.py", "audit/subscriber.py"}


@pytest.mark.parametrize("path", [path for path in FILES if here(path) != "records/writer.py"], ids=here)
def test_only_the_writer_sets_what_a_record_holds(path: Path) -> None:
    stored = [
        ast.unparse(target)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Attribute) and re.fullmatch(r"(.*\.)?(row|record)", ast.unparse(target.value))
    ]
    assert stored == []


def test_the_writer_sees_no_request_and_the_audit_no_view() -> None:
    for name in ("records/writer.py", "audit/subscriber.py", "events.py"):
        assert "pyramid" not in (PACKAGE / name).read_text().replace("Pyramid", "")
    assert "request" not in {
        node.id for node in ast.walk(tree(PACKAGE / "records/writer.py")) if isinstance(node, ast.Name)
    }


# Who may


def contexts() -> list[type]:
    found, todo = [], [resources.Node]
    while todo:
        found.append(todo.pop())
        todo += found[-1].__subclasses__()
    return found


def test_no_acl_is_a_property(whole_site: Site) -> None:
    """An AttributeError inside one would make Pyramid skip it and ask the parent."""
    for context in contexts():
        acl = inspect.getattr_static(context, "__acl__")
        assert isinstance(acl, list) or inspect.isfunction(acl), context
        if inspect.isfunction(acl):
            assert not re.search(r"dbsession|select\(|scalar|execute", inspect.getsource(acl)), context


def views(site: Site) -> list[tuple[str, Any, set[str], Any]]:
    """Return every view of the running application: what it is, its name, its methods and its permission."""
    found = []
    for entry in site.registry.introspector.get_category("views"):
        view = entry["introspectable"]
        permission = [item["value"] for item in entry["related"] if item.category_name == "permissions"]
        is_error = view["exception_only"] or "exception" in str(view["callable"])
        if is_error:
            continue
        methods = view["request_methods"]
        methods = {methods} if isinstance(methods, str) else set(methods or ())
        found.append((f"{view['context']} {view['name']}", view, methods, permission[0] if permission else None))
    assert len(found) > 20
    return found


def test_every_view_has_a_permission_and_only_the_doors_need_none(whole_site: Site) -> None:
    for label, view, methods, permission in views(whole_site):
        if permission == NO_PERMISSION_REQUIRED:
            is_static = view["route_name"] == "__static/"
            is_door = view["context"] is resources.Root and {(view["name"], method) for method in methods} <= PUBLIC
            assert is_static or (is_door and methods), f"{label} needs no sign-in"
        else:
            assert permission in set(Permission), f"{label} has no permission"


def test_no_view_that_changes_something_stands_under_a_read_permission(whole_site: Site) -> None:
    for label, view, methods, permission in views(whole_site):
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


def template_name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("path", TEMPLATES, ids=template_name)
def test_every_template_extends_the_layout_or_is_a_fragment(path: Path) -> None:
    text = path.read_text()
    if path.name == "layout.jinja2":
        assert text.startswith("<!doctype html>")
        return
    is_page = text.startswith('{% extends "layout.jinja2" %}')
    text = re.sub(r"<svg .*?</svg>", "", text, flags=re.DOTALL)  # a drawing's titles are its own
    assert is_page or not re.search(r"<(!doctype|html|head|body|title|link|script)\b", text, re.IGNORECASE)
    if is_page:
        assert "{% block title %}" in text, "every page has a title of its own"


@pytest.mark.parametrize("path", TEMPLATES, ids=template_name)
def test_no_template_holds_an_inline_script_style_or_handler(path: Path) -> None:
    """The content security policy refuses them all."""
    text = path.read_text()
    scripts = re.findall(r"<script\b([^>]*)>(.*?)</script>", text, re.IGNORECASE | re.DOTALL)
    assert [body for attributes, body in scripts if body.strip() or "src=" not in attributes] == []
    assert not re.search(r"<style\b", text, re.IGNORECASE)
    assert not re.search(r"""[\s"']style\s*=""", text, re.IGNORECASE)
    assert not re.search(r"""<[^>]*[\s"']on[a-z]+\s*=""", text, re.IGNORECASE)
    assert not re.search(r"javascript:", text, re.IGNORECASE)
    assert not re.search(r"\|\s*safe\b", text), "autoescape is never put aside in a template"
