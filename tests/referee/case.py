# SPDX-License-Identifier: GPL-2.0-only
"""A scenario of the referee, with how it is run and what else is run beside it."""

import json
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
Files = dict[str, str]  # beside the scenario: name and text


@dataclass
class Case:
    """One scenario, and the probes: other runs that laws compare it with."""

    seed: str
    scenario: dict
    probes: list[str] = field(default_factory=list)
    files: Files = field(default_factory=dict)

    def text(self) -> str:
        return json.dumps(self.scenario)

    def to_json(self) -> dict:
        kept = {"seed": self.seed, "probes": self.probes, "scenario": self.scenario}
        return {**kept, "files": self.files} if self.files else kept


def case_from_json(kept: dict) -> Case:
    return Case(kept["seed"], kept["scenario"], list(kept.get("probes", [])), kept.get("files", {}))


def jobs_of(scenario: dict) -> list[dict]:
    """The jobs of a scenario."""
    return scenario.get("jobs") or [scenario.get("job", {})]


def scheme_of(scenario: dict, job: dict) -> dict:
    """The scheme of a job, with its kind, whichever way it is written."""
    # Who trains needs none: doc/iterations.rst.
    scheme = job.get("scheme", scenario.get("scheme", "ring"))
    return {"kind": scheme} if isinstance(scheme, str) else scheme


SIZE_UNITS = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
TIME_UNITS = {
    "ps": 1,
    "ns": 10**3,
    "us": 10**6,
    "ms": 10**9,
    "s": 10**12,
    "min": 60 * 10**12,
    "h": 3600 * 10**12,
}
RATE_UNITS = {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}


def quantity(text: str, units: dict[str, int]) -> int:
    """The whole number that a value with a unit stands for (bytes, picoseconds, bits a second)."""
    unit = text.lstrip("0123456789.")
    number = text[: len(text) - len(unit)]
    whole, _, part = number.partition(".")
    return (int(whole or "0") * 10 ** len(part) + int(part or "0")) * units[unit] // 10 ** len(part)


def picoseconds(seconds: str) -> int:
    """A time of a result table, whose twelve digits are whole picoseconds."""
    whole, _, part = seconds.partition(".")
    sign = -1 if whole.startswith("-") else 1
    return sign * (abs(int(whole)) * 10**12 + int(part.ljust(12, "0")))


def _codec_name(codec: str | dict) -> str | None:
    """A codec without parameters; None for others."""
    if isinstance(codec, str):
        return codec
    return codec["kind"] if set(codec) == {"kind"} else None


def tensors_of(job: dict) -> list[tuple[int, str | None]]:
    """Bytes of each tensor of a job, and its codec: None where that has parameters."""
    codec = job.get("codec", "fp32")
    if "tensors" not in job:
        return [(quantity(job["gradient"], SIZE_UNITS), _codec_name(codec))]
    tensors = []
    for tensor in job["tensors"]:
        size = tensor.get("elements", 0) * 4 or quantity(tensor.get("size", "0B"), SIZE_UNITS)
        tensors += [(size, _codec_name(tensor.get("codec", codec)))] * tensor.get("count", 1)
    return tensors
