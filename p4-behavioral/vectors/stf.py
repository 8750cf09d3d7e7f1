# SPDX-License-Identifier: GPL-2.0-only
"""Writes and reads vectors in the STF language of p4c's tests."""

from dataclasses import dataclass, field
from pathlib import Path

from reference import Assignment, Configuration, Receiver

def configuration_lines(configuration: Configuration) -> list[str]:
    """The tables and multicast groups as STF statements."""
    lines = []
    for (job, worker, port), known in configuration.workers.items():
        lines.append(
            f"add SlotIngress.worker job:{job:#x} worker:{worker:#x} port:{port:#x} "
            f"SlotIngress.contribution(workerBit:{known.bit:#x},allWorkers:{known.all_bits:#x},"
            f"base:{known.base:#x},slots:{known.slots:#x},group:{known.group:#x},"
            f"switchMac:{known.switch_mac:#x},switchIp:{known.switch_ip:#x})"
        )
    for (job, port), to in configuration.receivers.items():
        lines.append(
            f"add SlotEgress.receiver job:{job:#x} port:{port:#x} "
            f"SlotEgress.addressResult(rank:{to.worker:#x},mac:{to.mac:#x},ip:{to.ip:#x})"
        )
    for prefix, length, port in configuration.routes:
        lines.append(
            f"add SlotIngress.route destination:{prefix:#x}/{length} "
            f"SlotIngress.forward(port:{port:#x})"
        )
    for node, (group, ports) in enumerate(configuration.groups.items()):
        lines.append(f"mc_mgrp_create {group}")
        lines.append(f"mc_node_create 0 {' '.join(str(port) for port in ports)}")
        lines.append(f"mc_node_associate {group} {node}")
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
        configuration.receivers[job, port] = Receiver(
            rank, 0x02_00_00_00_01_00 + port, 0x0A_00_01_00 + port
        )
    configuration.groups[job] = sorted(ports)
    return configuration


@dataclass
class Played:
    """A vector as read from its file, for a switch that is configured by simple_switch_CLI."""

    name: str
    program: str
    commands: list[str]
    # (port, frame, the frames that must leave as (port, frame))
    packets: list[tuple[int, bytes, list[tuple[int, bytes]]]]


def command_of(statement: str) -> str:
    """An STF statement that configures, as simple_switch_CLI wants it."""
    words = statement.split()
    if words[0] != "add":
        return statement
    action, arguments = words[-1].rstrip(")").split("(")
    keys = [word.split(":", 1)[1] for word in words[2:-1]]
    values = [argument.split(":", 1)[1] for argument in arguments.split(",") if argument]
    return f"table_add {words[1]} {action} {' '.join(keys)} => {' '.join(values)}"


def read(path: Path) -> Played:
    played = Played(path.stem, "", [], [])
    for line in path.read_text(encoding="ascii").splitlines():
        if line.startswith("# program: "):
            played.program = line.removeprefix("# program: ")
        elif line.startswith("# cli: "):
            played.commands.append(line.removeprefix("# cli: "))
        elif line.startswith("packet "):
            _, port, data = line.split()
            played.packets.append((int(port), bytes.fromhex(data), []))
        elif line.startswith("expect "):
            _, port, data = line.split()
            played.packets[-1][2].append((int(port), bytes.fromhex(data.rstrip("$"))))
        elif line and not line.startswith("#"):
            played.commands.append(command_of(line))
    return played
