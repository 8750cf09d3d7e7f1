# SPDX-License-Identifier: GPL-2.0-only
"""p4c's own programs with vectors, where its compiler and they are; and the real switch on random packets."""

import os
import random
import re
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import ROOT

VECTORS = ROOT / "p4-behavioral" / "vectors"
sys.path.insert(0, str(VECTORS))

import bmv2  # noqa: E402
import stf  # noqa: E402

PORTS = range(10)
CHANGED_PACKETS = 200


def skip(reason):
    warnings.warn(reason, stacklevel=2)
    pytest.skip(reason)


def samples():
    """Programs for v1model that have vectors."""
    folder = os.environ.get("P4C_TESTDATA", "")
    if not shutil.which("p4c-bm2-ss") or not Path(folder).is_dir():
        skip("NOT RUN on p4c's programs: p4c-bm2-ss on the PATH and $P4C_TESTDATA are needed")
    vectors = sorted(Path(folder).glob("*.stf"))
    found = [vector.with_suffix(".p4") for vector in vectors]
    return [
        file
        for file in found
        if file.exists() and "v1model.p4" in file.read_text(encoding="utf-8", errors="replace")
    ]


def compile_sample(source: Path, output: Path) -> bool:
    done = subprocess.run(
        ["p4c-bm2-ss", "--std", "p4-16", "-o", output, source.name],
        cwd=source.parent,
        capture_output=True,
        check=False,
    )
    return done.returncode == 0 and output.exists()


def reason_of(message: str) -> str:
    """What is refused, without the file and the path in it."""
    return re.sub(r'"[^"]*"|\d+', "...", message.splitlines()[-1].split(": ", 3)[-1])


def test_vectors_of_p4c_pass_or_name_what_is_refused(program, tmp_path):
    def play(source):
        compiled = tmp_path / f"{source.stem}.json"
        if not compile_sample(source, compiled):
            return "not compiled", source.stem
        done = program("p4", "play", compiled, source.with_suffix(".stf"))
        kinds = {0: "passed", 1: "wrong", 2: "refused"}
        text = done.stdout if done.returncode == 1 else done.stderr
        return kinds[done.returncode], source.stem if done.returncode == 0 else text

    sources = samples()
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(play, sources))
    wrong = [text for kind, text in outcomes if kind == "wrong"]
    refused = [reason_of(text) for kind, text in outcomes if kind == "refused"]
    passed = sum(kind == "passed" for kind, _ in outcomes)
    print(f"{len(sources)} programs of p4c with vectors: {passed} passed, {len(wrong)} wrong")
    for reason in sorted(set(refused), key=lambda reason: (-refused.count(reason), reason)):
        print(f"{refused.count(reason)} refused: {reason}")
    print("\n".join(wrong))
    assert passed > 0
    assert not wrong


def changed_vector(draw: random.Random, vector: Path, changed: Path) -> None:
    """The configuration of a vector with its packets changed; what leaves is not said."""
    lines = vector.read_text(encoding="ascii").splitlines()
    packets = [line.split() for line in lines if line.startswith("packet ")]
    made = [line for line in lines if not line.startswith(("packet ", "expect ", "register_"))]
    ports = sorted({int(port) for _, port, _ in packets})
    # All ports are named, so that the player looks at each.
    made += [f"packet {port} 00" for port in PORTS]
    for _ in range(CHANGED_PACKETS):
        _, port, digits = draw.choice(packets)
        data = bytearray.fromhex(digits)
        for _ in range(draw.randrange(4)):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        if draw.random() < 0.2:
            data = data[: draw.randrange(1, len(data) + 1)]
        port = port if draw.random() < 0.8 else draw.choice(ports)
        made.append(f"packet {port} {data.hex().upper()}")
    changed.write_text("\n".join(made) + "\n", encoding="ascii")


@pytest.mark.parametrize("name", ["edge-forwarding", "levels", "atp-random", "features"])
def test_real_switch_agrees_on_changed_packets(program, tmp_path, name):
    """Differential: simple_switch says what leaves, and our pipeline must agree."""
    missing = bmv2.missing_tools()
    if missing:
        skip(f"NOT RUN against simple_switch: {', '.join(missing)} not on the PATH")
    changed = tmp_path / f"{name}.stf"
    changed_vector(random.Random(f"20261123 {name}"), VECTORS / changed.name, changed)
    played = stf.read(changed)
    compiled = ROOT / "p4-behavioral" / "compiled" / f"{played.program}.json"
    told = ""
    # Packets that leave by one port may have come by ways of different length, of which the real switch's
    # threads make now one order and now another: it must come to ours within some runs.
    for _ in range(4):
        sent = bmv2.play(compiled, played, PORTS)
        assert sum(map(len, sent.values())) >= CHANGED_PACKETS / 40, "too few packets left"
        expecting = changed.with_name(f"{name}-expecting.stf")
        lines = [
            f"expect {at} {f.hex().upper()}$\n" for at, out in sorted(sent.items()) for f in out
        ]
        expecting.write_text(changed.read_text(encoding="ascii") + "".join(lines), encoding="ascii")
        done = program("p4", "play", compiled, expecting)
        if done.returncode == 0:
            return
        told = done.stdout + done.stderr
    pytest.fail(told)
