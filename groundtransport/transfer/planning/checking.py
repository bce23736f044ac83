"""Check the texts of a row by the schema of the form, field by field, so that each bad cell has its own reason."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import colander

from groundtransport.records.fields import Field
from groundtransport.transfer.plan_types import CellProblem, Doubt
from groundtransport.transfer.planning.row_texts import AIRPORT_NAME, KEYS, RowTexts, TextReader

Propose = Callable[[Field, str, str], tuple[str, ...]]  # proposals for a field's text at the airport of a code


@dataclass
class Checked:
    """The values of the texts that are valid, the problems of the others, and the warnings."""

    values: dict[str, object] = field(default_factory=dict)
    problems: list[CellProblem] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)


class Checker:
    """Checks the texts that ``reader`` takes from rows, by the schema of the form."""

    def __init__(self, reader: TextReader, propose: Propose) -> None:
        self.reader, self.propose = reader, propose

    def check(self, schema: colander.MappingSchema, row_texts: RowTexts, names: Iterable[str]) -> Checked:
        """Return the values of some fields of a row, and all its problems.

        If its airport is not known, a text that belongs to the airport's country is not checked: it may be right there.
        """
        checked = Checked(problems=list(row_texts.problems))
        sought = {*names}.difference(problem.field for problem in row_texts.problems)
        is_known = schema.bindings["place"].airport is not None
        for node in schema.children:  # to get one by its name, colander searches through them
            if node.name in sought and (is_known or not node.depends_on_airport):
                self._check_field(checked, node, row_texts)
        return checked

    def changed(self, schema: colander.MappingSchema, row_texts: RowTexts, stored: Mapping[str, object]) -> list[str]:
        """Return the fields whose text differs from that of the stored value."""
        return [
            node.name
            for node in schema.children
            if (text := row_texts.texts.get(node.name)) is not None and not _is_same(node, text, stored[node.name])
        ]

    def _check_field(self, checked: Checked, node: Field, row_texts: RowTexts) -> None:
        text = row_texts.texts.get(node.name, "")
        try:
            value = node.deserialize(text)
        except colander.Invalid as invalid:
            problem = self._problem(node, row_texts, invalid)
            if not self.reader.is_dropped(problem):
                checked.problems.append(problem)
            return
        checked.values[node.name] = value
        if value is not None and (reason := node.warning(value)):
            checked.doubts.append(Doubt(node.name, reason))

    def _problem(self, node: Field, row_texts: RowTexts, invalid: colander.Invalid) -> CellProblem:
        name = row_texts.airport_from if node.name == AIRPORT_NAME else node.name
        text, cell = row_texts.texts.get(node.name, ""), self.reader.cell(row_texts.row, name)
        can_drop = bool(cell) and node.missing is not colander.required and name not in KEYS
        proposals = self.propose(node, row_texts.code, text) if text else ()
        value = cell or text
        return CellProblem(name, self.reader.column(name), value, invalid.messages()[0], can_drop, proposals)


def _is_same(node: Field, text: str, stored: object) -> bool:
    try:
        return bool(node.clean(text) == node.text(stored))
    except colander.Invalid:
        return False
