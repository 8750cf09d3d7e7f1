# SPDX-License-Identifier: GPL-2.0-only
"""Profiles: the fit, the shipped files, and what the simulator does with them."""

import csv
import json
import re
import sys
from argparse import Namespace

import pytest
from conftest import ROOT

sys.path.append(str(ROOT))
from launcher import calibrate, estimates, verbs
from launcher.errors import BAD_INPUT, LauncherError

PROFILES = sorted((ROOT / "profiles").glob("*.profile.json"))


def test_the_fit_finds_a_line_and_never_starts_below_zero():
    # t = 2 us + 5 B/element / 4 GB/s, exactly.
    points = [
        {"elements": count, "median_s": 2e-6 + count * 5 / 4e9} for count in (1024, 65536, 2**20)
    ]
    start, rate, error = calibrate.fit(points, 5)
    assert start == pytest.approx(2e-6)
    assert rate == pytest.approx(4e9)
    assert error < 1e-12
    # A curve that bends up would have a negative start.
    points = [{"elements": count, "median_s": count**1.2 * 1e-9} for count in (1024, 65536, 2**20)]
    assert calibrate.fit(points, 5)[0] == 0.0


def test_shipped_estimates_are_those_of_the_generator(tmp_path):
    calibrate.write_estimates(tmp_path)
    for made in tmp_path.iterdir():
        assert made.read_text() == (ROOT / "profiles" / made.name).read_text()


def _estimates(micros):
    path = ROOT / "profiles" / f"h100-sxm-estimate-{micros}us.profile.json"
    return json.loads(path.read_text())["kernels"]


def test_estimates_are_the_larger_of_bytes_and_instructions_and_launches():
    slow, fast = _estimates(5), _estimates(1)
    # One launch, bound by memory: 3.35 TB/s.
    assert slow["int8-encode"]["fixedSeconds"] == 5e-6
    assert slow["int8-encode"]["bytesPerSecond"] == 3.35e12
    # A warp of SelectBlockTopKKernel issues so many instructions for its 1024 elements, and an H100 67e12 / 2 / 32 a
    # second: a little longer than the memory takes. PackOffsetsKernel comes after it.
    slots = json.loads((estimates.COUNTS / "issue-slots.json").read_text())["kernels"]
    each = slots["SelectBlockTopKKernel 1024"]["once"] / 1024 / (67e12 / 64)
    assert 4.0513 / 3.35e12 < each < 1.2 * 4.0513 / 3.35e12
    assert slow["bbtopk-encode"]["bytesPerSecond"] == pytest.approx(4.0513 / each, rel=0.01)
    # The ends differ by 4 us for each launch, counted by the emulator: 5 of top-k, one more to round its values, 7 of
    # DGC, whose last one rounds where it moves them anyway.
    counts = {
        "int8-encode": 1,
        "top-k-encode": 5,
        "top-k-fp16-encode": 6,
        "dgc-encode": 7,
        "dgc-fp16-encode": 7,
    }
    for kernel, launches in counts.items():
        apart = slow[kernel]["fixedSeconds"] - fast[kernel]["fixedSeconds"]
        assert apart == pytest.approx(4e-6 * launches, rel=1e-4)


def test_long_tensors_take_no_less_than_all_that_is_moved():
    traffic = json.loads((estimates.COUNTS / "traffic.json").read_text())
    for kernel, shape in _estimates(5).items():
        (few, first), (many, second) = traffic[kernel].items()
        moved = [
            sum(launch["read"] + launch["written"] for launch in each) for each in (first, second)
        ]
        more = (moved[1] - moved[0]) / (int(many) - int(few))
        assert shape["bytesPerElement"] / shape["bytesPerSecond"] >= more / 3.35e12 * 0.9999, kernel


def test_emulated_kernels_move_what_they_must_at_least():
    traffic = json.loads((estimates.COUNTS / "traffic.json").read_text())
    assert traffic.keys() == calibrate.BYTES_PER_ELEMENT.keys()
    for kernel, lengths in traffic.items():
        for elements, launches in lengths.items():
            moved = sum(launch["read"] + launch["written"] for launch in launches) / int(elements)
            least = calibrate.BYTES_PER_ELEMENT[kernel]
            assert moved >= least * 0.999, kernel
            if kernel == "powersgd-decode":
                # Factors of 4 columns, of matrices of 1142 x 1148 and 1619 x 1620.
                assert elements in ("1310720", "2621440")
                sides = 1142 + 1148 if elements == "1310720" else 1619 + 1620
                least += 4 * 4 * sides / int(elements)
            if len(launches) == 1:
                assert moved == pytest.approx(least, rel=1e-4), kernel


def _documented_estimates():
    """Kernel: launches, least bytes, moved bytes and instructions an element, as doc/compression.rst has them."""
    text = (ROOT / "doc" / "compression.rst").read_text()
    table = re.split(r"^=[= ]+$", text[text.index("kernel of a codec ") :], flags=re.MULTILINE)[1]
    rows = {}
    for line in table.strip().splitlines():
        name, *numbers = re.split(r"  +", line)
        codec, directions = name.split(" ", 1)
        for direction in re.findall("encode(?:-[pq])?|decode|add", directions):
            rows[f"{codec}-{direction}"] = numbers
    return rows


def test_the_table_of_estimates_is_that_of_the_counts():
    traffic = json.loads((estimates.COUNTS / "traffic.json").read_text())
    slots = json.loads((estimates.COUNTS / "issue-slots.json").read_text())["kernels"]
    rows = _documented_estimates()
    assert rows.keys() == traffic.keys()
    for kernel, (launches, least, moved, instructions) in rows.items():
        elements, counted = list(traffic[kernel].items())[-1]
        each = sum(launch["read"] + launch["written"] for launch in counted) / int(elements)
        issued = 32 * sum(estimates.issue_slots(launch, slots) for launch in counted)
        assert launches == str(len(counted)), kernel
        assert least == f"{calibrate.BYTES_PER_ELEMENT[kernel]:g}", kernel
        assert moved == f"{each:.4g}", kernel
        assert instructions == f"{issued / int(elements):.0f}", kernel


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.name)
def test_shipped_profiles_say_where_they_come_from(path):
    profile = json.loads(path.read_text())
    assert profile["device"]
    assert profile["provenance"]["command"].startswith("./ns3 calibrate")
    measured = profile["origin"] == "measurement"
    for kernel in profile["kernels"].values():
        assert measured == bool(kernel.get("points"))
        assert kernel["bytesPerSecond"] > 0
    if measured:
        assert profile["provenance"]["samples"] >= 30
        assert {"compiler", "commit", "date"} <= profile["provenance"].keys()


def _points(*rows):
    return [{"elements": elements, "median_s": seconds} for elements, seconds in rows]


def _scenario(folder, points, gradient="4MB"):
    kernel = {
        "bytesPerElement": 5,
        "fixedSeconds": 1e-6,
        "bytesPerSecond": 1e9,
        "points": points,
    }
    profile = {
        "format": 1,
        "origin": "measurement",
        "device": "a test",
        "kernels": {"int8-encode": kernel, "int8-decode": kernel},
    }
    (folder / "a.profile.json").write_text(json.dumps(profile))
    scenario = {
        "topology": {
            "kind": "star",
            "hosts": 2,
            "hostLink": {"rate": "8Gbps", "delay": "0s"},
        },
        "transport": "fluid",
        "job": {"gradient": gradient, "codec": "int8", "profile": "a.profile.json"},
        "scheme": "ring",
    }
    (folder / "s.json").write_text(json.dumps(scenario))


def test_times_of_a_profile_reach_the_results(program, tmp_path):
    _scenario(tmp_path, _points((100_000, 1e-3), (900_000, 3e-3)))
    assert program("run", "s.json", "--out=out").returncode == 0
    with open(tmp_path / "out" / "iterations.csv", newline="", encoding="utf-8") as file:
        row = next(csv.DictReader(file))
    # Two ranks, two chunks of 500,000 elements, 2 ms each by interpolation: each rank encodes its
    # own part and the sum, and decodes one part to add and one result.
    assert float(row["compress_s"]) == pytest.approx(4e-3)
    assert float(row["decompress_s"]) == pytest.approx(4e-3)
    # A message is 500,000 B and 62 scales of 4 B, at 1 GB/s.
    assert float(row["network_s"]) == pytest.approx(2 * 500_248e-9)
    # Nothing overlaps: encode, send, decode, encode, send, decode.
    assert float(row["ict_s"]) == pytest.approx(8e-3 + 2 * 500_248e-9)
    assert float(row["overlap_s"]) == pytest.approx(0.0, abs=1e-12)


def test_a_size_far_beyond_the_profile_is_refused(program, tmp_path):
    _scenario(tmp_path, _points((1000, 1e-3), (100_000, 3e-3)))
    done = program("run", "s.json", "--out=out")
    assert done.returncode == 2
    assert "has times of int8-encode for at most 100000 elements" in done.stderr
    assert "500000 are more than 4 times that" in done.stderr
    assert not (tmp_path / "out").exists()


def _measured_run(program, folder, gradient):
    """A ring of two hosts with the measured profile that is shipped."""
    profile = ROOT / "profiles" / "amd-epyc-2-threads.profile.json"
    scenario = {
        "topology": {
            "kind": "star",
            "hosts": 2,
            "hostLink": {"rate": "8Gbps", "delay": "0s"},
        },
        "transport": "fluid",
        "job": {"gradient": gradient, "codec": "int8", "profile": str(profile)},
        "scheme": "ring",
    }
    (folder / "s.json").write_text(json.dumps(scenario))
    return program("run", "s.json", f"--out=out-{gradient}"), json.loads(profile.read_text())


def test_the_measured_profile_is_interpolated_extrapolated_and_refused(program, tmp_path):
    done, profile = _measured_run(program, tmp_path, "4MB")
    assert done.returncode == 0
    assert "estimate" not in done.stderr
    kernel = profile["kernels"]["int8-encode"]
    # Two encodes of half of 10^6 elements, which lie between 2^18 and 2^20.
    at = {point["elements"]: point["median_s"] for point in kernel["points"]}
    share = (500_000 - 2**18) / (2**20 - 2**18)
    expected = 2 * (at[2**18] + share * (at[2**20] - at[2**18]))
    with open(tmp_path / "out-4MB" / "iterations.csv", newline="", encoding="utf-8") as file:
        assert float(next(csv.DictReader(file))["compress_s"]) == pytest.approx(expected)
    # The largest point has 2^24 elements. Halves of 50 million: the fit. Of 68 million: too much.
    done, _ = _measured_run(program, tmp_path, "400MB")
    assert done.returncode == 0
    rate = kernel["bytesPerSecond"]
    expected = 2 * (kernel["fixedSeconds"] + 5e7 * kernel["bytesPerElement"] / rate)
    with open(tmp_path / "out-400MB" / "iterations.csv", newline="", encoding="utf-8") as file:
        assert float(next(csv.DictReader(file))["compress_s"]) == pytest.approx(expected)
    done, _ = _measured_run(program, tmp_path, "544MB")
    assert done.returncode == 2
    assert "for at most 16777216 elements; 68000000 are more than 4 times that" in done.stderr


def test_estimates_are_warned_of(program, tmp_path):
    _scenario(tmp_path, [])
    profile = json.loads((tmp_path / "a.profile.json").read_text())
    profile["origin"] = "roofline-estimate"
    (tmp_path / "a.profile.json").write_text(json.dumps(profile))
    done = program("run", "s.json", "--out=out")
    assert done.returncode == 0
    assert "warning: the times of a.profile.json are estimated" in done.stderr
    done = program("describe", "s.json")
    assert "times of codecs: estimated, not measured: a test (a.profile.json)" in done.stdout


def test_description_says_what_was_measured_and_no_bound_that_is_above_the_fluid(program, tmp_path):
    _scenario(tmp_path, [])
    done = program("describe", "s.json")
    assert "times of codecs: measured: a test (a.profile.json)" in done.stdout
    scenario = json.loads((tmp_path / "s.json").read_text())
    del scenario["job"]["profile"]
    (tmp_path / "s.json").write_text(json.dumps(scenario))
    for codec in ("fp32", "fp16", "int8", "top-k", "dgc", "bbtopk"):
        for scheme in ("ring", "ps", "all-gather", "ok-topk"):
            given = [f"--set=scheme.kind={scheme}", f"--set=job.codec={codec}"]
            done = program("describe", "s.json", *given)
            assert done.returncode == 0, done.stderr
            assert "times of codecs" not in done.stdout
            bounds = [float(at) for at in re.findall(r"bound[^:\n]*: ([0-9.]+) ms", done.stdout)]
            fluid = float(re.search(r"fluid ICT of job0: ([0-9.]+) ms", done.stdout)[1])
            assert bounds and max(bounds) <= fluid + 1e-6, (codec, scheme)


def _plan(program, folder, job, scheme, workers=4):
    scenario = {
        "topology": {
            "kind": "star",
            "hosts": 2,
            "hostLink": {"rate": "8Gbps", "delay": "0s"},
            "server": {"accelerators": workers // 2},
        },
        "transport": "roce",
        "job": {"gradient": "4MB", "iterations": 1, "workers": workers, **job},
        "scheme": scheme,
    }
    (folder / "s.json").write_text(json.dumps(scenario))
    return program("plan", "s.json", "--json", "--verify")


def test_a_codec_between_servers_leaves_what_is_inside_dense(program, tmp_path):
    # Two servers of two: half a gradient inside; 0.1 % of 500,000 elements, 8 bytes each, between.
    done = _plan(program, tmp_path, {"codec": {"kind": "dgc", "between": "server"}}, "bbtopk")
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert plan["violations"] == []
    sizes = {
        (op["from"] // 2 == op["to"] // 2, op["bytes"])
        for op in plan["operations"]
        if op["from"] != op["to"]
    }
    assert sizes == {(True, 2_000_000), (False, 4000)}
    # With values in 16 bits 6 bytes each.
    done = _plan(
        program,
        tmp_path,
        {"codec": {"kind": "dgc", "valueBits": 16, "between": "server"}},
        "bbtopk",
    )
    sizes = {op["bytes"] for op in json.loads(done.stdout)["operations"] if op["from"] != op["to"]}
    assert sizes == {2_000_000, 3000}
    done = _plan(program, tmp_path, {"codec": {"kind": "dgc", "valueBits": 24}}, "ring")
    assert done.returncode == 2
    assert "codec.valueBits: found 24, expected a power of two" in done.stderr
    done = _plan(program, tmp_path, {"codec": {"kind": "top-k", "valueBits": 8}}, "ring")
    assert done.returncode == 2
    assert "codec.valueBits: found 8" in done.stderr
    done = _plan(program, tmp_path, {"codec": {"kind": "dgc", "between": "pod"}}, "bbtopk")
    assert done.returncode == 2
    assert 'codec.between: found "pod", but here it can be: all, servers, server' in done.stderr


def test_switches_add_integers_only(program, tmp_path):
    done = _plan(program, tmp_path, {"codec": "dgc"}, "switchml")
    assert done.returncode == 2
    assert "the codec must be fixed-point, int8, thc, or fp32" in done.stderr
    for scheme in ("switchml", "passing"):
        done = _plan(program, tmp_path, {"codec": "int8"}, scheme)
        assert json.loads(done.stdout)["sharesExponents"] is True
    for scheme in ("atp", "netreduce"):
        # One of the four endpoints is the server of atp.
        done = _plan(program, tmp_path, {"codec": "fixed-point", "workers": 3}, scheme)
        assert json.loads(done.stdout)["sharesExponents"] is False
        done = _plan(program, tmp_path, {"codec": "int8", "workers": 3}, scheme)
        assert done.returncode == 2
        assert "int8 needs a scale that all workers share" in done.stderr
    # 127 / 128 rounds to 0: nothing is left of a gradient.
    done = _plan(program, tmp_path, {"codec": "int8"}, "switchml", workers=128)
    assert done.returncode == 2
    assert "a sum of 128 workers in 8 bits leaves each nothing but 0" in done.stderr


def test_switches_add_the_table_values_of_thc(program, tmp_path):
    # 10^6 elements are 244 blocks of 4096 and 576 more, padded to 1024; the half that each of a server's two workers
    # sums up in passing 122 and 288, padded to 512. A byte of each, both ways.
    for scheme, coordinates in (
        ("switchml", 244 * 4096 + 1024),
        ("passing", 122 * 4096 + 512),
    ):
        plan = json.loads(_plan(program, tmp_path, {"codec": "thc"}, scheme).stdout)
        assert plan["sharesExponents"] is True
        aggregated = {op["bytes"] for op in plan["operations"] if op["kind"] == "aggregate"}
        assert aggregated == {coordinates}
    # 10 * 30 = 300 does not fit in 8 bits, 10 * 25 = 250 does.
    done = _plan(program, tmp_path, {"codec": "thc"}, "switchml", workers=10)
    assert done.returncode == 2
    assert "a sum of 10 workers' thc does not fit in 8 bits with the granularity 30" in done.stderr
    coarser = {"codec": {"kind": "thc", "granularity": 25}}
    assert _plan(program, tmp_path, coarser, "switchml", workers=10).returncode == 0
    done = _plan(program, tmp_path, {"codec": "thc", "workers": 3}, "atp")
    assert done.returncode == 2
    assert "thc needs a scale that all workers share" in done.stderr


def test_indices_and_values_are_not_compressed_again(program, tmp_path):
    done = _plan(program, tmp_path, {"codec": "top-k"}, "sparse-all-gather")
    assert done.returncode == 2
    assert "no other codec goes with it" in done.stderr
    assert _plan(program, tmp_path, {"codec": "fp32"}, "sparse-all-gather").returncode == 0
    assert _plan(program, tmp_path, {"codec": "top-k"}, "all-gather").returncode == 0


def test_tensors_are_all_of_their_models():
    # Trainable parameters as torchvision and the papers count them: ResNet-50, VGG-19, BERT-large
    # (embeddings, layers and pooler) and the small GPT-2.
    models = json.loads((ROOT / "kernels" / "bench" / "tensors.json").read_text())
    found = {
        name: sum(tensor["elements"] * tensor.get("count", 1) for tensor in model["tensors"])
        for name, model in models.items()
    }
    assert found == {
        "resnet-50": 25_557_032,
        "vgg-19": 143_667_240,
        "bert-large": 335_141_888,
        "gpt-2": 124_439_808,
    }


def test_a_gpu_alone_is_refused_where_there_is_none_and_nothing_is_built(tmp_path, monkeypatch):
    monkeypatch.setattr(calibrate, "why_no_gpu", lambda: "no GPU here")
    monkeypatch.setattr(verbs, "build", lambda *_: pytest.fail("built"))
    chosen = {"out": str(tmp_path), "estimates": False, "goals": None, "gpu": True}
    with pytest.raises(LauncherError, match="no GPU here") as refused:
        verbs.calibrate(Namespace(**chosen))
    assert refused.value.code == BAD_INPUT
    assert not list(tmp_path.iterdir())


def _fake_torch(folder, text):
    """A PyTorch that is only as good as the text."""
    (folder / "torch").mkdir()
    (folder / "torch" / "__init__.py").write_text(text)
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return str(python)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("raise ImportError('broken')", "has no PyTorch: broken"),
        (
            "__version__ = '9'\nclass cuda:\n  is_available = staticmethod(lambda: False)",
            "PyTorch 9 finds no GPU",
        ),
    ],
    ids=["without PyTorch", "without a GPU"],
)
def test_without_pytorch_its_operators_are_left_out(tmp_path, capsys, text, reason):
    measured = {"provenance": {}, "kernels": {}}
    calibrate.add_torch(measured, _fake_torch(tmp_path, text), ["--largest=10", "--samples=1"])
    assert measured == {"provenance": {}, "kernels": {}}
    said = capsys.readouterr().err
    assert "PyTorch's operators were not measured: torch-baseline: " in said
    assert reason in said


def test_every_codec_that_takes_time_has_the_bytes_that_it_moves(program):
    codecs = json.loads(program("list", "--json").stdout)["codecs"]["kinds"]
    # fp32 is the gradient as it is; BiSparse has the kernels of DGC; int8 has others where switches add up.
    expected = {kind["name"] for kind in codecs} - {"fp32", "bisparse"} | {"int8-switch"}
    # Values in 16 bits are kernels of their own.
    expected |= {
        f"{kind['name']}-fp16"
        for kind in codecs
        if any(parameter["name"] == "valueBits" for parameter in kind["parameters"])
    }
    parts = re.compile("-(encode(-[pq])?|decode|add)$")
    assert {parts.sub("", name) for name in calibrate.BYTES_PER_ELEMENT} == expected
