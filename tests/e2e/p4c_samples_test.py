# SPDX-License-Identifier: GPL-2.0-only
"""p4c's own programs with vectors, where its compiler and they are; and the real switch on random packets."""

import os
import random
import re
import shutil
import subprocess
import sys
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import ROOT

VECTORS = ROOT / "p4-behavioral" / "vectors"
sys.path.insert(0, str(VECTORS))

import bmv2  # noqa: E402
import stf  # noqa: E402

# This vector counts 4 bytes more than its packets have. p4c's runner for BMv2 does not look at counters;
# simple_switch 1.15.5 counts 8 for the first packet, as we do, and not 12.
OTHER_FRAMES = {"counter3"}
PORTS = range(10)
CHANGED_PACKETS = 200


def skip(reason):
    warnings.warn(reason, stacklevel=2)
    pytest.skip(reason)


def is_v1model(source: Path) -> bool:
    return "v1model.p4" in source.read_text(encoding="utf-8", errors="replace")


def samples(standard: str) -> list[Path]:
    """p4c's programs for v1model: those of P4_14 stand beside those of P4_16."""
    folder = Path(os.environ.get("P4C_TESTDATA", ""))
    if not shutil.which("p4c-bm2-ss") or not folder.is_dir() or not os.environ.get("P4C_TESTDATA"):
        skip("NOT RUN on p4c's programs: p4c-bm2-ss on the PATH and $P4C_TESTDATA are needed")
    if standard == "p4-14":
        folder = folder.resolve().parent / "p4_14_samples"
    found = sorted(folder.glob("*.p4"))
    if standard == "p4-16":
        found = [source for source in found if is_v1model(source)]
    if not found:
        skip(f"NOT RUN on p4c's programs: there are none in {folder}")
    return found


def compile_sample(source: Path, output: Path, standard: str) -> bool:
    done = subprocess.run(
        ["p4c-bm2-ss", "--std", standard, "-o", output, source.name],
        cwd=source.parent,
        capture_output=True,
        check=False,
    )
    return done.returncode == 0 and output.exists()


def reason_of(message: str) -> str:
    """What is refused, without the file and the path in it."""
    return re.sub(r'"[^"]*"|\d+', "...", message.splitlines()[-1].split(": ", 3)[-1])


def play_or_load(program, source: Path, compiled: Path, standard: str) -> tuple[str, str]:
    """What became of a program: it is played if it has a vector, else only loaded."""
    if not compile_sample(source, compiled, standard):
        return "not compiled", source.stem
    vector = source.with_suffix(".stf")
    if not vector.exists():
        done = program("p4", "describe", compiled)
        assert done.returncode in (0, 2), source
        if done.returncode == 0 and "does not run here" not in done.stdout:
            return "loaded", source.stem
        return "refused", done.stdout + done.stderr
    if source.stem in OTHER_FRAMES:
        return "not played", source.stem
    done = program("p4", "play", compiled, vector)
    kinds = {0: "passed", 1: "wrong", 2: "refused"}
    return kinds[done.returncode], done.stdout if done.returncode == 1 else done.stderr


@pytest.mark.parametrize("standard", ["p4-16", "p4-14"])
def test_programs_of_p4c_run_or_name_what_is_refused(program, tmp_path, standard):
    sources = samples(standard)

    def run(source):
        return play_or_load(program, source, tmp_path / f"{source.stem}.json", standard)

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(run, sources))
    counts = Counter(kind for kind, _ in outcomes)
    print(f"{len(sources)} programs of p4c, {standard}: {dict(sorted(counts.items()))}")
    refused = Counter(reason_of(text) for kind, text in outcomes if kind == "refused")
    for reason, count in refused.most_common():
        print(f"{count} refused: {reason}")
    wrong = [text for kind, text in outcomes if kind == "wrong"]
    print("\n".join(wrong))
    assert counts["passed"] > 0
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
