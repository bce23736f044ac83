"""Several telephone numbers in one field: what the form offers to do with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import colander

from groundtransport.i18n import _
from groundtransport.records.fields.contact import Phone


@dataclass(frozen=True)
class Split:
    """One way to divide the numbers of a field: ``texts`` maps each field that changes to its new text.

    ``answer`` is what the button submits, ``label`` its translatable text.
    """

    answer: str
    label: str
    texts: Mapping[str, str]


def splits_of(schema: colander.MappingSchema, typed: Mapping[str, str]) -> dict[str, list[Split]]:
    """Return the splits that a bound schema offers for each telephone field whose text holds several numbers."""
    phones = [node for node in schema.children if isinstance(node, Phone)]
    empty = [node for node in phones if not typed.get(node.name, "").strip()]
    numbers = {node: _numbers(node, typed.get(node.name, "")) for node in phones}
    return {node.name: _splits(node, several, empty) for node, several in numbers.items() if several}


def _numbers(node: Phone, text: str) -> Sequence[str]:
    """Return the different numbers of a text that is refused because it holds more than one; () for another text."""
    if len(text) > node.max_length:
        return ()
    try:
        node.deserialize(text)
    except colander.Invalid:
        return node.proposals(text)
    return ()


def _splits(node: Phone, numbers: Sequence[str], empty: Sequence[Phone]) -> list[Split]:
    if empty and len(numbers) > 1:
        return [_into_empty(node, numbers, empty)]
    return [_alone(node, number) for number in numbers]


def _into_empty(node: Phone, numbers: Sequence[str], empty: Sequence[Phone]) -> Split:
    """Return the split that fills the empty fields; the numbers that find no place stay in the field of the text."""
    moves = list(zip(empty, numbers[1:], strict=False))
    rest = " / ".join([numbers[0], *numbers[1 + len(moves) :]])
    targets = tuple(_("${number} into ${field}", mapping={"number": text, "field": to.title}) for to, text in moves)
    label = _("Keep ${number} here and write ${targets}", mapping={"number": rest, "targets": targets})
    return Split(node.name, label, {node.name: rest, **{to.name: text for to, text in moves}})


def _alone(node: Phone, number: str) -> Split:
    label = _("Keep ${number} alone", mapping={"number": number})
    return Split(f"{node.name}:{number}", label, {node.name: number})
