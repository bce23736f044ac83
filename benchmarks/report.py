"""The figures as Markdown and as a picture, in docs/performance.md between two marks."""

from collections.abc import Iterator, Mapping
from html import escape
from math import log10
from pathlib import Path
from typing import Any

from benchmarks import profile
from benchmarks.ours import PEER_ROWS, ROWS

PAGE = Path("docs/performance.md")
PICTURE = Path("docs/pictures/performance.svg")
BEGIN, END = "<!-- make bench writes from here -->", "<!-- to here -->"
ENGINES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
RATES = {"rps_list": "list JSON, requests/s at 8 connections", "rps_rare": "rare search, requests/s at 8 connections"}
FACTS = (
    ("memory", "a worker's memory after all of it", "{:.0f} MB"),
    ("start", "start to the first answer", "{:.1f} s"),
    ("imported", "made through the audited import", "{:,.0f} records/s"),
)

Figures = Mapping[str, Any]


def write(results: Mapping[str, Any]) -> None:
    """Put the tables of ``results`` ("engine size" -> figures, with "peers") into the page, and draw the picture."""
    page = PAGE.read_text()
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    text = "\n".join([line for engine in ENGINES for line in _engine(engine, results)] + list(_profile(results)))
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}")
    largest = max((int(key.split()[1]) for key in results if results[key].get("peers")), default=0)
    if largest:
        PICTURE.write_text(_picture(results, largest))


def best_peer(figures: Figures, row: str) -> tuple[float, str] | None:
    """Return the fastest peer's figure of a row, and its name."""
    name = PEER_ROWS.get(row, row)
    found = [(peer[name], title) for title, peer in figures.get("peers", {}).items() if peer.get(name)]
    if not found:
        return None
    return max(found) if row in RATES else min(found)


def _engine(engine: str, results: Mapping[str, Any]) -> Iterator[str]:
    sizes = sorted(int(key.split()[1]) for key in results if key.split()[0] == engine)
    if not sizes:
        return
    have_peers = [size for size in sizes if results[f"{engine} {size}"].get("peers")]
    yield f"### {ENGINES[engine]}\n"
    heads = [f"{size:,} records" for size in sizes]
    for size in have_peers:
        heads += [f"best peer at {size:,}", "times faster"]
    yield "| median of 30, ms | " + " | ".join(heads) + " |"
    yield "|---|" + "---:|" * len(heads)
    for row, title in {**ROWS, **RATES}.items():
        cells = [_number(results[f"{engine} {size}"].get(row)) for size in sizes]
        for size in have_peers:
            cells += _beside(results[f"{engine} {size}"], row)
        yield f"| {title} | " + " | ".join(cells) + " |"
    empty = [""] * (2 * len(have_peers))
    for row, title, form in FACTS:
        values = [results[f"{engine} {size}"].get(row) for size in sizes]
        if any(values):
            cells = [form.format(value) if value else "" for value in values]
            yield f"| {title} | " + " | ".join([*cells, *empty]) + " |"
    yield ""


def _profile(results: Mapping[str, Any]) -> Iterator[str]:
    """Where the time of three requests goes, and how far the list is from the bare limit."""
    profiled = {key: figures for key, figures in results.items() if figures.get("profile")}
    if not profiled:
        return
    yield "### Where the time goes\n"
    yield "Shares of the processor's time in percent, by whose code it is spent in, under cProfile, which makes small"
    yield "calls look dearer than they are. Python's own functions count for their callers.\n"
    heads = [(key, name) for key in profiled for name in profile.TITLES]
    titles = [f"{ENGINES[key.split()[0]]}: {profile.TITLES[name]}" for key, name in heads]
    yield f"| % at {next(iter(profiled)).split()[1]} records | " + " | ".join(titles) + " |"
    yield "|---|" + "---:|" * len(heads)
    parts = dict.fromkeys(part for key, name in heads for part in profiled[key]["profile"][name])
    for part in parts:
        cells = [profiled[key]["profile"][name].get(part, 0) for key, name in heads]
        yield f"| {part} | " + " | ".join(f"{cell:.0f}" for cell in cells) + " |"
    yield "\nThe bare limit, in ms, median of 300 in one run: 25 rows by the driver alone, an empty page (`/healthz`,"
    yield "which asks no database) and the list JSON, both as whole HTTP requests.\n"
    yield "| ms | 25 rows by the driver | an empty page | list JSON | list over empty page |"
    yield "|---|---:|---:|---:|---:|"
    for key, figures in profiled.items():
        rows, empty, page = (figures["limits"][name] for name in ("rows", "empty", "list"))
        yield f"| {ENGINES[key.split()[0]]} | {rows:.2f} | {empty:.2f} | {page:.2f} | {page / empty:.1f} x |"
    yield ""


def _beside(figures: Figures, row: str) -> list[str]:
    peer, ours = best_peer(figures, row), figures.get(row)
    if not peer or not ours:
        return ["", ""]
    times = ours / peer[0] if row in RATES else peer[0] / ours
    return [f"{_number(peer[0])} ({peer[1]})", f"{times:,.1f}"]


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _picture(results: Mapping[str, Any], size: int) -> str:
    """Return bars on a logarithmic scale: ours beside the best peer, row by row, both engines."""
    bars, y = [], 60
    for engine, title in ENGINES.items():
        figures = results.get(f"{engine} {size}")
        if not figures:
            continue
        bars.append(f'<text x="16" y="{y}" class="h">{title}, {size:,} records</text>')
        y += 14
        for row in ("a_list", "b_sort", "c_deep", "d_common", "e_rare", "f_none", "g_code", "h_code_q", "j_create"):
            peer = best_peer(figures, row)
            bars.append(f'<text x="16" y="{y + 16}">{escape(ROWS[row])}</text>')
            bars.append(_bar(figures[row], y + 4, "ours"))
            if peer:
                bars.append(_bar(peer[0], y + 15, "peer"))
            y += 32
        y += 24
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {y}" width="720" height="{y}" role="img" '
        f'aria-label="Milliseconds of a request, ours and the fastest peer, on a logarithmic scale">'
        "<style>text{font:13px system-ui,sans-serif;fill:#24292f}.h{font-weight:600;font-size:15px}"
        ".ours{fill:#b45309}.peer{fill:#8b949e}.v{font-size:11px}</style>"
        f'<rect width="720" height="{y}" fill="#ffffff"/>'
        '<rect x="16" y="16" width="12" height="12" class="ours"/><text x="34" y="27">Ground transport</text>'
        '<rect x="170" y="16" width="12" height="12" class="peer"/>'
        '<text x="188" y="27">the fastest peer with an exact count (ms, logarithmic)</text>'
        + "".join(bars)
        + "</svg>\n"
    )


def _bar(value: float, y: float, kind: str) -> str:
    width = max(2.0, 100 * (log10(max(value, 0.5)) + 0.35))
    return (
        f'<rect x="250" y="{y}" width="{width:.0f}" height="9" class="{kind}"/>'
        f'<text x="{256 + width:.0f}" y="{y + 9}" class="v">{_number(value)}</text>'
    )
