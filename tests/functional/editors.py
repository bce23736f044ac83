"""Two users edit one record: one has the form open while the other saves."""

from typing import Any

from groundtransport.security import Role
from tests.site import JFK, Client, Site


def opened(client: Client, kind: str, record_id: int, **query: str) -> Any:
    """Return the edit form, as the person opened it."""
    return client.get(client.edit_link(kind, record_id, **query)).forms["record"]


def messages(client: Client, kind: str) -> str:
    return " ".join(client.get(f"/admin/{kind}").html.find(id="messages").get_text(" ", strip=True).split())


def they_save(site: Site, kind: str, record_id: int, **fields: str) -> None:
    answer = site.client(Role.EDITOR).put(f"/admin/{kind}/{record_id}", {"airport_name": JFK, **fields})
    assert answer.status_int == 303
