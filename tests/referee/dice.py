# SPDX-License-Identifier: GPL-2.0-only
"""Chance: everything that is drawn comes from one generator per scenario, named by its seed."""

import math
import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Dice:
    """Draws; a seed means the same on every machine."""

    def __init__(self, seed: str):
        self._random = random.Random(seed)

    def between(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def chance(self, share: float) -> bool:
        return self._random.random() < share

    def of(self, items: Sequence[Item]) -> Item:
        return items[self._random.randrange(len(items))]

    def some(self, items: Sequence[Item], most: int) -> list[Item]:
        return self._random.sample(items, self.between(0, min(most, len(items))))

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """All of them in any order."""
        return self._random.sample(items, len(items))

    def spread(self, low: int, high: int) -> int:
        """A whole number whose logarithm is uniform, so that small ones come as often as large."""
        return round(math.exp(self._random.uniform(math.log(low), math.log(high))))

    def microseconds(self, low: int, high: int) -> str:
        return f"{self.between(low, high)}us"
