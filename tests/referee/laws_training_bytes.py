# SPDX-License-Identifier: GPL-2.0-only
"""Bytes of training iterations: from what was asked for by hand, and from the tables of what was done."""

import math
from collections import defaultdict
from collections.abc import Iterator

from referee.case import picoseconds
from referee.evidence import Evidence
from referee.law import law
from referee.training_job import TENSOR_SCHEMES, ModelJob, TrainingJob

# Rates have whole bytes a second.
_ROUNDING = 1e-6


def all_reduce(ranks: int, size: int) -> int:
    return 2 * (ranks - 1) * size


def once(ranks: int, size: int) -> int:
    """All-gather, reduce-scatter; an all-to-all of so many bytes a rank."""
    return (ranks - 1) * size


_VOLUMES = {
    "all-reduce": all_reduce,
    "all-gather": once,
    "reduce-scatter": once,
    "all-to-all": once,
    "message": once,
    "shift": lambda ranks, size: ranks * size,
}


def whole_job(e: Evidence) -> bool:
    """All iterations are those of the job that was asked for."""
    return e.trains and e.finished and not _reactions(e)


def _reactions(e: Evidence) -> bool:
    return any(row["kind"] == "reaction" for row in e.main.rows("faults"))


def _iterations(e: Evidence) -> int:
    return e.jobs[0].get("iterations", 1)


def _of_stages(job: TrainingJob) -> int:
    """Activations and their gradients, a microbatch from each rank at each cut that leaves a rank."""
    if job.stages == 1:
        return 0
    ranks = job.tensor * job.replicas
    sent = sum(job.bytes_after(part) for part in range(job.parts - 1))
    return 2 * job.microbatches * ranks * sent


def _of_tensor(job: TrainingJob) -> int:
    """After each pass of each block, by each group."""
    if job.tensor == 1:
        return 0
    passes = [s for b in job.blocks for s in (b.tensor_forward, b.tensor_backward)]
    size = sum(sum(job.shares(passed)) for passed in passes)
    return all_reduce(job.tensor, size) * job.microbatches * job.replicas


def _of_piece(job: TrainingJob, size: int) -> int:
    """Of a piece of a bucket among the ranks that sum it."""
    n = job.replicas
    if job.zero in (1, 2):
        share = math.floor(size * job.parameter_share + 0.5)
        return once(n, size) + once(n, max(1, share))
    if job.exchange == "hierarchical":
        inner = job.given["innerRanks"]
        groups = n // inner
        return 2 * once(inner, size) * groups + all_reduce(groups, -(-size // inner)) * inner
    return all_reduce(n, size)


def _of_gradients(job: TrainingJob) -> int:
    n = job.replicas
    if n == 1:
        return 0
    if job.zero == 3:
        return 3 * once(n, sum(block.gradient for block in job.blocks))
    pieces = [
        piece
        for part in range(job.parts)
        for bucket in job.buckets(part)
        for piece in job.pieces(bucket)
    ]
    return job.tensor * sum(_of_piece(job, piece) for piece in pieces)


def blocks_bytes(job: TrainingJob) -> int:
    """Of an iteration of blocks, all ranks together."""
    return _of_stages(job) + _of_tensor(job) + _of_gradients(job)


def _inner_ranks_known(job: TrainingJob) -> bool:
    return job.exchange != "hierarchical" or job.replicas == 1 or "innerRanks" in job.given


def _full_duplex(e: Evidence) -> bool:
    """All all-reduces move 2(n-1)K: that of other schemes depends on who is where."""
    return e.scheme()["kind"] in TENSOR_SCHEMES


@law(
    "doc/iterations.rst; the volumes of ZeRO, DDP, Megatron-LM and pipelines",
    when=lambda e: (
        whole_job(e)
        and bool(e.training.blocks)
        and _inner_ranks_known(e.training)
        and _full_duplex(e)
    ),
    trains=True,
)
def blocks_move_the_bytes_of_their_closed_forms(e: Evidence) -> Iterator[str]:
    """Goodput: 2(t-1)K a pass, K a cut and microbatch, 2(n-1)K or 3(n-1)K of gradients, to the byte."""
    want = blocks_bytes(e.training) * _iterations(e)
    if int(e.main.run["goodput_bytes"]) != want:
        yield f"goodput {e.main.run['goodput_bytes']}, by hand {want}"


def _tensor_passes(job: ModelJob) -> int:
    """Bytes of all tensor-parallel exchanges of a microbatch by one group (doc/models.rst)."""
    if job.tensor == 1:
        return 0
    a, m, t = job.activation_bytes, job.model, job.tensor
    # Layers that exchange: attention, and the feed-forward part unless it is one of experts.
    places = m["layers"] * (1 if job.mixture else 2)
    again = places if job.recompute == "full" else 0
    loss = 3 * all_reduce(t, 4 * job.batch * m["sequence"] // job.context)
    if job.split:
        # Forward a gather and a scatter, backward two and one; embedding and output 1 + 1 and 2 + 1.
        return (5 * places + 2 * again + 2 + 3) * once(t, a) + loss
    cuts = job.parts - 1 if job.stages > 1 else 0
    return (2 * places + again + 2) * all_reduce(t, a) + loss + 2 * cuts * once(t, a)


def _expert_passes(job: ModelJob) -> int:
    """Of a microbatch and one stage: four all-to-alls a layer, and those of parts of an expert."""
    if not job.mixture:
        return 0
    own = job.activation_bytes // job.tensor * job.model["expertsPerToken"]
    ranks = job.tensor * job.replicas
    pairs = (3 if job.recompute == "full" else 2) * job.model["layers"]
    exchanged = 2 * once(job.expert, own) * (ranks // job.expert)
    shared = 2 * once(job.expert_tensor, own * job.expert_tensor) * (ranks // job.expert_tensor)
    return pairs * (exchanged + shared)


def _context_passes(job: ModelJob) -> int:
    """Of a microbatch by one group: keys and values gathered, again backward, and scattered."""
    sequence = job.model["sequence"]
    size = job.element * job.batch * sequence * 2 * job.keys // job.tensor
    times = 4 if job.recompute == "full" else 3
    return times * job.model["layers"] * once(job.context, size)


def _gradients_of_model(job: ModelJob) -> int:
    """Of 4 bytes a parameter summed; with ZeRO scattered, and parameters gathered in e bytes."""
    ranks = job.tensor * job.replicas
    total = 0
    for stage in range(job.stages):
        own, experts = job.stage_parameters(stage)
        copies = ranks // (job.expert * job.expert_tensor)
        for groups, n, count in (
            (job.tensor, job.replicas, own),
            (ranks // copies, copies, experts),
        ):
            if job.zero == 3:
                total += 3 * once(n, job.element * count) * groups
            elif job.zero:
                total += once(n, (4 + job.element) * count) * groups
            else:
                total += all_reduce(n, 4 * count) * groups
    return total


def _tied_gradients(job: ModelJob) -> int:
    """Of the embedding, by each rank of the first stage and the one with its place in the last."""
    if job.stages == 1 or not job.model["tiedEmbedding"]:
        return 0
    words = -(-job.model["vocabulary"] * job.model["hidden"] // job.tensor)
    size = -(-job.element * words // job.replicas) if job.zero == 3 else 4 * words
    return all_reduce(2, size) * job.tensor * job.replicas


def model_bytes(job: ModelJob) -> int:
    """Of an iteration of a transformer, all ranks together."""
    ranks = job.tensor * job.replicas
    cut = -(-job.element * job.batch * job.model["sequence"] * job.model["hidden"])
    sent = -(-cut // (job.tensor * job.context)) * ranks if job.stages > 1 else 0
    passes = (
        _tensor_passes(job) * job.replicas
        + _context_passes(job) * (ranks // job.context)
        + _expert_passes(job)
        + 2 * (job.parts - 1) * sent
    )
    return job.microbatches * passes + _gradients_of_model(job) + _tied_gradients(job)


@law(
    "doc/models.rst, What ranks exchange",
    when=lambda e: (
        whole_job(e)
        and isinstance(e.training, ModelJob)
        and _full_duplex(e)
        and (e.training.exchange != "hierarchical" or e.training.replicas == 1)
    ),
    trains=True,
)
def transformers_move_the_bytes_of_their_closed_forms(e: Evidence) -> Iterator[str]:
    """Goodput from dimensions: tensor, sequence, context, expert, pipeline and data parallelism, to the byte."""
    want = model_bytes(e.training) * _iterations(e)
    if int(e.main.run["goodput_bytes"]) != want:
        yield f"goodput {e.main.run['goodput_bytes']}, by hand {want}"


@law(
    "doc/results.rst, collectives.csv",
    when=lambda e: whole_job(e) and not e.faulty and _full_duplex(e),
    trains=True,
)
def collectives_carry_all_that_is_delivered(e: Evidence) -> Iterator[str]:
    """Counts times the bytes of each collective are the goodput, and those that describe tells."""
    of_labels: dict[str, int] = defaultdict(int)
    for row in e.main.rows("collectives"):
        volume = _VOLUMES[row["kind"]](int(row["group_size"]), int(row["bytes"]))
        of_labels[row["label"]] += int(row["count"]) * volume
    if sum(of_labels.values()) != int(e.main.run["goodput_bytes"]):
        yield f"goodput {e.main.run['goodput_bytes']}, collectives have {dict(of_labels)}"
    # Without a barrier a workload has all iterations.
    times = _iterations(e) if e.training.has_barrier else 1
    told: dict[str, int] = defaultdict(int)
    for label, size in e.described(r"^    \d+ x (.+) of \d+ ranks?: (\d+) bytes"):
        told[label] += int(size) * times
    if told != of_labels:
        yield f"describe has {dict(told)}, collectives {dict(of_labels)}"


@law("doc/iterations.rst: nccl-tests", when=lambda e: e.trains and e.finished, trains=True)
def bandwidths_are_bytes_over_time(e: Evidence) -> Iterator[str]:
    """algbw is bytes over the mean time, busbw that by what each rank has to send; times are in order."""
    shares = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1, "all-to-all": 1}
    for row in e.main.rows("collectives"):
        size, ranks = int(row["bytes"]), int(row["group_size"])
        mean, least, most, first, exposed = (
            picoseconds(row[f"{name}_s"])
            for name in ("mean", "min", "max", "first_mean", "exposed_mean")
        )
        if not least <= mean <= most or first < mean or exposed > max(first, most):
            yield f"{row['label']}: {least}, {mean}, {most}, from the first {first}, exposed {exposed}"
        if mean == 0:
            continue
        # The mean is rounded down to a picosecond, bandwidths to bytes a second.
        slack = 1 / mean + _ROUNDING
        algorithm = float(row["algbw_bytes_per_s"] or 0)
        if not math.isclose(algorithm, size * 1e12 / mean, rel_tol=slack, abs_tol=2):
            yield f"{row['label']}: algbw {algorithm}, {size} bytes take {mean} ps"
        factor = shares[row["kind"]] * (ranks - 1) / ranks if row["kind"] in shares else 1
        bus = float(row["busbw_bytes_per_s"] or 0)
        if not math.isclose(bus, algorithm * factor, rel_tol=_ROUNDING, abs_tol=2):
            yield f"{row['label']}: busbw {bus}, algbw {algorithm} times {factor}"


def _sends_evenly(e: Evidence) -> bool:
    """Rings and messages: whoever comes last has all but a part to send itself."""
    given = e.training.given
    schemes = [given.get(f"{name}Scheme", "ring") for name in ("tensor", "gradient", "outer")]
    return {*schemes, e.scheme()["kind"]} == {"ring"}


@law(
    "a link carries what its rate allows",
    when=lambda e: e.trains and e.finished and not e.faulty and _sends_evenly(e),
    trains=True,
)
def collectives_are_not_faster_than_links(e: Evidence) -> Iterator[str]:
    """From when the last rank comes, that rank sends all but the largest part, twice for an all-reduce."""
    rate = max(e.network.out_of(name) for name in e.network.endpoints)
    for row in e.main.rows("collectives"):
        size, ranks = int(row["bytes"]), int(row["group_size"])
        part = 4 * math.ceil(math.ceil(size / 4) / ranks)
        own = size if row["kind"] == "message" else max(0, size - part)
        least = own * (2 if row["kind"] == "all-reduce" else 1) * 8e12 / rate
        if picoseconds(row["min_s"]) < least * (1 - _ROUNDING) - 2 * ranks:
            yield f"{row['label']} of {size} bytes among {ranks} in {row['min_s']} s, at {rate} b/s"


@law(
    "a link carries what its rate allows",
    when=lambda e: e.trains and e.calm and e.lossless and e.transport != "tcp",
    trains=True,
)
def iterations_take_the_time_of_the_busiest_link(e: Evidence) -> Iterator[str]:
    """Payload of each link over its rate is no more than all iterations."""
    length = sum(picoseconds(row["ict_s"]) for row in e.main.rows("iterations"))
    for row in e.main.rows("links"):
        if (
            int(row["payload_bytes"]) * 8e12
            > int(row["rate_bps"]) * length * (1 + _ROUNDING) + 8e12
        ):
            yield f"{row['from']} -> {row['to']}: {row['payload_bytes']} bytes in {length} ps"


@law(
    "conservation",
    when=lambda e: e.trains and e.calm and e.lossless and e.transport == "roce",
    trains=True,
)
def switches_pass_on_what_training_sends(e: Evidence) -> Iterator[str]:
    """Payload into each switch is payload out of it; endpoints send and get the goodput."""
    into, out_of = defaultdict(int), defaultdict(int)
    for row in e.main.rows("links"):
        out_of[row["from"]] += int(row["payload_bytes"])
        into[row["to"]] += int(row["payload_bytes"])
    for node in e.network.neighbours:
        if not e.network.is_endpoint(node) and into[node] != out_of[node]:
            yield f"{node} gets {into[node]} and passes on {out_of[node]}"
    sent = sum(out_of[name] for name in e.network.endpoints)
    got = sum(into[name] for name in e.network.endpoints)
    if not sent == got == int(e.main.run["goodput_bytes"]):
        yield f"endpoints send {sent} and get {got}, goodput {e.main.run['goodput_bytes']}"
