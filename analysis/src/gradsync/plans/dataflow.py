# SPDX-License-Identifier: GPL-2.0-only
"""Which operations a move has to wait for, so that a plan has no race (doc/plan.rst, Verification)."""

from collections.abc import Iterable
from dataclasses import dataclass, field

# A rank and one of its buffers.
Place = tuple[int, int]


@dataclass
class _Run:
    """Accesses of one kind in a row, which may come in any order, and those before them."""

    kind: str = ""
    now: list[int] = field(default_factory=list)
    before: list[int] = field(default_factory=list)


class Dataflow:
    """What has read and written each chunk of each buffer of each rank, in the order of adding."""

    def __init__(self) -> None:
        self._runs: dict[tuple[Place, int], _Run] = {}

    def move(
        self, number: int, adds: bool, places: tuple[Place, Place], chunks: Iterable[int]
    ) -> list[int]:
        """Note a move of chunks from place to place; the operations that it has to wait for."""
        needed: set[int] = set()
        for chunk in chunks:
            needed.update(self._access(places[0], chunk, "read", number))
            needed.update(self._access(places[1], chunk, "add" if adds else "copy", number))
        needed.discard(number)
        return sorted(needed)

    def _access(self, place: Place, chunk: int, kind: str, number: int) -> list[int]:
        run = self._runs.setdefault((place, chunk), _Run())
        # Reads do not wait for reads, nor sums for sums; members of other runs conflict.
        if kind != run.kind or kind == "copy":
            run.kind, run.before, run.now = kind, run.now, []
        run.now.append(number)
        return run.before
