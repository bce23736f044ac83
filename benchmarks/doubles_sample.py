"""Draw a sample of pairs of records for judging by hand whether they are doubles.

    python -m benchmarks.doubles_sample --seed 1 --output sample.csv [--judged benchmarks/doubles.csv]

The pairs are those of one airport with any weak sign (a rare word, a similar name, a common host, an acronym), and some
without. They are drawn from strata with a fixed seed. The answer of the service decides the stratum, is not written,
and the rows are shuffled. ``weight`` is the number of pairs that a row stands for.
"""

import argparse
import csv
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from rapidfuzz import fuzz
from sqlalchemy import Connection, create_engine, text

from groundtransport.records.duplicates.comparison import host_of
from groundtransport.text import fold

KINDS = ("transit", "scheduledbus")
# Pairs of a stratum; those that the service proposes are in strata of their reasons.
NUMBERS = {
    "name": 45,
    "name,web": 25,
    "near": 30,
    "near,web": 25,
    "web": 25,
    "routes": 10,
    "alike": 50,
    "similar": 60,
    "sign": 60,
    "none": 20,
}
RARE = 8  # records that have a rare word or host, at most
Row = dict[str, str]


def main() -> None:
    """Write the sample."""
    words = argparse.ArgumentParser(prog="python -m benchmarks.doubles_sample", description=__doc__)
    words.add_argument("--url", required=True, help="of the database with the imported records")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--output", type=Path, required=True)
    words.add_argument("--judged", type=Path, help="a file of pairs that are left out")
    words.add_argument("--share", type=float, default=1, help="of the numbers of the strata")
    given = words.parse_args()
    judged = set()
    if given.judged:
        with given.judged.open(newline="") as file:
            judged = {(row["kind"], row["first"], row["second"]) for row in csv.DictReader(file)}
    drawn = random.Random(given.seed)  # noqa: S311 - the same seed draws the same pairs
    sample = []
    with create_engine(given.url).connect() as connection:
        strata = read_strata(connection)
    for stratum, pairs in sorted(strata.items()):
        rest = [pair for pair in pairs if (pair[0], *map(name_of, pair[1:])) not in judged]
        number = min(len(rest), round(NUMBERS[stratum] * given.share))
        print(f"{stratum}: {number} of {len(pairs)}")
        sample += [
            (pair, len(rest) / number)
            for pair in drawn.sample(sorted(rest, key=lambda p: (p[0], p[1]["id"], p[2]["id"])), number)
        ]
    drawn.shuffle(sample)
    with given.output.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("kind", "first", "second", "weight"))
        writer.writerows((kind, name_of(one), name_of(other), f"{weight:.4f}") for (kind, one, other), weight in sample)


def name_of(row: Row) -> str:
    """Return the source and source id of a record."""
    return f"{row['source']}:{row['source_id']}"


def read_strata(connection: Connection) -> dict[str, list[tuple[str, Row, Row]]]:
    """Return all pairs of records at one airport, by stratum."""
    strata = defaultdict(list)
    for kind in KINDS:
        rows = [
            dict(row._mapping) for row in connection.execute(text(f"SELECT * FROM {kind} WHERE deleted_at IS NULL"))
        ]
        pairs = connection.execute(
            text("SELECT first_id, second_id, reasons FROM duplicate_pair WHERE kind=:k AND state=0"), {"k": kind}
        )
        answer = {(pair.first_id, pair.second_id): pair.reasons for pair in pairs}
        frequency = Counter(sign for row in rows for sign in signs(row))
        for airport in group(rows):
            for one, other in combinations(sorted(airport, key=lambda row: row["id"]), 2):
                strata[answer.get((one["id"], other["id"])) or sort_of(one, other, frequency)].append(
                    (kind, one, other)
                )
    return strata


def group(rows: list[Row]) -> Iterator[list[Row]]:
    """Yield the records of each airport."""
    airports = defaultdict(list)
    for row in rows:
        airports[row["airport_code"]].append(row)
    yield from airports.values()


def sort_of(one: Row, other: Row, frequency: Counter[str]) -> str:
    """Return the stratum of a pair that the service does not propose."""
    routes = [fold(row.get("route_name") or "") for row in (one, other)]
    if all(routes) and routes[0] != routes[1]:
        return "routes"
    common = signs(one) & signs(other)
    ratio = fuzz.token_set_ratio(*(fold(row["company_name"]) for row in (one, other)))
    if ratio >= 90 or any(has_acronym(*pair) for pair in ((one, other), (other, one))):
        return "alike"
    if ratio >= 75 or any(sign[0] == "h" or (sign[0] == "f" and frequency[sign] <= RARE) for sign in common):
        return "similar"
    return "sign" if ratio >= 60 or any(frequency[sign] <= RARE for sign in common) else "none"


def has_acronym(one: Row, other: Row) -> bool:
    """Return True if a word of the first name is made of the initials of the second."""
    short, long = (re.findall(r"\w+", fold(row["company_name"])) for row in (one, other))
    initials = "".join(word[0] for word in long if word not in ("of", "the", "and", "de", "la"))
    return any(len(word) >= 3 and word in ("".join(word[0] for word in long), initials) for word in short)


def signs(row: Row) -> set[str]:
    """Return the words of a record's name, the host of its link, and the hosts in its description."""
    names = {f"n{word}" for word in re.findall(r"\w+", fold(row["company_name"])) if len(word) > 2}
    links = {f"h{host}" for host in (host_of(row.get("company_link") or ""),) if host}
    feeds = {f"f{host_of(link)}" for link in re.findall(r"https?://\S+", row.get("description") or "")}
    return names | links | feeds


if __name__ == "__main__":
    main()
