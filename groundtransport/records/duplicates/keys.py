"""The keys by which candidates for doubles are found: equal for two records that may be doubles, rarely for others.

Those for doubles at other airports are made of the name and another fact: a name alone is that of a chain.
"""

import math
from collections.abc import Iterator
from hashlib import blake2b

from groundtransport.records.duplicates.company import Company

LETTERS = 10  # at the beginning and at the end of a name: one of both is equal unless the names differ at both ends
PART = 0.7  # of a shorter name


def keys_of(company: Company) -> set[int]:
    """Return the keys of a record."""
    kind, airport_id = company.kind.name, company.values["airport_id"]
    keys = {_hash(f"{kind}\x1f{airport_id}\x1f{text}") for text in _texts(company)}
    return keys | {_hash(f"{kind}\x1f{text}") for text in _across(company)}


def _texts(company: Company) -> Iterator[str]:
    if name := company.name.replace(" ", ""):
        length = min(LETTERS, math.ceil(len(name) * PART))
        yield f"<{name[:length]}"
        yield f">{name[-length:]}"
    for words in company.cores:
        yield f"c{' '.join(sorted(words))}"
    for number in company.endings:
        yield f"p{number}"
    for host in company.hosts:
        yield f"w{host}"


def _across(company: Company) -> Iterator[str]:
    """Yield the name with each fact that the company has at any airport."""
    if company.name:
        facts = {"p": company.endings, "w": company.hosts, "s": {company.source} - {""}}
        yield from (f"{company.name}\x1f{sort}{fact}" for sort, some in facts.items() for fact in some)


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)
