# SPDX-License-Identifier: GPL-2.0-only
"""Our quantisers beside NumPy, ml_dtypes and faiss on one thread, each as a share of a copy.

quantiser-bench and the peers are measured in turn, several times; of each the least time counts. All
begin with cold caches. A share is that of the rate of a copy in the same process: bytes that are read
and written per second. int8 has its maxima per block of 8192 here, in NumPy per block too, in faiss
per column of 8192, found before ("8 bit") or one for all ("8 bit uniform").

    python3 -P -m venv build/codec-peers
    build/codec-peers/bin/python -P -m pip install --no-deps --require-hashes --only-binary=:all: \
        -r tests/bench/requirements-codec-peers.lock
    build/codec-peers/bin/python -P tests/bench/codec-peers.py build/release/quantiser-bench
"""

import argparse
import importlib.metadata
import json
import math
import subprocess
import time
from collections.abc import Callable

import faiss
import ml_dtypes
import numpy as np

BLOCK = 8192
FACTOR = np.float32(1e8)
FLUSH_BYTES = 96 << 20


class Arrays:
    """Inputs and outputs, written before anything is measured."""

    def __init__(self, elements: int) -> None:
        random = np.random.default_rng(1)
        self.gradient = random.normal(0.0, 0.01, elements).astype(np.float32)
        self.received = np.ones_like(self.gradient)
        self.scratch = np.ones_like(self.gradient)
        self.half = self.gradient.astype(np.float16)
        self.bfloat = self.gradient.astype(ml_dtypes.bfloat16)
        self.fixed = np.ones(elements, np.int32)
        self.bytes = np.ones(elements, np.int8)
        self.codes = np.ones(2 * elements, np.uint8)  # of faiss
        self.scales = np.ones((elements // BLOCK, 1), np.float32)
        self.flush = np.ones(FLUSH_BYTES, np.uint8)

    def blocks(self, array: np.ndarray) -> np.ndarray:
        """A row per block."""
        return array.reshape(-1, BLOCK)


def _encode_int8(a: Arrays) -> None:
    values, scratch = a.blocks(a.gradient), a.blocks(a.scratch)
    np.abs(values, out=scratch)
    np.max(scratch, axis=1, keepdims=True, out=a.scales)
    np.multiply(values, np.float32(127) / a.scales, out=scratch)
    np.rint(scratch, out=scratch)
    np.copyto(a.blocks(a.bytes), scratch, casting="unsafe")


def _decode_int8(a: Arrays) -> None:
    np.multiply(a.blocks(a.bytes), a.scales / np.float32(127), out=a.blocks(a.received))


def _encode_fixed(a: Arrays) -> None:
    np.multiply(a.gradient, FACTOR, out=a.scratch)
    np.rint(a.scratch, out=a.scratch)
    # The largest float below 2^31: NumPy's casts do not saturate.
    np.clip(a.scratch, np.float32(-2147483520), np.float32(2147483520), out=a.scratch)
    np.copyto(a.fixed, a.scratch, casting="unsafe")


def _decode_fixed(a: Arrays) -> None:
    np.multiply(a.fixed, np.float32(1) / FACTOR, out=a.received, dtype=np.float32, casting="unsafe")


Row = tuple[str, str, str, float, Callable[[Arrays], None]]


def _faiss_rows(a: Arrays) -> list[Row]:
    """Columns of faiss are the elements of a block, so that a block is one of its vectors."""
    faiss.omp_set_num_threads(1)
    rows: list[Row] = []
    kinds = (
        ("fp16", "faiss", "QT_fp16", 6.0),
        ("bf16", "faiss", "QT_bf16", 6.0),
        ("int8", "faiss 8 bit", "QT_8bit", 5.0),
        ("int8", "faiss 8 bit uniform", "QT_8bit_uniform", 5.0),
    )
    for codec, who, kind, size in kinds:
        quantiser = faiss.ScalarQuantizer(BLOCK, getattr(faiss.ScalarQuantizer, kind))
        quantiser.train(a.blocks(a.gradient))
        count = len(a.scales)

        def encode(a: Arrays, quantiser: faiss.ScalarQuantizer = quantiser, n: int = count) -> None:
            quantiser.compute_codes_c(faiss.swig_ptr(a.gradient), faiss.swig_ptr(a.codes), n)

        def decode(a: Arrays, quantiser: faiss.ScalarQuantizer = quantiser, n: int = count) -> None:
            quantiser.decode_c(faiss.swig_ptr(a.codes), faiss.swig_ptr(a.received), n)

        rows += [(codec, "encode", who, size, encode), (codec, "decode", who, size, decode)]
    return rows


def _rows(a: Arrays) -> list[Row]:
    return [
        ("copy", "copy", "NumPy", 8.0, lambda a: np.copyto(a.received, a.gradient)),
        ("int8", "encode", "NumPy", 5.0, _encode_int8),
        ("int8", "decode", "NumPy", 5.0, _decode_int8),
        ("fp16", "encode", "NumPy", 6.0, lambda a: np.copyto(a.half, a.gradient, "same_kind")),
        ("fp16", "decode", "NumPy", 6.0, lambda a: np.copyto(a.received, a.half)),
        ("bf16", "encode", "ml_dtypes", 6.0, lambda a: np.copyto(a.bfloat, a.gradient, "unsafe")),
        ("bf16", "decode", "ml_dtypes", 6.0, lambda a: np.copyto(a.received, a.bfloat)),
        ("fixed-point", "encode", "NumPy", 8.0, _encode_fixed),
        ("fixed-point", "decode", "NumPy", 8.0, _decode_fixed),
        *_faiss_rows(a),
    ]


def _ours(program: str, power: int, rounds: int) -> dict:
    options = [f"--power={power}", f"--rounds={rounds}", "--threads=1"]
    done = subprocess.run([program, *options], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description="Our quantisers beside those of others")
    parser.add_argument("program", help="quantiser-bench")
    parser.add_argument("--power", type=int, default=24, help="log2 of the number of elements")
    parser.add_argument("--turns", type=int, default=4, help="how often each side is measured")
    parser.add_argument("--rounds", type=int, default=8, help="of each turn")
    options = parser.parse_args()
    arrays = Arrays(1 << options.power)
    rows = _rows(arrays)
    best = [math.inf] * len(rows)
    rates: dict[tuple[str, str, str], float] = {}
    told: dict = {}
    for _ in range(options.turns):
        told = _ours(options.program, options.power, options.rounds)
        for row in told["rows"]:
            key = (row["codec"], row["part"], f"gradsync {row['instructions']}".strip())
            rates[key] = max(rates.get(key, 0.0), row["bytes_per_s"])
        for _ in range(options.rounds):
            for i, (_, _, _, _, work) in enumerate(rows):
                np.add(arrays.flush, 1, out=arrays.flush)
                begin = time.perf_counter()
                work(arrays)
                best[i] = min(best[i], time.perf_counter() - begin)
    for (codec, part, who, size, _), seconds in zip(rows, best):
        rates[codec, part, who] = size * (1 << options.power) / seconds
    packages = ("numpy", "ml_dtypes", "faiss-cpu")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)
    print(
        f"{told['processor']}, {told['compiler']}, {versions}; 2^{options.power} elements, one thread"
    )
    copies = {who: rate for (codec, _, who), rate in rates.items() if codec == "copy"}
    for (codec, part, who), rate in sorted(rates.items()):
        copy = copies["gradsync" if who.startswith("gradsync") else "NumPy"]
        print(
            f"{codec:<12} {part:<7} {who:<20} {rate / 1e9:6.1f} GB/s {rate / copy:5.0%} of a copy"
        )


if __name__ == "__main__":
    main()
