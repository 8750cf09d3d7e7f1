# SPDX-License-Identifier: GPL-2.0-only
"""Draws files beside a scenario: MSCCL algorithms, GOAL schedules, and programs for switches of the user's own."""

from collections.abc import Callable

from referee.case import ROOT, Files
from referee.dice import Dice
from referee.draw_topology import draw_link

_MOST_RANKS = 9
_MOST_MESSAGES = 60
_SLOT_PROGRAM = "p4-behavioral/compiled/slot-aggregation.json"


def _msccl_step(number: int, kind: str, buffer: str, part: int, pieces: int) -> str:
    offset = part * pieces
    place = f'srcbuf="{buffer}" srcoff="{offset}" dstbuf="{buffer}" dstoff="{offset}"'
    rest = 'depid="-1" deps="-1" hasdep="0"'
    return f'   <step s="{number}" type="{kind}" {place} cnt="{pieces}" {rest}/>\n'


def _ring_steps(collective: str, place: int, order: list[int]) -> list[tuple[str, int]]:
    """What the rank at a place of the ring does, and with which part: of all-reduces part p begins at
    place p; of the other two it is that of the rank, which is where it stays or comes from."""
    w = len(order)
    at = [order[(place - back) % w] for back in range(w + 1)]  # parts of the ranks before
    if collective == "allgather":
        return [("s", at[0]), *(("rcs", part) for part in at[1 : w - 1]), ("r", at[w - 1])]
    if collective == "reducescatter":
        return [("s", at[1]), *(("rrs", part) for part in at[2:w]), ("rrc", at[0])]
    parts = [(place - back) % w for back in range(2 * w)]
    adding = [("s", parts[0]), *(("rrs", part) for part in parts[1 : w - 1])]
    return [
        *adding,
        ("rrcs", parts[w - 1]),
        *(("rcs", part) for part in parts[w : 2 * w - 2]),
        ("r", parts[2 * w - 2]),
    ]


def _algorithm(dice: Dice, ranks: int) -> tuple[str, str]:
    """A ring in any order of the ranks, in parts of one piece or more."""
    collective = dice.of(("allreduce", "allreduce", "allgather", "reducescatter"))
    pieces = dice.between(1, 3)
    # In place: what is scattered lies in the input, what is gathered in the output.
    buffer = "i" if collective == "reducescatter" else "o"
    sizes = f'{buffer}_chunks="{ranks * pieces}" {"io".replace(buffer, "")}_chunks="0"'
    order = dice.shuffled(range(ranks))
    text = (
        f'<algo name="drawn" proto="Simple" nchannels="1" nchunksperloop="{ranks * pieces}" '
        f'ngpus="{ranks}" coll="{collective}" inplace="1">\n'
    )
    for rank in range(ranks):
        place = order.index(rank)
        send, receive = order[(place + 1) % ranks], order[place - 1]
        text += f' <gpu id="{rank}" {sizes} s_chunks="0">\n'
        text += f'  <tb id="0" send="{send}" recv="{receive}" chan="0">\n'
        for number, (kind, part) in enumerate(_ring_steps(collective, place, order)):
            text += _msccl_step(number, kind, buffer, part, pieces)
        text += "  </tb>\n </gpu>\n"
    return "xml", text + "</algo>\n"


class _Schedule:
    """Statements of each rank: in the order of drawing, so that none waits for one that waits for it."""

    def __init__(self, ranks: int):
        self.lines: list[list[str]] = [[] for _ in range(ranks)]
        self._labels: list[list[str]] = [[] for _ in range(ranks)]

    def add(self, dice: Dice, rank: int, label: str, statement: str) -> None:
        self.lines[rank].append(f"{label}: {statement}\n")
        for before in dice.some(self._labels[rank], 2):
            how = "irequires" if dice.chance(0.2) else "requires"
            self.lines[rank].append(f"{label} {how} {before}\n")
        self._labels[rank].append(label)


def _schedule(dice: Dice, ranks: int) -> tuple[str, str]:
    """Messages and computations of any order that can be."""
    schedule = _Schedule(ranks)
    for number in range(dice.between(1, _MOST_MESSAGES)):
        source = dice.between(0, ranks - 1)
        if dice.chance(0.2):
            time = f"calc {dice.between(0, 20_000)} cpu {dice.between(0, 1)}"
            schedule.add(dice, source, f"c{number}", time)
            continue
        target = dice.between(0, ranks - 1)
        size = 0 if dice.chance(0.05) else dice.spread(1, 1500)
        tag = dice.between(0, 2)
        send = f"send {size}b to {target} tag {tag} nic {dice.between(0, 1)}"
        schedule.add(dice, source, f"s{number}", send)
        schedule.add(dice, target, f"r{number}", f"recv {size}b from {source} tag {tag}")
    blocks = (f"rank {rank} {{\n{''.join(lines)}}}\n" for rank, lines in enumerate(schedule.lines))
    return "goal", f"num_ranks {ranks}\n" + "".join(blocks)


_MAKERS: tuple[Callable[[Dice, int], tuple[str, str]], ...] = (_algorithm, _schedule)


def draw_import(dice: Dice, endpoints: int, files: Files) -> tuple[dict, int]:
    """A scheme whose file is added to `files`, and its number of workers."""
    workers = dice.between(2, min(_MOST_RANKS, endpoints))
    ending, text = dice.of(_MAKERS)(dice, workers)
    name = f"plan{len(files)}.{ending}"
    files[name] = text
    return {"kind": "import", "file": name}, workers


def slot_commands(workers: int, slots: int) -> str:
    """Commands for slot-aggregation.p4 on the switch of a star, whose only job has these workers.

    By hand from the addresses of doc/p4.rst: the switch is node 0, the worker at port p node p + 1 with
    10.0.0.(p + 1), the job 10.128.0.0 with number 0.
    """
    everybody = (1 << workers) - 1
    text = ""
    for worker in range(workers):
        text += (
            f"table_add SlotIngress.worker SlotIngress.contribution 0 {worker} {worker} => "
            f"{1 << worker:#x} {everybody:#x} 0 {slots} 1 02:00:00:00:00:00 10.128.0.0\n"
            f"table_add SlotEgress.receiver SlotEgress.addressResult 0 {worker} => "
            f"02:00:00:00:00:{worker + 1:02x} 10.0.0.{worker + 1}\n"
        )
    text += "mc_mgrp_create 1\n"
    for worker in range(workers):
        text += f"mc_node_create {worker} {worker}\nmc_node_associate 1 {worker}\n"
    return text


def draw_programmed(dice: Dice, files: Files) -> dict:
    """A star whose switch runs a program of the user's: that of p4-behavioral, configured by hand."""
    hosts = dice.between(2, 12)
    workers, slots = dice.between(2, hosts), dice.of((1, 4, 32, 128))
    files["switch.json"] = (ROOT / _SLOT_PROGRAM).read_text()
    files["switch.cli"] = slot_commands(workers, slots)
    program = {"switches": ["leaf0"], "program": "switch.json", "configuration": "switch.cli"}
    scenario = {
        "topology": {"kind": "star", "hosts": hosts, "hostLink": draw_link(dice)},
        "transport": {
            "kind": "roce",
            "aggregation": {
                "values": dice.of(("sizes", "real")),
                "slot": {"slots": slots, "valuesPerPacket": 64, "timeout": "1ms"},
                "programs": [program],
            },
        },
        "scheme": "switchml",
        "job": {
            "workers": workers,
            "gradient": f"{dice.spread(1, 60_000)}B",
            "iterations": dice.between(1, 2),
        },
    }
    if dice.chance(0.4):
        scenario["fabric"] = {"lossRate": dice.of((0.001, 0.01, 0.05))}
    return scenario
