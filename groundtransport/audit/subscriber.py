"""The one listener of all changes: it turns an event into an entry, in the transaction of the change."""

from collections.abc import Mapping
from typing import Any

from groundtransport.audit.models import AdminActivity
from groundtransport.events import RecordChanged


def record_activity(event: RecordChanged) -> None:
    actor = event.actor
    entry = AdminActivity(
        actor_id=actor.user_id,
        actor=actor.name,
        request_id=actor.request_id,
        address=actor.address,
        batch=actor.batch,
        action=event.action,
        kind=event.kind,
        record_id=event.record_id,
        label=event.label,
        changes=changes(event.before, event.after),
    )
    event.dbsession.add(entry)
    event.dbsession.flush()


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the fields that differ, each with its old and its new value."""
    pairs = {name: {"old": before.get(name), "new": after.get(name)} for name in {**before, **after}}
    return {name: pair for name, pair in pairs.items() if pair["old"] != pair["new"]}
