"""One thing that a table has besides its columns: an index, a trigger, a function."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """``kind`` is SQL's word for it; ``create`` makes it."""

    kind: str
    name: str
    create: str
    on: str = ""  # what DROP TRIGGER must name on PostgreSQL

    @property
    def drop(self) -> str:
        on = f" ON {self.on}" if self.on else ""
        return f"DROP {self.kind.upper()} IF EXISTS {self.name}{on}"

    @property
    def create_concurrently(self) -> str:
        """The statement that hinders no writer, for PostgreSQL; only an index has one."""
        return self.create.replace("CREATE INDEX ", "CREATE INDEX CONCURRENTLY ", 1)
