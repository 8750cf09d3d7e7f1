# SPDX-License-Identifier: GPL-2.0-only
"""Profiles: the fit, the shipped files, and what the simulator does with them."""

import csv
import json
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT))
from launcher import calibrate  # noqa: E402  the launcher is no installed package

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
    kernel = {"bytesPerElement": 5, "fixedSeconds": 1e-6, "bytesPerSecond": 1e9, "points": points}
    profile = {
        "format": 1,
        "origin": "measurement",
        "device": "a test",
        "kernels": {"int8-encode": kernel, "int8-decode": kernel},
    }
    (folder / "a.profile.json").write_text(json.dumps(profile))
    scenario = {
        "topology": {"kind": "star", "hosts": 2, "hostLink": {"rate": "8Gbps", "delay": "0s"}},
        "transport": "fluid",
        "job": {"gradient": gradient, "codec": "int8", "profile": "a.profile.json"},
        "scheme": "ring",
    }
    (folder / "s.json").write_text(json.dumps(scenario))


def test_times_of_a_profile_reach_the_results(program, tmp_path):
    _scenario(tmp_path, _points((100_000, 1e-3), (900_000, 3e-3)))
    assert program("--scenario=s.json", "--out=out").returncode == 0
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
    done = program("--scenario=s.json", "--out=out")
    assert done.returncode == 2
    assert "has times of int8-encode for at most 100000 elements" in done.stderr
    assert "500000 are more than 4 times that" in done.stderr
    assert not (tmp_path / "out").exists()


def _measured_run(program, folder, gradient):
    """A ring of two hosts with the measured profile that is shipped."""
    profile = ROOT / "profiles" / "amd-epyc-2-threads.profile.json"
    scenario = {
        "topology": {"kind": "star", "hosts": 2, "hostLink": {"rate": "8Gbps", "delay": "0s"}},
        "transport": "fluid",
        "job": {"gradient": gradient, "codec": "int8", "profile": str(profile)},
        "scheme": "ring",
    }
    (folder / "s.json").write_text(json.dumps(scenario))
    return program("--scenario=s.json", f"--out=out-{gradient}"), json.loads(profile.read_text())


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
    done = program("--scenario=s.json", "--out=out")
    assert done.returncode == 0
    assert "warning: the times of a.profile.json are estimated" in done.stderr


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
    return program("--plan=s.json", "--json", "--verify")


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
    done = _plan(program, tmp_path, {"codec": {"kind": "dgc", "between": "pod"}}, "bbtopk")
    assert done.returncode == 2
    assert 'codec.between: found "pod", but here it can be: all, servers, server' in done.stderr


def test_switches_add_integers_only(program, tmp_path):
    done = _plan(program, tmp_path, {"codec": "dgc"}, "switchml")
    assert done.returncode == 2
    assert "the codec must be fixed-point, int8, or fp32" in done.stderr
    assert _plan(program, tmp_path, {"codec": "int8"}, "switchml").returncode == 0
