# SPDX-License-Identifier: GPL-2.0-only
"""Sizes, rates and times in words, as the ticks of an axis have them."""

import math
from collections.abc import Sequence

# From large to small. Sizes are also powers of 1024, which is what they are swept by.
_DECIMAL = {
    "B": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "b/s": ((1e12, "Tb/s"), (1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps")),
}
_BINARY = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))


def _in(value: float, scale: Sequence[tuple[float, str]]) -> tuple[str, bool]:
    """Four digits and a prefix, and whether that is all of the value."""
    # A time is a decimal fraction, which is a hair off its unit in binary.
    divisor, unit = next((step for step in scale if abs(value) >= step[0] * 0.999_999), scale[-1])
    digits = f"{float(f'{value / divisor:.4g}'):g}"
    return f"{digits} {unit}", math.isclose(float(digits) * divisor, value, rel_tol=1e-9)


def show_quantity(value: float, unit: str) -> str:
    """A number of `unit` ("B", "b/s", "s") in the prefix that suits it; of others the number alone.

    Sizes are powers of 1024 where that is shorter: 65,536 B is 64 KiB, 60,000 B is 60 kB.
    """
    if unit not in _DECIMAL:
        return f"{value:g}"
    if value == 0:
        return f"0 {unit}"
    decimal, is_all = _in(value, _DECIMAL[unit])
    binary, is_binary = _in(value, _BINARY) if unit == "B" else (decimal, False)
    digits = [len(text.split()[0]) for text in (binary, decimal)]
    return binary if is_binary and (digits[0] < digits[1] or not is_all) else decimal
