"""Plan one row at a time: whether it is a new or a changed record, or why it is refused."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import colander
from sqlalchemy.orm import Session

from groundtransport.events import Values
from groundtransport.i18n import _
from groundtransport.records.derived import e164_numbers, mark_at
from groundtransport.records.forms import values_of
from groundtransport.records.kind import Kind
from groundtransport.records.sources import SOURCE_FIELDS
from groundtransport.transfer.plan_types import ID, VERIFIED_AT, CellProblem, Match, Outcome, PlannedRow
from groundtransport.transfer.planning.checking import Checked, Checker
from groundtransport.transfer.planning.context import KeyedRow, PlanContext
from groundtransport.transfer.planning.doubles import Doubles
from groundtransport.transfer.planning.matching import MANY, UNKNOWN_ID
from groundtransport.transfer.planning.row_texts import AIRPORT_NAME, RowTexts
from groundtransport.transfer.planning.verification import (
    NO_PAST_TIME,
    past_time,
    with_problem,
    with_verification,
)

DOUBLE = _("Other lines stand for the same record: ${lines}.")


class RowPlanner:
    """Plans rows in the transaction of ``dbsession``.

    ``records`` maps ids to the values of the records that the rows match. ``doubles`` maps the lines that share their
    record with others to those other lines.
    """

    def __init__(
        self,
        context: PlanContext,
        dbsession: Session,
        records: Mapping[int, Mapping[str, object]],
        doubles: Doubles,
    ) -> None:
        self.dbsession, self.records, self.doubles = dbsession, records, doubles
        self.kind, self.options = context.kind, context.options
        self.reader, self.schemas = context.reader, context.schemas
        proposals = context.proposals
        self.checker = Checker(self.reader, lambda node, code, text: proposals.of(dbsession, node, code, text))

    def plan(self, row: KeyedRow, match: Sequence[int]) -> PlannedRow:
        """Return the plan of a row that matches the records with the ids ``match``."""
        line, cells = row.row_texts.row.line, row.row_texts.row.cells
        if line in self.options.decisions.left_out:
            return PlannedRow(line, cells, Outcome.SKIPPED)
        if problems := tuple(self._key_problems(row, match)):
            return PlannedRow(line, cells, Outcome.REFUSED, problems=(*row.row_texts.problems, *problems))
        if others := self.doubles.get(line):
            reason = _(str(DOUBLE), mapping={"lines": tuple(map(str, others))})
            return PlannedRow(
                line, cells, Outcome.DOUBLE, problems=(CellProblem("", None, "", reason),), doubles=others
            )
        stored = self.records[match[0]] if match else {}
        planned = self._changed(row.row_texts, stored) if match else self._new(row.row_texts)
        text = row.row_texts.texts.get(VERIFIED_AT, "").strip()
        return self._verified(row.row_texts, planned, stored, text) if text else planned

    def _verified(self, row_texts: RowTexts, planned: PlannedRow, stored: Values, text: str) -> PlannedRow:
        """Return the plan with the verification of a row; refused if its text is no time of the past."""
        at = past_time(text)
        if at is None:
            problem = replace(self._cell_problem(row_texts, VERIFIED_AT, NO_PAST_TIME), can_drop=True)
            return planned if self.reader.is_dropped(problem) else with_problem(planned, problem)
        return with_verification(planned, stored, self._stored_names, at, can_update=self.options.can_update)

    def _key_problems(self, row: KeyedRow, match: Sequence[int]) -> Iterator[CellProblem]:
        """Yield why a row does not find its record, or which of several it is."""
        if row.keys.problem:
            yield self._cell_problem(
                row.row_texts, ID if self.options.match == Match.ID else "source_id", row.keys.problem
            )
        elif len(match) > 1:
            ids = tuple(str(number) for number in match[:10])
            yield CellProblem("", None, "", _(str(MANY), mapping={"ids": ids}))
        elif self.options.match == Match.ID and row.keys.record and not match:
            yield self._cell_problem(row.row_texts, ID, UNKNOWN_ID)

    def _cell_problem(self, row_texts: RowTexts, name: str, reason: str) -> CellProblem:
        return CellProblem(name, self.reader.column(name), self.reader.cell(row_texts.row, name), reason)

    def _complete(
        self, row_texts: RowTexts, schema: colander.MappingSchema, checked: Checked, values: Values
    ) -> dict[str, object]:
        """Return the values with the airport's id and code; add what the schema's own validator, if any, refuses."""
        complete = values_of(schema.bindings["place"], {**values, **checked.values})
        if schema.validator is not None:
            try:
                schema.validator(schema, complete)
            except colander.Invalid as invalid:
                checked.problems += [CellProblem("", None, "", text) for text in invalid.messages()]
                for child in invalid.children:
                    checked.problems.append(self._cell_problem(row_texts, child.node.name, child.messages()[0]))
        return complete

    def _new(self, row_texts: RowTexts) -> PlannedRow:
        planned = PlannedRow(row_texts.row.line, row_texts.row.cells, Outcome.SKIPPED)
        if not self.options.can_add:
            return planned
        schema = self._schema(row_texts.code)
        checked = self.checker.check(schema, row_texts, self.kind.fields)
        values = self._complete(row_texts, schema, checked, {}) if not checked.problems else {}
        # The validation has just parsed them; the import would parse them again.
        place = schema.bindings["place"]
        numbers, mark = e164_numbers(self.kind, values, place.country), mark_at(self.kind, values, lambda: place.cities)
        return _with_result(planned, Outcome.NEW, checked, {**values, **numbers, **mark})

    def _changed(self, row_texts: RowTexts, stored: Values) -> PlannedRow:
        """Return the plan of a row that matches a record. Fields that it does not change are not validated again."""
        row_texts = _without_stored(row_texts, self.kind, stored)
        if self.options.match == Match.SOURCE:  # the pair is the record's, or that of a record that was merged into it
            row_texts = replace(row_texts, texts=_without_source(row_texts.texts))
        planned = PlannedRow(
            row_texts.row.line, row_texts.row.cells, Outcome.UNCHANGED, stored["id"], stored["version"]
        )
        moves = self._moves(row_texts.code, stored)
        schema = self._schema(row_texts.code if moves else stored["airport_code"])
        row_texts = replace(
            row_texts, texts=self._all_texts(row_texts, stored) if moves else _texts_at_airport(row_texts, stored)
        )
        names = list(self.kind.fields) if moves else self.checker.changed(schema, row_texts, stored)
        if not names and not row_texts.problems:
            return planned
        checked = self.checker.check(schema, row_texts, names)
        values = {**{name: stored[name] for name in self._stored_names}, **checked.values}
        if not checked.problems:
            values = self._complete(row_texts, schema, checked, values)
        changes = {name: (stored[name], value) for name, value in values.items() if value != stored[name]}
        if not changes and not checked.problems:
            return planned
        if not self.options.can_update:
            return replace(planned, outcome=Outcome.SKIPPED)
        row_plan = _with_result(planned, Outcome.CHANGED, checked, values)
        return row_plan if checked.problems else replace(row_plan, changes=changes)

    @property
    def _stored_names(self) -> tuple[str, ...]:
        return (*self.kind.fields, "airport_id", "airport_code")

    def _moves(self, code: str, stored: Values) -> bool:
        """Return True if a row gives a record the code of another airport than its own, or of none."""
        if code == "":
            return False
        airport = self.schemas.airport(self.dbsession, code)
        return airport is None or airport.id != stored["airport_id"]

    def _all_texts(self, row_texts: RowTexts, stored: Values) -> dict[str, str]:
        """Return all texts of a record that moves to another airport: what it holds is validated again there."""
        return {**{name: node.text(stored[name]) for name, node in self.kind.fields.items()}, **row_texts.texts}

    def _schema(self, code: str) -> colander.MappingSchema:
        return self.schemas.at(self.dbsession, code)


def _without_source(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if name not in SOURCE_FIELDS}


def _without_stored(row_texts: RowTexts, kind: Kind, stored: Values) -> RowTexts:
    """Return a row without the problems of cells that hold what is stored: an export of a text such as #N/A."""
    texts = {name: node.text(stored[name]) for name, node in kind.fields.items()} if row_texts.problems else {}
    problems = tuple(problem for problem in row_texts.problems if texts.get(problem.field) != problem.value)
    return replace(row_texts, problems=problems)


def _texts_at_airport(row_texts: RowTexts, stored: Values) -> Mapping[str, str]:
    """Return the texts of a row for the record's own airport, whose name is not changed by another spelling of it."""
    return {**row_texts.texts, AIRPORT_NAME: stored[AIRPORT_NAME]} if row_texts.code else row_texts.texts


def _with_result(planned: PlannedRow, outcome: Outcome, checked: Checked, values: Mapping[str, object]) -> PlannedRow:
    """Return a plan with what was checked: of ``outcome``, or refused for its problems."""
    if checked.problems:
        return replace(planned, outcome=Outcome.REFUSED, problems=tuple(checked.problems))
    return replace(planned, outcome=outcome, values=values, doubts=tuple(checked.doubts))
