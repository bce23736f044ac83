"""The job that recognises an uploaded file and guesses what its columns hold."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from groundtransport.i18n import _
from groundtransport.jobs import JobRun
from groundtransport.records.kind import Kind
from groundtransport.transfer.columns import guess_mapping
from groundtransport.transfer.imports import files, store
from groundtransport.transfer.imports.models import ImportBatch, ImportState
from groundtransport.transfer.plan_json import text_to_json
from groundtransport.transfer.plan_types import ID, ImportOptions, Match
from groundtransport.transfer.reading.source_file import BadFile, ReadOptions, SourceFile

NO_ROW = _("The file has a header, and no row.")


def recognise(run: JobRun) -> None:
    """Store the recognised format, the first rows and the likeliest columns, or why the file cannot be read."""
    import_id = run.parameters["import_id"]
    with run.transaction() as dbsession:
        batch = store.locked(dbsession, import_id)
        filename, options = batch.filename, ReadOptions(**batch.read_options)
    reader, outline = files.file_reader(run.registry), None
    try:
        with files.on_disk(run.registry, import_id) as path:
            outline = reader.outline(path, filename, options)
            file = reader.with_header(outline)
        if not file.sample:
            raise BadFile(NO_ROW)
    except BadFile as bad:
        with run.transaction() as dbsession:
            batch = store.locked(dbsession, import_id)
            batch.state, batch.problem = ImportState.UNREADABLE, text_to_json(bad.reason)
            batch.source = files.to_json(outline) if outline else None  # what a person can choose otherwise
        return
    with run.transaction() as dbsession:
        store_file(dbsession, store.locked(dbsession, import_id), run.registry["kinds"], file)


def store_file(dbsession: Session, batch: ImportBatch, kinds: dict[str, Kind], file: SourceFile) -> None:
    """Store a recognised file, with the columns and options of the last file that had the same header."""
    batch.state, batch.problem = ImportState.COLUMNS, None
    batch.source, batch.header_digest = files.to_json(file), files.header_digest(file.header)
    remembered = store.remembered_options(dbsession, batch)
    if remembered:
        without_decisions = ImportOptions(**{**vars(ImportOptions.from_json(remembered)), "decisions": NO_DECISIONS})
        batch.options = without_decisions.to_json()
    else:
        batch.options = likely_options(kinds[batch.kind], file.header).to_json()


NO_DECISIONS = ImportOptions({}).decisions


def likely_options(kind: Kind, header: Sequence[str]) -> ImportOptions:
    """Return the options for a new file: its rows are matched by the surest key that a column holds."""
    mapping = guess_mapping(kind, header)
    names = set(mapping.values())
    match = Match.PLACE
    if ID in names:
        match = Match.ID
    elif "source_id" in names:
        match = Match.SOURCE
    return ImportOptions(mapping, match=match, can_add=True, can_update=True)
