# SPDX-License-Identifier: GPL-2.0-only
"""Trains a small network data-parallel with the simulator's codecs in the loop; doc/gradients.rst."""

import json
import math
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, stdev
from types import TracebackType
from typing import Any

import numpy as np

from gradsync.errors import SimulationError
from gradsync.results.student import half_width
from gradsync.studies import digits
from gradsync.studies.digits import Floats
from gradsync.studies.program import call, find_program

_MOMENTUM = 0.9
_RATE = 0.05
_SHARE_OF_LARGEST = 0.01
_SERVER_SEED = 1_000_000
"""more than there are trainings: a server draws other numbers than workers"""

EQUIVALENCE_MARGIN = 0.01
"""A codec is as good as fp32 if the 95 % interval of what it loses lies within a point on both sides; set before
the codecs that draw random numbers were run."""


@dataclass(frozen=True)
class Method:
    """A codec, and what goes around it. DGC and BiSparse have the momentum and the feedback in them."""

    codec: dict[str, Any]
    feedback: bool = True
    momentum: float = _MOMENTUM
    """of the optimizer, on the sum that all workers get"""
    variant: str = ""
    reliable: float = 1.0
    """share of the blocks that DGT sends reliably; all others are lost, which is the worst case"""
    rate: float = _RATE
    """with which the learning rate starts"""
    worker_momentum: float = 0.0
    """before the codec, of each worker's own gradients"""
    is_linear: bool = False
    """what all get is what the codec makes of the mean of all gradients, as its steps are sums over workers"""
    votes: bool = False
    """a server sends down, by the same codec, the sum of what it decoded: of signs the majority's"""

    @property
    def name(self) -> str:
        """The codec's kind, and which variant of it."""
        return "-".join(filter(None, [str(self.codec["kind"]), self.variant]))


# BiSparse leaves small tensors dense; here all but biases are large enough.
METHODS = (
    Method({"kind": "fp32"}, feedback=False),
    Method({"kind": "fp16"}, feedback=False),
    Method({"kind": "int8"}),
    Method({"kind": "thc"}),
    Method({"kind": "two-bit", "threshold": 0.02}, feedback=False),
    Method({"kind": "top-k", "density": 0.1}),
    Method({"kind": "sq8", "density": 0.1}),
    Method({"kind": "bbtopk", "density": 0.01}),
    Method({"kind": "dgc", "density": 0.01, "sampleRate": 0.05}, False, 0.0),
    Method(
        {"kind": "bisparse", "density": 0.01, "sampleRate": 0.05, "minimumElements": 1000},
        False,
        0.0,
    ),
    Method({"kind": "qsgd"}, feedback=False),
    Method({"kind": "terngrad"}, feedback=False),
    Method({"kind": "powersgd"}, is_linear=True),
    # Signs have no size, so that the rate is one of its own: with seeds that are not those of the study (100 to
    # 104) 0.0005, 0.001 and 0.002 reached 98.5, 98.7 and 98.7 %.
    Method({"kind": "signsgd"}, False, 0.0, rate=0.001, worker_momentum=_MOMENTUM, votes=True),
)

# Differential gradient transmission (doc/dgt.rst); only when asked for.
_SHARES = (0.8, 0.5, 0.2)

# The paper's density, and its warm-up of four epochs of nine steps each; values in 16 bits. Only when
# asked for.
_DGC = {"kind": "dgc", "sampleRate": 0.05}
VARIANTS = (
    Method({**_DGC, "density": 0.01, "warmUp": 9}, False, 0.0, "warm-up"),
    Method({**_DGC, "density": 0.001}, False, 0.0, "0.1-percent"),
    Method({**_DGC, "density": 0.001, "warmUp": 9}, False, 0.0, "0.1-percent-warm-up"),
    *(Method({"kind": "fp32"}, False, variant=f"dgt-{x}", reliable=x) for x in _SHARES),
    Method({"kind": "top-k", "density": 0.1, "valueBits": 16}, variant="fp16"),
    Method({**_DGC, "density": 0.01, "valueBits": 16}, False, 0.0, "fp16"),
)


@dataclass(frozen=True)
class Setup:
    """What is the same for all codecs."""

    seeds: int = 10
    epochs: int = 60
    workers: int = 8
    batch: int = 16
    """images of each worker in a step"""


class CodecLoop:
    """The codecs of all workers, in a process of the simulator."""

    def __init__(
        self,
        method: Method,
        workers: int,
        tensors: Sequence[int],
        seed: int = 0,
        momentum: float = 0.0,
    ) -> None:
        self._elements = sum(tensors)
        options = ["codec", json.dumps(method.codec), f"--workers={workers}"]
        options.append(f"--tensors={','.join(map(str, tensors))}")
        options += [f"--seed={seed}", f"--momentum={momentum}"]
        options += ["--feedback"] if method.feedback else []
        self._process = subprocess.Popen(
            [str(find_program()), *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self) -> "CodecLoop":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def exchange(self, gradients: Floats) -> tuple[Floats, int]:
        """What receivers decode of each worker's gradient (a row each), and the bytes of all messages.

        Raises SimulationError if the program ends.
        """
        sent, received = self._process.stdin, self._process.stdout
        assert sent is not None and received is not None
        decoded = np.empty_like(gradients)
        total = 0
        for worker, gradient in enumerate(gradients):
            # One by one: both pipes would fill up otherwise.
            try:
                sent.write(gradient.tobytes())
                sent.flush()
            except BrokenPipeError as error:
                raise SimulationError("the codec's process has ended") from error
            answer = received.read(8 + 4 * self._elements)
            if len(answer) != 8 + 4 * self._elements:
                raise SimulationError("the codec's process has ended")
            total += int.from_bytes(answer[:8], "little")
            decoded[worker] = np.frombuffer(answer, np.float32, offset=8)
        return decoded, total


class BlockLoss:
    """DGT at its worst: what may be lost of the gradients is lost, and counts as 0.

    Contributions are averages over steps (Zhou et al., APNet'19), with the momentum of GeoMX. Blocks are small, as
    this network has no more than twelve of the paper's size; the last one is always there.
    """

    BLOCK = 64
    _MOMENTUM = 0.3

    def __init__(self, reliable: float, workers: int, elements: int) -> None:
        self._starts = np.arange(0, elements, self.BLOCK)
        self._lengths = np.diff(np.append(self._starts, elements))
        self._contributions = np.zeros((workers, len(self._starts)))
        self._kept = min(round(reliable * len(self._starts)), len(self._starts) - 1)

    def apply(self, gradients: Floats) -> Floats:
        """What arrives of each worker's gradient (a row each)."""
        means = np.add.reduceat(np.abs(gradients), self._starts, axis=1) / self._lengths
        self._contributions = self._MOMENTUM * self._contributions + (1 - self._MOMENTUM) * means
        order = np.argsort(-self._contributions[:, :-1], axis=1, kind="stable")
        arrives = np.zeros_like(self._contributions, dtype=bool)
        np.put_along_axis(arrives, order[:, : self._kept], True, axis=1)
        arrives[:, -1] = True
        return np.where(np.repeat(arrives, self._lengths, axis=1), gradients, np.float32(0))


@dataclass
class Record:
    """What one training showed."""

    accuracy: float = 0.0
    bytes_per_element: float = 0.0
    unions: list[list[float]] = field(default_factory=list)
    """for each step, the share of the elements in the union of 1, 2, ... workers' selections"""
    values: list[tuple[float, float, float]] = field(default_factory=list)
    """for each step, of one worker: deviation, kurtosis, share of the squares in the largest 1 %"""


def _describe_values(gradient: Floats) -> tuple[float, float, float]:
    values = gradient.astype(np.float64)
    squares = np.sort((values - values.mean()) ** 2)
    variance = squares.mean()
    energy = np.sort(values**2)
    largest = energy[-max(1, round(_SHARE_OF_LARGEST * len(energy))) :].sum() / energy.sum()
    return math.sqrt(variance), float((squares**2).mean() / variance**2), float(largest)


def train(method: Method, setup: Setup, seed: int) -> Record:
    """One training: every worker computes a gradient, all get the mean, or the vote, of what the codec let through."""
    data = digits.read_digits(seed)
    network = digits.Network(seed)
    random = np.random.default_rng(seed + 1_000_000)
    together = setup.workers * setup.batch
    steps = setup.epochs * (len(data.images) // together)
    velocity = np.zeros_like(network.weights)
    record = Record()
    total = 0
    loss = BlockLoss(method.reliable, setup.workers, len(network.weights))
    with (
        CodecLoop(
            method,
            1 if method.is_linear else setup.workers,
            network.tensors,
            seed,
            method.worker_momentum,
        ) as loop,
        CodecLoop(method, 1, network.tensors, seed + _SERVER_SEED) as server,
    ):
        order: digits.Labels = np.empty(0, np.int64)
        for step in range(steps):
            if len(order) < together:
                order = random.permutation(len(data.images))
            taken, order = order[:together], order[together:]
            gradients = np.stack(
                [
                    network.gradient(data.images[part], data.labels[part])
                    for part in taken.reshape(setup.workers, setup.batch)
                ]
            )
            summed = gradients.mean(axis=0, keepdims=True) if method.is_linear else gradients
            decoded, sent = loop.exchange(summed)
            if method.reliable < 1:
                decoded = loss.apply(decoded)
            total += sent * (setup.workers // len(summed))
            down = decoded.mean(axis=0)
            if method.votes:
                down = server.exchange(decoded.sum(axis=0, keepdims=True))[0][0]
            velocity = method.momentum * velocity + down
            rate = method.rate * 0.5 * (1 + math.cos(math.pi * step / steps))
            network.weights -= np.float32(rate) * velocity
            union = np.logical_or.accumulate(decoded != 0, axis=0)
            record.unions.append([float(share) for share in union.mean(axis=1)])
            record.values.append(_describe_values(gradients[0]))
    record.accuracy = network.accuracy(data.test_images, data.test_labels)
    record.bytes_per_element = total / steps / setup.workers / len(network.weights)
    return record


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Mean and half the width of its 95 % confidence interval; that is infinite for one value."""
    if len(values) < 2:
        return values[0], math.inf
    return fmean(values), half_width(len(values), stdev(values))


def _mean_unions(records: Sequence[Record], part: slice) -> list[float]:
    steps = [union for record in records for union in record.unions[part]]
    return [round(float(share), 6) for share in np.mean(steps, axis=0)]


def _summarise(
    method: Method, records: Sequence[Record], plain: Sequence[Record]
) -> dict[str, Any]:
    own = [record.accuracy for record in records]
    mean, width = interval(own)
    pairs = zip(own, (record.accuracy for record in plain))
    lost, lost_width = interval([after - before for after, before in pairs])
    quarter = max(1, len(records[0].unions) // 4)
    row = {
        "codec": method.codec,
        "errorFeedback": method.feedback,
        "learningRate": method.rate,
        "workerMomentum": method.worker_momentum,
        "isLinear": method.is_linear,
        "votes": method.votes,
        "accuracies": [round(value, 6) for value in own],
        "accuracy": round(mean, 6),
        "accuracyHalfWidth": round(width, 6) if math.isfinite(width) else None,
        "difference": round(lost, 6),
        "differenceHalfWidth": round(lost_width, 6) if math.isfinite(lost_width) else None,
        "isEquivalent": abs(lost) + lost_width <= EQUIVALENCE_MARGIN,
        "bytesPerElement": round(fmean(record.bytes_per_element for record in records), 6),
    }
    if "density" in method.codec:
        row["unions"] = _mean_unions(records, slice(None))
        row["unionsAtFirst"] = _mean_unions(records, slice(quarter))
        row["unionsAtLast"] = _mean_unions(records, slice(-quarter, None))
    return row


def _describe_gradient(records: Sequence[Record]) -> dict[str, Any]:
    """Statistics of values in ten parts of the training, one after the other."""
    values = np.array([record.values for record in records])
    parts = np.array_split(values, min(10, values.shape[1]), axis=1)
    means = [part.mean(axis=(0, 1)) for part in parts]
    names = ("deviation", "kurtosis", "energyOfLargestPercent")
    return {name: [float(f"{mean[i]:.6g}") for mean in means] for i, name in enumerate(names)}


def study(methods: Sequence[Method], setup: Setup, command: str) -> dict[str, Any]:
    """All trainings, as the content of a file that `density` of a job's codec can name.

    The first of the methods is what the others are compared with.
    """
    records = {
        method.name: [train(method, setup, seed) for seed in range(setup.seeds)]
        for method in methods
    }
    plain = records[methods[0].name]
    return {
        "format": 1,
        "origin": "measurement",
        "data": digits.SOURCE,
        "provenance": {
            "program": call(["--version"])[0].strip(),
            "package": f"scikit-learn {digits.package_version()}",
            "numpy": np.__version__,
            "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "command": command,
            "layers": list(digits.LAYERS),
            "seeds": setup.seeds,
            "epochs": setup.epochs,
            "workers": setup.workers,
            "batchPerWorker": setup.batch,
            "learningRate": _RATE,
            "momentum": _MOMENTUM,
            "equivalenceMargin": EQUIVALENCE_MARGIN,
        },
        "gradient": {"elements": sum(digits.Network(0).tensors), **_describe_gradient(plain)},
        "codecs": {
            method.name: _summarise(method, records[method.name], plain) for method in methods
        },
    }


def as_table(found: dict[str, Any]) -> str:
    """Accuracies, differences and sizes, a line per codec."""
    margin = f"within {100 * EQUIVALENCE_MARGIN:g}"
    lines = [
        f"{'codec':<24} {'B/element':>9} {'accuracy %':>15} {'difference, points':>20} {margin:>9}"
    ]
    for name, row in found["codecs"].items():
        cells = [
            f"{100 * row[key]:+.2f}" if key == "difference" else f"{100 * row[key]:.2f}"
            for key in ("accuracy", "difference")
        ]
        widths = [row["accuracyHalfWidth"], row["differenceHalfWidth"]]
        texts = [
            cell if width is None else f"{cell} ± {100 * width:.2f}"
            for cell, width in zip(cells, widths)
        ]
        verdict = "yes" if row["isEquivalent"] else "no"
        lines.append(
            f"{name:<24} {row['bytesPerElement']:>9.3f} {texts[0]:>15} {texts[1]:>20} {verdict:>9}"
        )
    return "\n".join(lines)


def write_study(found: dict[str, Any], path: Path) -> None:
    """Write what `study` found."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
