#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Breaks slot-aggregation.p4 and atp.p4 in many ways and tells which vectors notice: mutants.py RUNNER, where
RUNNER is the built p4-tests. Every mutant is compiled by the real compiler.

--real plays one of the vectors that noticed on the real simple_switch too."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import bmv2
import programs
import stf


@dataclass(frozen=True)
class Mutant:
    """One change: `old`, which must be in the program once, becomes `new`."""

    name: str
    old: str
    new: str
    source: str = "slot-aggregation.p4"


MUTANTS = [
    Mutant("no checksum test", "standard.checksum_error == 1", "false"),
    Mutant(
        "no UDP checksum test",
        "headers.values.isValid() && headers.udp.checksum != 0",
        "headers.values.isValid() && headers.udp.checksum == 0xFFFE",
    ),
    Mutant(
        "no duplicate test",
        "} else if (bitmap != 0 && ahead == 0 && (bitmap & metadata.workerBit) != 0) {",
        "} else if (bitmap != 0 && ahead == 1 && (bitmap & metadata.workerBit) != 0) {",
    ),
    Mutant("no stale test", "bitmap != 0 && ahead[15:15] == 1", "false"),
    Mutant("epochs compared as plain numbers", "ahead[15:15] == 1",
           "headers.slot.epoch < storedEpoch"),
    Mutant("an old epoch is added to", "if (bitmap == 0 || ahead != 0) {", "if (bitmap == 0) {"),
    Mutant(
        "subtract for add",
        "((stored & ~SIGNS) + (headers.values.lanes & ~SIGNS))",
        "((stored & ~SIGNS) - (headers.values.lanes & ~SIGNS))",
    ),
    Mutant(
        "carries cross lanes",
        "((stored & ~SIGNS) + (headers.values.lanes & ~SIGNS)) ^\n"
        "            ((stored ^ headers.values.lanes) & SIGNS)",
        "stored + headers.values.lanes",
    ),
    Mutant("one set only", "cell = cell + POOL_SIZE;", "cell = cell + 0;"),
    Mutant(
        "one pool for all jobs",
        "cell = metadata.base + slot;",
        "cell = slot;",
    ),
    Mutant("slot range off by one", "slot >= metadata.slots ||", "slot > metadata.slots ||"),
    Mutant("base not guarded", "metadata.base >= POOL_SIZE ||", "false ||"),
    Mutant("result not retained", "values.read(headers.values.lanes, cell);", ""),
    Mutant("result to all again",
           "standard.egress_spec = standard.ingress_port;", "standard.mcast_grp = metadata.group;"),
    Mutant("incomplete duplicates answered",
           "if (bitmap != metadata.allWorkers) {\n                            drop(EVENT_DUPLICATE);",
           "if (bitmap == 0) {\n                        drop(EVENT_DUPLICATE);"),
    Mutant("complete one too early", "if (bitmap == metadata.allWorkers) {\n"
           "                            if", "if (bitmap != 1) {\n                        if"),
    Mutant("bitmap not stored", "bitmaps.write(cell, bitmap);", ""),
    Mutant("epoch not stored", "epochs.write(cell, headers.slot.epoch);", ""),
    Mutant("offset of the last packet", "offsets.read(headers.slot.offset, cell);\n        //", "//"),
    Mutant("exponents unsigned", "if ((int<8>)storedExponents[15:8] > headers.slot.exponentA) {",
           "if (storedExponents[15:8] > (bit<8>)headers.slot.exponentA) {"),
    Mutant("smallest exponent", "(int<8>)storedExponents[7:0] > headers.slot.exponentB",
           "(int<8>)storedExponents[7:0] < headers.slot.exponentB"),
    Mutant("overflow flag never set", "overflowed = overflow != 0;", "overflowed = false;"),
    Mutant("overflow flag not kept", "headers.slot.flags = storedFlags |", "headers.slot.flags ="),
    Mutant("flag not cleared",
           "        headers.slot.flags = headers.slot.flags & metadata.flagMask;\n", ""),
    Mutant("flags of switches not kept",
           "headers.slot.flags = storedFlags | (headers.slot.flags & metadata.flagMask);",
           "headers.slot.flags = storedFlags;"),
    Mutant("port not in the key",
           'standard.ingress_port: exact @name("port");', 'headers.slot.count: exact @name("port");'),
    Mutant("count not tested", "headers.slot.count != VALUES", "headers.slot.count == 0xFFFF"),
    Mutant("message type not tested", "headers.slot.messageType != metadata.messageType", "false"),
    Mutant("lengths not tested", "(FRAME_LENGTH, IPV4_LENGTH, UDP_LENGTH): parseSlot;\n"
           "            default: accept;", "default: parseSlot;"),
    Mutant("result without UDP checksum", "            headers.udp.checksum == 0, { 16w0 }",
           "            headers.udp.checksum == 1, { 16w0 }"),
    Mutant("worker of the sender in results", "headers.slot.worker = standard.egress_rid;", ""),
    Mutant("answered before it is", "bool isKnown = metadata.hasParent == 0 || isAnswered == 1;",
           "bool isKnown = true;"),
    Mutant("answer forgotten", "answered.write(cell, 1);", ""),
    Mutant("answer of the epoch before stays", "answered.write(cell, 0);", ""),
    Mutant("answer not stored", "        answered.write(cell, 1);\n        storeSums();",
           "        answered.write(cell, 1);"),
    Mutant("answer of another epoch taken", "if (bitmap != metadata.allWorkers || ahead != 0) {",
           "if (bitmap != metadata.allWorkers) {"),
    Mutant("answer before the sum taken", "if (bitmap != metadata.allWorkers || ahead != 0) {",
           "if (ahead != 0) {"),
    Mutant("own number not told above", "headers.slot.worker = metadata.numberAbove;", ""),
    Mutant("partial sum to the workers",
           "if (metadata.hasParent == 0) {", "if (true) {"),
    Mutant("TTL not set", "headers.ipv4.ttl = RESULT_TTL;", ""),
    Mutant("reserved not cleared", "headers.slot.reserved = 0;", ""),
    Mutant("forwards at TTL 1", "headers.ipv4.ttl <= 1", "headers.ipv4.ttl == 0"),
    Mutant("fragments looked into",
           "(4, 5, 0, 0, PROTOCOL_UDP): parseUdp;", "(4, 5, _, _, PROTOCOL_UDP): parseUdp;"),
    *(Mutant(f"ATP: {name}", old, new, "atp.p4") for name, old, new in (
        ("freed at completion", "events.count(EVENT_COMPLETED);",
         "bitmaps.write(cell, 0);\n                            events.count(EVENT_COMPLETED);"),
        ("owner not compared",
         "bitmap != 0 && owner == headers.atp.job ++ headers.atp.sequence;", "bitmap != 0;"),
        ("job not in the owner", "bitmap != 0 && owner == headers.atp.job ++ headers.atp.sequence;",
         "bitmap != 0 && owner[15:0] == headers.atp.sequence;"),
        ("answer frees another's", "if (isMine) {\n                            freeAggregator(EVENT_FREED);",
         "if (bitmap != 0) {\n                        freeAggregator(EVENT_FREED);"),
        ("answer frees nothing", "freeAggregator(EVENT_FREED);", ""),
        ("resend frees nothing", "freeAggregator(EVENT_EVICTED);", ""),
        ("resend leaves the partial sum", "loadAggregator();", ""),
        ("duplicates added", "if (isMine && (bitmap & metadata.bitmap) != 0) {",
         "if (isMine && bitmap == 0) {"),
        ("collision not told", "headers.atp.collision = 1;", ""),
        ("congestion not kept", "headers.atp.ecn = headers.atp.ecn | mark[0:0];\n"
         "        headers.atp.overflow = headers.atp.overflow | mark[1:1];",
         "headers.atp.overflow = headers.atp.overflow | mark[1:1];"),
        ("parts of racks added", "headers.atp.level == 1 &&\n                               (headers",
         "false &&\n                           (headers"),
        ("one level only", "cell = cell + AGGREGATORS;", "cell = cell + 0;"),
        ("index not guarded", "metadata.index >= AGGREGATORS ||", "false ||"),
        ("fan-in not guarded", "(metadata.bitmap & ~all) != 0", "false"),
    )),
]


def write(mutant: Mutant, folder: Path) -> None:
    source = programs.FOLDER / mutant.source
    text = source.read_text(encoding="ascii")
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.name}: \"{mutant.old}\" is there {text.count(mutant.old)} times")
    (folder / source.name).write_text(text.replace(mutant.old, mutant.new), encoding="ascii")
    (folder / "headers.p4").write_bytes((programs.FOLDER / "headers.p4").read_bytes())
    for program in programs.PROGRAMS:
        if program.source != source.name:
            continue
        bmv2.compile_program(
            folder / source.name, folder / f"{program.name}.json", program.settings
        )


def failing_vectors(mutant: Mutant, runner: Path, folder: Path) -> list[str]:
    chosen = "/atp*" if mutant.source == "atp.p4" else "*-*features:*/atp*"
    done = subprocess.run(
        [runner, f"--gtest_filter=*PipelineAnswersAsExpected{chosen}"],
        env={**os.environ, "GRADSYNC_P4_FOLDER": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    named = re.findall(r"FAILED.*Expected/(\w+), where", done.stdout)
    return sorted({name.replace("_", "-") for name in named})


def really_caught(folder: Path, vector: str) -> bool:
    played = stf.read(programs.FOLDER / "vectors" / f"{vector}.stf")
    sent = bmv2.play(folder / f"{played.program}.json", played)
    return bmv2.difference(played, sent) is not None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runner", type=Path)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--match", default="", help="only mutants whose names contain this")
    arguments = parser.parse_args()
    survivors = 0
    chosen = [mutant for mutant in MUTANTS if arguments.match in mutant.name]
    for mutant in chosen:
        with tempfile.TemporaryDirectory() as name:
            write(mutant, Path(name))
            failing = failing_vectors(mutant, arguments.runner.resolve(), Path(name))
            first = next((v for v in failing if v.startswith("edge")), (failing or [""])[0])
            real = ""
            if failing and arguments.real:
                real = " | yes" if really_caught(Path(name), first) else " | NO"
            survivors += not failing or real == " | NO"
        print(f"| {mutant.name} | {len(failing)} | {first or 'SURVIVED'}{real} |", flush=True)
    print(f"{len(chosen)} mutants, {len(chosen) - survivors} caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
