#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Break the kernels in small ways that a GPU may forgive, and see whether the emulator finds each.

Usage: mutants.py BUILD [NAME...], where BUILD is a build of kernels/emulator. A mutant is a copy of kernels/src
with one place changed; it is compiled, linked with the rest of emulated-kernels-test, and run on one case, which
must report the fault that is named here. Prints "N passed, N failed, 0 skipped".
"""

import concurrent.futures
import dataclasses
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"
_SECONDS = 120


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One change: in `file`, compiled as part of `unit`, found by `case` on gradients of up to `longest` elements."""

    name: str
    file: str
    unit: str
    old: str
    new: str
    case: str
    found: str
    longest: int = 1025


MUTANTS = (
    Mutant(
        "no barrier before the maximum of a block is read",
        "quantiser-kernels.cu",
        "quantiser-kernels.cu",
        "    __syncthreads();\n    uint32_t all = 0;",
        "    uint32_t all = 0;",
        "int8",
        "race: EncodeInt8Kernel",
    ),
    Mutant(
        "no barrier between two scans",
        "launch.h",
        "top-k-kernels.cu",
        "    __syncthreads(); // the scratch of the scan before has been read\n",
        "",
        "top-k",
        "race: CopySelectedKernel",
    ),
    Mutant(
        "no barrier inside a scan",
        "launch.h",
        "top-k-kernels.cu",
        "    __syncthreads();\n    // Each warp adds up",
        "    // Each warp adds up",
        "top-k",
        "race: CopySelectedKernel",
    ),
    Mutant(
        "no barrier before a warp learns of the others",
        "ordered-select.h",
        "select-kernels.cu",
        "    __syncthreads();\n    const uint32_t upToWarp",
        "    const uint32_t upToWarp",
        "Ok-Topk",
        "race: OrderedSelectKernel",
    ),
    Mutant(
        "no barrier before candidates are compared",
        "block-top-k-kernels.cu",
        "block-top-k-kernels.cu",
        "    __syncthreads();\n    uint16_t* const toOffsets",
        "    uint16_t* const toOffsets",
        "bbTopk",
        "race: SelectBlockTopKKernel",
    ),
    Mutant(
        "totals of all blocks by loads that may be old",
        "top-k-search.cu",
        "top-k-search.cu",
        "const volatile uint32_t* const totals",
        "const uint32_t* const totals",
        "top-k",
        "race: CountLeadingDigitsKernel",
        8193,
    ),
    Mutant(
        "no barrier after bins are cleared",
        "top-k-search.cu",
        "top-k-search.cu",
        "    ClearBins<RADIX_BINS, WIDE>(bins);\n    __syncthreads();",
        "    ClearBins<RADIX_BINS, WIDE>(bins);",
        "top-k",
        "race: CountLeadingDigitsKernel",
    ),
    Mutant(
        "no barrier between the halves of a sum",
        "reduction-kernels.cu",
        "reduction-kernels.cu",
        "        __syncthreads();\n        for (uint32_t lane",
        "        for (uint32_t lane",
        "norm, DGT, OmniReduce",
        "race: SumSquaresKernel",
    ),
    Mutant(
        "all threads read a sum that the first one still writes",
        "reduction-kernels.cu",
        "reduction-kernels.cu",
        "return threadIdx.x == 0 ? lanes[0] : Number{0};",
        "return lanes[0];",
        "norm, DGT, OmniReduce",
        "race: ScoreBlocksKernel",
    ),
    Mutant(
        "a vector beyond the last element",
        "launch.h",
        "update-kernels.cu",
        "    if (first + 4 <= count)\n    {\n        return",
        "    if (first + 3 <= count)\n    {\n        return",
        "additions",
        "uninitialised memory: UpdateKernel",
    ),
    Mutant(
        "the scale of another block",
        "quantiser-kernels.cu",
        "quantiser-kernels.cu",
        "scales[static_cast<uint32_t>(first) / blockElements]",
        "scales[static_cast<uint32_t>(first)]",
        "int8",
        "global memory, out of bounds: DecodeInt8Kernel",
    ),
    Mutant(
        "an index of a broken message is believed",
        "fill-tiles.h",
        "message-kernels.cu",
        "if (place < FILL_ELEMENTS)\n        {\n            StoreContended(reinterpret_cast<float*>(tile) + place,",
        "{\n            StoreContended(reinterpret_cast<float*>(tile) + place % (2 * FILL_ELEMENTS),",
        "broken messages",
        "uninitialised memory: FillTilesKernel",
        longest=8193,
    ),
    Mutant(
        "one bin too many",
        "top-k-search.cu",
        "top-k-search.cu",
        "bin < BINS; bin += BLOCK)\n    {\n        bins[bin] = 0;",
        "bin <= BINS; bin += BLOCK)\n    {\n        bins[bin] = 0;",
        "top-k",
        "shared memory, out of bounds: CountLeadingDigitsKernel",
    ),
    Mutant(
        "bins that nobody clears",
        "top-k-search.cu",
        "top-k-search.cu",
        "        bins[bin] = 0;\n",
        "",
        "top-k",
        "uninitialised memory: CountLeadingDigitsKernel",
    ),
    Mutant(
        "totals that nobody clears",
        "top-k-search.cu",
        "top-k-search.cu",
        "cudaMemsetAsync(parts.state, 0, bytes, stream)",
        "cudaMemsetAsync(parts.state, 0, bytes / 2, stream)",
        "top-k",
        "uninitialised memory: ",
    ),
    Mutant(
        "no atomic in shared memory",
        "top-k-search.cu",
        "top-k-search.cu",
        "        atomicAdd(bins + GetRadixDigit(MagnitudeKey(four.x), 0), 1U);",
        "        bins[GetRadixDigit(MagnitudeKey(four.x), 0)] += 1U;",
        "top-k",
        "race: CountLeadingDigitsKernel",
    ),
    Mutant(
        "no atomic between blocks",
        "top-k-search.cu",
        "top-k-search.cu",
        "            atomicAdd(totals + bin, bins[bin]);",
        "            totals[bin] += bins[bin];",
        "top-k",
        "race: CountLeadingDigitsKernel",
        8193,
    ),
    Mutant(
        "no atomic on words of marks",
        "reduction-kernels.cu",
        "reduction-kernels.cu",
        "atomicOr(marks + index / 32, 1U << (index % 32));",
        "marks[index / 32] |= 1U << (index % 32);",
        "additions",
        "race: AddSparseKernel",
    ),
    Mutant(
        "a vector at an odd place",
        "quantiser-kernels.cu",
        "quantiser-kernels.cu",
        "LoadFour<float4>(values, begin + 4 * THREADS * i, count",
        "LoadFour<float4>(values, begin + 4 * THREADS * i + 1, count",
        "fp16 and bf16",
        "misaligned access: EncodeSixteenBitsKernel",
    ),
    Mutant(
        "ranges that begin anywhere",
        "top-k-search.h",
        "top-k-search.cu",
        "vectors * range / gridDim.x * 4",
        "vectors * 4 * range / gridDim.x",
        "top-k",
        "misaligned access: CountLeadingDigitsKernel",
        8193,
    ),
    Mutant(
        "a barrier for one thread only",
        "ordered-select.h",
        "select-kernels.cu",
        "shared[0] = atomicAdd(counts.ticket, 1U);\n    }\n    __syncthreads();",
        "shared[0] = atomicAdd(counts.ticket, 1U);\n        __syncthreads();\n    }",
        "Ok-Topk",
        "divergent warp operation: OrderedSelectKernel",
    ),
    Mutant(
        "a barrier for those only that still add",
        "reduction-kernels.cu",
        "reduction-kernels.cu",
        "        __syncthreads();\n        for (uint32_t lane",
        "        if (threadIdx.x < half)\n            __syncthreads();\n        for (uint32_t lane",
        "norm, DGT, OmniReduce",
        "divergent barrier: SumSquaresKernel",
    ),
    Mutant(
        "a vote of one lane",
        "reduction-kernels.cu",
        "reduction-kernels.cu",
        "__any_sync(ALL_LANES, keys != 0) && lane == 0",
        "lane == 0 && __any_sync(ALL_LANES, keys != 0)",
        "norm, DGT, OmniReduce",
        "divergent warp operation: FindNonZeroKernel",
    ),
    Mutant(
        "half a warp looks back",
        "ordered-select.h",
        "select-kernels.cu",
        "if (threadIdx.x < WARP)\n        {\n            const uint32_t earlier = counts.Add",
        "if (threadIdx.x < WARP / 2)\n        {\n            const uint32_t earlier = counts.Add",
        "Ok-Topk",
        "divergent warp operation: OrderedSelectKernel",
        8193,
    ),
    Mutant(
        "tiles in the order of blocks, which may not run in order",
        "ordered-select.h",
        "select-kernels.cu",
        "uint32_t tile = shared[0];",
        "uint32_t tile = blockIdx.x;",
        "Ok-Topk",
        "endless wait: OrderedSelectKernel",
        8193,
    ),
    Mutant(
        "no barrier before what others held is read",
        "thc-kernels.cu",
        "thc-kernels.cu",
        "        held[place + place / PER_THREAD] = own[i];\n    }\n    __syncthreads();",
        "        held[place + place / PER_THREAD] = own[i];\n    }",
        "THC",
        "race: EncodeThcKernel",
        257,
    ),
    Mutant(
        "sixteen codes read where there are fewer",
        "thc-kernels.cu",
        "thc-kernels.cu",
        "+ first / 2;\n        if (first + PER_THREAD <= size)",
        "+ first / 2;\n        if (first + PER_THREAD <= size + 15)",
        "THC",
        "uninitialised memory: DecodeThcKernel",
        257,
    ),
    Mutant(
        "a lane too many adds to a norm",
        "thc-kernels.cu",
        "thc-kernels.cu",
        "        if (threadIdx.x < half)\n        {\n            lanes[threadIdx.x] +=",
        "        if (threadIdx.x <= half)\n        {\n            lanes[threadIdx.x] +=",
        "THC",
        "shared memory, out of bounds: FindThcNormsKernel",
        257,
    ),
    Mutant(
        "a place beyond the last that is held",
        "thc-kernels.cu",
        "thc-kernels.cu",
        "constexpr uint32_t HELD_WORDS = THC_BLOCK + THC_BLOCK / PER_THREAD;",
        "constexpr uint32_t HELD_WORDS = THC_BLOCK;",
        "THC",
        "shared memory, out of bounds: EncodeThcKernel",
        257,
    ),
    Mutant(
        "no barrier before the eighths of a strip are added",
        "low-rank-kernels.cu",
        "low-rank-kernels.cu",
        "        __syncthreads();\n        if (warp < GROUP",
        "        if (warp < GROUP",
        "PowerSGD",
        "race: ProjectStripsKernel",
        257,
    ),
    Mutant(
        "no barrier between two scalar products",
        "orthogonalise-kernels.cu",
        "orthogonalise-kernels.cu",
        "    __syncthreads(); // the sums before have been read\n",
        "",
        "PowerSGD",
        "race: OrthogonaliseKernel",
        257,
    ),
    Mutant(
        "a strip of whole eighths where rows end early",
        "low-rank-kernels.cu",
        "low-rank-kernels.cu",
        "lastRow(min(firstRow + LOW_RANK_EIGHTH, shape.rows))",
        "lastRow(firstRow + LOW_RANK_EIGHTH)",
        "PowerSGD",
        "uninitialised memory: ProjectStripsKernel",
        257,
    ),
    Mutant(
        "columns beyond the last one",
        "low-rank-kernels.cu",
        "low-rank-kernels.cu",
        "first + warp < shape.rank && isInside)",
        "first + warp < shape.rank)",
        "PowerSGD",
        "global memory, out of bounds: ProjectStripsKernel",
        257,
    ),
    Mutant(
        "the sum of a warp's lanes without those that have no vector",
        "terngrad-kernels.cu",
        "terngrad-kernels.cu",
        "    const LaneSums own = SumVectors(values, begin, end);\n",
        "    if (begin + 4 * (threadIdx.x % WARP) >= end)\n        return;\n"
        "    const LaneSums own = SumVectors(values, begin, end);\n",
        "TernGrad",
        "divergent warp operation: SumStripsKernel",
    ),
    Mutant(
        "sums of warps that are read before they are there",
        "terngrad-kernels.cu",
        "terngrad-kernels.cu",
        "    __syncthreads();\n    if (threadIdx.x < WARP)",
        "    if (threadIdx.x < WARP)",
        "TernGrad",
        "race: FinishScalerKernel",
    ),
    Mutant(
        "codes behind the last element",
        "qsgd-kernels.cu",
        "qsgd-kernels.cu",
        "packed |= 8 * i < rest * BITS ?",
        "packed |= i < BITS ?",
        "QSGD",
        "uninitialised memory: DecodeQsgdKernel",
    ),
    Mutant(
        "votes of one voter more",
        "sign-kernels.cu",
        "sign-kernels.cu",
        "voter < voters; ++voter",
        "voter <= voters; ++voter",
        "signSGD and its vote",
        "uninitialised memory: CountMajorityKernel",
    ),
)


def _compile_commands(build: Path) -> dict[Path, list[str]]:
    """By the object, of what emulated-kernels-test is made of; a build may have objects of before beside them."""
    entries = json.loads((build / "compile_commands.json").read_text())
    commands = [shlex.split(entry["command"]) for entry in entries]
    objects = {build / command[command.index("-o") + 1]: command for command in commands}
    return {
        path: command
        for path, command in objects.items()
        if "emulated-" in str(path.relative_to(build))
    }


def _build(mutant: Mutant, build: Path, folder: Path) -> Path:
    """The program with the mutant in the place of one of its objects."""
    shutil.copytree(SOURCE, folder / "src")
    changed = folder / "src" / mutant.file
    text = changed.read_text()
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.file} has {text.count(mutant.old)} times: {mutant.old}")
    changed.write_text(text.replace(mutant.old, mutant.new))
    commands = _compile_commands(build)
    unit = str(SOURCE / mutant.unit)
    original = next(path for path, command in commands.items() if unit in command)
    command = [
        word for word in commands[original] if word != "-Werror"
    ]  # it may leave a name without use
    command[command.index("-o") + 1] = str(folder / "mutant.o")
    command[command.index(unit)] = str(folder / "src" / mutant.unit)
    subprocess.run(command, check=True, cwd=build, capture_output=True)
    objects = [path for path in commands if path != original]
    program = folder / "mutant"
    libraries = [build / "libemulator.a", build / "libcompression-cpu.a"]
    link = [command[0], "-o", program, folder / "mutant.o", *objects, *libraries, "-pthread"]
    subprocess.run([str(word) for word in link], check=True, capture_output=True)
    return program


def _try(mutant: Mutant, build: Path) -> str:
    """Empty if the mutant was found, else what happened instead."""
    folder = build / "mutants" / "-".join(mutant.name.replace(",", "").split())
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        program = _build(mutant, build, folder)
        command = [str(program), f"--longest={mutant.longest}", mutant.case]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except ValueError as error:
        return str(error)
    except subprocess.CalledProcessError as error:
        return error.stderr.decode()[-2000:]
    except subprocess.TimeoutExpired:
        return f"still running after {_SECONDS} s"
    shutil.rmtree(folder)
    found = [line for line in done.stdout.splitlines() if line.startswith("FOUND")]
    if done.returncode == 1 and any(mutant.found in line for line in found):
        return ""
    return "\n".join([f"expected {mutant.found}, exit code {done.returncode}", *found])


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    chosen = [mutant for mutant in MUTANTS if not sys.argv[2:] or mutant.name in sys.argv[2:]]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for mutant, problem in zip(chosen, pool.map(lambda one: _try(one, build), chosen)):
            failed += 1 if problem else 0
            print(f"{'FAILED' if problem else 'found'}: {mutant.name}", flush=True)
            if problem:
                print(problem, flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
