#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Instructions that the codecs' kernels issue, from their machine code, as JSON for ./ns3 calibrate --estimates.

Usage: count-issue-slots.py LIBRARY [--check FILE]. Needs cuobjdump and nvdisasm of the CUDA toolkit on the PATH.
Without --check prints them; with it compares with FILE, and prints "N passed, N failed, N skipped": skipped where
the tools are not there or another compiler made the library.

Each instruction outside of loops counts once, both sides of branches and ends of arrays included: an upper bound.
How often a loop is passed says LOOPS, by the source; machine code with other loops than those is an error.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ARCHITECTURE = "sm_90"

# Kernel, what its mangled name has beside, and of each loop in the order of the machine code how often a thread
# passes it; where that depends on the gradient, on average of normally distributed ones, rounded up.
# "N elements": once for N elements of 4 bytes that the whole kernel reads. 0: ends of arrays, what such gradients do
# not come to, or a part of a loop that counts already.
_BINS = 2  # RADIX_BINS of 2048 over 1024 threads
_POWERS = 12  # up to a block of THC
_LATER_BINS = 4  # LATER_BINS over 256 threads
_RANK = 4  # of PowerSGD, whose columns have up to 2048 rows over 1024 threads
_LOOK_BACK = (1, 1)  # at 32 tiles, each of which is ready
LOOPS: dict[tuple[str, str], tuple[int | str, ...]] = {
    # Four strips of a warp at a time, of four elements each.
    ("AddStripsKernel", ""): ("16 elements",),
    ("AddThcKernel", ""): (0, 0),
    ("CloseHalfMessageKernel", ""): (),
    ("CloseSparseMessageKernel", ""): (),
    ("ConvertKernel", "DecodeBytes"): (),
    ("ConvertKernel", "DecodeFixed"): (),
    ("ConvertKernel", "DecodeScaled"): (),
    ("ConvertKernel", "EncodeBytes"): (),
    ("ConvertKernel", "EncodeFixed"): (),
    ("ConvertKernel", "EncodeScaled"): (),
    # Counts, looks back twice, copies: 8 bytes of each candidate are read. What waits stands behind the rest, so the
    # way back from there is around it.
    ("CopySelectedKernel", ""): ("8 elements", *_LOOK_BACK, 1, 0, 0, 0, "8 elements"),
    ("CountLastDigitsKernel", ""): (1, "4 elements", 1),
    ("CountLeadingDigitsKernel", ""): (_BINS, "4 elements", _BINS),
    ("DecodeInt8Kernel", ""): (),
    ("DecodeQsgdKernel", "4"): (),
    ("DecodeSignsKernel", ""): (),
    ("DecodeSixteenBitsKernel", "BfloatFormat"): (),
    ("DecodeSixteenBitsKernel", "HalfFormat"): (),
    ("DecodeTernaryKernel", ""): (),
    ("DecodeThcKernel", "CodeReader"): (_POWERS, 0),
    ("DecodeTwoBitsKernel", ""): (),
    ("EncodeInt8Kernel", ""): (2, 0, 0),  # 8 warps, four at a time
    ("EncodeQsgdKernel", "4"): ("16 elements", "4 elements"),
    ("EncodeSignsKernel", ""): (),
    ("EncodeSixteenBitsKernel", "BfloatFormat"): (),
    ("EncodeSixteenBitsKernel", "HalfFormat"): (),
    ("EncodeTernaryKernel", ""): (),
    ("EncodeThcKernel", ""): (_POWERS, 0),
    ("EncodeTwoBitsKernel", ""): (),
    ("ExpandFactorsKernel", ""): (_RANK,),
    # A warp finds where its tile begins in five steps, of up to 33^5 entries; ends of streams of offsets have loops of
    # their own, and messages that the device alone knows the length of.
    ("FillTilesKernel", "BlockMessage"): ("1 elements", 0, 0, 0),
    ("FillTilesKernel", "FloatMessage"): (5, 0, "2 elements", 0),
    ("FillTilesKernel", "HalfMessage"): (5, "1 elements", 0, 0),
    ("FindExponentsKernel", ""): (2, 5),  # 32 lanes of a packet of 256
    ("FindThcNormsKernel", ""): (),
    ("FinishScalerKernel", ""): (1,),
    # A thread takes 16 elements of each tile of its block (DGC: 8 of each of three arrays), and all loops but of bins
    # lie in that one, which counts each once: beside it count the passes after the first one. A row of 32 vectors
    # has one or two lanes with 2.5 % of the elements, which lie in the cut's bin, and two or three with 12.5 %, which
    # lie in it or above. Of a tile's 4096 these are two for each of 256 threads. Tiles before are ready.
    ("OrderedSelectKernel", "Candidates"): (
        *(_LATER_BINS, "16 elements", *["16 elements"] * 4, *["8 elements"] * 4),
        *(0, 0, "16 elements", _LATER_BINS),
    ),
    ("OrderedSelectKernel", "DgcRule"): ("24 elements", *[0] * 7),  # 0.1 %; no message is full
    ("OrderedSelectKernel", "FromKey"): (*["16 elements"] * 5, 0, 0, 0),  # 2 %
    # 2 %: of 4096 elements a bit each and 82 values are read, a word for each thread.
    ("OrderedSelectKernel", "Marked"): (*["1 elements"] * 5, 0, 0, 0),
    # Norms of all columns; then each: its scale, and products and differences of the later ones at once. Loops over
    # rows are passed twice, and stand once in the passes of those around them.
    ("OrthogonaliseKernel", ""): (1, 1, _RANK, _RANK, 0, 2, 2),
    ("PackOffsetsKernel", ""): (5, 0),  # offsets of 10 bits that have a part in a word of 32
    ("ProjectRowsKernel", ""): (1, "4 elements"),
    ("ProjectStripsKernel", ""): (1, "4 elements"),
    ("RestartColumnsKernel", ""): (1, 0),  # up to 8192 rows at once
    ("SampleKernel", ""): (),
    # 11.7 candidates for 10 elements, looked at twice; in the machine code a part of the slow way is around them.
    ("SelectBlockTopKKernel", "1024"): (0, 0, 0, 0, 1, 12, 12),
    ("SumStripsKernel", ""): ("16 elements", 0),
}


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def instructions(text: str) -> list[tuple[int, str]]:
    """Address and text of each instruction but fillers."""
    found = re.findall(r"/\*([0-9a-f]{4,5})\*/\s+(.*?);", text)
    return [(int(address, 16), words) for address, words in found if "NOP" not in words]


def loops(code: list[tuple[int, str]]) -> list[tuple[int, int]]:
    """First and last address of each loop; those with one first address are one."""
    ends: dict[int, int] = {}
    for address, words in code:
        target = re.search(r"\bBRA\b.*?0x([0-9a-f]+)", words)
        if target and int(target[1], 16) < address:
            begin = int(target[1], 16)
            ends[begin] = max(ends.get(begin, 0), address)
    return sorted(ends.items())


def count(text: str, passes: tuple[int | str, ...]) -> dict[str, float]:
    """Of a thread: "once", and "perElement" of what the kernel reads."""
    code = instructions(text)
    found = loops(code)
    if len(found) != len(passes):
        raise SystemExit(f"found {len(found)} loops at {found}, expected {len(passes)}")
    inside = {address for address, _ in code if any(low <= address <= high for low, high in found)}
    once: float = len(code) - len(inside)
    each = 0.0
    for (low, high), times in zip(found, passes):
        length = sum(low <= address <= high for address, _ in code)
        if isinstance(times, int):
            once += times * length
        else:
            each += length / int(times.split()[0])
    return {"once": once, "perElement": each}


def _compiler(library: str) -> str:
    """The version of ptxas that the library names."""
    found = re.search(
        r"Tool Version:.*, (V\S+)", _run("cuobjdump", "-elf", "-arch", ARCHITECTURE, library)
    )
    return found[1] if found else "unknown"


def measure(library: str) -> dict:
    text = _run("cuobjdump", "--dump-sass", "-arch", ARCHITECTURE, library)
    parts = re.split(r"Function : (\S+)", text)
    codes = dict(zip(parts[1::2], parts[2::2]))
    kernels = {}
    for (kernel, variant), passes in LOOPS.items():
        names = [name for name in codes if re.search(rf"\d{kernel}.*{variant}", name)]
        if len(names) != 1:
            raise SystemExit(f"{kernel} {variant}: found {len(names)} in the library, expected 1")
        kernels[f"{kernel} {variant}".strip()] = count(codes[names[0]], passes)
    return {"architecture": ARCHITECTURE, "compiler": _compiler(library), "kernels": kernels}


def main() -> int:
    check = Path(sys.argv[3]) if sys.argv[2:3] == ["--check"] else None
    if not (shutil.which("cuobjdump") and shutil.which("nvdisasm")):
        print("cuobjdump or nvdisasm is not here: no instructions were counted")
        print("0 passed, 0 failed, 1 skipped")
        return 0 if check else 1
    found = measure(sys.argv[1])
    if check is None:
        print(json.dumps(found, indent=1))
        return 0
    expected = json.loads(check.read_text())
    if found["compiler"] != expected["compiler"]:
        print(f"counted for {expected['compiler']}, this is {found['compiler']}")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    same = found == expected
    if not same:
        print(f"{check} is of other kernels: count again, then ./ns3 calibrate --estimates")
    print(f"{int(same)} passed, {int(not same)} failed, 0 skipped")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
