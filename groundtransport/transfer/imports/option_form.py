"""The form of an import's columns and options, and the decisions of its preview."""

import json
from collections.abc import Mapping
from dataclasses import replace

from groundtransport.i18n import _
from groundtransport.records.kind import Kind
from groundtransport.request import Request
from groundtransport.transfer.imports.shown import field_titles
from groundtransport.transfer.plan_types import AIRPORT_CODE, ID, Decisions, ImportOptions, Match
from groundtransport.web.form_data import submitted

TEXT_MAX = 5_000  # characters of a value that replaces another
DECISIONS_MAX = 20_000  # rows that are left out, and cells that are dropped one by one
SWITCHES = ("can_add", "can_update", "clears_empty_cells", "joins_lines")  # what can be ticked
DEFAULTS = ("airport_name", "source")  # the fields that can get one value for all rows


def read_options(request: Request, kind: Kind, header: tuple[str, ...], before: ImportOptions) -> ImportOptions:
    """Return the options that the form holds; the decisions stay if the columns stay."""
    names = [f"column-{index}" for index in range(len(header))]
    sent = submitted(request, [*names, "match", *SWITCHES, *_default_names()])
    known = field_titles(kind)
    mapping = {index: sent.get(name) if sent.get(name) in known else None for index, name in enumerate(names)}
    return ImportOptions(
        mapping,
        match=Match(sent["match"]) if sent.get("match") in set(Match) else Match.NEVER,
        **{name: name in sent for name in SWITCHES},
        defaults={name: text for name in DEFAULTS if (text := sent.get(f"default-{name}", "").strip()[:TEXT_MAX])},
        decisions=before.decisions if mapping == before.mapping else Decisions(),
    )


def _default_names() -> list[str]:
    return [f"default-{name}" for name in DEFAULTS]


def errors_of(options: ImportOptions, kind: Kind) -> list[str]:
    """Return what makes options impossible, as translatable texts."""
    names = [name for name in options.mapping.values() if name]
    titles = field_titles(kind)
    double = next((name for name in names if names.count(name) > 1), None)
    has_airport = {"airport_name", AIRPORT_CODE} & {*names, *options.defaults}
    sent_values = {
        _("Two columns hold ${field}: choose one.", mapping={"field": titles.get(double or "", "")}): double,
        _("Choose what at least one column holds."): not names,
        _("No column holds the ID, by which records are to be found."): options.match == Match.ID and ID not in names,
        _("No column holds the source ID, by which records are to be found."): (
            options.match == Match.SOURCE and "source_id" not in names
        ),
        _("Choose whether rows add records, update them, or both."): not (options.can_add or options.can_update),
        _("Say in which column the airport is, or name one airport for all rows."): (
            not has_airport and options.can_add and options.match != Match.ID
        ),
    }
    return [text for text, is_wrong in sent_values.items() if is_wrong]


def decide(request: Request, options: ImportOptions) -> ImportOptions:
    """Return the options with the decision that the form holds; unchanged if it holds none."""
    if submitted(request, ("join_lines",)):
        return replace(options, joins_lines=True)
    decisions = _decided(options.decisions, _sent(request), _lines(request))
    if len(decisions.left_out) + len(decisions.dropped_cells) + len(decisions.replacements) > DECISIONS_MAX:
        return options
    return replace(options, decisions=decisions)


def _decided(decisions: Decisions, sent: Mapping[str, object], lines: frozenset[int]) -> Decisions:
    match sent:
        case {"leave_out": _}:
            return replace(decisions, left_out=decisions.left_out | lines)
        case {"take_again": _}:
            return replace(decisions, left_out=decisions.left_out - lines)
        case {"drop_cell": [int(line), str(name)]}:
            return replace(decisions, dropped_cells=decisions.dropped_cells | {(line, name)})
        case {"drop_reason": [str(name), str(code)]}:
            return replace(decisions, dropped_reasons=decisions.dropped_reasons | {(name, code)})
        case {"replace": [str(name), str(value), str(text)]}:
            return replace(decisions, replacements={**decisions.replacements, (name, value): text[:TEXT_MAX]})
        case {"replace_value": [str(name), str(value)], "text": str(text)} if text.strip():
            return replace(decisions, replacements={**decisions.replacements, (name, value): text.strip()[:TEXT_MAX]})
        case {"forget": "all"}:
            return Decisions()
    return decisions


def _sent(request: Request) -> dict[str, object]:
    """Return the fields of a decision; those that are JSON are parsed, and left out if they are not."""
    texts = submitted(request, ("leave_out", "take_again", "text", "forget"))
    sent_values: dict[str, object] = dict(texts)
    for name, text in submitted(request, ("drop_cell", "drop_reason", "replace", "replace_value")).items():
        try:
            sent_values[name] = json.loads(text)
        except (ValueError, RecursionError):
            continue
    return sent_values


def _lines(request: Request) -> frozenset[int]:
    sent = (text for text in request.POST.getall("line") if isinstance(text, str))
    return frozenset(int(text) for text in sent if text.isascii() and text.isdigit() and len(text) < 10)
