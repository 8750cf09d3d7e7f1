# SPDX-License-Identifier: GPL-2.0-only
"""What columns hold in folders whose manifest does not describe them. Nothing is added here any more."""

# Columns that stay text even where every value of a run looks like a number.
_TEXT = frozenset("job from to src dst kind target event status auto_choice traffic".split())
_COUNTS = frozenset("run seed iteration operation workers fault packets blocked_workers".split())
_FRACTIONS = frozenset({"utilisation", "oversubscription", "times_bound"})

OLD_NEVER = frozenset({"wall_s", "peak_rss_bytes"})
OLD_NOT_ALWAYS = frozenset({"run", "events"})


def old_type(name: str) -> type | None:
    """`str`, `int` or `float`; None where the values tell it themselves."""
    if name in _TEXT:
        return str
    if name in _COUNTS or name.endswith(("_bytes", "_packets", "_hops", "_bps")):
        return int
    return float if name.endswith("_s") or name in _FRACTIONS else None


def old_unit(name: str) -> str:
    """Seconds and bytes, which the name says."""
    return "s" if name.endswith("_s") else "B" if name.endswith("_bytes") else ""
