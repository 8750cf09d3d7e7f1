# SPDX-License-Identifier: GPL-2.0-only
"""Writes and reads vectors in the STF language of p4c's tests."""

import json
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from reference import POOL_SIZE, Assignment, Configuration, Parent, Receiver

COMPILED = Path(__file__).resolve().parent.parent / "compiled"


def prefix_text(prefix: int, length: int, bits: int = 32) -> str:
    """A prefix in digits, of which "*" are those that do not count: p4c's parser of STF knows no slash."""
    if length % 4 == 0 and bits % 4 == 0:
        digits = f"{prefix:0{bits // 4}x}"
        return f"0x{digits[: length // 4]:*<{bits // 4}}"
    return f"0b{f'{prefix:0{bits}b}'[:length]:*<{bits}}"


def configuration_lines(configuration: Configuration) -> list[str]:
    """The tables and multicast groups as STF statements."""
    lines = []
    actions = {"worker": "contribution", "switch": "partialSum", "above": "result"}
    for (job, worker, port), known in configuration.workers.items():
        bit = "" if known.kind == "above" else f"workerBit:{known.bit:#x},"
        lines.append(
            f"add SlotIngress.worker job:{job:#x} worker:{worker:#x} port:{port:#x} "
            f"SlotIngress.{actions[known.kind]}({bit}allWorkers:{known.all_bits:#x},"
            f"base:{known.base:#x},slots:{known.slots:#x},group:{known.group:#x},"
            f"switchMac:{known.switch_mac:#x},switchIp:{known.switch_ip:#x})"
        )
    for job, parent in configuration.parents.items():
        lines.append(
            f"add SlotIngress.parent job:{job:#x} SlotIngress.sendUp(port:{parent.port:#x},"
            f"number:{parent.number:#x},mac:{parent.mac:#x},ip:{parent.ip:#x},"
            f"ownIp:{parent.own_ip:#x})"
        )
    for (job, worker), to in configuration.receivers.items():
        lines.append(
            f"add SlotEgress.receiver job:{job:#x} worker:{worker:#x} "
            f"SlotEgress.addressResult(mac:{to.mac:#x},ip:{to.ip:#x})"
        )
    for prefix, length, port in configuration.routes:
        lines.append(
            f"add SlotIngress.route destination:{prefix_text(prefix, length)} "
            f"SlotIngress.forward(port:{port:#x})"
        )
    node = 0
    for group, workers in configuration.groups.items():
        lines.append(f"mc_mgrp_create {group}")
        for worker, port in workers:
            lines.append(f"mc_node_create {worker} {port}")
            lines.append(f"mc_node_associate {group} {node}")
            node += 1
    return lines


@dataclass
class Vector:
    """One STF file: a configuration, and packets with what must leave after each."""

    name: str
    purpose: str
    configuration: Configuration
    program: str = "slot-aggregation"
    steps: list[str] = field(default_factory=list)

    def comment(self, text: str) -> None:
        self.steps.append(f"# {text}")

    def clear(self, slot: int) -> None:
        """What restarts a slot: both of its cells as if they had never been used."""
        for cell in (slot, POOL_SIZE + slot):
            self.steps.append(f"register_write SlotIngress.bitmaps {cell} 0")

    def packet(self, port: int, frame: bytes) -> None:
        self.steps.append(f"packet {port} {frame.hex().upper()}")

    def expect(self, port: int, frame: bytes) -> None:
        self.steps.append(f"expect {port} {frame.hex().upper()}$")

    def text(self) -> str:
        head = [
            "# SPDX-License-Identifier: GPL-2.0-only",
            f"# {self.purpose}",
            f"# program: {self.program}",
        ]
        own = getattr(self.configuration, "lines", None)
        lines = own() if own else configuration_lines(self.configuration)
        return "\n".join(head + lines + self.steps) + "\n"

    def write(self, folder: Path) -> None:
        (folder / f"{self.name}.stf").write_text(self.text(), encoding="ascii")


def job_configuration(
    job: int,
    ports: list[int],
    base: int = 0,
    slots: int = 8,
    into: Configuration | None = None,
    switch: tuple[int, int] = (0x0200000000FE, 0x0A0000FE),
) -> Configuration:
    """A job whose worker of rank i is at ports[i]; the job's number is its multicast group."""
    configuration = Configuration() if into is None else into
    everyone = (1 << len(ports)) - 1
    for rank, port in enumerate(ports):
        configuration.workers[job, rank, port] = Assignment(
            1 << rank, everyone, base, slots, job, *switch
        )
        configuration.receivers[job, rank] = Receiver(
            0x02_00_00_00_01_00 + port, 0x0A_00_01_00 + port
        )
    configuration.groups[job] = list(enumerate(ports))
    return configuration


def add_parent(configuration: Configuration, job: int, parent: Parent) -> None:
    """Puts a switch above: sums go there, results come from there."""
    own = next(known for key, known in configuration.workers.items() if key[0] == job)
    configuration.workers[job, parent.number, parent.port] = replace(own, bit=0, kind="above")
    configuration.parents[job] = parent


@dataclass
class Played:
    """A vector as read from its file, for a switch that is configured by simple_switch_CLI."""

    name: str
    program: str
    commands: list[str]
    # (port, frame, the frames that must leave as (port, frame))
    packets: list[tuple[int, bytes, list[tuple[int, bytes]]]]
    # Commands between packets, by how many packets come before them.
    later: dict[int, list[str]] = field(default_factory=dict)


# The priority that p4c's runner subtracts those of STF from: the largest wins there, the smallest in BMv2.
PRIORITY_BASE = 10000
ALL_ONES = {"0x": "F", "0o": "7", "0b": "1"}


@cache
def match_types(program: str) -> dict[str, list[str]]:
    """How the keys of each table match, from the compiled program."""
    compiled = json.loads((COMPILED / f"{program}.json").read_text(encoding="ascii"))
    tables = [table for pipeline in compiled["pipelines"] for table in pipeline["tables"]]
    return {table["name"]: [key["match_type"] for key in table["key"]] for table in tables}


def key_of(value: str, match: str) -> str:
    """A key as simple_switch_CLI wants it; digits of all of its bits are written."""
    if match == "exact":
        return value
    base, digits = value[:2], value[2:]
    number = base + digits.replace("*", "0")
    if match == "lpm":
        bits = {"0x": 4, "0o": 3, "0b": 1}[base]
        return f"{number}/{(len(digits) - digits.count('*')) * bits}"
    assert match == "ternary", match
    ones = "".join("0" if digit == "*" else ALL_ONES[base] for digit in digits)
    return f"{number}&&&{base}{ones}"


def command_of(statement: str, program: str) -> str:
    """An STF statement that configures, as simple_switch_CLI wants it; keys are in the table's order."""
    words = statement.split()
    if words[0] != "add":
        return statement
    table, matches = words[1], match_types(program)[words[1]]
    priority = ""
    if words[2].isdigit():
        priority = f" {PRIORITY_BASE - int(words.pop(2))}"
    action, arguments = words[-1].rstrip(")").split("(")
    keys = [
        key_of(word.split(":", 1)[1], match) for word, match in zip(words[2:-1], matches, strict=True)
    ]
    values = [argument.split(":", 1)[1] for argument in arguments.split(",") if argument]
    return f"table_add {table} {action} {' '.join(keys)} => {' '.join(values)}{priority}"


def read(path: Path) -> Played:
    played = Played(path.stem, "", [], [])
    for line in path.read_text(encoding="ascii").splitlines():
        if line.startswith("# program: "):
            played.program = line.removeprefix("# program: ")
        elif line.startswith("packet "):
            _, port, data = line.split()
            played.packets.append((int(port), bytes.fromhex(data), []))
        elif line.startswith("expect "):
            _, port, data = line.split()
            played.packets[-1][2].append((int(port), bytes.fromhex(data.rstrip("$"))))
        elif line and not line.startswith(("#", "register_read ")):
            before = len(played.packets)
            commands = played.later.setdefault(before, []) if before else played.commands
            commands.append(command_of(line, played.program))
    return played
