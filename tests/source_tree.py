"""The source files of the package, each read and parsed once, and the imports between its modules."""

import ast
import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "groundtransport"


@dataclass(frozen=True)
class SourceFile:
    """A file of Python or a template, with its path below the folder ``base``."""

    path: Path
    base: Path = PACKAGE

    @property
    def name(self) -> str:
        """The path below the base, such as ``records/writer.py``."""
        return self.path.relative_to(self.base).as_posix()

    @cached_property
    def text(self) -> str:
        return self.path.read_text()

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the syntax tree."""
        return list(ast.walk(ast.parse(self.text, self.name)))

    @cached_property
    def imports(self) -> list[str]:
        """The full names that the file imports from this package, wherever in the file."""
        names: list[str] = []
        for node in self.nodes:
            if isinstance(node, ast.Import):
                names += [alias.name for alias in node.names if alias.name.split(".")[0] == PACKAGE.name]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self.name}: import by the full name"
                if (node.module or "").split(".")[0] == PACKAGE.name:
                    names += [f"{node.module}.{alias.name}" for alias in node.names]
        return names

    def method_calls(self, names: str) -> list[ast.Call]:
        """Return the calls of attributes whose name fully matches the regular expression ``names``."""
        calls = [node for node in self.nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
        return [call for call in calls if re.fullmatch(names, call.func.attr)]


FILES = [SourceFile(path) for path in sorted(PACKAGE.rglob("*.py")) if "migrations" not in path.parts]
TEMPLATES = [SourceFile(path) for path in sorted(PACKAGE.rglob("*.jinja2"))]
BY_NAME = {file.name: file for file in FILES}


@cache
def module_names() -> dict[str, SourceFile]:
    """Return each module by its full name; a package stands for its ``__init__``."""
    parts = {file: [PACKAGE.name, *Path(file.name).with_suffix("").parts] for file in FILES}
    return {".".join(name[:-1] if name[-1] == "__init__" else name): file for file, name in parts.items()}


def module_imports() -> dict[str, set[str]]:
    """Return the modules that each module imports, inside functions too, and the packages that this initializes."""
    graph: dict[str, set[str]] = {}
    modules = module_names()
    for module, file in modules.items():
        targets = {name if name in modules else name.rpartition(".")[0] for name in file.imports}
        packages = {package for target in targets for package in packages_of(target)}
        graph[module] = (targets | (packages - {module, *packages_of(module)})) & modules.keys() - {module}
    return graph


def packages_of(module: str) -> list[str]:
    """Return the packages that hold a module: ``a.b.c`` -> ``["a", "a.b"]``."""
    return [module[:end] for end, char in enumerate(module) if char == "."]


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
