#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Look at the machine code of the kernels: no spills, no local memory, 16-byte accesses, occupancy.

Usage: check-machine-code.py LIBRARY. Needs cuobjdump and nvdisasm of the CUDA toolkit on the PATH.
Prints registers, shared memory and occupancy of each kernel, and "N passed, N failed, N skipped"; exit code 1
when a kernel fails. Without the two tools everything counts as skipped.
"""

import re
import shutil
import subprocess
import sys

ARCHITECTURES = ("sm_80", "sm_90")

# Of a multiprocessor; the same on both but for the shared memory.
_WARPS = 64
_BLOCKS = 32
_REGISTERS = 65536
_SHARED_BYTES = {"sm_80": 164 * 1024, "sm_90": 228 * 1024}

# Percent of resident warps that hide the latency of memory; of SelectBlockTopKKernel a warp holds a whole
# block of the gradient in its registers, and so has more loads under way than others.
LEAST_OCCUPANCY = 25
FEW_WARPS = "SelectBlockTopKKernel"

# Kernels that stream: the accesses that they must have, of 16 bytes a thread, or 8 to codes of 16 bits; a warp's are to
# one run of memory.
_LOAD = ("LDG.E.128",)
_STORE = ("STG.E.128",)
ACCESSES = {
    "EncodeInt8Kernel": _LOAD,
    "FindExponentsKernel": _LOAD,
    "SumSquaresKernel": _LOAD,
    "ScoreBlocksKernel": _LOAD,
    "FindNonZeroKernel": _LOAD,
    "CountLeadingDigitsKernel": _LOAD,
    "CountLastDigitsKernel": _LOAD,
    "CopySelectedKernel": _LOAD,
    "SelectBlockTopKKernel": _LOAD,
    "FromKey": _LOAD,
    "Candidates": _LOAD,
    "DecodeInt8Kernel": _STORE,
    "DecodeQsgdKernel": _STORE,
    "DecodeSignsKernel": _STORE,
    "DecodeTernaryKernel": _STORE,
    "DecodeTwoBitsKernel": _STORE,
    "ExpandFactorsKernel": _LOAD + _STORE,
    "AddStripsKernel": _LOAD + _STORE,
    "ProjectRowsKernel": _LOAD,
    "ProjectStripsKernel": _LOAD + _STORE,
    "EncodeQsgdKernel": _LOAD,
    "EncodeSignsKernel": _LOAD,
    "EncodeTernaryKernel": _LOAD,
    "SumStripsKernel": _LOAD,
    "EncodeSixteenBitsKernel": ("LDG.E.128", "STG.E.64"),
    "DecodeSixteenBitsKernel": ("LDG.E.64", "STG.E.128"),
    **dict.fromkeys(("EncodeFixed", "DecodeFixed", "EncodeScaled", "DecodeScaled"), _LOAD + _STORE),
    "EncodeBytes": _LOAD,
    "DecodeBytes": _STORE,
    "EncodeTwoBitsKernel": _LOAD + _STORE,
    "UpdateKernel": _LOAD + _STORE,
    "DgcRule": _LOAD + _STORE,
}


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _short(name: str) -> str:
    """The readable part of a mangled name."""
    match = re.search(r"\d([A-Z]\w*?Kernel)(I.*?E)?", name)
    rule = re.search(r"\d([A-Z][a-z]+Rule|FromKey|Marked|Candidates)E", name)
    size = re.search(r"KernelILj(\d+)", name)
    parts = [match.group(1) if match else name]
    parts += [part.group(1) for part in (rule, size) if part]
    return " ".join(parts)


def _resources(library: str, architecture: str) -> dict[str, dict[str, int]]:
    """Of each kernel: REG, STACK, SHARED, LOCAL."""
    text = _run("cuobjdump", "-res-usage", "-arch", architecture, library)
    found = re.findall(r"Function (\S+):\s+(REG:.*)", text)
    return {
        name: {key: int(number) for key, number in re.findall(r"(\w+):(\d+)", usage)}
        for name, usage in found
    }


def _instructions(library: str, architecture: str) -> dict[str, str]:
    text = _run("cuobjdump", "--dump-sass", "-arch", architecture, library)
    parts = re.split(r"Function : (\S+)", text)
    return dict(zip(parts[1::2], parts[2::2]))


def _block_sizes(library: str, architecture: str) -> dict[str, int]:
    """Threads of a block, as __launch_bounds__ gives them; kernels of one thread give none."""
    text = _run("cuobjdump", "-elf", "-arch", architecture, library)
    sizes = {}
    for part in re.split(r"\n\.nv\.info\.", text)[1:]:
        bound = re.search(r"EIATTR_MAX_THREADS\s+Format:\s+\S+\s+Value:\s+(0x[0-9a-f]+)", part)
        if bound:
            sizes[part.split(None, 1)[0]] = int(bound.group(1), 16)
    return sizes


def _occupancy(architecture: str, threads: int, usage: dict[str, int]) -> int:
    """Resident warps in percent of the most that a multiprocessor holds, by registers, shared memory, blocks.

    CUDA C++ Programming Guide, compute capabilities: 65,536 registers in four partitions, given out
    in units of 8 a thread; 1 KB of shared memory more for every block.
    """
    warps = (threads + 31) // 32
    each = 32 * -(-usage["REG"] // 8) * 8
    by_registers = 4 * (_REGISTERS // 4 // each) // warps
    by_shared = _SHARED_BYTES[architecture] // (usage["SHARED"] + 1024)
    return 100 * min(_WARPS // warps, by_registers, by_shared, _BLOCKS) * warps // _WARPS


def _missing(name: str, code: str) -> list[str]:
    """Accesses that a kernel should have and has not."""
    wanted = {access for kernel, of in ACCESSES.items() if kernel in name for access in of}
    return sorted(access for access in wanted if access not in code)


def _check(library: str, architecture: str) -> tuple[int, int]:
    passed = failed = 0
    code = _instructions(library, architecture)
    threads = _block_sizes(library, architecture)
    for name, usage in sorted(_resources(library, architecture).items()):
        problems = [f"no {access}" for access in _missing(name, code[name])]
        problems += [f"{usage[key]} B {key.lower()}" for key in ("STACK", "LOCAL") if usage[key]]
        if re.search(r"\b(STL|LDL)\b", code[name]):
            problems.append("spills")
        occupancy = _occupancy(architecture, threads.get(name, 1), usage)
        if name in threads and occupancy < LEAST_OCCUPANCY and FEW_WARPS not in name:
            problems.append(f"occupancy below {LEAST_OCCUPANCY} %")
        passed, failed = (passed, failed + 1) if problems else (passed + 1, failed)
        print(
            f"{architecture} {_short(name):<36} {usage['REG']:>4} registers"
            f" {usage['SHARED']:>6} B shared {threads.get(name, 1):>5} threads {occupancy:>4} %"
            f"  {'FAILED: ' + ', '.join(problems) if problems else 'ok'}"
        )
    return passed, failed


def main() -> int:
    library = sys.argv[1]
    if not (shutil.which("cuobjdump") and shutil.which("nvdisasm")):
        print("cuobjdump or nvdisasm is not here: the machine code was not looked at")
        print(f"0 passed, 0 failed, {len(ARCHITECTURES)} skipped")
        return 0
    counts = [_check(library, architecture) for architecture in ARCHITECTURES]
    passed, failed = (sum(column) for column in zip(*counts))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
