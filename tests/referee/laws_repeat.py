# SPDX-License-Identifier: GPL-2.0-only
"""What must not change results, and what seeds may change."""

from collections.abc import Iterator

from referee.evidence import WALL_CLOCK, Evidence
from referee.law import law
from referee.simulator import Results


def _comparable(results: Results, without: tuple[str, ...] = WALL_CLOCK) -> dict[str, list[dict]]:
    return {
        table: [{key: row[key] for key in row if key not in without} for row in rows]
        for table, rows in results.tables.items()
    }


def differences(a: Results, b: Results, without: tuple[str, ...] = WALL_CLOCK) -> Iterator[str]:
    """The first difference of each table; times of the machine are left aside."""
    if a.code != b.code:
        yield f"exit codes {a.code} and {b.code}: {b.outcome.error[-500:]}"
        return
    first, second = _comparable(a, without), _comparable(b, without)
    for table in sorted(set(first) | set(second)):
        rows, others = first.get(table, []), second.get(table, [])
        if len(rows) != len(others):
            yield f"{table}.csv has {len(rows)} and {len(others)} rows"
        for index, (row, other) in enumerate(zip(rows, others)):
            if row != other:
                differ = {
                    key: (row[key], other.get(key)) for key in row if row[key] != other.get(key)
                }
                yield f"{table}.csv, row {index}: {differ}"
                break


@law(
    "doc/results.rst: the same bit for bit",
    when=lambda e: e.simulated and e.probed("again"),
    trains=True,
)
def a_run_repeats(e: Evidence) -> Iterator[str]:
    """The same scenario and seed give the same tables."""
    yield from differences(e.main, e.again)


@law(
    "doc/results.rst: whatever --jobs is",
    when=lambda e: e.simulated and e.probed("jobs"),
    trains=True,
)
def processes_change_nothing(e: Evidence) -> Iterator[str]:
    """Three seeds at once give the tables of three seeds in turn, and the first is the run alone."""
    yield from differences(e.three_in_turn, e.three_at_once)
    alone = {key: value for key, value in e.main.run.items() if key not in WALL_CLOCK}
    first = e.three_at_once.rows("runs")[0]
    differ = {key: (alone[key], first[key]) for key in alone if alone[key] != first[key]}
    if differ:
        yield f"the run alone and as the first of three: {differ}"


@law(
    "doc/fabric.rst: prefetching changes no result",
    when=lambda e: e.simulated and e.transport == "roce" and e.probed("prefetch"),
    trains=True,
)
def prefetching_changes_nothing(e: Evidence) -> Iterator[str]:
    """fabric.prefetchPorts is about speed only."""
    yield from differences(e.main, e.prefetched)


@law("doc/faults.rst, trace.json", when=lambda e: e.simulated and e.probed("trace"), trains=True)
def a_trace_changes_nothing(e: Evidence) -> Iterator[str]:
    """--trace writes a file more."""
    yield from differences(e.main, e.traced)


@law("doc/scenario.rst, results", when=lambda e: e.simulated and e.probed("quiet"), trains=True)
def what_is_recorded_changes_nothing(e: Evidence) -> Iterator[str]:
    """Without rows of messages and links the run is the same."""
    if e.main.code != e.quiet.code:
        yield f"exit codes {e.main.code} and {e.quiet.code}"
        return
    full, quiet = _comparable(e.main), _comparable(e.quiet)
    for table in ("runs", "iterations"):
        if full[table] != quiet[table]:
            yield f"{table}.csv: {full[table]} and {quiet[table]}"
    for table in ("messages", "links", "flows", "blocked"):
        if quiet[table]:
            yield f"{table}.csv has {len(quiet[table])} rows, though they are left out"


@law(
    "doc/p4.rst: native and P4 give identical packets",
    when=lambda e: (
        e.simulated
        and e.probed("engine")
        and e.transport == "roce"
        and any(e.scheme(i)["kind"] in ("switchml", "passing") for i in range(len(e.jobs)))
        and e.other_engine.code != 2
    ),
)
def native_switches_are_those_of_p4(e: Evidence) -> Iterator[str]:
    """The P4 program gives the same packets, times and sums as the native switch."""
    yield from differences(e.main, e.other_engine, (*WALL_CLOCK, "events"))


def _hashes(e: Evidence) -> bool:
    """Connections have a choice of paths or NICs, by a hash that no scenario fixes."""
    kind = e.scenario.get("topology", {}).get("kind")
    return (
        e.transport == "roce"
        and kind != "star"
        and e.fabric("loadBalancing", "hash") == "hash"
        and not e.fabric("hashSeed", 0)
    )


def _makes_up(e: Evidence) -> bool:
    """Values of gradients, or how many of them a sparse one has."""
    transport = e.scenario.get("transport", {})
    aggregation = transport.get("aggregation", {}) if isinstance(transport, dict) else {}
    return aggregation.get("values", "sizes") != "sizes" or "sparse-all-gather" in str(e.scenario)


def _by_chance(e: Evidence) -> bool:
    """Something is drawn in this run: see ns-3's random streams."""
    faults = str(e.scenario.get("faults", ""))
    marks = e.setting("congestionControl", "none") == "dcqcn" or "::" in str(
        e.setting("congestionControl", "")
    )
    return (
        "'loss'" in faults
        or "random" in faults
        or "mtbf" in faults
        or "distribution" in faults
        or e.traffic
        or _hashes(e)
        or _makes_up(e)
        or marks
        or e.transport == "tcp"
        or bool(e.fabric("lossRate", 0))
        or e.fabric("loadBalancing", "hash") in ("spray", "flowlet", "adaptive")
        or e.setting("congestionControl", "none") != "none"
    )


@law(
    "doc/faults.rst, doc/traffic.rst: who draws",
    when=lambda e: e.simulated and e.probed("seed") and not _by_chance(e),
    trains=True,
)
def a_seed_changes_only_what_is_drawn(e: Evidence) -> Iterator[str]:
    """Where nothing is drawn another seed gives the same run."""
    yield from differences(e.main, e.other_seed, (*WALL_CLOCK, "seed"))


def _arrivals(results: Results) -> dict[str, list[tuple[str, ...]]]:
    """Flows of each entry, by their beginnings."""
    arrivals: dict[str, list[tuple[str, ...]]] = {}
    for row in results.rows("flows"):
        flow = (row["start_s"], row["src"], row["dst"], row["bytes"])
        arrivals.setdefault(row["traffic"], []).append(flow)
    return {entry: sorted(flows) for entry, flows in arrivals.items()}


@law(
    "doc/traffic.rst: the same flows come at the same times, whatever scheme is under test",
    when=lambda e: (
        e.finished
        and e.traffic
        and e.probed("other-scheme")
        and "job" in e.scenario
        and e.other_scheme.code == 0
    ),
)
def foreign_flows_do_not_depend_on_the_exchange(e: Evidence) -> Iterator[str]:
    """Around a ring the flows that begin are those that begin around this exchange."""
    ours, others = _arrivals(e.main), _arrivals(e.other_scheme)
    for entry in sorted(set(ours) | set(others)):
        mine, theirs = ours.get(entry, []), others.get(entry, [])
        common = min(len(mine), len(theirs))
        if mine[:common] != theirs[:common]:
            yield f"flows of entry {entry}: {mine[:3]} and {theirs[:3]}"


def _strikes(results: Results) -> list[tuple[str, ...]]:
    return [
        (row["time_s"], row["fault"], row["target"], row["event"])
        for row in results.rows("faults")
        if row["kind"] != "reaction"
    ]


@law(
    "doc/faults.rst: the same targets at the same times whatever scheme and transport",
    when=lambda e: (
        e.finished
        and bool(e.scenario.get("faults"))
        and e.probed("other-scheme")
        and "job" in e.scenario
        and e.other_scheme.code == 0
    ),
)
def faults_do_not_depend_on_the_exchange(e: Evidence) -> Iterator[str]:
    """Faults strike a ring as they strike this exchange, as long as both last."""
    ours, others = _strikes(e.main), _strikes(e.other_scheme)
    common = min(len(ours), len(others))
    if sorted(ours[:common]) != sorted(others[:common]):
        # Rows of one instant may come in any order; the last instant may be cut in two.
        cut = ours[common - 1][0]
        if sorted(r for r in ours if r[0] < cut) != sorted(r for r in others if r[0] < cut):
            yield f"{ours[:common]} and {others[:common]}"
