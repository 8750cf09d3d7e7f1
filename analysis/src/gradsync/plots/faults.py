# SPDX-License-Identifier: GPL-2.0-only
"""Draws who sends, who waits for whom, and which faults hold, over the time of one run."""

import re
from collections import defaultdict
from dataclasses import dataclass

from matplotlib.axes import Axes as Panel
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from gradsync.errors import ResultsError
from gradsync.plots import page, style
from gradsync.results.folder import Results
from gradsync.results.pick import describe_run, pick_run
from gradsync.results.tables import FILLED, read_cells, require

_MOST_HOSTS = 64
_MS = 1e3  # a second
_SENDS = "#56B4E9"
_BLOCKED = "#E69F00"
_FAULT = "#B00020"
_HOST_FAULTS = ("host-", "straggler")

Span = tuple[float, float]


@dataclass(frozen=True)
class Fault:
    """What held, on what, from when to when (milliseconds)."""

    kind: str
    target: str
    start: float
    end: float

    @property
    def of_host(self) -> bool:
        """Whether it has a row of its own in the picture."""
        return self.kind.startswith(_HOST_FAULTS)


@dataclass(frozen=True)
class Timeline:
    """One run, as far as its picture needs it; all times in milliseconds."""

    sends: dict[str, list[Span]]
    faults: list[Fault]
    reactions: list[float]
    blocked: list[tuple[float, int]]
    end: float


# Of faults.csv: a reaction has no fault of its own.
_MAY_BE_EMPTY = {"faults.csv": ("fault", "target")}


def _rows(results: Results, name: str, run: int) -> list[dict[str, str]]:
    path = results.folder / name
    if not path.exists():
        return []
    rows = read_cells(path, results.columns.get(name))
    wanted = FILLED[path.stem]
    if rows:
        require(path, list(rows[0]), (*wanted, *_MAY_BE_EMPTY.get(name, ())))
    own = [row for row in rows if row["run"] == str(run)]
    for row in own:
        for column in wanted:
            if not row[column]:
                raise ResultsError(f"{path}: {column} is empty in a row of run {run}")
    return own


def _unite(spans: list[Span]) -> list[Span]:
    """The same times without overlaps."""
    united: list[Span] = []
    for start, end in sorted(spans):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(united[-1][1], end))
        else:
            united.append((start, end))
    return united


def _read_faults(rows: list[dict[str, str]], end: float) -> list[Fault]:
    since: dict[tuple[str, str], float] = {}
    faults = []
    for row in rows:
        key = (row["fault"], row["target"])
        time = float(row["time_s"]) * _MS
        if row["event"] == "begin":
            since[key] = time
        elif row["event"] == "end" and key in since:
            faults.append(Fault(row["kind"], row["target"], since.pop(key), time))
    kinds = {(row["fault"], row["target"]): row["kind"] for row in rows}
    faults += [Fault(kinds[key], key[1], start, max(start, end)) for key, start in since.items()]
    return sorted(faults, key=lambda fault: (fault.start, fault.target))


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


def read(results: Results, run: int) -> Timeline:
    """The timeline of one run; empty where its messages were not recorded."""
    messages = _rows(results, "messages.csv", run)
    sends: dict[str, list[Span]] = defaultdict(list)
    for row in messages:
        sends[row["src"]].append((float(row["start_s"]) * _MS, float(row["end_s"]) * _MS))
    end = max((span[1] for spans in sends.values() for span in spans), default=0.0)
    rows = _rows(results, "faults.csv", run)
    blocked = [
        (float(row["time_s"]) * _MS, int(row["blocked_workers"]))
        for row in _rows(results, "blocked.csv", run)
    ]
    return Timeline(
        {host: _unite(sends[host]) for host in sorted(sends, key=_natural)},
        _read_faults([row for row in rows if row["kind"] != "reaction"], end),
        [float(row["time_s"]) * _MS for row in rows if row["kind"] == "reaction"],
        blocked,
        end,
    )


def _draw_hosts(panel: Panel, timeline: Timeline) -> None:
    hosts = list(timeline.sends)
    for row, host in enumerate(hosts):
        bars = [(start, end - start) for start, end in timeline.sends[host]]
        panel.broken_barh(bars, (row - 0.38, 0.76), color=_SENDS, linewidth=0)
    rows = {host: row for row, host in enumerate(hosts)}
    for fault in timeline.faults:
        if fault.of_host and fault.target in rows:
            row = rows[fault.target]
            panel.broken_barh(
                [(fault.start, fault.end - fault.start)],
                (row - 0.5, 1.0),
                facecolor=_FAULT,
                alpha=0.3,
                hatch="///",
                edgecolor=_FAULT,
                linewidth=0,
            )
    panel.set_yticks(range(len(hosts)), hosts, fontsize=page.points(8 if len(hosts) <= 24 else 5))
    panel.set_ylim(len(hosts) - 0.4, -0.6)
    panel.grid(False)
    panel.set_title("Hosts with something in the network")


def _draw_blocked(panel: Panel, timeline: Timeline) -> None:
    times = [0.0, *(time for time, _ in timeline.blocked), timeline.end]
    counts = [0, *(count for _, count in timeline.blocked), 0]
    panel.fill_between(times, counts, step="post", color=_BLOCKED, alpha=0.8, linewidth=0)
    panel.set_ylim(0, max(len(timeline.sends), 1))
    panel.yaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set_title("Workers that wait for others")
    panel.set_xlabel("Time (ms)")


def _describe(faults: list[Fault]) -> str:
    named = [f"{fault.kind} {fault.target}" for fault in faults]
    different = list(dict.fromkeys(named))
    more = f" and {len(different) - 3} more" if len(different) > 3 else ""
    return ", ".join(different[:3]) + more


@page.dressed
def draw_faults(results: Results, run: int | None) -> Figure:
    """A row per host above, the number of blocked workers below, faults shaded.

    Raises ResultsError where messages are not recorded.
    """
    number = pick_run(results, run)
    timeline = read(results, number)
    if not timeline.sends:
        raise ResultsError(f"{results.folder / 'messages.csv'}: nothing was recorded")
    title = str(results.scenario.get("title") or results.folder.name)
    return _draw(timeline, "\n".join(filter(None, [title, describe_run(results, number)])))


def _draw(timeline: Timeline, title: str) -> Figure:
    height = 1.9 + 0.16 * max(len(timeline.sends), 6)
    figure, (upper, lower) = page.subplots(
        2, 1, (8.4, height + 1.2), by_rows=True, height_ratios=(height, 1.3), sharex=True
    )
    _draw_hosts(upper, timeline)
    _draw_blocked(lower, timeline)
    for panel in (upper, lower):
        for fault in timeline.faults:
            panel.axvspan(fault.start, fault.end, color=_FAULT, alpha=0.08, linewidth=0)
        for time in timeline.reactions:
            panel.axvline(time, color=style.INK, linewidth=1.0, linestyle=(0, (4, 2)))
    lower.set_xlim(0, timeline.end)
    page.title(figure, title + "\n", 11, linespacing=0.4)
    if timeline.faults:
        legend = f"shaded: {_describe(timeline.faults)}"
        legend += "; dashed: new plan" if timeline.reactions else ""
        figure.text(
            0.988, 0.005, legend, ha="right", va="bottom", fontsize=page.points(8), color=_FAULT
        )
    return figure


def applies(results: Results) -> bool:
    """Whether there is one run that had faults, and few enough hosts for a row each."""
    if len(results.rows) != 1:
        return False
    timeline = read(results, 0)
    return bool(timeline.faults) and 0 < len(timeline.sends) <= _MOST_HOSTS
