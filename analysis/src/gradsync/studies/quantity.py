# SPDX-License-Identifier: GPL-2.0-only
"""Numbers, times and rates of a scenario as what a fit can change: base units and back."""

import math
import re
from dataclasses import dataclass
from decimal import Decimal

from gradsync.errors import ScenarioError
from gradsync.text import shown

# Units of a scenario in its smallest, which are whole there: picoseconds and bits per second.
_TIMES = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
_RATES = {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}
_NUMBER = re.compile(r"(-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)([A-Za-z]*)")
# Digits of a plain number: more than a fit tells apart, fewer than a double has.
_DIGITS = 12


@dataclass(frozen=True)
class Unit:
    """A unit and how many of the smallest unit of its kind it is; a plain number has neither."""

    name: str
    smallest: str
    count: int

    def render(self, value: float) -> str:
        """A value in smallest units as a scenario has it: exactly what can be simulated."""
        if not self.name:
            return f"{value:.{_DIGITS}g}"
        number = Decimal(round(value)) / self.count
        return f"{number.normalize():f}{self.name}"


def _find_unit(name: str) -> Unit | None:
    if not name:
        return Unit("", "", 1)
    for units in (_TIMES, _RATES):
        if name in units:
            return Unit(name, next(iter(units)), units[name])
    return None


def read_quantity(text: str, where: str) -> tuple[float, Unit]:
    """A value in smallest units (ps, bps, or as it is) and its unit. Raises ScenarioError."""
    found = _NUMBER.fullmatch(text.strip())
    unit = _find_unit(found[2]) if found else None
    if found is None or unit is None:
        raise ScenarioError(
            f"{where}: {shown(text)} is no number, time or rate; expected one such as 0.9, 2us, 400Gbps"
        )
    value = float(found[1]) * unit.count
    if not math.isfinite(value):
        raise ScenarioError(f"{where}: {shown(text)} is too large")
    return value, unit
