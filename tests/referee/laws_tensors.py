# SPDX-License-Identifier: GPL-2.0-only
"""Gradients of several tensors: each is exchanged as a gradient of its size, with its codec."""

import math
from collections.abc import Callable, Iterator
from itertools import accumulate

from referee.case import tensors_of
from referee.evidence import Evidence
from referee.law import law
from referee.laws_forms import TOTALS, group_sizes_known, transfers
from referee.laws_repeat import differences

# What a message of a dense codec weighs: doc/compression.rst, D elements of 4 bytes.
_DENSE_CODECS: dict[str, Callable[[int], int]] = {
    "fp16": lambda d: 2 * d,
    "bf16": lambda d: 2 * d,
    "int8": lambda d: d + 4 * math.ceil(d / 8192),
    "two-bit": lambda d: 4 * math.ceil(d / 16),
    "fixed-point": lambda d: 4 * d,
    "qsgd": lambda d: math.ceil(d / 2) + 4 * math.ceil(d / 512),
    "terngrad": lambda d: 4 * math.ceil(d / 16) + (4 if d else 0),
    "signsgd": lambda d: 4 * math.ceil(d / 32),
}


def _one_job(e: Evidence) -> bool:
    return (
        e.simulated
        and len(e.jobs) == 1
        and len(e.job_names) == 1
        and not e.aggregates
        and e.scheme()["kind"] not in ("federated", "import")
    )


def _ends(e: Evidence) -> list[int]:
    """Where each tensor of the only job ends, in bytes of the gradient."""
    return list(accumulate(size for size, _ in tensors_of(e.jobs[0])))


def _tensor_of_chunks(e: Evidence) -> list[int]:
    """The tensor of each chunk; chunks without bytes belong to the tensor after them."""
    ends = _ends(e)
    places = [0, *accumulate(e.plan["chunkBytes"])][:-1]
    return [next((i for i, end in enumerate(ends) if place < end), len(ends)) for place in places]


@law(
    "doc/compression.rst: each tensor is exchanged on its own",
    when=lambda e: _one_job(e) and "tensors" in e.jobs[0],
)
def no_transfer_spans_two_tensors(e: Evidence) -> Iterator[str]:
    """Chunks end where tensors end, and a transfer moves chunks of one of them."""
    cuts = {0, *accumulate(e.plan["chunkBytes"])}
    missing = [end for end in _ends(e) if end not in cuts]
    if missing or max(cuts) != e.gradient():
        yield f"no chunk ends at {missing}; all of them have {max(cuts)} bytes of {e.gradient()}"
        return
    tensor = _tensor_of_chunks(e)
    sizes = e.plan["chunkBytes"]
    for operation in transfers(e):
        if operation["kind"] not in ("reduce", "copy"):
            continue
        first = operation["firstChunk"]
        chunks = range(first, first + operation["chunkCount"])
        if len({tensor[chunk] for chunk in chunks if sizes[chunk]}) > 1:
            yield f"operation {operation['id']} moves chunks {chunks} of several tensors"


@law(
    "doc/compression.rst: each as a gradient of that size would be",
    when=lambda e: (
        e.simulated
        and len(e.jobs) == 1
        and len(e.job_names) == 1
        and "tensors" in e.jobs[0]
        and not e.compressed()
        and group_sizes_known(e)
    ),
)
def tensors_move_the_bytes_of_gradients_of_their_sizes(e: Evidence) -> Iterator[str]:
    """The closed form of the scheme, added up over tensors."""
    form = TOTALS.get(e.scheme()["kind"])
    if form is None:
        return
    parts = [form(e, e.plan["workers"], size) for size, _ in tensors_of(e.jobs[0])]
    have = sum(operation.get("bytes", 0) for operation in transfers(e))
    if None not in parts and have != sum(parts):
        yield f"{have} bytes, the tensors' closed forms have {parts}"


@law(
    "doc/compression.rst, bytes of D elements",
    when=lambda e: _one_job(e) and any(c in _DENSE_CODECS for _, c in tensors_of(e.jobs[0])),
)
def messages_have_the_size_of_their_codec(e: Evidence) -> Iterator[str]:
    """A transfer of a range of chunks is as long as the codec's message of that part of a tensor."""
    codecs = [codec for _, codec in tensors_of(e.jobs[0])]
    tensor = _tensor_of_chunks(e)
    sizes = e.plan["chunkBytes"]
    for operation in transfers(e):
        if operation["kind"] not in ("reduce", "copy"):
            continue
        first = operation["firstChunk"]
        dense = sum(sizes[first : first + operation["chunkCount"]])
        codec = codecs[tensor[first]] if tensor[first] < len(codecs) else None
        if codec == "fp32" or codec in _DENSE_CODECS:
            want = dense if codec == "fp32" else _DENSE_CODECS[codec](math.ceil(dense / 4))
            if operation["bytes"] != want:
                yield f"operation {operation['id']} of {dense} bytes has {operation['bytes']}, not {want}"


def _powersgd_factors(size: int) -> list[int]:
    """Bytes of what is summed up of a gradient, one after the other; nearly square, rank 4."""
    elements = math.ceil(size / 4)
    columns = math.ceil((math.isqrt(elements - 1) + 1) / 4) * 4 if elements else 0
    rows = math.ceil(elements / columns) if columns else 0
    factors = [4 * 4 * rows, 4 * 4 * columns]
    return factors if sum(factors) < 4 * elements else [size]


@law(
    "doc/compression.rst, powersgd: 4 r (n + m) bytes, in two sums",
    when=lambda e: (
        _one_job(e)
        and {c for _, c in tensors_of(e.jobs[0])} <= {"powersgd", "fp32"}
        and "powersgd" in {c for _, c in tensors_of(e.jobs[0])}
        and group_sizes_known(e)
    ),
)
def powersgd_moves_the_bytes_of_two_factors(e: Evidence) -> Iterator[str]:
    """The closed form of the scheme for gradients of the sizes of the factors."""
    form = TOTALS.get(e.scheme()["kind"])
    if form is None:
        return
    sizes: list[int] = []
    for size, codec in tensors_of(e.jobs[0]):
        sizes += _powersgd_factors(size) if codec == "powersgd" else [size]
    parts = [form(e, e.plan["workers"], size) for size in sizes]
    have = sum(operation.get("bytes", 0) for operation in transfers(e))
    if None not in parts and have != sum(parts):
        yield f"{have} bytes, the factors' closed forms have {parts}"


@law(
    "doc/compression.rst: a gradient is one tensor; doc/scenario.rst, tensors",
    when=lambda e: (
        e.simulated
        and e.probed("tensors")
        and "job" in e.scenario
        and e.gradient() > 0
        and e.spelled_out.code != 2
    ),
)
def a_gradient_is_its_tensors(e: Evidence) -> Iterator[str]:
    """One tensor of all of it, or each tensor of a list spelled out, is the same run."""
    yield from differences(e.main, e.spelled_out)
