# SPDX-License-Identifier: GPL-2.0-only
"""Time of training iterations: its parts, computation by hand, the critical path, and closed forms."""

import math
from collections import defaultdict
from collections.abc import Iterator

from referee.case import picoseconds
from referee.evidence import Evidence
from referee.law import law
from referee.laws_repeat import differences
from referee.laws_training_bytes import whole_job
from referee.training_job import ModelJob, TrainingJob

_ROUNDING = 1e-9


def _times(row: dict[str, str]) -> dict[str, int]:
    return {name[:-2]: picoseconds(text) for name, text in row.items() if name.endswith("_s")}


def _spans(e: Evidence) -> list[tuple[int, int]]:
    """Begin and end of each iteration."""
    starts = [(row["start_s"], row["ict_s"]) for row in e.main.rows("iterations")]
    return [(picoseconds(s), picoseconds(s) + picoseconds(ict)) for s, ict in starts]


@law("doc/results.rst, training.csv", when=lambda e: e.trains and e.simulated, trains=True)
def computation_exposed_and_bubble_are_the_iteration(e: Evidence) -> Iterator[str]:
    """Of each rank, to the picosecond; iterations are those of iterations.csv, means those of runs.csv."""
    spans, ranks = _spans(e), defaultdict(list)
    for row in e.main.rows("training"):
        times = _times(row)
        ranks[int(row["iteration"])].append(times)
        parts = ("computation", "exposed", "bubble", "lost")
        if sum(times[part] for part in parts) != times["iteration"]:
            yield f"rank {row['rank']} of iteration {row['iteration']}: {times}"
        if times["hidden"] > times["computation"] or times["waiting"] > times["exposed"]:
            yield f"rank {row['rank']}: hidden or waiting is more than all: {times}"
        begin, end = spans[int(row["iteration"])]
        if (times["start"], times["iteration"]) != (begin, end - begin):
            yield f"iteration {row['iteration']} from {times['start']} ps, expected {begin} to {end}"
    if not ranks:
        return
    for column in ("computation", "hidden", "exposed"):
        means = [sum(t[column] for t in of) // len(of) for of in ranks.values()]
        if picoseconds(e.main.run[f"{column}_s"]) != sum(means) // len(means):
            yield f"{column}_s is {e.main.run[f'{column}_s']}, ranks have {means}"


@law("doc/results.rst, streams.csv", when=lambda e: e.trains and e.simulated, trains=True)
def streams_are_parts_of_their_rank(e: Evidence) -> Iterator[str]:
    """No stream exposes more than its rank, and all of them together no less."""
    exposed, ranks = defaultdict(int), {}
    for row in e.main.rows("training"):
        ranks[row["iteration"], row["rank"]] = _times(row)
    for row in e.main.rows("streams"):
        times, rank = _times(row), ranks[row["iteration"], row["rank"]]
        exposed[row["iteration"], row["rank"]] += times["exposed"]
        if times["hidden"] + times["exposed"] != times["communication"]:
            yield f"{row['stream']} of rank {row['rank']}: {times}"
        if times["exposed"] > rank["exposed"] or times["hidden"] > rank["hidden"]:
            yield f"{row['stream']} of rank {row['rank']}: {times}, the rank {rank}"
    for key, rank in ranks.items():
        if exposed[key] < rank["exposed"]:
            yield f"iteration and rank {key}: {rank}, streams expose {exposed[key]}"


@law(
    "doc/iterations.rst, blocks",
    when=lambda e: whole_job(e) and not e.faulty and bool(e.training.blocks),
    trains=True,
)
def ranks_compute_their_blocks(e: Evidence) -> Iterator[str]:
    """Each rank the blocks of its stage, every microbatch once, in all iterations together."""
    done = defaultdict(int)
    for row in e.main.rows("training"):
        done[int(row["rank"])] += picoseconds(row["computation_s"])
    job, times = e.training, e.jobs[0].get("iterations", 1)
    if len(done) != job.ranks:
        yield f"{len(done)} ranks, asked for {job.ranks}"
    for rank, time in done.items():
        least = job.computation(rank) * times
        # What a rank adds to sums at a rate it does between its passes.
        if time < least or (time > least and "reduceRate" not in e.jobs[0]):
            yield f"rank {rank} computes {time} ps, by hand {least}"


def _peak(job: ModelJob) -> float:
    peaks = job.given["device"]["peaks"]
    return next(peak["flops"] for peak in peaks if peak["datatype"] == job.datatype)


@law(
    "doc/models.rst",
    when=lambda e: (
        whole_job(e)
        and not e.faulty
        and isinstance(e.training, ModelJob)
        and "reduceRate" not in e.jobs[0]
    ),
    trains=True,
)
def transformers_compute_their_flops(e: Evidence) -> Iterator[str]:
    """All ranks together: three forward passes, what is recomputed, at the achieved rate; MFU, tokens."""
    job, rows = e.training, e.main.rows("training")
    layers, scores, output = job.flops()
    iterations = e.jobs[0].get("iterations", 1)
    samples = job.batch * job.microbatches * job.data * iterations
    again = {"none": 0.0, "selective": scores, "full": layers}[job.recompute]
    rate = _peak(job) * job.given["achievedShare"]
    want = (3 * (layers + output) + again) * samples / rate * 1e12
    have = sum(picoseconds(row["computation_s"]) for row in rows)
    # Each pass of each block is rounded to a picosecond, slices and stages do not add to it.
    slack = len(rows) * 2 * (2 * job.model["layers"] + 2) * job.microbatches * 2
    if not math.isclose(have, want, rel_tol=_ROUNDING, abs_tol=slack):
        yield f"ranks compute {have} ps, by hand {want}"
    length = sum(end - begin for begin, end in _spans(e))
    peak = _peak(job) * job.ranks * length / 1e12
    for column, value in (
        ("mfu", 3 * (layers + output) * samples / peak),
        ("samples_per_s", samples * 1e12 / length),
        ("tokens_per_s", samples * job.model["sequence"] * 1e12 / length),
    ):
        if not math.isclose(float(e.main.run[column]), value, rel_tol=1e-5):
            yield f"{column} is {e.main.run[column]}, by hand {value}"
    memory = max(int(row["memory_bytes"]) for row in rows)
    if int(e.main.run["device_memory_bytes"]) != memory:
        yield f"device_memory_bytes {e.main.run['device_memory_bytes']}, ranks hold {memory}"


@law("doc/iterations.rst, The critical path", when=whole_job, trains=True)
def the_critical_path_has_no_gap(e: Evidence) -> Iterator[str]:
    """From the begin of the first iteration to the end of the last, and with a barrier of each."""
    spans = _spans(e)
    end, last = spans[0][0], -1
    for row in e.main.rows("critical_path"):
        begin, iteration = picoseconds(row["start_s"]), int(row["iteration"])
        if begin != end:
            yield f"step {row['step']} of iteration {iteration} begins at {begin}, expected {end}"
        if iteration != last and e.training.has_barrier and begin != spans[iteration][0]:
            yield f"iteration {iteration} begins at {spans[iteration][0]}, its path at {begin}"
        end, last = picoseconds(row["end_s"]), iteration
    if end != spans[-1][1]:
        yield f"the path ends at {end}, the last iteration at {spans[-1][1]}"


def _is_free(e: Evidence) -> bool:
    """Communication takes no time: no bytes on a network without delays."""
    given = e.training.given
    job = e.training
    nothing = "blocks" in given and not job.bytes_after(0)
    nothing = nothing and not any(
        b.gradient or b.tensor_forward or b.tensor_backward for b in job.blocks
    )
    delay = e.scenario["topology"].get("hostLink", {}).get("delay")
    star = e.scenario["topology"]["kind"] == "star"
    return nothing and e.transport == "fluid" and star and delay == "0ns"


def pipeline_time(job: TrainingJob) -> int | None:
    """doc/iterations.rst, Closed forms; None where there is none."""
    m, p, v = job.microbatches, job.stages, job.chunks
    stages = [job.blocks_of_stage(stage) for stage in range(p)]
    f = [sum(block.forward for block in stage) for stage in stages]
    b = [sum(block.backward for block in stage) for stage in stages]
    w = [sum(block.weight for block in stage) for stage in stages]
    alike = len(set(zip(f, b, w))) == 1 and len(set(job.blocks)) == 1
    if job.schedule == "gpipe":
        return sum(f) + (m - 1) * max(f) + sum(b) + (m - 1) * max(b)
    if not alike or len(job.blocks) % job.parts:
        return None
    if job.schedule == "1f1b":
        return (m + p - 1) * (f[0] + b[0])
    if job.schedule == "interleaved":
        return m * (f[0] + b[0]) + (p - 1) * (f[0] + b[0]) // v
    return m * (f[0] + b[0] + w[0]) + (p - 1) * (f[0] + b[0] - w[0]) if m >= p else None


@law(
    "doc/iterations.rst, Closed forms",
    when=lambda e: (
        whole_job(e)
        and not e.faulty
        and _is_free(e)
        and e.training.has_barrier
        and e.training.zero != 3
        and pipeline_time(e.training) is not None
    ),
    trains=True,
)
def pipelines_take_the_time_of_their_closed_form(e: Evidence) -> Iterator[str]:
    """GPipe, 1F1B, interleaved, ZB-H1 without communication, to the picosecond; bubbles follow."""
    want = pipeline_time(e.training)
    for begin, end in _spans(e):
        if end - begin != want:
            yield f"an iteration takes {end - begin} ps, by hand {want}"


def _alone_on_links(e: Evidence) -> bool:
    """Equal data-parallel ranks on one switch: a rank is in one collective of them at once."""
    job, topology = e.training, e.scenario["topology"]
    plain = topology["kind"] == "star" and "server" not in topology
    alone = job.stages == job.tensor == job.context == 1 and "blocks" in job.given
    one_stream = not ({"streams", "credit", "slices", "streamPolicy"} & set(job.given))
    calm = e.calm and whole_job(e) and job.has_barrier and job.exchange == "all-reduce"
    return plain and alone and one_stream and calm and job.zero == 0 and _scheme_is_ring(e)


def _scheme_is_ring(e: Evidence) -> bool:
    return e.training.given.get("gradientScheme", e.scheme()) in ({"kind": "ring"}, "ring")


def _whole_parts(e: Evidence) -> bool:
    """Every bucket divides into elements on all ranks."""
    job = e.training
    return all(bucket % (4 * job.data) == 0 for bucket in job.buckets(0))


@law(
    "doc/iterations.rst, Closed forms; DDP, Li et al., VLDB'20",
    when=lambda e: (
        e.trains
        and e.transport == "fluid"
        and _alone_on_links(e)
        and "reduceRate" not in e.jobs[0]
        and _whole_parts(e)
        and "piece" not in e.training.given
    ),
    trains=True,
)
def buckets_end_when_they_can(e: Evidence) -> Iterator[str]:
    """Each when its last block is done and the one before it is: e = max(e, ready) + 2(n-1)(K/nB + d)."""
    job, link = e.training, e.scenario["topology"]["hostLink"]
    row = e.main.rows("links")[0]
    rate = int(row["rate_bps"]) * float(e.setting("efficiency", 1))
    delay = 2 * e.network.least_delay if link else 0
    end = job.computation(0)
    ready = end - sum(block.backward for block in job.blocks)
    buckets, exchanged = iter(job.buckets(0)), 0
    caps = [job.size("firstBucket", "1MiB"), job.size("bucket", "25MiB")]
    held, closed, done = 0, 0, 0.0
    for block in reversed(job.blocks):
        ready, held = ready + block.backward, held + block.gradient
        exchanged += block.gradient
        rest = exchanged == sum(b.gradient for b in job.blocks) and block is job.blocks[0]
        if held and (held >= caps[min(closed, 1)] or rest):
            size, held, closed = next(buckets), 0, closed + 1
            start = max(done, ready if job.overlaps else end)
            done = start + 2 * (job.data - 1) * (size * 8e12 / job.data / rate + delay)
    want = max(done, end) if job.data > 1 else end
    for begin, stop in _spans(e):
        if not math.isclose(stop - begin, want, rel_tol=1e-6, abs_tol=4 * closed * job.data + 4):
            yield f"an iteration takes {stop - begin} ps, by hand {want:.0f}"


@law(
    "a fluid has no headers",
    when=lambda e: (
        e.trains
        and e.probed("fluid")
        and e.transport == "roce"
        and _alone_on_links(e)
        and e.fluid.code == 0
    ),
    trains=True,
)
def training_is_not_slower_on_the_fluid(e: Evidence) -> Iterator[str]:
    """Of equal ranks that are in one ring at a time packets and headers only add time."""
    packets, fluid = (picoseconds(r.run["iteration_mean_s"]) for r in (e.main, e.fluid))
    if fluid > packets * (1 + 1e-6) + 1000:
        yield f"fluid {fluid} ps, packets {packets} ps"


@law(
    "doc/iterations.rst, overlap",
    when=lambda e: (
        e.trains
        and e.probed("no-overlap")
        and e.training.overlaps
        and e.transport == "fluid"
        and _alone_on_links(e)
    ),
    trains=True,
)
def overlap_is_not_slower(e: Evidence) -> Iterator[str]:
    """Where nothing else is on the links, buckets that begin sooner end no later."""
    ours, others = (picoseconds(r.run["iteration_mean_s"]) for r in (e.main, e.without_overlap))
    if ours > others + 10 * len(e.training.blocks) * e.training.data:
        yield f"{ours} ps with overlap, {others} ps without"


@law(
    "issue 21: bit-identical when a workload of one collective is compared with today's job",
    when=lambda e: e.trains and e.finished and e.probed("exchange"),
    trains=True,
)
def one_block_is_the_exchange_of_one_gradient(e: Evidence) -> Iterator[str]:
    """A computation and its collective take what a job with that compute and gradient takes."""
    ours, others = e.main, e.as_exchange
    if others.code != ours.code:
        yield f"exit codes {ours.code} and {others.code}: {others.outcome.error[-300:]}"
        return
    for a, b in zip(ours.rows("iterations"), others.rows("iterations"), strict=True):
        if (a["start_s"], a["ict_s"]) != (b["start_s"], b["ict_s"]):
            yield f"iteration {a['iteration']}: {a['ict_s']} s of training, {b['ict_s']} s alone"
    for column in ("goodput_bytes", "wire_bytes", "packet_hops"):
        if ours.run[column] != others.run[column]:
            yield f"{column}: {ours.run[column]} of training, {others.run[column]} alone"


@law(
    "doc/iterations.rst, order",
    when=lambda e: (
        whole_job(e)
        and not e.faulty
        and e.probed("order")
        and "reduceRate" not in e.jobs[0]
        and e.other_order.code == 0
    ),
    trains=True,
)
def the_order_of_ranks_moves_no_byte(e: Evidence) -> Iterator[str]:
    """Whoever is neighbour of whom, all ranks together send the same and compute the same."""
    goodput = [results.run["goodput_bytes"] for results in (e.main, e.other_order)]
    if goodput[0] != goodput[1]:
        yield f"goodput {goodput[0]}, in another order {goodput[1]}"
    sums = [
        sum(picoseconds(row["computation_s"]) for row in results.rows("training"))
        for results in (e.main, e.other_order)
    ]
    if sums[0] != sums[1]:
        yield f"ranks compute {sums[0]} ps, in another order {sums[1]} ps"


@law(
    "doc/iterations.rst: what is put in by hand is what stands there by default",
    when=lambda e: e.trains and e.simulated and e.probed("whole"),
    trains=True,
)
def defaults_may_be_spelled_out(e: Evidence) -> Iterator[str]:
    """The same run where data, order, schedule and pieces of the size of a bucket are given."""
    yield from differences(e.main, e.spelled_training)


@law(
    "doc/results.rst, describe: fluid ICT",
    when=lambda e: (
        whole_job(e)
        and e.calm
        and e.transport == "fluid"
        # Which describes one iteration: without a barrier the next one is in its way.
        and (e.training.has_barrier or e.jobs[0].get("iterations", 1) == 1)
        and not e.setting("efficiency")
        and "reduceRate" not in e.jobs[0]
    ),
    trains=True,
)
def describe_tells_the_fluid_iteration(e: Evidence) -> Iterator[str]:
    """The time that describe has is that of the run, to the nanosecond that it prints."""
    told = e.described(r"^  fluid ICT of (\S+): ([0-9.]+) ms")
    spans = _spans(e)
    length = spans[0][1] - spans[0][0]
    if told and abs(float(told[0][1]) * 1e9 - length) > 1000 + length * 1e-6:
        yield f"describe has {told[0][1]} ms, the run took {length} ps"
