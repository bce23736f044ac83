"""The job that writes a bulk edit, in chunks, each with the position it reached.

A record that somebody changed since the user saw it, or for which a new value is not valid, stays as it is and is
listed with the reason.
"""

from collections import Counter
from collections.abc import Sequence

import colander
from sqlalchemy.orm import Session

from groundtransport.airports.names import code_of
from groundtransport.jobs import JobRun
from groundtransport.json_types import Json
from groundtransport.records.kind import label_of
from groundtransport.records.model import RecordColumns
from groundtransport.records.writer import Writer
from groundtransport.transfer.edits.plan import Changes, EditPlan, changes_since, locked, next_ids, plan_of
from groundtransport.transfer.imports import store
from groundtransport.transfer.imports.commit import actor_of, finish
from groundtransport.transfer.imports.models import LABEL_MAX, ImportState, KeptReason
from groundtransport.transfer.imports.pace import Pace
from groundtransport.transfer.plan_json import text_to_json
from groundtransport.transfer.planning.schemas import Schemas

CHUNK = 250  # records of the first transaction; see pace.py
UPDATED, SAME, LEFT = "updated", "same", "left"  # results; LEFT counts the records that are listed with a reason


def edit(run: JobRun) -> None:
    """Write the edit from the stored position on."""
    edit_id = run.parameters["import_id"]
    with run.transaction() as dbsession:
        batch = store.locked(dbsession, edit_id)
        kind, plan, position = run.registry["kinds"][batch.kind], plan_of(batch), batch.position
        run.done, run.total = sum(batch.results.values()), batch.counts.get(UPDATED)
    schemas, pace = Schemas(kind, run.registry["settings"].default_country), Pace(CHUNK)
    while ids := next_ids(run.engine, kind, plan, position, pace.rows):
        with pace.measure(), run.transaction() as dbsession:
            edit_chunk(run, dbsession, schemas, edit_id, ids)
        position = ids[-1]
    with run.transaction() as dbsession:
        finish(dbsession, store.locked(dbsession, edit_id))


def edit_chunk(run: JobRun, dbsession: Session, schemas: Schemas, edit_id: int, ids: Sequence[int]) -> None:
    """Edit the records with these ids, and store the position and the results with them."""
    batch = store.locked(dbsession, edit_id)
    kind, plan = schemas.kind, plan_of(batch)
    if batch.state != ImportState.COMMITTING or ids[-1] <= batch.position:
        return
    editor = Editor(Writer(dbsession, run.registry.notify, kind, actor_of(batch)), schemas, plan)
    editor.edit(locked(dbsession, kind, plan, ids), changes_since(dbsession, kind, plan, batch.batch, ids))
    store.keep(dbsession, edit_id, editor.kept)
    batch.position = ids[-1]
    batch.results = dict(Counter(batch.results) + editor.results)
    run.done += editor.results.total()


class Editor:
    """Sets the texts of a plan in records. ``kept`` holds id, label, reason and problem of those left alone."""

    def __init__(self, writer: Writer, schemas: Schemas, plan: EditPlan) -> None:
        self.writer, self.schemas, self.plan, self.kind = writer, schemas, plan, writer.kind
        self.results: Counter[str] = Counter()
        self.kept: list[tuple[int, str, str, Json]] = []

    def edit(self, records: Sequence[RecordColumns], since: Changes) -> None:
        """Edit locked records; leave out those that were created since the user looked."""
        for record in records:
            if self.plan.versions is None and record.id in since.created:
                continue
            if record.is_deleted:
                self._keep(record, KeptReason.DELETED)
            elif self._is_changed(record, since):
                self._keep(record, KeptReason.CHANGED)
            else:
                self._edit(record)

    def _is_changed(self, record: RecordColumns, since: Changes) -> bool:
        if self.plan.versions is not None:
            return self.plan.versions[record.id] != record.version
        return record.id in since.changed

    def _edit(self, record: RecordColumns) -> None:
        try:
            values = self._values(record)
        except colander.Invalid as invalid:
            self._keep(record, KeptReason.INVALID, text_to_json(invalid.messages()[0]))
            return
        self.results[UPDATED if self.writer.update(record, values) else SAME] += 1

    def _values(self, record: RecordColumns) -> dict[str, object]:
        """Return the new values of a record; of one that moves to another airport, all fields are validated there.

        Raise colander.Invalid if one is not valid for this record.
        """
        before, texts = self.writer.values(record), self.plan.texts
        code = code_of(texts.get("airport_name", "")) or record.airport_code
        schema = self.schemas.at(self.writer.dbsession, code)
        moved: dict[str, object] = {}
        airport = self.schemas.airport(self.writer.dbsession, code)
        if airport is not None and airport.code != record.airport_code:
            texts = {name: texts.get(name, node.text(before[name])) for name, node in self.kind.fields.items()}
            moved = {"airport_id": airport.id, "airport_code": airport.code}
        return {**{name: schema[name].deserialize(text) for name, text in texts.items()}, **moved}

    def _keep(self, record: RecordColumns, reason: KeptReason, problem: Json = None) -> None:
        label = label_of(self.kind, self.writer.values(record), record.id)
        self.kept.append((record.id, label[:LABEL_MAX], reason, problem))
        self.results[LEFT] += 1
