#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Plays vectors on the real simple_switch: play.py [FILE.stf ...]. Compiles the programs first."""

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bmv2
import programs
import stf

HERE = Path(__file__).resolve().parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if bmv2.missing_tools():
        print(f"not on the PATH: {', '.join(bmv2.missing_tools())}")
        return 1
    files = arguments.files or sorted(HERE.glob("*.stf"))
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for program in programs.PROGRAMS:
            program.compile(Path(folder, f"{program.name}.json"))

        def run(path: Path) -> tuple[stf.Played, str | None]:
            played = stf.read(path)
            sent = bmv2.play(Path(folder, f"{played.program}.json"), played)
            return played, bmv2.difference(played, sent)

        with ThreadPoolExecutor(arguments.jobs) as pool:
            outcomes = list(pool.map(run, files))
    packets = sum(len(played.packets) for played, _ in outcomes)
    wrong = [problem for _, problem in outcomes if problem]
    print("\n".join(wrong))
    print(
        f"{len(files)} vectors, {packets} packets in, on the real simple_switch in "
        f"{time.monotonic() - start:.0f} s: {len(files) - len(wrong)} passed, {len(wrong)} failed"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
