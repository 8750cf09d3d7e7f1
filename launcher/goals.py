# SPDX-License-Identifier: GPL-2.0-only
"""./ns3 calibrate --goals: what the kernels should reach on an H100 or H200, and what they did.

Shares are of the rate of a copy of as many elements in the same run, at the worst size of 100 MB and more:
the least bytes of the kernel, over its median time. doc/compression.rst has the bytes.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from launcher.errors import BAD_INPUT, FAILURE, OK, LauncherError

LEAST_BYTES = 100e6

STREAMING = (
    *("int8-encode", "int8-decode", "fp16-encode", "fp16-decode", "bf16-encode", "bf16-decode"),
    *("qsgd-encode", "qsgd-decode", "terngrad-decode", "signsgd-encode", "signsgd-decode"),
    *("two-bit-encode", "two-bit-decode", "fixed-point-encode", "fixed-point-decode"),
    *("packet-exponents", "exponents-encode", "exponents-decode"),
    *("add-dense", "step-momentum", "keep-residual", "norm", "score-blocks", "non-zero-blocks"),
    "select-from-key",
)
# Kernel: share of the copy that it should reach.
SHARES = {
    **dict.fromkeys(STREAMING, 0.90),
    "top-k-encode": 0.60,
    "dgc-encode": 0.75,
    "bbtopk-encode": 0.75,
    "powersgd-encode-p": 0.80,
    "powersgd-encode-q": 0.70,  # sums of strips are 14 % more bytes
    "powersgd-decode": 0.80,
    "gather-marked": 0.30,  # its instructions take three times as long as its bytes
}
# Kernel: what it should be faster than, and how many times.
SPEED_UPS = {"top-k-encode": (("radix-sort-pairs", 4.0), ("torch-topk", 4.0))}


class Finding(NamedTuple):
    """A goal and what was measured at the size where it was worst."""

    kernel: str
    goal: str
    found: float | None
    least: float
    elements: int

    @property
    def verdict(self) -> str:
        if self.found is None:
            return "not measured"
        return "reached" if self.found >= self.least else "missed"


def _medians(profile: dict, kernel: str) -> dict[int, float]:
    """Seconds by number of elements, of the large sizes."""
    points = profile["kernels"].get(kernel, {}).get("points", [])
    return {p["elements"]: p["median_s"] for p in points if 4 * p["elements"] >= LEAST_BYTES}


def _worst(kernel: str, goal: str, least: float, at: Iterable[tuple[float, int]]) -> Finding:
    found, elements = min(at, default=(None, 0))
    return Finding(kernel, goal, found, least, elements)


def check(profile: dict) -> list[Finding]:
    """Every goal, with what a profile says of it."""
    findings = []
    copies = _medians(profile, "copy")
    for kernel, least in SHARES.items():
        size = profile["kernels"].get(kernel, {}).get("bytesPerElement", 0.0)
        times = _medians(profile, kernel)
        shares = [(size / 8.0 * copies[n] / t, n) for n, t in times.items() if n in copies]
        findings.append(_worst(kernel, "of the rate of a copy", least, shares))
    for kernel, others in SPEED_UPS.items():
        times = _medians(profile, kernel)
        for other, least in others:
            slow = _medians(profile, other)
            ratios = [(slow[n] / t, n) for n, t in times.items() if n in slow]
            findings.append(_worst(kernel, f"times as fast as {other}", least, ratios))
    return findings


def _line(finding: Finding) -> str:
    text = f"{finding.verdict:12} {finding.kernel:20} "
    if finding.found is None:
        return text + f"at least {finding.least:g} {finding.goal}"
    at = f"at {4 * finding.elements / 1e6:.0f} MB"
    return text + f"{finding.found:.2f} {finding.goal} {at}, at least {finding.least:g}"


def report(path: Path) -> int:
    """Print every goal and its verdict. Returns the exit code: 1 when one was missed."""
    try:
        profile = json.loads(path.read_text())
        findings = check(profile)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LauncherError(f"{path}: no profile can be read: {error}", BAD_INPUT) from error
    print(f"{path.name}: {profile['device']}, {profile['origin']}")
    for finding in findings:
        print(_line(finding))
    verdicts = [finding.verdict for finding in findings]
    counts = {name: verdicts.count(name) for name in ("reached", "missed", "not measured")}
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return FAILURE if counts["missed"] else OK
