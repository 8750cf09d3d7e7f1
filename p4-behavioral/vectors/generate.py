#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes all vectors: generate.py [--seed N] [--out FOLDER] [--rounds N].

The seeded ones let simulated workers exchange packets with the reference switch over a network that
loses, repeats, delays and breaks packets; that every worker ends with the exact sum is checked while
they are made. The hand-written ones (edges.py) state by hand what must leave the switch."""

import argparse
import random
from pathlib import Path

import atp
import edges
from packets import VALUES, contribution
from reference import INT32_MAX, INT32_MIN, ReferenceSwitch
from stf import Vector, add_parent, job_configuration

HERE = Path(__file__).resolve().parent
# Of the vectors that are kept.
SEED = 20261121
ROUNDS = 160


def play(vector: Vector, switch: ReferenceSwitch, port: int, frame: bytes):
    """One packet through the reference, noted with what it answers."""
    vector.packet(port, frame)
    sent = switch.process(port, frame)
    for out, answer in sent:
        vector.expect(out, answer)
    return sent


def draw_values(draw: random.Random, extreme: bool) -> tuple[int, ...]:
    """Lanes; extreme ones overflow about every other time."""
    if not extreme:
        return tuple(draw.randint(-(10**6), 10**6) for _ in range(VALUES))
    edge = (INT32_MIN, INT32_MIN + 1, -1, 0, 1, INT32_MAX - 1, INT32_MAX, 2**30, -(2**30))
    return tuple(
        draw.choice(edge) if draw.random() < 0.6 else draw.randint(INT32_MIN, INT32_MAX)
        for _ in range(VALUES)
    )


class Exchange:
    """The workers of one job, each sending its packets of a tensor through a pool of slots."""

    def __init__(self, draw, job, ports, slots, packets, first_epoch=0, passing=False):
        self.draw, self.job, self.ports, self.slots = draw, job, ports, slots
        self.first_epoch = first_epoch
        self.data = [[draw_values(draw, False) for _ in range(packets)] for _ in ports]
        self.exponents = [
            [(0, 0) if passing else (draw.randint(-128, 127), draw.randint(-128, 127))] * packets
            for _ in ports
        ]
        self.results = [[None] * packets for _ in ports]

    def outstanding(self, rank: int) -> list[int]:
        """The packets that a worker may send: of each slot the first without its result."""
        return [
            next(i for i in range(slot, len(self.data[rank]), self.slots) if not self.has(rank, i))
            for slot in range(min(self.slots, len(self.data[rank])))
            if not all(self.has(rank, i) for i in range(slot, len(self.data[rank]), self.slots))
        ]

    def has(self, rank: int, index: int) -> bool:
        return self.results[rank][index] is not None

    def frame(self, rank: int, index: int) -> bytes:
        return contribution(
            self.ports[rank],
            job=self.job,
            worker=rank,
            slot=index % self.slots,
            epoch=(self.first_epoch + index // self.slots) % 65536,
            offset=index * VALUES,
            values=self.data[rank][index],
            exponents=self.exponents[rank][index],
        ).to_bytes()

    def deliver(self, port: int, answer: bytes) -> None:
        rank = self.ports.index(port)
        index = int.from_bytes(answer[54:58], "big") // VALUES
        epoch = int.from_bytes(answer[52:54], "big")
        if epoch == (self.first_epoch + index // self.slots) % 65536:
            self.results[rank][index] = answer[62:]

    def check(self) -> None:
        for index in range(len(self.data[0])):
            sums = [sum(lanes) for lanes in zip(*(data[index] for data in self.data))]
            exact = b"".join(total.to_bytes(4, "big", signed=True) for total in sums)
            assert all(mine[index] == exact for mine in self.results), (self.job, index)


def lossy(draw, vector, exchanges, loss, late=0.1) -> Vector:
    """Runs exchanges to their end; a share of the packets is lost, and some come again, late."""
    switch = ReferenceSwitch(vector.configuration)
    waiting = []
    while True:
        turn = [
            (exchange, rank, index)
            for exchange in exchanges
            for rank in range(len(exchange.ports))
            for index in exchange.outstanding(rank)
        ]
        if not turn:
            break
        draw.shuffle(turn)
        for exchange, rank, index in turn:
            packets = [(exchange, exchange.ports[rank], exchange.frame(rank, index))]
            if draw.random() < late:
                waiting.append(packets[0])
            if waiting and draw.random() < late:
                packets.append(waiting.pop(draw.randrange(len(waiting))))
            for sender, port, frame in packets:
                if draw.random() < loss:
                    continue
                for out, answer in play(vector, switch, port, frame):
                    if draw.random() >= loss:
                        sender.deliver(out, answer)
    for exchange in exchanges:
        exchange.check()
    return vector


def lossy_vectors(seed: int):
    for percent, workers, packets in (
        (1, 4, 12),
        (5, 4, 8),
        (10, 3, 8),
        (20, 2, 8),
        (40, 2, 6),
        (40, 5, 4),
    ):
        draw = random.Random(f"{seed} loss {percent} {workers}")
        ports = draw.sample(range(48), workers)
        vector = Vector(
            f"loss-{percent}-workers-{workers}",
            f"{workers} workers, two slots, {percent} % of the packets lost each way",
            job_configuration(7, ports, base=16, slots=2),
        )
        yield lossy(draw, vector, [Exchange(draw, 7, ports, 2, packets)], percent / 100)


def special_vectors(seed: int):
    draw = random.Random(f"{seed} one worker")
    vector = Vector("one-worker", "A job of one worker", job_configuration(1, [3], slots=2))
    yield lossy(draw, vector, [Exchange(draw, 1, [3], 2, 6)], 0.2)

    draw = random.Random(f"{seed} 32 workers")
    ports = list(range(32))
    vector = Vector(
        "32-workers", "A job of 32 workers, all bits of the bitmap", job_configuration(2, ports)
    )
    yield lossy(draw, vector, [Exchange(draw, 2, ports, 1, 2)], 0.02, late=0.02)

    draw = random.Random(f"{seed} wrap")
    vector = Vector(
        "epoch-wraps", "Epochs from 65533 over 65535 to 0 and on", job_configuration(3, [0, 1])
    )
    yield lossy(draw, vector, [Exchange(draw, 3, [0, 1], 1, 7, first_epoch=65533)], 0.2)

    draw = random.Random(f"{seed} tenants")
    configuration = job_configuration(4, [0, 1, 2], base=0, slots=2)
    job_configuration(5, [2, 1], base=2, slots=1, into=configuration)
    vector = Vector(
        "two-tenants", "Two jobs side by side in the pool, one without exponents", configuration
    )
    exchanges = [
        Exchange(draw, 4, [0, 1, 2], 2, 6),
        Exchange(draw, 5, [2, 1], 1, 4, first_epoch=9, passing=True),
    ]
    yield lossy(draw, vector, exchanges, 0.1)


def level_vectors(seed: int):
    """A switch of three workers below one that adds those of the fourth; all may get lost."""
    draw = random.Random(f"{seed} levels")
    ports = [3, 1, 4]
    vector = Vector(
        "levels", "Below another switch, 20 % of the packets lost", job_configuration(6, ports)
    )
    add_parent(vector.configuration, 6, edges.ABOVE)
    switch = ReferenceSwitch(vector.configuration)
    exchange = Exchange(draw, 6, ports, 2, 8)
    fourth = [draw_values(draw, False) for _ in range(8)]
    late = []
    while turn := [(rank, i) for rank in range(3) for i in exchange.outstanding(rank)]:
        draw.shuffle(turn)
        for rank, index in turn:
            waiting = [(ports[rank], exchange.frame(rank, index))]
            if late and draw.random() < 0.2:
                waiting.append(late.pop(draw.randrange(len(late))))
            while waiting:
                port, frame = waiting.pop(0)
                if draw.random() < 0.2:
                    continue
                for out, sent in play(vector, switch, port, frame):
                    if out != edges.ABOVE.port:
                        exchange.deliver(out, sent)
                        continue
                    answer = edges.answer_to(sent, fourth)
                    waiting.append((out, answer))
                    late.append((out, answer))
    for index, extra in enumerate(fourth):
        lanes = zip(extra, *(data[index] for data in exchange.data))
        exact = b"".join(sum(lane).to_bytes(4, "big", signed=True) for lane in lanes)
        assert all(mine[index] == exact for mine in exchange.results), index
    yield vector


def overflow_vectors(seed: int):
    """Lanes near the limits of int32 in both programs."""
    for program in ("slot-aggregation", "slot-aggregation-saturate"):
        draw = random.Random(f"{seed} overflow")
        ports = [0, 1, 2]
        vector = Vector(
            "overflow-" + ("saturates" if program.endswith("saturate") else "wraps"),
            "Sums beyond int32",
            job_configuration(1, ports),
            program,
        )
        vector.configuration.saturate = program.endswith("saturate")
        switch = ReferenceSwitch(vector.configuration)
        for epoch in range(6):
            draw.shuffle(ports)
            for port in ports:
                frame = contribution(
                    port,
                    worker=port,
                    slot=epoch % 2,
                    epoch=epoch,
                    values=draw_values(draw, True),
                    exponents=(draw.randint(-128, 127), draw.randint(-128, 127)),
                    offset=draw.getrandbits(32),
                )
                play(vector, switch, port, frame.to_bytes())
        yield vector


def broken_vectors(seed: int, rounds: int):
    """Good packets with changed fields, with and without their checksums made good again."""
    draw = random.Random(f"{seed} broken")
    ports = [0, 1]
    configuration = job_configuration(1, ports, base=4090, slots=8)
    configuration.routes = [(0x0A000000, 8, 4), (0x0A000100, 24, 5)]
    vector = Vector("broken-packets", "Packets with wrong fields, cut, or changed", configuration)
    switch = ReferenceSwitch(configuration)
    fields = {
        "job": 16,
        "worker": 16,
        "count": 16,
        "slot": 4,
        "epoch": 16,
        "message_type": 8,
        "flags": 8,
        "reserved": 16,
        "version": 4,
        "ihl": 4,
        "fragment": 16,
        "protocol": 8,
        "ttl": 1,
        "destination_port": 16,
        "ether_type": 16,
        "ip_length": 16,
        "udp_length": 16,
        "ip_checksum": 16,
        "udp_checksum": 16,
        "destination_ip": 32,
    }
    for _ in range(rounds):
        port = draw.choice(ports)
        frame = contribution(
            port,
            worker=port,
            slot=draw.randrange(4),
            epoch=draw.randrange(6),
            values=draw_values(draw, False),
            exponents=(draw.randint(-128, 127), 0),
        )
        change = draw.random()
        if change < 0.5:
            name = draw.choice(sorted(fields))
            frame = frame.but(**{name: draw.getrandbits(fields[name])})
        data = bytearray(frame.to_bytes())
        if change > 0.85:
            data = data[: draw.randrange(1, len(data))]
        elif change > 0.7:
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        elif change > 0.65:
            data += bytes(draw.randrange(1, 9))
        play(vector, switch, draw.choice([port, port, port, 6]), bytes(data))
    return [vector]


def all_vectors(seed: int, rounds: int) -> list[Vector]:
    return [
        *edges.vectors(),
        *lossy_vectors(seed),
        *special_vectors(seed),
        *level_vectors(seed),
        *overflow_vectors(seed),
        *broken_vectors(seed, rounds),
        *atp.vectors(seed),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="packets of broken-packets")
    parser.add_argument("--out", type=Path, default=HERE)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for vector in all_vectors(arguments.seed, arguments.rounds):
        vector.write(arguments.out)


if __name__ == "__main__":
    main()
