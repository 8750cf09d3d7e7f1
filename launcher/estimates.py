# SPDX-License-Identifier: GPL-2.0-only
"""./ns3 calibrate --estimates: times of GPUs that were not at hand, by one rule, from counts in kernels/counts.

A launch takes the larger of its distinct bytes over the memory's bandwidth and its issue slots over the issue
rate; a codec the sum of its launches, and a time for each launch, of which only a range is known. So an
estimate is a band, and a device has a profile for each end of it.
"""

import json
from typing import NamedTuple

from launcher.tree import ROOT

COUNTS = ROOT / "kernels" / "counts"

# What a launch costs beside its work: the ends of the band.
LAUNCH_SECONDS = (1e-6, 5e-6)

_LANES = 32


class Device(NamedTuple):
    """Of a data sheet."""

    name: str
    bandwidth: float
    """bytes per second of its memory"""
    flops: float
    """float32 operations per second of its cores, a multiply-add counting as two"""
    processors: int
    """multiprocessors"""

    def issue_rate(self) -> float:
        """Instructions of warps per second: a lane does one multiply-add per cycle, a scheduler has 32."""
        return self.flops / 2 / _LANES


# NVIDIA, H100 and H200 Tensor Core GPU data sheets, SXM: 3.35 and 4.8 TB/s, 67 TFLOPS of FP32. The H100
# architecture white paper: 132 multiprocessors, each with four schedulers of 32 FP32 lanes.
DEVICES = {
    "h100-sxm": Device("NVIDIA H100 SXM", 3.35e12, 67e12, 132),
    "h200": Device("NVIDIA H200", 4.8e12, 67e12, 132),
}


def issue_slots(launch: dict, slots: dict) -> float:
    """Issue slots of a launch; memsets have none worth counting."""
    if launch["threads"] == 0:
        return 0.0
    known = slots[launch["kernel"]]
    warps = launch["blocks"] * -(-launch["threads"] // _LANES)
    elements = launch["read"] / 4
    return float(warps * known["once"] + elements / _LANES * known["perElement"])


def work_seconds(launches: list[dict], slots: dict, device: Device) -> float:
    """Of the launches of a codec's kernel, without the time that each takes in any case."""
    total = 0.0
    for launch in launches:
        share = min(1.0, launch["blocks"] / device.processors) or 1.0
        by_memory = (launch["read"] + launch["written"]) / device.bandwidth
        by_issue = issue_slots(launch, slots) / (device.issue_rate() * share)
        total += max(by_memory, by_issue)
    return total


def estimate(
    kernel: str, least_bytes: float, device: Device, launch_seconds: float
) -> tuple[float, float]:
    """Seconds that a codec's kernel takes in any case, and for each element, of which it moves `least_bytes`."""
    slots = json.loads((COUNTS / "issue-slots.json").read_text())["kernels"]
    (few, first), (many, second) = json.loads((COUNTS / "traffic.json").read_text())[kernel].items()
    low = work_seconds(first, slots, device)
    high = work_seconds(second, slots, device)
    each = (high - low) / (int(many) - int(few))
    # What kernels of few blocks do in any case hides a part of the bytes, but not of long tensors.
    moved = [
        sum(launch["read"] + launch["written"] for launch in launches)
        for launches in (first, second)
    ]
    more = (moved[1] - moved[0]) / (int(many) - int(few))
    each = max(each, max(more, least_bytes) / device.bandwidth)
    fixed = max(0.0, high - each * int(many))
    return fixed + len(second) * launch_seconds, each


def make_profiles(bytes_per_element: dict[str, float]) -> dict[str, dict]:
    """By the name of their file: of each device, for each end of the band."""
    profiles = {}
    for name, device in DEVICES.items():
        for seconds in LAUNCH_SECONDS:
            kernels = {}
            for kernel, size in bytes_per_element.items():
                fixed, each = estimate(kernel, size, device, seconds)
                kernels[kernel] = {
                    "bytesPerElement": size,
                    "fixedSeconds": float(f"{fixed:.6g}"),
                    "bytesPerSecond": float(f"{size / each:.6g}"),
                }
            micros = f"{seconds * 1e6:g}us"
            profiles[f"{name}-estimate-{micros}.profile.json"] = {
                "format": 1,
                "origin": "roofline-estimate",
                "device": device.name,
                "provenance": {
                    "method": "each launch: the larger of distinct bytes over the memory bandwidth and issue slots "
                    f"over the issue rate of the data sheet, and {micros}; nothing was measured",
                    "command": "./ns3 calibrate --estimates",
                },
                "kernels": kernels,
            }
    return profiles
