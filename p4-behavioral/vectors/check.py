# SPDX-License-Identifier: GPL-2.0-only
"""Plays vectors on the reference model: the hand-written ones must agree with it."""

import dataclasses

from reference import ReferenceSwitch
from stf import Vector


def mismatches(vector: Vector) -> list[str]:
    """The comments of the packets to which the reference answers otherwise than the vector says."""
    configuration = dataclasses.replace(
        vector.configuration, saturate=vector.program.endswith("saturate")
    )
    switch = ReferenceSwitch(configuration)
    wrong, why, expected, sent = [], "", [], []
    for step in [*vector.steps, "# end"]:
        words = step.split()
        if words[0] == "expect":
            expected.append((int(words[1]), bytes.fromhex(words[2].rstrip("$"))))
            continue
        if sorted(sent) != sorted(expected):
            wrong.append(f"{vector.name}: {why}")
        sent, expected = [], []
        if words[0] == "register_write":
            switch.clear(int(words[2]))
        elif words[0] == "packet":
            sent = switch.process(int(words[1]), bytes.fromhex(words[2]))
        else:
            why = step.removeprefix("# ")
    return wrong
