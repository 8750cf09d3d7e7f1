# SPDX-License-Identifier: GPL-2.0-only
"""Frames over UDP, those of the slot protocol among them, as bytes, and back. Knows no switch."""

import struct
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Self

PORT = 0xBEE0
VALUES = 64
SWITCH_MAC = 0x02_00_00_00_00_FE
SWITCH_IP = 0x0A_00_00_FE
SLOT = struct.Struct("!BBHHHHHIbbH")
PAYLOAD_BYTES = SLOT.size + 4 * VALUES
FRAME_BYTES = 14 + 20 + 8 + PAYLOAD_BYTES


def ones_complement_sum(data: bytes) -> int:
    """The 16-bit one's complement sum of RFC 1071."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def checksum(data: bytes) -> int:
    return ones_complement_sum(data) ^ 0xFFFF


@dataclass(frozen=True)
class UdpFrame(ABC):
    """Ethernet, IPv4 and UDP; every field may be set wrong on purpose. None: what is right."""

    source_mac: int = 0x02_00_00_00_00_01
    destination_mac: int = SWITCH_MAC
    source_ip: int = 0x0A_00_00_01
    destination_ip: int = SWITCH_IP
    source_port: int = 0xC000
    destination_port: int = PORT
    ether_type: int = 0x0800
    version: int = 4
    ihl: int = 5
    diffserv: int = 0
    identification: int = 0
    fragment: int = 0
    ttl: int = 64
    protocol: int = 17
    ip_length: int | None = None
    udp_length: int | None = None
    ip_checksum: int | None = None
    udp_checksum: int | None = None
    trailer: bytes = b""

    @abstractmethod
    def payload(self) -> bytes:
        """What UDP carries."""

    def udp(self) -> bytes:
        payload = self.payload()
        length = 8 + len(payload) if self.udp_length is None else self.udp_length
        ports = struct.pack("!HHH", self.source_port, self.destination_port, length)
        if self.udp_checksum is not None:
            return ports + struct.pack("!H", self.udp_checksum) + payload
        pseudo = struct.pack("!IIBBH", self.source_ip, self.destination_ip, 0, 17, length)
        computed = checksum(pseudo + ports + b"\0\0" + payload) or 0xFFFF
        return ports + struct.pack("!H", computed) + payload

    def to_bytes(self) -> bytes:
        udp = self.udp()
        length = 20 + len(udp) if self.ip_length is None else self.ip_length

        def header(check: int) -> bytes:
            return struct.pack(
                "!BBHHHBBHII",
                self.version << 4 | self.ihl,
                self.diffserv,
                length,
                self.identification,
                self.fragment,
                self.ttl,
                self.protocol,
                check,
                self.source_ip,
                self.destination_ip,
            )

        check = checksum(header(0)) if self.ip_checksum is None else self.ip_checksum
        ethernet = self.destination_mac.to_bytes(6, "big") + self.source_mac.to_bytes(6, "big")
        return ethernet + struct.pack("!H", self.ether_type) + header(check) + udp + self.trailer

    def but(self, **changes) -> Self:
        return replace(self, **changes)


@dataclass(frozen=True)
class Frame(UdpFrame):
    """One packet of the slot protocol."""

    job: int = 1
    worker: int = 0
    slot: int = 0
    epoch: int = 0
    values: tuple[int, ...] = field(default=(0,) * VALUES)
    message_type: int = 0
    flags: int = 0
    count: int = VALUES
    offset: int = 0
    exponents: tuple[int, int] = (0, 0)
    reserved: int = 0

    def payload(self) -> bytes:
        header = SLOT.pack(
            self.message_type,
            self.flags,
            self.job,
            self.worker,
            self.count,
            self.slot,
            self.epoch,
            self.offset,
            *self.exponents,
            self.reserved,
        )
        return header + struct.pack(f"!{len(self.values)}i", *self.values)


def worker_mac(port: int) -> int:
    return 0x02_00_00_00_01_00 + port


def worker_ip(port: int) -> int:
    return 0x0A_00_01_00 + port


def contribution(port: int, **fields) -> Frame:
    """What the worker at a port sends."""
    return Frame(source_mac=worker_mac(port), source_ip=worker_ip(port), **fields)


def result(port: int, **fields) -> Frame:
    """What the switch sends to the worker at a port."""
    return Frame(
        message_type=1,
        source_mac=SWITCH_MAC,
        destination_mac=worker_mac(port),
        source_ip=SWITCH_IP,
        destination_ip=worker_ip(port),
        source_port=PORT,
        **fields,
    )
