"""The two roles of docs/deploy.md, by deploy/*.sql: the service works as the second, and can do no more."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, make_url, text
from sqlalchemy.exc import ProgrammingError

from tests.databases import new_database
from tests.shell import fill_with_some_places_and_users
from tests.site import Site

DEPLOY = Path(__file__).parents[2] / "deploy"
ROLES = ("groundtransport", "groundtransport_owner")


@pytest.fixture
def postgresql_url(request: pytest.FixtureRequest) -> Iterator[str]:
    with new_database("postgresql", request, "groundtransport_roles") as url:
        yield url


def as_role(url: str, role: str) -> str:
    return make_url(url).set(username=role).render_as_string(hide_password=False)


def run(engine: Engine, statements: str) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql(statements)


@pytest.fixture
def restricted(postgresql_url: str) -> Iterator[Site]:
    """The application as the service's own role; its tables belong to another."""
    before, after = ((DEPLOY / name).read_text() for name in ("database.sql", "database-after-init.sql"))
    admin = create_engine(postgresql_url)
    with admin.connect() as connection:
        count = connection.scalar(
            text("SELECT count(*) FROM pg_roles WHERE rolname = ANY(:names)"), {"names": list(ROLES)}
        )
        if count:
            pytest.skip("this server has a groundtransport role already: the statements were not tried")
    run(admin, before)
    fill_with_some_places_and_users(as_role(postgresql_url, ROLES[1]))
    run(admin, after)
    site = Site(as_role(postgresql_url, ROLES[0]))
    try:
        yield site
    finally:
        site.engine.dispose()
        run(admin, "".join(f"DROP OWNED BY {role} CASCADE; DROP ROLE {role};" for role in ROLES))
        admin.dispose()


def test_the_service_works_and_cannot_touch_the_log(restricted: Site) -> None:
    client = restricted.client()
    record_id = client.create("transit", company_name="Alpha")
    form = {"airport_name": "x (LHR)", "company_name": "Beta"}
    assert client.put(f"/admin/transit/{record_id}", form).status_int == 303
    assert client.delete(f"/admin/transit/{record_id}").status_int == 303
    assert client.post(f"/admin/transit/{record_id}/restore").status_int == 303
    assert [entry["action"] for entry in restricted.entries()] == ["create", "update", "delete", "restore"]
    assert client.get("/readyz").status_int == 200

    for statement in (
        "UPDATE admin_activity SET actor = 'nobody'",
        "DELETE FROM admin_activity",
        "TRUNCATE admin_activity",
        "ALTER TABLE admin_activity DISABLE TRIGGER USER",
        "DROP TABLE admin_activity",
        "DELETE FROM audit_mark",
        "UPDATE alembic_version SET version_num = 'x'",
        "CREATE TABLE mine (id int)",
        "COPY transit TO PROGRAM 'true'",
    ):
        with pytest.raises(ProgrammingError, match=r"permission denied|must be (owner|superuser)"):
            run(restricted.engine, statement)
