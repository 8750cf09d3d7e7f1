# SPDX-License-Identifier: GPL-2.0-only
"""Plays vectors on the real BMv2 simple_switch, through its packet files."""

import shutil
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from stf import Played

PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
# Seconds from the switch's start until it reads packets: the time for its configuration. Each is
# tried when the one before was too short, as on a machine that does other things too.
CONFIGURATION_S = (3, 8, 20, 60)
# BMv2 drops what its queues do not hold, 64 packets unless told otherwise.
QUEUE_COMMAND = "set_queue_depth 100000"
# Between the time stamps of packets, which tell BMv2 their order.
GAP_US = 1000
PATIENCE_S = 60
TOOLS = ("p4c-bm2-ss", "simple_switch", "simple_switch_CLI")


def missing_tools() -> list[str]:
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def p4info_of(output: Path) -> Path:
    """Where the P4Runtime description of a compiled program is."""
    return output.with_suffix(".p4info.txt")


def compile_program(source: Path, output: Path, settings: tuple[str, ...] = ()) -> None:
    """Compiles in the source's folder, so that the JSON names no other path."""
    output = output.resolve()
    command = ["p4c-bm2-ss", "--std", "p4-16", *settings, "-o", str(output)]
    command += ["--p4runtime-files", str(p4info_of(output)), source.name]
    subprocess.run(command, cwd=source.parent, check=True, capture_output=True, text=True)


def write_capture(path: Path, packets: list[tuple[int, bytes]]) -> None:
    with path.open("wb") as file:
        file.write(PCAP_HEADER)
        for number, frame in packets:
            micros = number * GAP_US
            stamp = (1 + micros // 10**6, micros % 10**6)
            file.write(struct.pack("<IIII", *stamp, len(frame), len(frame)) + frame)


def read_capture(path: Path) -> list[bytes]:
    """The whole packets of a capture that may still be written to."""
    data = path.read_bytes() if path.exists() else b""
    frames, at = [], len(PCAP_HEADER)
    while at + 16 <= len(data):
        (length,) = struct.unpack_from("<I", data, at + 8)
        if at + 16 + length > len(data):
            break
        frames.append(data[at + 16 : at + 16 + length])
        at += 16 + length
    return frames


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class TooSlow(Exception):
    """The switch began to read packets before it was configured."""


def configure(commands: list[str], thrift_port: int, deadline: float) -> None:
    while True:
        try:
            socket.create_connection(("127.0.0.1", thrift_port), 0.1).close()
            break
        except OSError:
            if time.monotonic() > deadline:
                raise TooSlow from None
            time.sleep(0.05)
    done = subprocess.run(
        ["simple_switch_CLI", "--thrift-port", str(thrift_port)],
        input="\n".join([QUEUE_COMMAND, *commands]) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    if "Error" in done.stdout or "Invalid" in done.stdout:
        raise RuntimeError(done.stdout)
    if time.monotonic() > deadline:
        raise TooSlow


def expected_by_port(played: Played) -> dict[int, list[bytes]]:
    ports: dict[int, list[bytes]] = {}
    for port, _, answers in played.packets:
        ports.setdefault(port, [])
        for out, frame in answers:
            ports.setdefault(out, []).append(frame)
    return ports


def play(
    program: Path, played: Played, ports: Sequence[int] | None = None
) -> dict[int, list[bytes]]:
    """What left at each port when the vector was played on a fresh switch, which has these ports, or those
    that the vector names."""
    expected = expected_by_port(played)
    for port in ports or ():
        expected.setdefault(port, [])
    for wait_s in CONFIGURATION_S:
        try:
            return play_once(program, played, wait_s, expected)
        except TooSlow:
            continue
    raise RuntimeError("the switch could not be configured in time")


def play_once(
    program: Path, played: Played, wait_s: int, expected: dict[int, list[bytes]]
) -> dict[int, list[bytes]]:
    with tempfile.TemporaryDirectory() as folder:
        for port in expected:
            numbered = [
                (number, frame)
                for number, (at, frame, _) in enumerate(played.packets)
                if at == port
            ]
            write_capture(Path(folder, f"p{port}_in.pcap"), numbered)
        thrift_port = free_port()
        interfaces = [word for port in expected for word in ("-i", f"{port}@p{port}")]
        command = ["simple_switch", "--use-files", str(wait_s), *interfaces]
        command += ["--thrift-port", str(thrift_port), str(program)]
        with subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as switch:
            try:
                started = time.monotonic()
                configure(played.commands, thrift_port, started + wait_s)
                send_s = wait_s + len(played.packets) * GAP_US / 10**6
                time.sleep(max(0.0, started + send_s - time.monotonic()))
                return collect(Path(folder), expected)
            finally:
                switch.terminate()


def collect(folder: Path, expected: dict[int, list[bytes]]) -> dict[int, list[bytes]]:
    """Waits until as much left as expected, and then a little for what is too much."""
    deadline = time.monotonic() + PATIENCE_S
    previous, quiet = -1, 0
    while time.monotonic() < deadline:
        sent = {port: read_capture(folder / f"p{port}_out.pcap") for port in expected}
        count = sum(map(len, sent.values()))
        quiet = quiet + 1 if count == previous else 0
        enough = count >= sum(map(len, expected.values()))
        if quiet >= (3 if enough else 15):
            break
        previous = count
        time.sleep(0.1)
    return sent


def difference(played: Played, sent: dict[int, list[bytes]]) -> str | None:
    """The first mismatch in words: port, packet and byte; nothing when all is as expected."""
    for port, frames in sorted(expected_by_port(played).items()):
        got = sent.get(port, [])
        for number, (want, have) in enumerate(zip(frames, got)):
            if want != have:
                byte = next(
                    (i for i, (x, y) in enumerate(zip(want, have)) if x != y),
                    min(len(want), len(have)),
                )
                return f"{played.name}: port {port}, packet {number}, byte {byte}"
        if len(got) != len(frames):
            return f"{played.name}: port {port}: {len(got)} packets left, not {len(frames)}"
    return None
