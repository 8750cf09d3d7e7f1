#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Times of PyTorch's operators, measured as kernels-bench measures and written as it writes.

./ns3 calibrate runs it after kernels-bench with a Python that has PyTorch. Each sample starts with caches
full of something else. top-k and sort get the magnitudes, which a codec would have to compute first.

Exit code 3, with a message, where PyTorch or the device is not there.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Callable

WARM_UP = 5
NOT_HERE = 3
FLUSH_BYTES = 256 << 20  # more than any L2 cache
TOP_K_DENSITY = 0.1  # as the codec's default


def _fail(reason: str) -> None:
    print(f"torch-baseline: {reason}", file=sys.stderr)
    sys.exit(NOT_HERE)


try:
    import torch
except ImportError as error:
    _fail(f"this Python ({sys.executable}) has no PyTorch: {error}")


class Operators:
    """The operators for one number of elements; each writes where it wrote before."""

    def __init__(self, elements: int, device: str):
        generator = torch.Generator().manual_seed(1)
        values = torch.empty(elements).normal_(0.0, 0.01, generator=generator)
        self.gradient = values.to(device)
        self.magnitudes = self.gradient.abs()
        self.sum = torch.zeros_like(self.gradient)
        self.half = torch.empty(elements, dtype=torch.float16, device=device)
        self.bfloat = torch.empty(elements, dtype=torch.bfloat16, device=device)
        self.selected = max(1, round(TOP_K_DENSITY * elements))

    def list(self) -> dict[str, tuple[float, Callable[[], object]]]:
        """Name: bytes per element that it must move, and the operator. The copy comes first."""
        return {
            "torch-copy": (8.0, lambda: self.sum.copy_(self.gradient)),
            "torch-fp16": (6.0, lambda: self.half.copy_(self.gradient)),
            "torch-bf16": (6.0, lambda: self.bfloat.copy_(self.gradient)),
            "torch-add": (12.0, lambda: self.sum.add_(self.gradient)),
            "torch-norm": (4.0, lambda: torch.linalg.vector_norm(self.gradient)),
            "torch-topk": (8.8, lambda: torch.topk(self.magnitudes, self.selected, sorted=False)),
            "torch-sort": (8.8, lambda: torch.sort(self.magnitudes, descending=True)),
        }


class Clock:
    """Seconds of one call on the device, with cold caches."""

    def __init__(self, device: str):
        self._is_gpu = device == "cuda"
        self._flush = torch.zeros(FLUSH_BYTES // 4, device=device)
        if self._is_gpu:
            self._events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def measure(self, call: Callable[[], object]) -> float:
        self._flush.sum()  # read, so that nothing waits to be written back
        if not self._is_gpu:
            begin = time.perf_counter()
            call()
            return time.perf_counter() - begin
        begin, end = self._events
        begin.record()
        call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3


def _measure(call: Callable[[], object], elements: int, samples: int, clock: Clock) -> dict:
    seconds = sorted([clock.measure(call) for _ in range(WARM_UP + samples)][WARM_UP:])
    last = len(seconds) - 1
    return {
        "elements": elements,
        "median_s": seconds[last // 2],
        "p10_s": seconds[last // 10],
        "p90_s": seconds[last - last // 10],
    }


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--largest", type=int, default=28, help="log2 of the most elements")
    parser.add_argument("--samples", type=int, default=30)
    parser.add_argument("--sizes", default="", help="more numbers of elements, with commas")
    return parser.parse_args()


def main() -> None:
    options = _parse()
    if options.device == "cuda" and not torch.cuda.is_available():
        _fail(f"PyTorch {torch.__version__} finds no GPU")
    sizes = {1 << power for power in range(10, options.largest + 1)}
    sizes |= {int(size) for size in options.sizes.split(",") if size}
    kernels: dict[str, dict] = {}
    clock = Clock(options.device)
    for elements in sorted(sizes):
        for name, (size, call) in Operators(elements, options.device).list().items():
            row = kernels.setdefault(name, {"bytesPerElement": size, "points": []})
            row["points"].append(_measure(call, elements, max(options.samples, 1), clock))
    copy = kernels["torch-copy"]["points"][-1]
    device = torch.cuda.get_device_name() if options.device == "cuda" else "CPU"
    provenance = {
        "pytorch": torch.__version__,
        "samples": options.samples,
        "warmUp": WARM_UP,
        "caches": "cold",
        "gradient": "normal, standard deviation 0.01, seed 1",
    }
    measured = {
        "device": device,
        "provenance": provenance,
        "copyBytesPerSecond": 8.0 * copy["elements"] / copy["median_s"],
        "kernels": kernels,
    }
    assert math.isfinite(measured["copyBytesPerSecond"])
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
