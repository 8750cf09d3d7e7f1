# SPDX-License-Identifier: GPL-2.0-only
"""What the kernels should reach, what the shipped profiles of GPUs say of it, and what the benchmark measures."""

import itertools
import json
import re
import sys

import pytest
from conftest import ROOT

sys.path.append(str(ROOT))
from launcher import calibrate, goals
from launcher.errors import LauncherError

PROFILES = sorted((ROOT / "profiles").glob("*.profile.json"))


def _gpu_profile(folder, seconds):
    """A profile of kernels at 25 million (100 MB) and 50 million elements, and a small size that no goal is of."""
    sizes = {"copy": 8.0, "fp16-encode": 6.0, "top-k-encode": 8.8}
    sizes |= {"dgc-encode": 20.008, "radix-sort-pairs": 8.8}
    kernels = {
        name: {
            "bytesPerElement": sizes[name],
            "points": [
                {"elements": 1024, "median_s": 1.0},
                {"elements": 25_000_000, "median_s": times[0]},
                {"elements": 50_000_000, "median_s": times[1]},
            ],
        }
        for name, times in seconds.items()
    }
    profile = {"device": "a GPU", "origin": "measurement", "kernels": kernels}
    (folder / "g.profile.json").write_text(json.dumps(profile))
    return folder / "g.profile.json"


def test_goals_are_judged_at_the_worst_large_size(tmp_path, capsys):
    # A copy of 8 B/element takes 100 us; 6 B/element at its rate 75 us, 8.8 B 110 us, 20.008 B 250.1 us.
    path = _gpu_profile(
        tmp_path,
        {
            "copy": (100e-6, 200e-6),
            "fp16-encode": (75e-6 / 0.95, 150e-6 / 0.91),
            "top-k-encode": (110e-6 / 0.70, 220e-6 / 0.59),
            "dgc-encode": (250.1e-6 / 0.75, 500.2e-6 / 0.80),
            "radix-sort-pairs": (5 * 110e-6 / 0.70, 4.5 * 220e-6 / 0.59),
        },
    )
    assert goals.report(path) == 1
    lines = capsys.readouterr().out.splitlines()
    judged = {tuple(line.split()[:2]): line for line in lines}
    assert "0.91 of the rate of a copy at 200 MB" in judged["reached", "fp16-encode"]
    assert "0.59 of the rate of a copy at 200 MB" in judged["missed", "top-k-encode"]
    assert "0.75 of the rate of a copy at 100 MB" in judged["reached", "dgc-encode"]
    assert "4.50 times as fast as radix-sort-pairs at 200 MB" in judged["reached", "top-k-encode"]
    # Of 25 streaming kernels one was measured, bbtopk, powersgd and gather-marked were not; PyTorch was not there.
    assert lines[-1] == "3 reached, 1 missed, 30 not measured"


GPUS = [path for path in PROFILES if path.name.startswith("nvidia-")]


@pytest.mark.parametrize("path", [p for p in PROFILES if p not in GPUS], ids=lambda path: path.name)
def test_no_goal_is_reached_by_an_estimate_or_a_cpu(path, capsys):
    assert goals.report(path) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "0 reached, 0 missed, 34 not measured"


def _table_rows(text, first, separator):
    """Cells of the table whose heading begins so, up to the first line that is none of it."""
    lines = text[text.index(first) :].splitlines()[2:]
    rows = itertools.takewhile(lambda line: line and not line.startswith("="), lines)
    return [[cell.strip() for cell in re.split(separator, row.strip("| "))] for row in rows]


def test_the_page_of_the_kernels_has_every_goal_that_a_measured_gpu_misses():
    assert [path.name.split(".")[0] for path in GPUS] == [
        "nvidia-h100-80gb-hbm3",
        "nvidia-h200",
    ]
    findings = list(zip(*(goals.check(json.loads(path.read_text())) for path in GPUS)))
    expected = [
        [
            h100.kernel if "copy" in h100.goal else f"{h100.kernel}, {h100.goal}",
            *(f"{h100.least:g}", f"{h100.found:.2f}", f"{h200.found:.2f}"),
        ]
        for h100, h200 in findings
        if "missed" in (h100.verdict, h200.verdict)
    ]
    text = (ROOT / "kernels" / "README.md").read_text()
    assert _table_rows(text, "| kernel | goal |", r"\s*\|\s*") == expected
    assert all(finding.verdict != "not measured" for pair in findings for finding in pair)
    reached = [sum(finding.verdict == "reached" for finding in column) for column in zip(*findings)]
    assert f"An H100 reaches {reached[0]} of the {len(findings)}" in text
    assert f"not, {reached[1]} (" in text


def test_the_table_of_measured_times_is_that_of_the_profiles():
    text = (ROOT / "doc" / "compression.rst").read_text()
    rows = _table_rows(text, "measured kernel ", r" +(?=\d)")
    slow = [
        json.loads((ROOT / "profiles" / f"{name}-estimate-5us.profile.json").read_text())
        for name in ("h100-sxm", "h200")
    ]
    measured = [json.loads(path.read_text())["kernels"] for path in GPUS]
    assert {row[0].replace(" ", "-") for row in rows} == calibrate.BYTES_PER_ELEMENT.keys()
    for name, *cells in rows:
        expected = []
        for kernels, estimate in zip(measured, slow):
            kernel = name.replace(" ", "-")
            times = {point["elements"]: point["median_s"] for point in kernels[kernel]["points"]}
            line = estimate["kernels"][kernel]
            # t0 + bytes / rate, of 2^28 elements: 1 GiB.
            estimated = (
                line["fixedSeconds"] + 2**28 * line["bytesPerElement"] / line["bytesPerSecond"]
            )
            expected.append(f"{1e6 * times[2**20]:.3g}")
            expected.append(f"{1e6 * times[2**28]:.0f}")
            expected.append(f"{times[2**28] / estimated:.2f}")
        assert cells == expected, name


def test_goals_of_no_profile_are_refused(tmp_path):
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(LauncherError, match="no profile can be read"):
        goals.report(tmp_path / "x.json")


def _benchmarks():
    """What kernels-bench measures, and the bytes that it counts for each."""
    sources = sorted((ROOT / "kernels" / "bench").glob("*.c[cu]"))
    return {
        name: float(size)
        for source in sources
        for name, size in re.findall(r'\{"([a-z0-9-]+)",\s*([0-9.]+),', source.read_text())
    }


def test_goals_name_what_the_benchmark_measures():
    measured = _benchmarks().keys()
    wanted = {
        "copy",
        *goals.SHARES,
        *(other for rows in goals.SPEED_UPS.values() for other, _ in rows),
    }
    assert wanted - measured == {"torch-topk"}
    assert '"torch-topk"' in (ROOT / "kernels" / "bench" / "torch-baseline.py").read_text()


def test_gpus_and_estimates_are_counted_the_same_bytes():
    measured = _benchmarks()
    for kernel, size in calibrate.BYTES_PER_ELEMENT.items():
        assert measured[kernel] == size, kernel


# What no codec is made of, and so no estimate has: float32 in and out at 4 bytes each, and what comes with them.
OTHER_BYTES = {
    "copy": 4 + 4,
    "packet-exponents": 4 + 1 / 64,  # a byte per packet of 64
    "exponents-encode": 4 + 4 + 1 / 64,
    "exponents-decode": 4 + 4 + 1 / 64,
    "add-sparse": 0.1 * (8 + 4 + 4),  # index and value in, the sum in and out, of 10 %
    "select-from-key": 4 + 0.02 * 8,  # index and value of 2 % out
    # A bit per element in, the sectors of eight elements where 2 % of them are marked, index and value of those out.
    "gather-marked": 1 / 8 + 4 * (1 - 0.98**8) + 0.02 * 8,
    "add-dense": 4 + 4 + 4,
    "step-momentum": 4 + 4 + 4,
    "keep-residual": 4 + 4 + 4,
    "norm": 4,
    "score-blocks": 4 + 8 / 4096,  # a score per block, in and out
    "non-zero-blocks": 4 + 1 / 8 / 256,  # a bit per block
    "majority": 8 / 8 + 1 / 8,  # a bit of each of eight voters in, one out
    "radix-sort-pairs": 8.8,  # of top-k, which it is compared with
}


def test_every_kernel_declares_the_bytes_that_it_must_move():
    measured = _benchmarks()
    assert measured.keys() == calibrate.BYTES_PER_ELEMENT.keys() | OTHER_BYTES.keys()
    for kernel, size in OTHER_BYTES.items():
        assert measured[kernel] == pytest.approx(size, abs=1e-4), kernel
