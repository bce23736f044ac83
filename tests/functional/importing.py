"""What the tests of imports share: an upload, its jobs, and what is stored of it."""

from typing import Any

from sqlalchemy import select

from groundtransport.jobs.runner import Runner
from groundtransport.transfer.imports.models import ImportBatch
from tests.site import Client

HEADER = "airport_name,company_name,route_name,company_phone1\n"


def rows_of(*names: str, route: str = "1", phone: str = "") -> bytes:
    """Return a CSV file with a record at JFK for each company."""
    lines = [f"JFK,{name},{route},{phone}\n" for name in names]
    return (HEADER + "".join(lines)).encode()


class Importing:
    """A client that imports files into one kind; ``run`` executes the jobs that wait."""

    def __init__(self, client: Client, kind: str = "transit") -> None:
        self.client, self.site, self.kind = client, client.site, kind

    def upload(self, content: bytes, name: str = "records.csv", **fields: str) -> Any:
        """Send a file, and return the response."""
        sent = {"csrf_token": self.client.csrf, **fields}
        url = f"/admin/{self.kind}/import"
        return self.client.app.post(url, sent, upload_files=[("file", name, content)], expect_errors=True)

    def run(self) -> int:
        return Runner(self.site.registry).run_pending()

    def start(self, content: bytes, name: str = "records.csv") -> str:
        """Upload a file, recognise it, and return the path of its page."""
        answer = self.upload(content, name)
        assert answer.status_int == 303, answer.text
        self.run()
        return answer.location.removeprefix("http://localhost")

    def form(self, path: str, **changes: Any) -> dict[str, str]:
        """Return the fields of the form of columns and options as the page shows them, with changes."""
        form = self.client.get(path).forms
        result = next(one for one in form.values() if one.action.endswith("/preview"))
        fields = {name: value for name, value in result.submit_fields() if name != "csrf_token"}
        fields |= {name: text for name, text in changes.items() if text is not None}
        return {name: text for name, text in fields.items() if name not in changes or changes[name] is not None}

    def preview(self, path: str, **changes: Any) -> Any:
        """Send the form of columns and options, plan the rows, and return the page."""
        answer = self.client.post(f"{path}/preview", self.form(path, **changes))
        assert answer.status_int == 303, answer.text
        self.run()
        return self.client.get(path)

    def commit(self, path: str, **fields: str) -> Any:
        """Import the rows of the preview, and return the page."""
        assert self.client.post(f"{path}/commit", fields).status_int == 303
        self.run()
        return self.client.get(path)

    def whole(self, content: bytes, name: str = "records.csv", **changes: Any) -> str:
        """Import a file from the upload to the result, and return the path of its page."""
        path = self.start(content, name)
        self.preview(path, **changes)
        self.commit(path)
        return path

    def batch(self, path: str) -> Any:
        """Return the stored import."""
        with self.site.engine.connect() as connection:
            import_id = int(path.rpartition("/")[2])
            return connection.execute(select(ImportBatch.__table__).where(ImportBatch.id == import_id)).one()

    def names(self) -> list[str]:
        """Return the companies of the live records, sorted."""
        model = self.site.kinds[self.kind].model
        with self.site.engine.connect() as connection:
            return sorted(connection.scalars(select(model.company_name).where(model.is_live())))
