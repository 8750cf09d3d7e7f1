# SPDX-License-Identifier: GPL-2.0-only
"""Draws lists of tensors in the place of a gradient, with a codec each or the job's."""

from referee.case import SIZE_UNITS, quantity
from referee.catalogue import Catalogue
from referee.dice import Dice


def _tensor(dice: Dice, size: int) -> dict:
    if dice.chance(0.4):
        return {"elements": max(1, size // 4)}
    return {"size": f"{size}B"}


def draw_tensors(dice: Dice, catalogue: Catalogue, job: dict, with_codecs: bool) -> None:
    """Takes the gradient of a job apart."""
    left = quantity(job.pop("gradient"), SIZE_UNITS)
    tensors = []
    with_codecs = with_codecs and dice.chance(0.5)
    for number in range(dice.between(1, 4)):
        size = dice.spread(1, max(2, left // 2))
        tensor = _tensor(dice, size)
        if dice.chance(0.3):
            tensor["name"] = f"layer{number}"
        if dice.chance(0.3):
            tensor["count"] = dice.between(1, 3)
        if with_codecs and dice.chance(0.4):
            tensor["codec"] = dice.of((*catalogue.codecs, "fp32", "fp16", "int8"))
        left = max(2, left - size * tensor.get("count", 1))
        tensors.append(tensor)
    job["tensors"] = tensors
