# SPDX-License-Identifier: GPL-2.0-only
"""The slot protocol's switch, written from ../README.md alone: neither from the P4 program nor from
the C++ model, and as differently from them as its purpose allows (lists of ints, no bit tricks)."""

import struct
from dataclasses import dataclass, field

from packets import FRAME_BYTES, PAYLOAD_BYTES, PORT, SLOT, VALUES, Frame, ones_complement_sum

POOL_SIZE = 4096
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


@dataclass(frozen=True)
class Assignment:
    """What the switch knows of a worker of a job."""

    bit: int
    all_bits: int
    base: int
    slots: int
    group: int
    switch_mac: int
    switch_ip: int
    # A switch below, whose flags count; or the one above, which sends results.
    kind: str = "worker"


@dataclass(frozen=True)
class Receiver:
    mac: int
    ip: int


@dataclass(frozen=True)
class Parent:
    """The switch above: where it is, and by which number and address it knows this one."""

    port: int
    number: int
    mac: int
    ip: int
    own_ip: int


@dataclass
class Configuration:
    workers: dict[tuple[int, int, int], Assignment] = field(default_factory=dict)
    # By job and worker.
    receivers: dict[tuple[int, int], Receiver] = field(default_factory=dict)
    # Pairs of worker and port.
    groups: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    parents: dict[int, Parent] = field(default_factory=dict)
    # (prefix, its length, port)
    routes: list[tuple[int, int, int]] = field(default_factory=list)
    saturate: bool = False


@dataclass
class Slot:
    seen: int
    epoch: int
    offset: int
    values: list[int]
    exponents: list[int]
    flags: int = 0
    answered: bool = False


Sent = list[tuple[int, bytes]]


class ReferenceSwitch:
    """Takes frames at ports and says which frames leave at which ports."""

    def __init__(self, configuration: Configuration):
        self.configuration = configuration
        self.slots: dict[tuple[int, int], Slot] = {}
        self.events: dict[str, int] = {}

    def clear(self, cell: int) -> None:
        """A cell as if it had never been used."""
        self.slots.pop((cell // POOL_SIZE, cell % POOL_SIZE), None)

    def process(self, port: int, frame: bytes) -> Sent:
        if len(frame) < 34 or frame[12:14] != b"\x08\x00" or frame[14] != 0x45:
            return self.drop("malformed")
        ip = frame[14:34]
        fragmented = int.from_bytes(ip[6:8], "big") & 0x3FFF
        is_udp = ip[9] == 17 and not fragmented
        if is_udp and len(frame) < 42:
            return self.drop("malformed")
        if ones_complement_sum(ip) != 0xFFFF:
            return self.drop("checksum")
        if not is_udp or int.from_bytes(frame[36:38], "big") != PORT:
            return self.forward(frame)
        lengths = (len(frame), int.from_bytes(ip[2:4], "big"), int.from_bytes(frame[38:40], "big"))
        if lengths != (FRAME_BYTES, 28 + PAYLOAD_BYTES, 8 + PAYLOAD_BYTES):
            return self.drop("malformed")
        udp = frame[34:]
        pseudo = ip[12:20] + b"\0\x11" + udp[4:6]
        if udp[6:8] != b"\0\0" and ones_complement_sum(pseudo + udp) != 0xFFFF:
            return self.drop("checksum")
        return self.aggregate(port, udp[8:])

    def drop(self, event: str) -> Sent:
        self.events[event] = self.events.get(event, 0) + 1
        return []

    def forward(self, frame: bytes) -> Sent:
        destination = int.from_bytes(frame[30:34], "big")
        matching = [
            route
            for route in self.configuration.routes
            if (destination ^ route[0]) >> (32 - route[1]) == 0
        ]
        if frame[22] <= 1 or not matching:
            return self.drop("no route")
        _, _, port = max(matching, key=lambda route: route[1])
        header = bytearray(frame[14:34])
        header[8] -= 1
        header[10:12] = b"\0\0"
        header[10:12] = (ones_complement_sum(bytes(header)) ^ 0xFFFF).to_bytes(2, "big")
        return [(port, frame[:14] + header + frame[34:])]

    def aggregate(self, port: int, payload: bytes) -> Sent:
        kind, flags, job, worker, count, slot, epoch, offset, a, b, _ = SLOT.unpack(
            payload[: SLOT.size]
        )
        if count != VALUES:
            return self.drop("malformed")
        known = self.configuration.workers.get((job, worker, port))
        if known is None:
            return self.drop("unknown worker")
        if kind != (1 if known.kind == "above" else 0):
            return self.drop("malformed")
        told = flags if known.kind != "worker" else 0
        if slot >= known.slots or known.base + slot >= POOL_SIZE:
            return self.drop("slot out of range")
        values = list(struct.unpack(f"!{VALUES}i", payload[SLOT.size :]))
        cell = (epoch % 2, known.base + slot)
        state = self.slots.get(cell)
        above = self.configuration.parents.get(job)
        if known.kind == "above":
            if state is None or state.epoch != epoch or state.seen != known.all_bits:
                return self.drop("stale")
            if state.answered or above is None:
                return self.drop("duplicate")
            self.slots[cell] = Slot(state.seen, epoch, offset, values, [a, b], told, True)
            self.drop("completed")
            return self.tell_all(job, slot, self.slots[cell], known)
        if state is not None:
            ahead = (epoch - state.epoch) % 65536
            if ahead >= 32768:
                return self.drop("stale")
            if ahead > 0:
                state = None
        if state is None:
            state = Slot(known.bit, epoch, offset, values, [a, b], told)
            self.slots[cell] = state
        elif state.seen & known.bit:
            if state.seen != known.all_bits:
                return self.drop("duplicate")
            if above is not None and not state.answered:
                return self.pass_up(job, slot, state, known, above)
            self.drop("resent")
            return self.send(job, slot, state, [(worker, port)], known)
        else:
            state.seen |= known.bit
            state.flags |= told
            state.values = [self.add(state, x, y) for x, y in zip(state.values, values)]
            state.exponents = [max(state.exponents[0], a), max(state.exponents[1], b)]
        if state.seen != known.all_bits:
            return []
        if above is not None:
            return self.pass_up(job, slot, state, known, above)
        self.drop("completed")
        return self.tell_all(job, slot, state, known)

    def tell_all(self, job: int, slot: int, state: Slot, known: Assignment) -> Sent:
        return self.send(job, slot, state, self.configuration.groups.get(known.group, []), known)

    def pass_up(self, job: int, slot: int, state: Slot, known: Assignment, above: Parent) -> Sent:
        self.drop("partial")
        frame = Frame(
            job=job,
            worker=above.number,
            slot=slot,
            epoch=state.epoch,
            values=tuple(state.values),
            flags=state.flags,
            offset=state.offset,
            exponents=(state.exponents[0], state.exponents[1]),
            source_mac=known.switch_mac,
            destination_mac=above.mac,
            source_ip=above.own_ip,
            destination_ip=above.ip,
            source_port=PORT,
        )
        return [(above.port, frame.to_bytes())]

    def add(self, state: Slot, x: int, y: int) -> int:
        total = x + y
        if INT32_MIN <= total <= INT32_MAX:
            return total
        state.flags |= 1
        if self.configuration.saturate:
            return INT32_MAX if total > 0 else INT32_MIN
        return (total - INT32_MIN) % 2**32 + INT32_MIN

    def send(
        self, job: int, slot: int, state: Slot, workers: list[tuple[int, int]], known: Assignment
    ) -> Sent:
        frames = []
        for worker, port in workers:
            receiver: Receiver | None = self.configuration.receivers.get((job, worker))
            if receiver is None:
                continue
            frame = Frame(
                job=job,
                worker=worker,
                slot=slot,
                epoch=state.epoch,
                values=tuple(state.values),
                message_type=1,
                flags=state.flags,
                offset=state.offset,
                exponents=(state.exponents[0], state.exponents[1]),
                source_mac=known.switch_mac,
                destination_mac=receiver.mac,
                source_ip=known.switch_ip,
                destination_ip=receiver.ip,
                source_port=PORT,
            )
            frames.append((port, frame.to_bytes()))
        return frames
