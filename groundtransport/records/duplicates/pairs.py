"""Keep the keys and the pairs of possible doubles in step with the records, many records at once."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from sqlalchemy import select
from sqlalchemy.orm import Session

from groundtransport.airports import lookup
from groundtransport.db import AnyRow, AnySelect, plan_options
from groundtransport.db.functions import is_one_of
from groundtransport.events import Values
from groundtransport.records.duplicates import statements
from groundtransport.records.duplicates.candidates import identifying
from groundtransport.records.duplicates.company import CITY, ROUTE, Company
from groundtransport.records.duplicates.keys import keys_of
from groundtransport.records.duplicates.likeness import Around, Likeness, likeness, likeness_across
from groundtransport.records.duplicates.models import ACROSS, OPEN
from groundtransport.records.kind import Kind

MOST = 5  # pairs that are proposed for a record when it changes, at its airport, and as many with other airports
NEWEST = 20  # records that are compared because of one key
NAMES = 2  # of the records that share a web site: more are companies of a city or a network
AT_ONCE = 500  # records that are read by one query

PairKey = tuple[int, int]


@dataclass(frozen=True)
class Change:
    """The values of a record before and after a transaction; empty while it is not live."""

    before: Values
    after: Values


@cache
def compared_names(kind: Kind) -> tuple[str, ...]:
    """Return the fields that decide which records are doubles of one."""
    return tuple(name for name in (*identifying(kind), ROUTE, CITY, "source") if name in ("airport_id", *kind.fields))


class PairKeeper:
    """Keeps the keys and pairs of one kind, in the transaction of ``dbsession``."""

    def __init__(self, dbsession: Session, kind: Kind) -> None:
        self.dbsession, self.kind = dbsession, kind

    def apply(self, changes: Mapping[int, Change]) -> None:
        """Store what changes of records mean for their keys and pairs. A record's id is the key of its change."""
        changed = {number: change for number, change in changes.items() if self._matters(change)}
        old = {number: Company(self.kind, change.before) for number, change in changed.items() if change.before}
        if old:
            statements.drop_keys(self.dbsession, [(key, number) for number in old for key in keys_of(old[number])])
            statements.drop_open_pairs(self.dbsession, self.kind.name, list(old))
        live = {number: change.after for number, change in changed.items() if change.after}
        if live:
            self.add(live)

    def add(self, records: Mapping[int, Values]) -> None:
        """Add the keys of live records, and their pairs with others."""
        companies = {number: Company(self.kind, values) for number, values in records.items()}
        keys = {number: keys_of(company) for number, company in companies.items()}
        shared = self._shared(keys)
        statements.add_keys(self.dbsession, [(key, number) for number, own in keys.items() for key in own])
        if shared:
            companies |= self._companies({other for others in shared.values() for other in others} - companies.keys())
            codes = {company.values["airport_code"] for company in companies.values()}
            countries = lookup.countries(self.dbsession, codes)
            pairs = {
                key: pair
                for number in shared
                for key, pair in self._pairs(number, shared[number], companies, countries)
            }
            statements.add_pairs(self.dbsession, list(pairs.values()))
            self._drop_outdated(shared, companies, countries)

    def _drop_outdated(
        self, shared: Mapping[int, Collection[int]], companies: Mapping[int, Company], countries: Mapping[str, str]
    ) -> None:
        """Drop pairs that are no longer alike because of new records: a third company has their web site, say.

        Without that, the pairs would depend on the order in which records are added.
        """
        groups = [group for number in shared if (group := _group_to_check(number, shared[number], companies))]
        seconds: dict[int, set[int]] = defaultdict(set)  # of the stored pairs, by the first record
        first_ids = {number for group in groups for number in group}
        for first, second in statements.find_pairs(self.dbsession, self.kind.name, first_ids):
            seconds[first].add(second)
        outdated = {
            (first, second)
            for group in groups
            for first in group
            for second in seconds[first] & group.keys()
            if not _is_still_alike((first, second), group, countries)
        }
        statements.drop_given_pairs(self.dbsession, self.kind.name, outdated)

    def _matters(self, change: Change) -> bool:
        names = compared_names(self.kind)
        return any(change.before.get(name) != change.after.get(name) for name in names)

    def _shared(self, keys: Mapping[int, Collection[int]]) -> dict[int, set[int]]:
        """Return the other records that share a key with each one: the newest of each key."""
        holders: dict[int, set[int]] = defaultdict(set)
        for number, own in keys.items():
            for key in own:
                holders[key].add(number)
        for key, number in statements.find_keys(self.dbsession, list(holders)):
            holders[key].add(number)
        newest = {key: sorted(ids, reverse=True)[: NEWEST + 1] for key, ids in holders.items() if len(ids) > 1}
        shared: dict[int, set[int]] = defaultdict(set)
        for number, own in keys.items():
            for key in own:
                if key in newest:
                    shared[number].update([other for other in newest[key] if other != number][:NEWEST])
        return dict(shared)

    def _pairs(
        self, number: int, found: Collection[int], companies: Mapping[int, Company], countries: Mapping[str, str]
    ) -> Iterator[tuple[PairKey, tuple[object, ...]]]:
        """Yield the pairs of a record with those that are most like it, the newest first among equals."""
        company = companies[number]
        others = {other: companies[other] for other in found if other in companies}
        around = _around(company, [other for other in others.values() if _at_one_airport(company, other)])
        alike: dict[int, list[tuple[int, int, tuple[str, ...]]]] = {OPEN: [], ACROSS: []}
        for key, other in others.items():
            state = OPEN if _at_one_airport(company, other) else ACROSS
            if result := _likeness((company, other), countries, state, around):
                alike[state].append((result.score, key, result.reasons))
        code = company.values["airport_code"]
        for state, results in alike.items():
            for score, key, reasons in sorted(results, reverse=True)[:MOST]:
                first, second = sorted((number, key))
                yield (first, second), (self.kind.name, first, second, code, state, score, ",".join(reasons))

    def _companies(self, ids: Collection[int]) -> dict[int, Company]:
        """Return live records by their ids."""
        return {row.id: Company(self.kind, row._asdict()) for row in self._rows(sorted(ids))}

    def _rows(self, ids: list[int]) -> Iterator[AnyRow]:
        options = plan_options(len(ids))
        for start in range(0, len(ids), AT_ONCE):
            some = {"ids": ids[start : start + AT_ONCE]}
            yield from self.dbsession.execute(_by_ids(self.kind), some, execution_options=options)


@cache
def _by_ids(kind: Kind) -> AnySelect:
    """Return the query of the live records with the ids of the parameter ``ids``."""
    table = kind.model.__table__
    names = dict.fromkeys(("id", "airport_code", *compared_names(kind)))
    return select(*(table.c[name] for name in names)).where(is_one_of(table.c.id, "ids"), kind.model.is_live())


def _at_one_airport(one: Company, other: Company) -> bool:
    return bool(one.values["airport_id"] == other.values["airport_id"])


def _around(company: Company, others: Iterable[Company]) -> Around:
    """Return what others at its airport say about a company's web sites and routes."""
    names: dict[str, set[str]] = {host: set() for host in company.hosts}
    routes: dict[str, set[str]] = defaultdict(set)
    for one in (company, *others):
        for host in names.keys() & one.hosts if names else ():
            names[host].add(one.name)
        if one.route:
            routes[one.name].add(one.route)
    return Around({host for host, those in names.items() if len(those) <= NAMES}, routes)


def _group_to_check(number: int, found: Collection[int], companies: Mapping[int, Company]) -> dict[int, Company]:
    """Return a record and those at its airport that share a key with it, if their pairs must be compared again.

    They must if the group has more than two companies with the record's web site, or several routes of its company;
    else the result is empty.
    """
    company = companies[number]
    others = {other: companies[other] for other in found if other in companies}
    group = {number: company} | {key: other for key, other in others.items() if _at_one_airport(company, other)}
    around = _around(company, group.values())
    has_several = len(around.own_sites) < len(company.hosts) or len(around.routes.get(company.name, ())) > 1
    return group if has_several and len(group) > NAMES else {}


def _is_still_alike(pair: PairKey, group: Mapping[int, Company], countries: Mapping[str, str]) -> bool:
    one, other = group[pair[0]], group[pair[1]]
    return _likeness((one, other), countries, OPEN, _around(one, group.values())) is not None


def _likeness(
    both: tuple[Company, Company], countries: Mapping[str, str], state: int, around: Around
) -> Likeness | None:
    one, other = (countries.get(company.values["airport_code"], "") for company in both)
    if state == ACROSS:
        return likeness_across(*both, (one, other))
    return likeness(*both, one, around)
