# SPDX-License-Identifier: GPL-2.0-only
"""Ideal times of all-reduce schemes from bandwidth alone, to draw beside what was simulated.

In units of K/B (gradient bytes over host link rate), for w workers in r equal racks whose uplinks
are oversubscribed o : 1. Wan et al., RAT (2020); its printed ratio of ps to ring is inverted, the one
that follows from these is o w (1 - 1/r) / (w - 1).
"""

from typing import Optional


def ideal_time(scheme: str, workers: int, racks: int, oversubscription: float) -> Optional[float]:
    """The time of co-located ps, ring, or rat pipelined in at least 4 chunks; None for others."""
    if workers < 2 or racks < 1:
        return None
    own_share = (workers - 1) / workers
    if scheme == "ps":
        return 2 * max(own_share, oversubscription * (1 - 1 / racks))
    if scheme == "ring":
        return 2 * own_share
    if scheme == "rat":
        return 2 * max(workers - 1, oversubscription * (racks - 1)) / workers
    return None
