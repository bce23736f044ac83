"""Records in the schema of an earlier release, by plain SQL: today's models do not know its tables."""

from sqlalchemy import Connection, Engine, text

from groundtransport import db
from groundtransport.airports import source
from groundtransport.db import migrations

TABLES = "0005"  # the migration before the indexes: tables are filled faster without
NOW = "CURRENT_TIMESTAMP"
PLACE = ("code", "name", "city", "state", "country", "latitude", "longitude")
NUMBERS = {
    "postgresql": "SELECT g AS n FROM generate_series({first}, {last}) AS g",
    "sqlite": "WITH RECURSIVE s(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM s WHERE n < {last}) SELECT n FROM s",
}
# Texts of the length that real records have; no two companies of an airport are equal.
RECORDS = """
INSERT INTO transit (airport_id, airport_code, airport_name, company_name, company_address, company_phone1,
                     company_link, route_name, place, city, state, zip_code, description, status, created_at,
                     updated_at, version, search_text)
SELECT a.id, a.code, a.name || ' (' || a.code || ')', 'Company ' || n, n || ' Long Street',
       '+1 212 555 ' || (1000 + n % 9000), 'https://company-' || n || '.example.org/', 'Route ' || n % 977,
       'Stop ' || n % 389, 'City ' || n % 3001, 'US-NY', CAST(10000 + n % 89999 AS VARCHAR(20)),
       'Runs every ' || n % 60 || ' minutes from stop ' || n,
       CASE n % 5 WHEN 0 THEN 'inactive' ELSE 'active' END, {now}, {now}, 1,
       lower('company ' || n || ' ' || n || ' long street city ' || n % 3001 || ' route ' || n % 977)
FROM ({numbers}) AS numbers JOIN airport a ON a.id = 1 + n % {airports}
"""
CHUNK = 50_000


def fill(engine: Engine, rows: int, revision: str) -> None:
    """Make the tables of a revision in an empty database, with records of the kind ``transit``."""
    migrations.upgrade(engine, TABLES)
    with db.write_engine(engine).begin() as connection:
        airports = add_airports(connection)
    for first in range(1, rows + 1, CHUNK):
        numbers = NUMBERS[engine.dialect.name].format(first=first, last=min(first + CHUNK - 1, rows))
        with db.write_engine(engine).begin() as connection:
            connection.execute(text(RECORDS.format(now=NOW, numbers=numbers, airports=airports)))
    migrations.upgrade(engine, revision)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE" if engine.dialect.name == "postgresql" else "ANALYZE"))


def add_airports(connection: Connection) -> int:
    """Add the packaged airports; return their number."""
    rows = [
        {name: airport[name] for name in PLACE} | {"id": number, "listed": True}
        for number, airport in enumerate(source.packaged_airports(), 1)
    ]
    columns = ("id", *PLACE, "search_text", "population", "is_listed")
    values = (":id", *(f":{name}" for name in PLACE), "''", "0", ":listed")
    insert = f"INSERT INTO airport ({', '.join(columns)}) VALUES ({', '.join(values)})"
    connection.execute(text(insert), rows)
    if connection.dialect.name == "postgresql":
        connection.execute(
            text("SELECT setval(pg_get_serial_sequence('airport', 'id'), (SELECT max(id) FROM airport))")
        )
    return len(rows)
