# SPDX-License-Identifier: GPL-2.0-only
"""ATP: packets, a model of the switch written from ../README.md alone, and vectors for atp.p4."""

import random
import struct
from dataclasses import dataclass, field

from packets import UdpFrame, worker_ip, worker_mac
from reference import INT32_MAX, INT32_MIN
from stf import Vector, prefix_text

PORT = 0xBEE1
VALUES = 62
AGGREGATORS = 1024
HEADER = struct.Struct("!IIHHHHH")
PAYLOAD_BYTES = HEADER.size + 4 * VALUES
SERVER_IP = 0x0A_00_02_00
SERVER_PORT = 8
Sent = list[tuple[int, bytes]]


@dataclass(frozen=True)
class AtpFrame(UdpFrame):
    """One packet of ATP."""

    source_mac: int = worker_mac(0)
    source_ip: int = worker_ip(0)
    destination_ip: int = SERVER_IP
    destination_port: int = PORT
    diffserv: int = 2
    identification: int = 7
    fragment: int = 0x4000
    bitmaps: tuple[int, int] = (1, 1)
    fan_ins: tuple[int, int] = (2, 2)
    overflow: int = 0
    ecn: int = 0
    resend: int = 0
    collision: int = 0
    ack: int = 0
    level: int = 0
    job: int = 1
    sequence: int = 0
    indices: tuple[int, int] = (0, 0)
    values: tuple[int, ...] = field(default=(0,) * VALUES)

    def payload(self) -> bytes:
        bits = self.fan_ins[0] << 11 | self.fan_ins[1] << 6
        flags = (self.overflow, self.ecn, self.resend, self.collision, self.ack, self.level)
        for place, flag in enumerate(flags):
            bits |= flag << (5 - place)
        header = HEADER.pack(*self.bitmaps, bits, self.job, self.sequence, *self.indices)
        return header + struct.pack(f"!{len(self.values)}i", *self.values)


@dataclass
class AtpConfiguration:
    # (job, level): multicast group
    groups_of: dict[tuple[int, int], int] = field(default_factory=dict)
    groups: dict[int, list[int]] = field(default_factory=dict)
    # (job, port): MAC, IP
    receivers: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        lines = [f"add AtpIngress.route destination:{prefix_text(SERVER_IP, 32)} "
                 f"AtpIngress.forward(port:{SERVER_PORT:#x})"]
        for (job, level), group in self.groups_of.items():
            lines.append(
                f"add AtpIngress.receivers job:{job:#x} level:{level:#x} "
                f"AtpIngress.answer(group:{group:#x})"
            )
        for (job, port), (mac, ip) in self.receivers.items():
            lines.append(
                f"add AtpEgress.receiver job:{job:#x} port:{port:#x} "
                f"AtpEgress.addressAnswer(mac:{mac:#x},ip:{ip:#x})"
            )
        for node, (group, ports) in enumerate(self.groups.items()):
            lines.append(f"mc_mgrp_create {group}")
            lines.append(f"mc_node_create 0 {' '.join(str(port) for port in ports)}")
            lines.append(f"mc_node_associate {group} {node}")
        return lines


def configuration() -> AtpConfiguration:
    """Job 1 has workers at ports 0 to 2, job 2 at 3 and 4; each level its own group."""
    made = AtpConfiguration()
    for job, ports in ((1, [0, 1, 2]), (2, [3, 4])):
        for level in (0, 1):
            group = 10 * job + level
            made.groups_of[job, level] = group
            made.groups[group] = ports if level == 0 else ports[:2]
        for port in ports:
            made.receivers[job, port] = (worker_mac(port), worker_ip(port))
    return made


@dataclass
class Aggregator:
    owner: tuple[int, int]
    bitmap: int
    values: list[int]
    overflow: int
    ecn: int


class AtpReference:
    """Takes frames (as objects, all checksums good) and says what leaves."""

    def __init__(self, made: AtpConfiguration):
        self.configuration = made
        self.cells: dict[tuple[int, int], Aggregator] = {}

    def process(self, frame: AtpFrame) -> Sent:
        level = frame.level
        bitmap, fan_in = frame.bitmaps[level], frame.fan_ins[level]
        index = frame.indices[level]
        if frame.ttl <= 1 or index >= AGGREGATORS or bitmap == 0 or bitmap >= 2**fan_in:
            return []
        if frame.diffserv & 3 == 3:
            frame = frame.but(ecn=1)
        cell = self.cells.get((level, index))
        mine = cell if cell and cell.owner == (frame.job, frame.sequence) else None
        if frame.ack:
            if mine:
                del self.cells[level, index]
            return self.answer(frame)
        if level == 1 and (frame.resend or frame.collision):
            return self.up(frame, bitmap)
        if frame.resend:
            if mine is None:
                return self.up(frame, bitmap)
            if not mine.bitmap & bitmap:
                self.add(mine, frame, bitmap)
            del self.cells[level, index]
            return self.up(self.filled(frame, mine), mine.bitmap)
        if cell is None:
            mine = Aggregator(
                (frame.job, frame.sequence), bitmap, list(frame.values), frame.overflow, frame.ecn
            )
            self.cells[level, index] = mine
        elif mine is None:
            return self.up(frame.but(collision=1), bitmap)
        elif mine.bitmap & bitmap:
            return []
        else:
            self.add(mine, frame, bitmap)
        if mine.bitmap != 2**fan_in - 1:
            return []
        return self.up(self.filled(frame, mine), mine.bitmap)

    @staticmethod
    def add(cell: Aggregator, frame: AtpFrame, bitmap: int) -> None:
        for lane, value in enumerate(frame.values):
            total = cell.values[lane] + value
            if not INT32_MIN <= total <= INT32_MAX:
                cell.overflow = 1
            cell.values[lane] = (total - INT32_MIN) % 2**32 + INT32_MIN
        cell.bitmap |= bitmap
        cell.overflow |= frame.overflow
        cell.ecn |= frame.ecn

    @staticmethod
    def filled(frame: AtpFrame, cell: Aggregator) -> AtpFrame:
        return frame.but(
            values=tuple(cell.values), overflow=cell.overflow, ecn=cell.ecn | frame.ecn
        )

    @staticmethod
    def up(frame: AtpFrame, bitmap: int) -> Sent:
        bitmaps = (bitmap, frame.bitmaps[1]) if frame.level == 0 else (frame.bitmaps[0], bitmap)
        if frame.destination_ip != SERVER_IP:
            return []
        return [(SERVER_PORT, frame.but(bitmaps=bitmaps, level=1, ttl=frame.ttl - 1).to_bytes())]

    def answer(self, frame: AtpFrame) -> Sent:
        group = self.configuration.groups_of.get((frame.job, frame.level))
        sent = []
        for port in self.configuration.groups.get(group, []):
            if (frame.job, port) in self.configuration.receivers:
                mac, ip = self.configuration.receivers[frame.job, port]
                copy = frame.but(destination_mac=mac, destination_ip=ip, ttl=frame.ttl - 1, level=0)
                sent.append((port, copy.to_bytes()))
        return sent


def lanes(start: int) -> tuple[int, ...]:
    return tuple(range(start, start + VALUES))


def vector(name: str, purpose: str) -> Vector:
    return Vector(name, purpose, configuration(), "atp")


def say(made: Vector, why: str, port: int, frame: AtpFrame, *answers: tuple[int, AtpFrame]) -> None:
    """One packet and, by hand, what leaves."""
    made.comment(why)
    made.packet(port, frame.to_bytes())
    for out, answer in answers:
        made.expect(out, answer.to_bytes())


A, B = lanes(5), lanes(-1000)
SUM = tuple(a + b for a, b in zip(A, B))
FIRST = AtpFrame(values=A, bitmaps=(1, 1))
SECOND = AtpFrame(values=B, bitmaps=(2, 1), source_ip=worker_ip(1))
UP = {"level": 1, "ttl": 63}


def answers(frame: AtpFrame, ports: list[int]) -> list[tuple[int, AtpFrame]]:
    return [
        (port, frame.but(destination_mac=worker_mac(port), destination_ip=worker_ip(port),
                         ttl=frame.ttl - 1, level=0))
        for port in ports
    ]


def life_of_an_aggregator() -> Vector:
    made = vector("atp-life", "An aggregator from the first packet to the answer of the server")
    say(made, "the first waits", 0, FIRST)
    say(made, "a duplicate is dropped", 0, FIRST)
    whole = SECOND.but(values=SUM, bitmaps=(3, 1), **UP)
    say(made, "the second completes: one packet to the server", 1, SECOND, (8, whole))
    say(made, "complete is not free: another job collides", 3, FIRST.but(job=2),
        (8, FIRST.but(job=2, collision=1, **UP)))
    ack = FIRST.but(ack=1, values=SUM, bitmaps=(3, 1), source_ip=SERVER_IP)
    say(made, "the answer goes to all workers and frees it", 8, ack, *answers(ack, [0, 1, 2]))
    say(made, "now the other job gets it", 3, FIRST.but(job=2))
    say(made, "and an answer that comes twice frees nothing of it", 8, ack,
        *answers(ack, [0, 1, 2]))
    say(made, "it is still the other job's", 4, SECOND.but(job=2),
        (8, SECOND.but(job=2, values=SUM, bitmaps=(3, 1), **UP)))
    return made


def resends() -> Vector:
    made = vector("atp-resend", "A packet that is sent again takes along what the aggregator has")
    say(made, "the first waits", 0, FIRST)
    again = FIRST.but(resend=1, values=B)
    say(made, "again: the stored values go on, not the packet's", 0, again,
        (8, again.but(values=A, **UP)))
    say(made, "the aggregator is free: the next one starts it", 1, SECOND)
    late = FIRST.but(resend=1)
    say(made, "a resend of another worker is added first", 0, late,
        (8, late.but(values=SUM, bitmaps=(3, 1), **UP)))
    say(made, "nothing is left: as it is, without collision", 0, late, (8, late.but(**UP)))
    return made


def marks() -> Vector:
    made = vector("atp-marks", "Congestion, overflow and collisions in the flags")
    say(made, "congestion experienced", 0, FIRST.but(diffserv=3))
    say(made, "is in the sum", 1, SECOND,
        (8, SECOND.but(values=SUM, bitmaps=(3, 1), ecn=1, **UP)))
    top = (INT32_MAX,) * VALUES
    say(made, "large values", 0, FIRST.but(sequence=9, indices=(7, 0), values=top))
    say(made, "wrap, and the flag says so", 1, SECOND.but(sequence=9, indices=(7, 0), values=top),
        (8, SECOND.but(sequence=9, indices=(7, 0), values=(-2,) * VALUES, bitmaps=(3, 1),
                       overflow=1, **UP)))
    return made


def levels() -> Vector:
    made = vector("atp-levels", "The second level: racks in place of workers")
    racks = [
        FIRST.but(level=1, bitmaps=(3, 1), indices=(4, 5)),
        SECOND.but(level=1, bitmaps=(3, 2), indices=(4, 5)),
    ]
    say(made, "rack 0 waits", 0, racks[0])
    say(made, "the first level's aggregator of this index is another", 0, FIRST.but(indices=(5, 4)))
    for why, part in (
        ("one of rack 1 that found no aggregator below is not rack 1", {"collision": 1}),
        ("nor is what was sent again", {"resend": 1}),
        ("of rack 0 as little", {"resend": 1, "bitmaps": (1, 1)}),
    ):
        some = racks[1].but(**{"bitmaps": (1, 2), **part})
        say(made, why, 1, some, (8, some.but(**UP)))
    say(made, "rack 1 completes", 1, racks[1],
        (8, racks[1].but(values=SUM, bitmaps=(3, 3), **UP)))
    ack = racks[0].but(ack=1, values=SUM, bitmaps=(3, 3))
    say(made, "the answer goes to the racks as one of the first level", 8, ack,
        *answers(ack, [0, 1]))
    say(made, "free again", 0, racks[0])
    return made


def malformed() -> Vector:
    made = vector("atp-malformed", "Packets that no aggregator takes")
    say(made, "a wrong checksum", 0, FIRST.but(values=B, udp_checksum=1))
    say(made, "no checksum is none", 0, FIRST.but(udp_checksum=0))
    say(made, "the last aggregator", 0, FIRST.but(indices=(1023, 0)))
    say(made, "there is no aggregator 1024", 0, FIRST.but(indices=(1024, 0), fan_ins=(1, 1)))
    say(made, "nobody", 0, FIRST.but(bitmaps=(0, 1)))
    say(made, "a worker beyond the fan-in", 0, FIRST.but(bitmaps=(4, 1)))
    say(made, "its last hop was before", 1, SECOND.but(ttl=1))
    say(made, "61 values", 1, SECOND.but(values=B[:61]))
    say(made, "a whole one completes", 1, SECOND, (8, SECOND.but(values=SUM, bitmaps=(3, 1), **UP)))
    return made


def random_packets(seed: int, count: int) -> Vector:
    """Few aggregators and sequence numbers, so that everything meets."""
    draw = random.Random(f"{seed} atp")
    made = vector("atp-random", "Random packets of two jobs on two aggregators")
    switch = AtpReference(made.configuration)
    for _ in range(count):
        job = draw.choice([1, 2])
        fan_in = 3 if job == 1 else 2
        worker = draw.randrange(fan_in)
        level = int(draw.random() < 0.2)
        frame = AtpFrame(
            job=job,
            bitmaps=(1 << worker, 1 << worker),
            fan_ins=(fan_in, fan_in),
            sequence=draw.randrange(3),
            indices=(draw.randrange(2), draw.randrange(2)),
            resend=int(draw.random() < 0.15),
            ack=int(draw.random() < 0.15),
            ecn=int(draw.random() < 0.05),
            collision=int(draw.random() < 0.05),
            level=level,
            diffserv=draw.choice([0, 2, 2, 2, 3]),
            values=tuple(draw.randint(INT32_MIN // 2, INT32_MAX // 2) for _ in range(VALUES)),
        )
        made.packet(0, frame.to_bytes())
        for out, answer in switch.process(frame):
            made.expect(out, answer)
    return made


def vectors(seed: int) -> list[Vector]:
    return [
        life_of_an_aggregator(),
        resends(),
        marks(),
        levels(),
        malformed(),
        random_packets(seed, 120),
    ]
