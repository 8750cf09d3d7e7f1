#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes features.stf: random packets for features.p4 and what the real simple_switch answered."""

import random
import tempfile
from pathlib import Path

import bmv2
import programs
import stf

HERE = Path(__file__).resolve().parent
SEED = 20261121
OPERAND_BYTES = 52
KINDS = [0x00, 0x01, 0x02, 0x03, 0x04, *range(0x10, 0x19), 0x20, *range(0x30, 0x37)]
TERNARY = "add FeatureIngress.byTernary"
PREFIX = "add FeatureIngress.byPrefix headers.operands.a"
CLASSIFY = "FeatureIngress.classify"
STATEMENTS = [
    f"{TERNARY} 9980 headers.operands.e:0b{'*' * 63}1 headers.operands.shift:3 {CLASSIFY}(result:0x11)",
    f"{TERNARY} 9990 headers.operands.e:0b{'*' * 62}11 headers.operands.shift:3 "
    "FeatureIngress.stop(result:0x33)",
    f"{TERNARY} 9995 headers.operands.e:0b1{'*' * 63} headers.operands.shift:3 NoAction()",
    f"{TERNARY} 9970 headers.operands.e:0x{'*' * 16} headers.operands.shift:4 {CLASSIFY}(result:0x44)",
    f"{PREFIX}:{stf.prefix_text(1 << 127, 1, 128)} {CLASSIFY}(result:0xB001)",
    f"{PREFIX}:{stf.prefix_text(3 << 126, 2, 128)} {CLASSIFY}(result:0xB002)",
    f"{PREFIX}:{stf.prefix_text((1 << 128) - (1 << 64), 64, 128)} {CLASSIFY}(result:0xB064)",
    "mc_mgrp_create 3",
    "mc_node_create 7 1 2",
    "mc_node_create 2 2 3",
    "mc_node_associate 3 0",
    "mc_node_associate 3 1",
    "mirroring_add 5 4",
    "mirroring_add 6 5",
]
# p4c's runner waits a second after each command, so that BMv2's queues, which hold 64 packets, are never full.
PAUSE = "register_read FeatureIngress.cells 0"
PAUSE_EVERY = 40


def draw_edge(draw: random.Random, size: int) -> bytes:
    """Bytes of an operand: zeros, ones, or anything."""
    shape = draw.random()
    if shape < 0.15:
        return bytes(size)
    if shape < 0.3:
        return b"\xff" * size
    return draw.randbytes(size)


def packet(draw: random.Random, number: int) -> bytes:
    kind = draw.choice(KINDS)
    count = draw.choice([3, 3, 0, 1, 2, 4, 40]) if kind in (0x03, 0x30) else draw.randrange(5)
    if kind == 0x04:
        # At least the packet's number must be left.
        count = draw.choice([2, 5, 9, 200])
    head = number.to_bytes(2, "big") + bytes([kind, count]) + b"\0\0"
    body = b""
    if kind < 0x10:
        for left in range(draw.choice([1, 2, 3, 4, 4, 5]), 0, -1):
            label = bytearray(draw.randbytes(4))
            label[2] = label[2] & 0xFE | (left == 1)
            body += bytes(label)
    elif kind < 0x20:
        body += draw.randbytes(2) if kind & 8 else b""
        sizes = [16, 16, 4, 4, 2, 8]
        body += b"".join(draw_edge(draw, size) for size in sizes)
        body += bytes([draw.choice([0, 1, 2, 3, 3, 4, 7, 63, 64, 65, 127, 128, 200])])
        if draw.random() < 0.3:
            body = body[: draw.randrange(len(body))]
    return head + body + draw.randbytes(draw.randrange(30))


def main() -> None:
    draw = random.Random(SEED)
    frames = [packet(draw, number) for number in range(400)]
    # The ports that something may leave at are 0 to 6.
    ports = [number if number < 5 else draw.randrange(3) for number in range(len(frames))]
    ports[5:7] = 5, 6
    commands = [stf.command_of(statement, "features") for statement in STATEMENTS]
    played = stf.Played("features", "features", commands, [])
    played.packets = [(port, frame, []) for port, frame in zip(ports, frames)]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "features.json")
        next(p for p in programs.PROGRAMS if p.name == "features").compile(program)
        sent = bmv2.play(program, played)
    for port, answers in sorted(sent.items()):
        for answer in answers:
            number = int.from_bytes(answer[:2], "big")
            played.packets[number][2].append((port, answer))
    lines = [
        "# SPDX-License-Identifier: GPL-2.0-only",
        "# What v1model programs may do; recorded from BMv2's simple_switch by record.py",
        "# program: features",
        *STATEMENTS,
    ]
    for number, (port, frame, answers) in enumerate(played.packets):
        lines += [PAUSE] if number % PAUSE_EVERY == PAUSE_EVERY - 1 else []
        lines.append(f"packet {port} {frame.hex().upper()}")
        lines += [f"expect {out} {answer.hex().upper()}$" for out, answer in answers]
    (HERE / "features.stf").write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
