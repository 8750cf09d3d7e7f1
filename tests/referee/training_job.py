# SPDX-License-Identifier: GPL-2.0-only
"""What a `training` asks for, by doc/iterations.rst: who is on which stage, computes what, has which buckets."""

import math
from dataclasses import dataclass
from functools import cached_property

from referee.case import SIZE_UNITS, TIME_UNITS, quantity

# All-reduces that move 2(n-1)K bytes among n ranks, however many and however large.
TENSOR_SCHEMES = ("ring", "halving-doubling", "k-nomial", "double-binary-tree")
# doc/iterations.rst: 1 MiB, then 25 MiB.
_FIRST_BUCKET, _BUCKET = "1MiB", "25MiB"


@dataclass(frozen=True)
class Block:
    """What is computed as one, times in picoseconds."""

    forward: int
    backward: int
    weight: int
    gradient: int
    tensor_forward: int
    tensor_backward: int


class TrainingJob:
    """A training with its defaults in place."""

    def __init__(self, training: dict, endpoints: int):
        self.given = training
        self.tensor = training.get("tensor", 1)
        self.context = training.get("context", 1)
        self.stages = training.get("pipeline", 1)
        model_ranks = self.tensor * self.context * self.stages
        self.data = training.get("data", endpoints // model_ranks)
        self.ranks = model_ranks * self.data
        self.microbatches = training.get("microbatches", 1)
        self.chunks = training.get("chunks", 1)
        self.slices = training.get("slices", 1)
        self.schedule = training.get("schedule", "1f1b")
        self.zero = training.get("zero", 0)
        self.exchange = training.get("exchange", "all-reduce")
        self.overlaps = training.get("overlap", True)
        self.has_barrier = training.get("barrier", True)
        self.parameter_share = training.get("parameterShare", 1)

    def size(self, name: str, default: str) -> int:
        return quantity(self.given.get(name, default), SIZE_UNITS)

    @property
    def replicas(self) -> int:
        """Ranks that sum a gradient: doc/iterations.rst, data and context."""
        return self.data * self.context

    @property
    def parts(self) -> int:
        """Chunks of all stages."""
        return self.stages * self.chunks

    @cached_property
    def blocks(self) -> list[Block]:
        found = []
        for block in self.given.get("blocks", []):
            times = [quantity(block.get(k, "0s"), TIME_UNITS) for k in ("forward", "backward")]
            weight = quantity(block.get("weight", "0s"), TIME_UNITS)
            keys = ("gradient", "tensorForward", "tensorBackward")
            sizes = [quantity(block.get(k, "0B"), SIZE_UNITS) for k in keys]
            # doc/iterations.rst: weight is of zb-h1 alone.
            weight = weight if self.schedule == "zb-h1" else 0
            found += [Block(*times, weight, *sizes)] * block.get("count", 1)
        return found

    def bytes_after(self, part: int) -> int:
        """Of a microbatch from a rank of a part to the next one."""
        return self.size("activation", "0B")

    def blocks_of_part(self, part: int) -> list[Block]:
        """As even as whole blocks are, the first parts first."""
        count = len(self.blocks)
        return self.blocks[part * count // self.parts : (part + 1) * count // self.parts]

    def blocks_of_stage(self, stage: int) -> list[Block]:
        return [b for c in range(self.chunks) for b in self.blocks_of_part(c * self.stages + stage)]

    def stage_of(self, rank: int) -> int:
        """By the order of the axes, as Megatron-LM stacks them."""
        sizes = {"tp": self.tensor, "cp": self.context, "dp": self.data, "pp": self.stages}
        order = self.given.get("order", "tp-cp-ep-dp-pp").split("-")
        before = order[: order.index("pp")]
        return rank // math.prod(sizes.get(axis, 1) for axis in before) % self.stages

    def computation(self, rank: int) -> int:
        """Picoseconds of an iteration of blocks."""
        blocks = self.blocks_of_stage(self.stage_of(rank))
        passes = sum(block.forward + block.backward + block.weight for block in blocks)
        return passes * self.microbatches

    def buckets(self, part: int) -> list[int]:
        """DDP's: from the last block on, each closed when it has the bytes of its cap."""
        caps = [self.size("firstBucket", _FIRST_BUCKET), self.size("bucket", _BUCKET)]
        buckets, held = [], None
        for block in reversed(self.blocks_of_part(part)):
            held = block.gradient + (held or 0)
            if held >= caps[min(len(buckets), 1)]:
                buckets.append(held)
                held = None
        return buckets + ([held] if held else [])

    def pieces(self, bucket: int) -> list[int]:
        """Of `piece` bytes, and what is left."""
        piece = self.size("piece", "0B") or bucket
        return [piece] * (bucket // piece) + ([bucket % piece] if bucket % piece else [])

    def shares(self, size: int) -> list[int]:
        """A collective of a block in slices, each of a byte at least."""
        ends = [size * i // self.slices for i in range(self.slices + 1)]
        return [max(1, end - begin) for begin, end in zip(ends, ends[1:])] if size else []


# Of a model's keys: ./ns3 list.
_MODEL_DEFAULTS = {"norm": "rms", "gated": False, "biases": False, "tiedEmbedding": False}


class ModelJob(TrainingJob):
    """A transformer on ranks, by the table of doc/models.rst, What ranks exchange."""

    def __init__(self, training: dict, endpoints: int):
        super().__init__(training, endpoints)
        self.model = {**_MODEL_DEFAULTS, **training["model"]}
        self.expert = training.get("expert", 1)
        self.expert_tensor = training.get("expertTensor", self.tensor)
        self.batch = training.get("microbatchSize", 1)
        self.datatype = training.get("datatype", "bf16")
        self.element = 4 if self.datatype == "fp32" else 2
        self.split = training.get("sequenceParallel", False)
        self.recompute = training.get("recompute", "none")
        m = self.model
        self.head = m["hidden"] // m["heads"]
        self.keys = m.get("kvHeads", m["heads"]) * self.head
        self.norm = m["hidden"] * (2 if m["norm"] == "layer" else 1)
        self.mixture = m.get("experts", 0)

    @property
    def activation_bytes(self) -> int:
        """A = e b s h / c."""
        m = self.model
        return self.element * self.batch * m["sequence"] * m["hidden"] // self.context

    @property
    def _matrices(self) -> int:
        """Weights of a feed-forward part, or of one expert."""
        m = self.model
        return (3 if m["gated"] else 2) * m["hidden"] * m["feedForward"]

    def layer_parameters(self) -> tuple[int, int]:
        """Of a layer on one rank: those that all layers of a stage sum alike, and those of experts."""
        m, h = self.model, self.model["hidden"]
        bias = 1 if m["biases"] else 0
        columns = m["feedForward"] * (2 if m["gated"] else 1)
        attention = 2 * h * (h + self.keys) + bias * (h + 2 * self.keys)
        own = -(-attention // self.tensor) + self.norm + bias * h + self.norm
        if self.mixture:
            expert = self._matrices + bias * (columns + h)
            ranks = self.expert * self.expert_tensor
            return own + h * self.mixture, -(-self.mixture * expert // ranks)
        return own + -(-(self._matrices + bias * columns) // self.tensor) + bias * h, 0

    def stage_parameters(self, stage: int) -> tuple[int, int]:
        """Parameters of a rank of a stage, and those of experts."""
        m, h = self.model, self.model["hidden"]
        own, experts = self.layer_parameters()
        layers = m["layers"] // self.parts * self.chunks
        words = -(-m["vocabulary"] * h // self.tensor)
        total = layers * own
        if stage == 0:
            total += words + m.get("positions", 0) * h
        if stage == self.stages - 1:
            copied = not m["tiedEmbedding"] or self.stages > 1
            total += self.norm + (words if copied else 0)
        return total, layers * experts

    def flops(self) -> tuple[float, float, float]:
        """Of a forward pass of a sample: all layers, of these the scores of attention, the output."""
        m, s, h = self.model, self.model["sequence"], self.model["hidden"]
        scores = 4.0 * s * s * h
        products = 2.0 * s * 2 * h * (h + self.keys)
        wide = 2.0 * s * self._matrices
        if self.mixture:
            wide = wide * m["expertsPerToken"] + 2.0 * s * h * self.mixture
        layers = m["layers"] * (scores + products + wide)
        return layers, m["layers"] * scores, 2.0 * s * m["vocabulary"] * h


class TableJob(TrainingJob):
    """A table of layers (doc/models.rst), each a block: figures are of `batch` samples."""

    def __init__(self, training: dict, endpoints: int):
        super().__init__(training, endpoints)
        self.model = training["model"]
        self.element = 4 if training.get("datatype") == "fp32" else 2
        self.parameter_share = self.element / 4
        self.samples = training.get("microbatchSize", 1)

    @cached_property
    def blocks(self) -> list[Block]:
        """Gradients of 4 bytes; with ZeRO-3 as parameters are gathered."""
        size = self.element if self.zero == 3 else 4
        found = []
        for layer in self.model["layers"]:
            forward, backward = (
                self._scaled(layer[k], TIME_UNITS) for k in ("forward", "backward")
            )
            weight = backward // 2 if self.schedule == "zb-h1" else 0
            gradient = size * layer["parameters"]
            found.append(Block(forward, backward - weight, weight, gradient, 0, 0))
        return found

    def _scaled(self, text: str, units: dict[str, int]) -> int:
        return math.ceil(quantity(text, units) * self.samples / self.model["batch"])

    def bytes_after(self, part: int) -> int:
        """What the last layer of the part gives."""
        last = (part + 1) * len(self.blocks) // self.parts - 1
        return self._scaled(self.model["layers"][last]["output"], SIZE_UNITS)


def training_job(training: dict, endpoints: int) -> TrainingJob:
    """By what its computations are given."""
    kind = training.get("model", {}).get("kind")
    jobs = {None: TrainingJob, "transformer": ModelJob, "table": TableJob}
    return jobs[kind](training, endpoints)
