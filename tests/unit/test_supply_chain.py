"""The dependencies of the service, and modules and functions that its code must not use."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "groundtransport"
SCRIPTS = sorted((PACKAGE / "static").glob("*.js"))
WORKSHOP = {"bandit", "hypothesis", "mypy", "pytest", "ruff", "webtest", "playwright", "beautifulsoup4"}


def packages(lock: str) -> dict[str, str]:
    """Return the names in a lock file, each with its entry."""
    entries = re.split(r"^(?=[a-z0-9])", (ROOT / lock).read_text(), flags=re.MULTILINE)
    return {entry.split("==")[0].split("[")[0]: entry for entry in entries if "==" in entry}


def test_every_package_is_locked_with_its_hashes() -> None:
    for lock in ("requirements.lock", "requirements-test.lock", "requirements-sbom.lock"):
        result = packages(lock)
        assert len(result) > 20
        assert [name for name, entry in result.items() if "--hash=sha256:" not in entry] == [], lock


def test_the_run_time_has_no_tool_of_the_workshop() -> None:
    runs, works = packages("requirements.lock"), packages("requirements-test.lock")
    assert not WORKSHOP & set(runs)
    assert set(works) >= WORKSHOP
    assert {name: entry for name, entry in works.items() if name in runs} == runs, "tests run what is served"


def test_the_service_starts_no_program_and_runs_no_text() -> None:
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        imported = {
            alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
        }
        imported |= {(node.module or "").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        called = {
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        if path.parts[-2:] == ("db", "backup.py"):  # a command: calls pg_dump and pg_restore, without a shell
            imported.remove("subprocess")
        if path.name == "sheet_extent.py":  # calls expat alone, and refuses document types and thus entities
            imported.remove("xml")
        assert not imported & {"subprocess", "pickle", "marshal", "shelve", "xml", "yaml"}, path
        assert not called & {"eval", "exec", "compile", "__import__"}, path


def test_scripts_write_text_and_never_markup() -> None:
    assert len(SCRIPTS) > 3
    for path in SCRIPTS:
        result = re.search(
            r"outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|innerHTML\s*\+?=", path.read_text()
        )
        assert not result, f"{path.name}: {result and result[0]}"


def test_browser_storage_holds_nothing_sensitive() -> None:
    """What scripts keep in the browser is reviewed here: an entry for each name."""
    # Whether shortcuts are off; where the list was when a record was deleted; a form that was left unsaved; which of
    # its fields had the focus when somebody saved and went on with it.
    known = {"KEYS_OFF", "AFTER", "NAME", "FOCUS"}
    for path in SCRIPTS:
        stored_keys = set(re.findall(r"(?:local|session)Storage\.setItem\(\s*([^,\s]+)", path.read_text()))
        assert stored_keys <= known, (
            f"{path.name} keeps {stored_keys - known}: say in docs/security.md what, and name it here"
        )
