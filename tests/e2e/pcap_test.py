# SPDX-License-Identifier: GPL-2.0-only
"""Captures of links, as Wireshark's dissectors read them."""

import csv
import json
import shutil
import subprocess
from collections import Counter

import pytest

# Eight hosts send to one through a small buffer, over links that lose packets.
SCENARIO = {
    "topology": {"kind": "star", "hosts": 9, "hostLink": {"rate": "10Gbps", "delay": "1us"}},
    "transport": {
        "kind": "roce",
        "mtu": "1024B",
        "congestionControl": "dcqcn",
        "recovery": "selective-repeat",
        "timeout": "1ms",
        "retryLimit": 1000,
    },
    "fabric": {"bufferBytes": "300kB", "lossRate": 0.001, "ecnMinBytes": "2kB"},
    "scheme": {"kind": "ps", "servers": 1},
    "job": {"gradient": "300kB"},
    "results": {"pcap": [["leaf0", "host0"]]},
}

# Opcodes of the reliable connection service (InfiniBand Architecture Specification vol. 1, table 38).
FIRST, MIDDLE, LAST, ACKNOWLEDGE, NOTIFICATION = 0, 1, 2, 17, 129


def dissect(path, *fields):
    """The fields of every frame; several values of one field are joined by commas."""
    options = [option for field in fields for option in ("-e", field)]
    done = subprocess.run(
        ["tshark", "-r", str(path), "-T", "fields", *options],
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.fixture
def captures(program, tmp_path):
    """The two files of a captured link."""
    (tmp_path / "incast.json").write_text(json.dumps(SCENARIO))
    result = program("run", "incast.json", "--out=out")
    assert result.returncode == 0, result.stderr
    folder = tmp_path / "out" / "pcap" / "run-0"
    return folder / "host0-leaf0.pcap", folder / "leaf0-host0.pcap"


needs_tshark = pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")


@needs_tshark
def test_tshark_finds_roce_notifications_and_pauses_and_nothing_malformed(captures):
    codes = Counter()
    pauses = 0
    for path in captures:
        frames = dissect(
            path,
            "frame.protocols",
            "_ws.malformed",
            "_ws.short",
            "ip.checksum.status",
            "udp.dstport",
            "infiniband.bth.opcode",
            "macc.opcode",
        )
        assert frames
        for protocols, malformed, short, checksum, port, code, control in frames:
            assert (malformed, short) == ("", ""), protocols
            if control:
                assert int(control, 0) == 0x0101  # priority-based flow control (IEEE 802.1Qbb)
                pauses += 1
                continue
            assert "infiniband" in protocols
            assert port == "4791"
            assert checksum != "0"  # "bad"; "2" is "not checked"
            codes[int(code)] += 1
    assert set(codes) == {FIRST, MIDDLE, LAST, ACKNOWLEDGE, NOTIFICATION}
    assert pauses > 0


def test_captured_frames_add_up_to_what_the_links_counted(captures, tmp_path):
    counted = {}
    with open(tmp_path / "out" / "links.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            counted[f"{row['from']}-{row['to']}.pcap"] = int(row["wire_bytes"])
    for path in captures:
        data = path.read_bytes()
        assert data[:4] == bytes.fromhex("4d3cb2a1")  # nanosecond time stamps, little-endian
        offset, total, last = 24, 0, 0
        while offset < len(data):
            seconds, nanoseconds, length, original = (
                int.from_bytes(data[offset + 4 * i : offset + 4 * i + 4], "little")
                for i in range(4)
            )
            assert length == original
            time = seconds * 1_000_000_000 + nanoseconds
            assert time >= last
            last = time
            # Preamble, FCS and gap are not in the file: 8 + 4 + 12 bytes.
            total += length + 24
            offset += 16 + length
        assert total == counted[path.name]


def test_a_link_that_does_not_exist_is_named(program, tmp_path):
    wrong = {**SCENARIO, "results": {"pcap": [["leaf0", "hots0"]]}}
    (tmp_path / "wrong.json").write_text(json.dumps(wrong))
    result = program("run", "wrong.json", "--out=out")
    assert result.returncode == 2
    assert "results.pcap" in result.stderr and "host0" in result.stderr


def test_the_fluid_transport_has_nothing_to_capture(program, tmp_path):
    (tmp_path / "fluid.json").write_text(
        json.dumps({**SCENARIO, "transport": "fluid", "fabric": {}})
    )
    result = program("run", "fluid.json", "--out=out")
    assert result.returncode == 2
    assert "pcap" in result.stderr and "roce" in result.stderr


@needs_tshark
def test_netreduce_is_true_roce_with_the_sums_as_payload(program, tmp_path):
    scenario = {
        "topology": {"kind": "star", "hosts": 3, "hostLink": {"rate": "10Gbps", "delay": "1us"}},
        "transport": {
            "kind": "roce",
            "mtu": "1024B",
            "timeout": "1ms",
            "aggregation": {"values": "real", "netreduce": {"messagePackets": 8}},
        },
        "fabric": {"lossRate": 0.01},
        "scheme": "netreduce",
        "job": {"gradient": "100kB"},
        "results": {"pcap": [["leaf0", "host0"]]},
    }
    (tmp_path / "ring.json").write_text(json.dumps(scenario))
    result = program("run", "ring.json", "--out=out")
    assert result.returncode == 0, result.stderr
    folder = tmp_path / "out" / "pcap" / "run-0"
    codes = Counter()
    for name in ("host0-leaf0.pcap", "leaf0-host0.pcap"):
        fields = ("_ws.malformed", "udp.dstport", "infiniband.bth.opcode", "frame.len")
        for malformed, port, code, length in dissect(folder / name, *fields):
            assert (malformed, port) == ("", "4791")
            codes[int(code)] += 1
            if int(code) in (FIRST, MIDDLE):
                assert int(length) == 1024 + 58  # Ethernet, IPv4, UDP, BTH, ICRC
    assert set(codes) == {FIRST, MIDDLE, LAST, ACKNOWLEDGE}


@needs_tshark
def test_tcp_links_are_captured_by_the_helpers_of_ns3(program, tmp_path):
    scenario = {**SCENARIO, "transport": {"kind": "tcp", "queueSize": "100MB"}}
    del scenario["fabric"]
    (tmp_path / "tcp.json").write_text(json.dumps(scenario))
    result = program("run", "tcp.json", "--out=out")
    assert result.returncode == 0, result.stderr
    folder = tmp_path / "out" / "pcap" / "run-0"
    names = {path.name for path in folder.iterdir()}
    assert names == {"leaf0-host0.pcap", "host0-leaf0.pcap", "host0-leaf0.tr"}
    frames = dissect(folder / "host0-leaf0.pcap", "frame.protocols", "tcp.len")
    assert all(protocols.startswith("ppp:ip:tcp") for protocols, _ in frames)
    # Host 0 pushes 300 kB and pulls as much; nothing is lost.
    assert sum(int(length) for _, length in frames) == 2 * 300_000
    with open(folder / "host0-leaf0.tr", encoding="utf-8") as file:
        marks = Counter(line[0] for line in file)
    # Of both ends: as many packets received as either end sees in the capture.
    assert marks["r"] == len(frames)
