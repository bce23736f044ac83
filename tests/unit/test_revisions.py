"""The order of migrations, as it is read from their files, and the marks of their files."""

from pathlib import Path

import pytest

from groundtransport.db import migrations
from groundtransport.db.revisions import CONTRACT, EXPAND, read_schema

UNMARKED = "0035"  # the last revision without a mark; none up to it is changed any more
FILE = 'revision = "{}"\ndown_revision = {!r}\nbranch_labels = {!r}\ndepends_on = {!r}\nPHASE = "{}"\n'


def write(folder: Path, name: str, down: str | None, phase: str = "expand", label: str = "", on: str = "") -> None:
    (folder / f"{name}.py").write_text(FILE.format(name, down, (label,) if label else None, on or None, phase))


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    write(tmp_path, "1", None)
    write(tmp_path, "2", "1", CONTRACT)
    write(tmp_path, "3", "2")
    write(tmp_path, "4", "3", CONTRACT)
    write(tmp_path, "5", "4", CONTRACT)
    return tmp_path


def test_what_a_release_needs_is_all_but_the_contracting_revisions_at_the_end(chain: Path) -> None:
    schema = read_schema([chain])
    assert (schema.heads, schema.expanded, schema.contracts) == ({"5"}, {"3"}, {"2", "4", "5"})
    assert schema.applied(["3"]) == {"1", "2", "3"}
    assert [schema.is_expanded(frozenset(current)) for current in ([], ["2"], ["3"], ["5"], ["6"])] == [
        False,
        False,
        True,
        True,
        True,  # of a newer release
    ]


def test_a_branch_of_its_own_is_needed_too(chain: Path) -> None:
    write(chain, "a", None, label="own", on="3")
    schema = read_schema([chain])
    assert (schema.heads, schema.expanded) == ({"5", "a"}, {"a"})
    assert not schema.is_expanded(frozenset({"5"}))
    assert schema.is_expanded(frozenset({"5", "a"}))
    assert schema.is_expanded(frozenset({"a"}))


def test_each_migration_is_marked_and_contracting_ones_come_last() -> None:
    revisions = {name: revision for name, revision in migrations.schema().revisions.items() if name > UNMARKED}
    unmarked = [name for name, revision in revisions.items() if revision.phase not in (EXPAND, CONTRACT)]
    assert unmarked == [], 'set PHASE = "expand", or "contract" if the release before cannot work with the new schema'
    phases = [revisions[name].phase for name in sorted(revisions)]
    assert phases == sorted(phases, reverse=True), "within a release, contracting migrations come after expanding ones"
