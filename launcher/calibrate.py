# SPDX-License-Identifier: GPL-2.0-only
"""./ns3 calibrate: how long the codecs take on this machine, as profiles that scenarios name."""

import datetime
import json
import platform
import re
import subprocess
from pathlib import Path

from launcher.errors import BAD_INPUT, LauncherError
from launcher.estimates import make_profiles
from launcher.process import say
from launcher.tree import RELEASE, ROOT, revision

PROFILES = ROOT / "profiles"
_KERNELS = ROOT / "build" / "kernels"
_TORCH_BASELINE = ROOT / "kernels" / "bench" / "torch-baseline.py"

# Bytes per float32 element that a kernel must move at least, at the densities of the codecs'
# defaults (doc/compression.rst): what it reads and writes, each once. Measured profiles have the same.
BYTES_PER_ELEMENT = {
    "bbtopk-encode": 4.0513,  # all elements, 1 % of 5.25 B
    "bbtopk-decode": 4.0513,
    "bf16-encode": 6.0,
    "bf16-decode": 6.0,
    "dgc-encode": 20.008,  # gradient, u and v read, u and v written, 0.1 % of 8 B
    "dgc-decode": 4.008,  # zeros written, 0.1 % of 8 B
    "dgc-fp16-encode": 20.006,  # 0.1 % of 6 B
    "dgc-fp16-decode": 4.006,
    "fixed-point-encode": 8.0,
    "fixed-point-decode": 8.0,
    "fp16-encode": 6.0,
    "fp16-decode": 6.0,
    "int8-encode": 5.0005,  # one scale per 8192
    "int8-decode": 5.0005,
    "powersgd-encode-p": 4.0,  # all elements; the factors' part is the less the longer the tensor
    "powersgd-encode-q": 4.0,
    "powersgd-decode": 4.0,
    "qsgd-encode": 4.5078,  # 4 bits, one norm per 512
    "qsgd-decode": 4.5078,
    "signsgd-encode": 4.125,
    "signsgd-decode": 4.125,
    "int8-switch-encode": 9.0078,  # two reads, an exponent per 256 written and read
    "int8-switch-decode": 5.0039,
    "sq8-encode": 8.5,  # two reads, 10 % of 5 B
    "sq8-decode": 4.5,
    "terngrad-encode": 8.25,  # two reads, 2 bits
    "terngrad-decode": 4.25,
    "thc-add": 2.5,  # 4 bits read, 8 read and written
    "thc-encode": 8.5019,  # two reads, 4 bits written, a norm per 4096 written and read
    "thc-decode": 4.5009,
    "top-k-encode": 8.8,  # two reads, 10 % of 8 B
    "top-k-decode": 4.8,
    "top-k-fp16-encode": 8.6,  # two reads, 10 % of 6 B
    "top-k-fp16-decode": 4.6,
    "two-bit-encode": 12.25,  # gradient and residual read, residual and 2 bits written
    "two-bit-decode": 4.25,
}


def _write(path: Path, profile: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(profile, indent=1) + "\n")
    say(f"wrote {path}")


def write_estimates(folder: Path) -> None:
    """Of GPUs that were not at hand, each a band (launcher/estimates.py)."""
    for name, profile in make_profiles(BYTES_PER_ELEMENT).items():
        _write(folder / name, profile)


def fit(points: list[dict], bytes_per_element: float) -> tuple[float, float, float]:
    """t0 and bytes per second of t0 + bytes / rate, and the largest relative error at a point.

    Least squares of the relative errors, so that small sizes count as much as large ones. t0 is not
    negative.
    """
    xs = [point["elements"] * bytes_per_element for point in points]
    ts = [point["median_s"] for point in points]
    weights = [1.0 / (t * t) for t in ts]
    total = sum(weights)
    mean_x = sum(w * x for w, x in zip(weights, xs)) / total
    mean_t = sum(w * t for w, t in zip(weights, ts)) / total
    spread = sum(w * (x - mean_x) ** 2 for w, x in zip(weights, xs))
    slope = sum(w * (x - mean_x) * (t - mean_t) for w, x, t in zip(weights, xs, ts)) / spread
    start = mean_t - slope * mean_x
    if start < 0.0:
        start = 0.0
        slope = sum(w * x * t for w, x, t in zip(weights, xs, ts)) / sum(
            w * x * x for w, x in zip(weights, xs)
        )
    error = max(abs(start + slope * x - t) / t for x, t in zip(xs, ts))
    return start, 1.0 / slope, error


def _kernel(measured: dict, copy: float) -> dict:
    size = measured["bytesPerElement"]
    points = measured["points"]
    start, rate, error = fit(points, size)
    largest = points[-1]
    return {
        "bytesPerElement": size,
        "fixedSeconds": start,
        "bytesPerSecond": rate,
        "largestFitError": round(error, 4),
        "shareOfCopy": round(largest["elements"] * size / largest["median_s"] / copy, 4),
        "points": points,
    }


def _load() -> float:
    """Runnable threads over the last minute; above the bench's own they disturb it."""
    return float(Path("/proc/loadavg").read_text().split()[0])


def _measure(program: Path, options: list[str]) -> dict:
    load = _load()
    say(f"measuring with {program.name}; this takes minutes")
    done = subprocess.run([str(program), *options], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LauncherError(f"{program.name} failed: {done.stderr.strip()}", BAD_INPUT)
    measured: dict = json.loads(done.stdout)
    measured["provenance"]["loadBefore"] = load
    return measured


def add_torch(measured: dict, python: str, options: list[str]) -> None:
    """Measure PyTorch's operators beside the kernels, where that Python has PyTorch and it the GPU."""
    say(f"measuring PyTorch's operators with {python}")
    command = [python, str(_TORCH_BASELINE), *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        say(f"PyTorch's operators were not measured: {error}")
        return
    if done.returncode != 0:
        say(f"PyTorch's operators were not measured: {done.stderr.strip()}")
        return
    baseline = json.loads(done.stdout)
    measured["provenance"]["pytorch"] = baseline["provenance"]["pytorch"]
    measured["kernels"] |= baseline["kernels"]


def _write_profile(measured: dict, command: str, folder: Path, name: str | None) -> None:
    copy = measured["copyBytesPerSecond"]
    provenance = {
        **measured["provenance"],
        "kernel": platform.release().split("-")[0],  # what follows may name a site
        "commit": revision(),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": command,
    }
    profile = {
        "format": 1,
        "origin": "measurement",
        "device": measured["device"],
        "provenance": provenance,
        "copyBytesPerSecond": copy,
        "kernels": {name: _kernel(row, copy) for name, row in sorted(measured["kernels"].items())},
    }
    default = re.sub("[^a-z0-9]+", "-", measured["device"].lower()).strip("-")
    _write(folder / f"{name or default}.profile.json", profile)


def _tensor_sizes() -> list[int]:
    """Numbers of elements of the tensors of well-known models; the smallest are left out."""
    models = json.loads((ROOT / "kernels" / "bench" / "tensors.json").read_text())
    sizes = {tensor["elements"] for model in models.values() for tensor in model["tensors"]}
    return sorted(size for size in sizes if size > 1024)


def _options(quick: bool) -> list[str]:
    return ["--largest=16", "--samples=5"] if quick else []


def _command(quick: bool, *others: str) -> str:
    return " ".join(["./ns3 calibrate", *others, *(["--quick"] if quick else [])])


def why_no_gpu() -> str | None:
    """What hinders measuring a GPU here, if anything."""
    bench = _KERNELS / "kernels-bench"
    if not bench.exists():
        return f"no GPU benchmark: {bench} is not built (doc/compression.rst)"
    done = subprocess.run([str(bench), "--probe"], capture_output=True, check=False)
    return "no GPU here" if done.returncode != 0 else None


def calibrate_cpu(folder: Path, name: str | None, quick: bool) -> None:
    """Measure this machine's CPU; the profile is called `name`, or as its model."""
    measured = _measure(RELEASE.directory / "codec-bench", _options(quick))
    _write_profile(measured, _command(quick), folder, name)


def calibrate_gpu(folder: Path, quick: bool, torch: str) -> None:
    """Measure the GPU, and PyTorch's operators beside the kernels by the Python called `torch`."""
    options = _options(quick) or [f"--sizes={','.join(map(str, _tensor_sizes()))}"]
    measured = _measure(_KERNELS / "kernels-bench", options)
    add_torch(measured, torch, options)
    _write_profile(measured, _command(quick, "--gpu"), folder, None)
