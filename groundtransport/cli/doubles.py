"""``groundtransport doubles``: make the pairs of possible doubles anew, and write them to a file."""

import csv
from collections.abc import Iterator
from typing import TextIO

import click
from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.cli.context import CommandContext, pass_command_context
from groundtransport.cli.import_records import kind_of
from groundtransport.db import read_engine
from groundtransport.records.duplicates import building
from groundtransport.records.duplicates.pair_list import PairQuery, all_pairs
from groundtransport.records.kind import Kind
from groundtransport.transfer.formula_guard import guard

AT_ONCE = 200  # pairs whose records are read by one query
HEAD = ("score", "reasons", "airport_code")


@click.group()
def doubles() -> None:
    """Find records that may be the same."""


@doubles.command()
@click.argument("kind_names", metavar="[KIND]...", nargs=-1)
@pass_command_context
def rebuild(context: CommandContext, kind_names: tuple[str, ...]) -> None:
    """Make the pairs of KINDs anew, by default of all. The service may run meanwhile."""
    for name in kind_names or context.registry["kinds"]:
        build_pairs(context, kind_of(context, name))


def build_pairs(context: CommandContext, kind: Kind) -> None:
    """Make the pairs of a kind anew, and print the number of its records."""
    done = 0
    for done in building.build(context.engine, kind):
        if done % 100_000 == 0:
            click.echo(f"  {kind.name}: {done:,} records compared")
    if done:
        click.echo(f"{kind.name}: {done:,} records compared with the others of their airport.")


@doubles.command()
@click.argument("kind_name", metavar="KIND")
@click.option("--airport", default="", metavar="CODE", help="The pairs of one airport.  [default: all]")
@click.option("--rejected", is_flag=True, help="The pairs of which somebody said that they are no doubles.")
@click.option("--across", is_flag=True, help="The pairs of one company at two airports.")
@click.option("-o", "--output", type=click.File("w", encoding="utf-8", atomic=True), default="-", help="The file.")
@pass_command_context
def report(  # click passes flags so
    context: CommandContext,
    kind_name: str,
    airport: str,
    rejected: bool,  # noqa: FBT001
    across: bool,  # noqa: FBT001
    output: TextIO,
) -> None:
    """Write the pairs of a KIND as CSV, the best first: each in one row, with all fields of both records."""
    kind = kind_of(context, kind_name)
    table = csv.writer(output, lineterminator="\r\n")
    names = ("id", *kind.fields)
    table.writerow([*HEAD, *(f"{name}_{number}" for number in (1, 2) for name in names)])
    with Session(read_engine(context.engine)) as dbsession:
        for row in _rows(dbsession, kind, PairQuery(airport.upper(), rejected, across=across)):
            table.writerow([guard(text) for text in row])


def _rows(dbsession: Session, kind: Kind, query: PairQuery) -> Iterator[list[str]]:
    """Yield the cells of each pair."""
    all_of_them = list(all_pairs(dbsession, kind, query))
    for start in range(0, len(all_of_them), AT_ONCE):
        pairs = all_of_them[start : start + AT_ONCE]
        ids = {number for pair in pairs for number in (pair.first_id, pair.second_id)}
        records = {row.id: row for row in dbsession.scalars(select(kind.model).where(kind.model.id.in_(ids)))}
        for pair in pairs:
            cells = [str(pair.score), pair.reasons.replace(",", " "), pair.airport_code]
            for number in (pair.first_id, pair.second_id):
                record = records.get(number)
                cells.append(str(number))
                cells += [node.text(getattr(record, name)) if record else "" for name, node in kind.fields.items()]
            yield cells
