# SPDX-License-Identifier: GPL-2.0-only
"""Time: forward only, never below what links need, and the parts of an iteration add up."""

import math
from collections import defaultdict
from collections.abc import Iterator

from referee.case import RATE_UNITS, SIZE_UNITS, picoseconds, quantity
from referee.evidence import Evidence
from referee.law import law

# A time step is a picosecond; serialisation is rounded to one at every packet and hop (doc/fabric.rst).
_ROUNDING = 1e-6
# Schemes in which every rank sends the same at the same time, or one message after the other.
_ALIKE = (
    "ring",
    "halving-doubling",
    "butterfly",
    "k-nomial",
    "torus-2d",
    "blueconnect",
    "all-gather",
)


@law("time goes forward", when=lambda e: e.simulated, trains=True)
def no_time_is_negative_or_backward(e: Evidence) -> Iterator[str]:
    """Every time of every table is at least 0, and ends come after beginnings."""
    for table, rows in e.main.tables.items():
        for row in rows:
            for column, value in row.items():
                if column.endswith("_s") and column != "overlap_s" and value.startswith("-"):
                    yield f"{table}.csv: {column} is {value}"
            if "end_s" in row and picoseconds(row["end_s"]) < picoseconds(row["start_s"]):
                yield f"{table}.csv: {row['start_s']} to {row['end_s']}"
    for table in ("messages", "flows"):
        ends = [picoseconds(row["end_s"]) for row in e.main.rows(table)]
        if ends != sorted(ends):
            yield f"{table}.csv is not in the order of the ends"
    for table in ("faults", "blocked", "samples"):
        times = defaultdict(list)
        for row in e.main.rows(table):
            times[row.get("job", "")].append(picoseconds(row["time_s"]))
        if any(column != sorted(column) for column in times.values()):
            yield f"{table}.csv goes back in time"


@law("doc/engine.rst: bulk-synchronous", when=lambda e: e.simulated, trains=True)
def iterations_follow_each_other(e: Evidence) -> Iterator[str]:
    """The first begins at job.start, each other one where the one before ended."""
    rows = defaultdict(list)
    for row in e.main.rows("iterations"):
        rows[row["job"]].append(row)
    starts = {e.job_name(i): e.time(job, "start") for i, job in enumerate(e.jobs)}
    for job, iterations in rows.items():
        end = starts.get(job, starts.get(job.split(".")[0], 0))
        for number, row in enumerate(iterations):
            if int(row["iteration"]) != number:
                yield f"{job}: iteration {row['iteration']} is row {number}"
            if picoseconds(row["start_s"]) != end:
                yield f"{job} {number} begins at {row['start_s']}, expected {end} ps"
            end = picoseconds(row["start_s"]) + picoseconds(row["ict_s"])


@law("doc/results.rst, iterations.csv", when=lambda e: e.simulated, trains=True)
def parts_of_an_iteration_add_up(e: Evidence) -> Iterator[str]:
    """ict = compute + compress + network + decompress - overlap, to the picosecond."""
    for row in e.main.rows("iterations"):
        parts = {
            name: picoseconds(row[f"{name}_s"])
            for name in ("ict", "compute", "compress", "network", "decompress", "overlap")
        }
        total = parts["compute"] + parts["compress"] + parts["network"] + parts["decompress"]
        if parts["ict"] != total - parts["overlap"]:
            yield f"{row['job']} {row['iteration']}: {parts}"


@law(
    "doc/results.rst, runs.csv",
    when=lambda e: e.simulated and bool(e.main.rows("iterations")),
    trains=True,
)
def completion_times_are_those_of_the_iterations(e: Evidence) -> Iterator[str]:
    """Mean (rounded down), least and largest of the rows of iterations.csv."""
    times = [picoseconds(row["ict_s"]) for row in e.main.rows("iterations")]
    want = {
        "ict_mean_s": sum(times) // len(times),
        "ict_min_s": min(times),
        "ict_max_s": max(times),
    }
    for column, value in want.items():
        if picoseconds(e.main.run[column]) != value:
            yield f"{column} is {e.main.run[column]}, iterations give {value} ps"


@law("an exchange is complete only when every transfer is", when=lambda e: e.simulated)
def messages_lie_within_their_iteration(e: Evidence) -> Iterator[str]:
    """No message of an iteration begins before its exchange can, or ends after it is done."""
    if any(e.scheme(i)["kind"] == "federated" for i in range(len(e.jobs))):
        return  # what a gate did not wait for goes on (doc/schemes.rst)
    spans = {
        (row["job"], row["iteration"]): (
            picoseconds(row["start_s"]),
            picoseconds(row["start_s"]) + picoseconds(row["ict_s"]),
        )
        for row in e.main.rows("iterations")
    }
    for row in e.main.rows("messages"):
        begin, end = spans.get((row["job"], row["iteration"]), (0, None))
        if picoseconds(row["start_s"]) < begin:
            yield f"message {row} begins before its iteration at {begin} ps"
        if end is not None and picoseconds(row["end_s"]) > end:
            yield f"message {row} ends after its iteration at {end} ps"


def replanned(e: Evidence) -> bool:
    """A job went on without some of its workers: the bound stays that of all (doc/results.rst)."""
    return any(row["kind"] == "reaction" for row in e.main.rows("faults"))


def _exchange_seconds(e: Evidence) -> float:
    """Time of all exchanges: iterations without the computation before them."""
    return sum(
        picoseconds(row["ict_s"]) - picoseconds(row["compute_s"])
        for row in e.main.rows("iterations")
    )


@law(
    "doc/plan.rst, the least time of any exchange",
    when=lambda e: (
        e.finished and bool(e.main.run["bound_s"]) and not e.aggregates and not replanned(e)
    ),
)
def nothing_is_faster_than_the_bound_of_any_exchange(e: Evidence) -> Iterator[str]:
    """times_bound is at least 1 on every transport, and is what its columns say."""
    times = float(e.main.run["times_bound"])
    if times < 1 - _ROUNDING:
        yield f"times_bound is {times}"
    count = len(e.main.rows("iterations"))
    bound = float(e.main.run["bound_s"]) * 1e12 * count
    if (
        bound > 1e6
        and count
        and not math.isclose(times, _exchange_seconds(e) / bound, rel_tol=1e-3)
    ):
        yield f"times_bound is {times}, exchanges take {_exchange_seconds(e)} ps of {bound}"


@law(
    "doc/results.rst, describe: fluid ICT and bandwidth bound",
    when=lambda e: e.simulated and not e.aggregates and e.description.code == 0,
)
def the_fluid_time_is_not_below_the_bounds(e: Evidence) -> Iterator[str]:
    """describe: a plan on fluid takes at least its own bandwidth bound and that of its collective."""
    bounds = e.described(r"^    (?:bandwidth bound|bound of any [\w -]+): ([0-9.]+) ms")
    fluid = e.described(r"^  fluid ICT of (\S+): ([0-9.]+) ms")
    if len(e.job_names) != 1 or not fluid:
        return
    # A gated plan may leave out what comes late, a barrier has a bound of 0.
    if e.scheme()["kind"] == "federated" or e.scenario.get("faults"):
        return
    least = max((float(text) for text in bounds), default=0.0)
    if float(fluid[0][1]) < least * (1 - _ROUNDING) - 2e-6:
        yield f"fluid {fluid[0][1]} ms, bound {least} ms"


def _own_bytes(e: Evidence) -> bool:
    return e.calm and not e.aggregates and e.one_plan


@law("a link carries what its rate allows", when=_own_bytes)
def endpoints_are_not_faster_than_their_links(e: Evidence) -> Iterator[str]:
    """What a host sends or gets from its first message to its last takes the time of its links."""
    spans: dict[tuple[str, str], list[int]] = {}
    for row in e.main.rows("messages"):
        begin, end = picoseconds(row["start_s"]), picoseconds(row["end_s"])
        for key in (("out", row["src"]), ("in", row["dst"])):
            span = spans.setdefault(key, [begin, end, 0])
            span[0] = min(span[0], begin)
            span[1] = max(span[1], end)
            span[2] += int(row["bytes"])
    for (way, name), (begin, end, size) in spans.items():
        rate = e.network.out_of(name) if way == "out" else e.network.into(name)
        if size * 8 * 1e12 > rate * (end - begin) * (1 + _ROUNDING) + 8e12:
            yield f"{name} {way}: {size} bytes in {end - begin} ps at {rate} b/s"


@law("a message needs the delay of its path", when=_own_bytes)
def messages_take_the_delay_of_their_path(e: Evidence) -> Iterator[str]:
    """No message arrives before light does: links of the shortest path times the least delay."""
    for row in e.main.rows("messages"):
        took = picoseconds(row["end_s"]) - picoseconds(row["start_s"])
        least = e.network.distance(row["src"], row["dst"]) * e.network.least_delay
        if took < least:
            yield f"{row['src']} -> {row['dst']} in {took} ps, the delay is {least} ps"


@law(
    "issue 18: fluid at most packets less headers",
    when=lambda e: (
        e.calm
        and e.probed("fluid")
        and e.transport == "roce"
        and e.scenario["topology"]["kind"] == "star"
        and "server" not in e.scenario["topology"]
        and not e.aggregates
        and e.single
        and e.fluid.code == 0
    ),
)
def fluid_is_not_slower_than_packets(e: Evidence) -> Iterator[str]:
    """On one switch, where nobody competes or all alike, packets and headers only add time.

    Max-min fair shares are not the fastest order of every plan: with parameter-hub's chunks of two sizes
    packets are 16 % faster than the fluid. Of rings and of what all do at once they are.
    """
    if e.scheme()["kind"] not in _ALIKE or e.compressed() or e.scheme().get("servers"):
        return
    packets, fluid = (picoseconds(r.run["ict_mean_s"]) for r in (e.main, e.fluid))
    if fluid > packets * (1 + _ROUNDING) + 1000:
        yield f"fluid {fluid} ps, packets {packets} ps"


@law(
    "doc/faults.rst, doc/results.rst",
    when=lambda e: e.finished and bool(e.main.rows("faults")),
    trains=True,
)
def faults_end_after_they_begin(e: Evidence) -> Iterator[str]:
    """Of each fault and target beginnings and ends take turns; recovery takes no negative time."""
    open_now: dict[tuple[str, str], int] = defaultdict(int)
    for row in e.main.rows("faults"):
        key = row["fault"], row["target"]
        if row["event"] == "begin":
            open_now[key] += 1
        elif row["event"] == "end":
            open_now[key] -= 1
            if open_now[key] < 0:
                yield f"{key} ends at {row['time_s']} without having begun"


@law("doc/traffic.rst", when=lambda e: e.simulated and e.traffic)
def flows_come_within_their_window(e: Evidence) -> Iterator[str]:
    """Flows begin from start on and within duration, between two different hosts, of the size asked for."""
    for row in e.main.rows("flows"):
        entry = e.scenario["traffic"][int(row["traffic"])]
        begin = e.time(entry, "start")
        start = picoseconds(row["start_s"])
        if start < begin or ("duration" in entry and start > begin + e.time(entry, "duration")):
            yield f"flow {row} outside of its window"
        if row["src"] == row["dst"]:
            yield f"flow {row} to itself"
        size = entry.get("size")
        if size and int(row["bytes"]) != quantity(size, SIZE_UNITS):
            yield f"flow {row}, asked for {size}"


def least_rate(e: Evidence) -> int:
    return min(int(row["rate_bps"]) for row in e.main.rows("links"))


@law("doc/scenario.rst, job.compute", when=lambda e: e.simulated and not e.scenario.get("faults"))
def computation_takes_its_time(e: Evidence) -> Iterator[str]:
    """Without stragglers compute_s is job.compute, of schemes that compute before they exchange."""
    for index, job in enumerate(e.jobs):
        if e.scheme(index)["kind"] == "federated" or not isinstance(job.get("compute", ""), str):
            continue
        for row in e.main.rows("iterations"):
            if row["job"] == e.job_name(index) and picoseconds(row["compute_s"]) != e.compute(job):
                yield f"compute_s of {row['job']} is {row['compute_s']}, asked for {job.get('compute')}"


@law("doc/engine.rst: reductions one after the other", when=lambda e: _own_bytes(e) and e.single)
def adding_takes_its_time(e: Evidence) -> Iterator[str]:
    """With a reduceRate an iteration is not shorter than what its busiest rank adds."""
    rate = e.jobs[0].get("reduceRate", "unlimited")
    if rate == "unlimited" or e.compressed():
        return
    added: dict[int, int] = defaultdict(int)
    for operation in e.plan["operations"]:
        if operation["kind"] == "reduce":
            added[operation["to"]] += operation["bytes"]
    least = max(added.values(), default=0) * 8e12 / quantity(rate, RATE_UNITS)
    for row in e.main.rows("iterations"):
        if picoseconds(row["ict_s"]) < least * (1 - _ROUNDING) - len(e.plan["operations"]):
            yield f"iteration of {row['ict_s']} s, adding takes {least} ps"
