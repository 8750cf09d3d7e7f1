# SPDX-License-Identifier: GPL-2.0-only
"""Plays vectors on the real BMv2 simple_switch, through its packet files."""

import array
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import termios
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from stf import Played

PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
# BMv2 drops what its queues do not hold, 64 packets unless told otherwise.
QUEUE_COMMAND = "set_queue_depth 100000"
# Between the time stamps of packets, which tell BMv2 their order, and more around commands.
GAP_US = 1000
PAUSE_US = 2_000_000
# How long the switch may take to start or to come to rest, on whatever machine.
PATIENCE_S = 120
# The switch is at rest when it is found so a few times.
LOOKS, LOOK_S = 4, 0.05
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


class Feed:
    """The packet files of a switch, as pipes: what is not given yet it waits for, however slow either is."""

    def __init__(self, folder: Path, ports: Sequence[int]) -> None:
        self._waiting: dict[int, bytearray] = {}
        self._readers: dict[int, int] = {}
        self._writers: dict[int, int] = {}
        self._given: dict[int, int] = dict.fromkeys(ports, 0)
        self._ended: set[int] = set()
        for port in ports:
            path = folder / f"p{port}_in.pcap"
            os.mkfifo(path)
            self._readers[port] = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            self._writers[port] = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            self._waiting[port] = bytearray(PCAP_HEADER)
        self.push()

    def give(self, port: int, stamp_us: int, frame: bytes) -> None:
        stamp = (1 + stamp_us // 10**6, stamp_us % 10**6)
        data = struct.pack("<IIII", *stamp, len(frame), len(frame)) + frame
        self._waiting[port] += data
        self._given[port] += len(data)

    def end(self, port: int) -> None:
        self._ended.add(port)

    def push(self) -> bool:
        """Writes what the pipes take; whether that was all."""
        for port, data in self._waiting.items():
            try:
                while data:
                    del data[: os.write(self._writers[port], data)]
            except BlockingIOError:
                continue
            if port in self._ended and port in self._writers:
                os.close(self._writers.pop(port))
        return not any(self._waiting.values())

    def is_begun(self) -> bool:
        """Whether the switch has read from all pipes with packets."""
        return all(self._left(port) < given for port, given in self._given.items() if given)

    def close(self) -> None:
        for descriptor in [*self._readers.values(), *self._writers.values()]:
            os.close(descriptor)

    def _left(self, port: int) -> int:
        """Bytes that the switch has not read."""
        count = array.array("i", [0])
        fcntl.ioctl(self._readers[port], termios.FIONREAD, count)
        return count[0] + len(self._waiting[port])


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


class Switch:
    """A running simple_switch."""

    def __init__(self, folder: Path, program: Path, ports: Sequence[int]) -> None:
        self.folder = folder
        self.ports = ports
        self.feed = Feed(folder, ports)
        self._thrift_port = str(free_port())
        interfaces = [word for port in ports for word in ("-i", f"{port}@p{port}")]
        command = ["simple_switch", "--use-files", "0", *interfaces]
        command += ["--thrift-port", self._thrift_port]
        # Its own: switches that share one end with an error.
        command += ["--notifications-addr", f"ipc://{folder}/notifications.ipc", str(program)]
        self._log = folder / "switch.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        self._begun: float | None = None

    def __enter__(self) -> "Switch":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()
        self.feed.close()

    def wait_until(self, is_so: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            if self._process.poll() is not None:
                told = self._log.read_text(errors="replace")[-1000:]
                raise RuntimeError(f"simple_switch ended with {self._process.returncode}: {told}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"simple_switch {what} within {PATIENCE_S} s")
            time.sleep(LOOK_S)

    def configure(self, commands: list[str]) -> None:
        self.wait_until(self._listens, "takes no commands")
        done = subprocess.run(
            ["simple_switch_CLI", "--thrift-port", self._thrift_port],
            input="\n".join([*commands, ""]),
            capture_output=True,
            text=True,
            check=True,
        )
        if "Error" in done.stdout or "Invalid" in done.stdout:
            raise RuntimeError(done.stdout)

    def settle(self, stamp_us: int) -> None:
        """Waits until all packets up to a time stamp have come through."""
        self.wait_until(self.feed.push, "takes no packets")
        if self._begun is None:
            self.wait_until(self.feed.is_begun, "reads no packets")
            self._begun = time.monotonic()
        # It sends a packet at its time stamp, counted from the first, or at once when that is over.
        time.sleep(max(0.0, self._begun + stamp_us / 10**6 - time.monotonic()))
        looks: list[int] = []

        def is_at_rest() -> bool:
            looks.append(sum(map(len, self.sent().values())))
            if not self._sleeps():
                looks.clear()
            return len(looks) >= LOOKS and len(set(looks[-LOOKS:])) == 1

        self.wait_until(is_at_rest, "does not come to rest")

    def sent(self) -> dict[int, list[bytes]]:
        """What has left at each port."""
        return {port: read_capture(self.folder / f"p{port}_out.pcap") for port in self.ports}

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", int(self._thrift_port)), 1).close()
        except OSError:
            return False
        return True

    def _sleeps(self) -> bool:
        """Whether no thread of it runs or would run if there were a core for it."""
        try:
            tasks = Path("/proc", str(self._process.pid), "task").glob("*/stat")
            return all(task.read_text().rpartition(")")[2].split()[0] == "S" for task in tasks)
        except OSError:  # a thread that has just ended
            return False


def expected_by_port(played: Played) -> dict[int, list[bytes]]:
    ports: dict[int, list[bytes]] = {}
    for port, _, answers in played.packets:
        ports.setdefault(port, [])
        for out, frame in answers:
            ports.setdefault(out, []).append(frame)
    return ports


def stamp_of(played: Played, number: int) -> int:
    """The time stamp of a packet, in microseconds."""
    return number * GAP_US + sum(pause <= number for pause in played.later) * PAUSE_US


def stages(
    played: Played, ports: Sequence[int]
) -> Iterator[tuple[int, list[tuple[int, int | None]]]]:
    """How many packets come before each of the commands between packets, and last how many there are; with
    what is given to the switch until then: ports with the numbers of packets, None for the end.

    It sends a packet once it has seen what follows on every port, and stops behind the one whose port tells
    nothing more."""
    total = len(played.packets)
    left = {
        port: deque(number for number, (at, _, _) in enumerate(played.packets) if at == port)
        for port in ports
    }
    for until in [*sorted(played.later), total]:
        given: list[tuple[int, int | None]] = []
        for port, numbers in left.items():
            while numbers and numbers[0] < until:
                given.append((port, numbers.popleft()))
            if until == total or port != played.packets[until - 1][0]:
                given.append((port, numbers.popleft() if numbers else None))
        yield until, given


def play(
    program: Path, played: Played, ports: Sequence[int] | None = None
) -> dict[int, list[bytes]]:
    """What left at each port when the vector was played on a fresh switch, which has these ports, or those
    that the vector names."""
    every = sorted({*expected_by_port(played), *(ports or ())})
    with (
        tempfile.TemporaryDirectory() as folder,
        Switch(Path(folder), program.resolve(), every) as switch,
    ):
        switch.configure([QUEUE_COMMAND, *played.commands])
        for until, given in stages(played, every):
            for port, number in given:
                if number is None:
                    switch.feed.end(port)
                else:
                    switch.feed.give(port, stamp_of(played, number), played.packets[number][1])
            switch.settle(stamp_of(played, until - 1) if until else 0)
            if until in played.later:
                switch.configure(played.later[until])
        return switch.sent()


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
