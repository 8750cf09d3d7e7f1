# SPDX-License-Identifier: GPL-2.0-only
"""Damaged results folders: every verb ends with one message and exit code 2, or it does what it should."""

import contextlib
import io
import json
import os
import shutil
import sys
import warnings

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "support"))

from results_damage import Damage, damaged_copy

from gradsync.__main__ import main

SCENARIO = {
    "title": "Damage",
    "topology": {
        "kind": "spine-leaf",
        "spines": 2,
        "leaves": 2,
        "hostsPerLeaf": 2,
        "hostLink": {"rate": "40Gbps", "delay": "1us"},
        "fabricLink": {"rate": "40Gbps", "delay": "1us"},
    },
    "transport": "roce",
    "job": {"gradient": "200kB", "iterations": 2},
    "scheme": "ring",
    "faults": [
        {"kind": "host-pause-send", "random": 1, "every": "50us", "duration": "10us"},
    ],
    "traffic": [
        {"kind": "incast", "fanIn": 2, "size": "10kB", "every": "1ms", "duration": "1ms"},
    ],
    "results": {"messages": True, "every": "10us"},
}
SWEPT = {
    **SCENARIO,
    "repeat": 2,
    "sweep": {"topology.hostsPerLeaf": [2, 3], "scheme.kind": ["ps", "ring"]},
}
PANELS = {**SWEPT, "plot": {"panels": ["ict_mean_s", "wire_bytes"], "labels": {"workers": "W"}}}
KINDS = ("messages", "links", "bytes", "timeline", "queues", "faults")
SEEDS = int(os.environ.get("GRADSYNC_DAMAGES", "40"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Results of a sweep, the same as panels, and of a single run."""
    import gradsync

    folder = tmp_path_factory.mktemp("whole")
    for name, scenario in (("swept", SWEPT), ("panels", PANELS), ("single", SCENARIO)):
        gradsync.Scenario(**scenario).run(folder / name)
    return folder


def call(*arguments):
    """Exit code and what was said; any exception but SystemExit passes through."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
    return code, said.getvalue(), printed.getvalue()


def commands(folder, whole):
    """Every verb on a results folder."""
    yield ("plot", folder)
    for kind in KINDS:
        yield ("plot", folder, f"--kind={kind}", "--run=0")
    yield ("report", folder)
    yield ("export", folder)
    yield ("compare", folder, whole)
    yield ("compare", whole, folder)


def check(arguments, what):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code, said, printed = call(*arguments)
    except BaseException as error:
        raise AssertionError(f"{what}: {arguments[0]} {arguments[2:]}") from error
    assert "Traceback" not in said, what
    text = said + printed
    assert all(char.isprintable() or char in "\n\t" for char in text), (what, text)
    if code == 2:
        assert said.startswith("gradsync: ") and said.count("\n") == 1, (what, said)
        assert len(said) < 1000, (what, said)
    else:
        assert code in ((0, 1) if arguments[0] == "compare" else (0,)), (what, said)
    return code


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_damaged_folder_is_told_in_one_line(whole, tmp_path, seed):
    name = ("swept", "panels", "single")[seed % 3]
    what = damaged_copy(whole / name, tmp_path / "damaged", seed)
    for arguments in commands(tmp_path / "damaged", whole / name):
        check(arguments, f"seed {seed}: {what}")


def test_the_damages_are_of_many_kinds(whole, tmp_path):
    """The test above would be content with damages that nothing notices."""
    refused, kinds = 0, set()
    for seed in range(40):
        what = damaged_copy(whole / "swept", tmp_path / str(seed), seed)
        kinds.add(what.split()[0])
        refused += check(("export", tmp_path / str(seed)), what) == 2
    assert len(kinds) >= 12
    # All but odd texts, and numbers that could be.
    assert refused >= 20


def test_a_whole_folder_is_not_refused(whole):
    for name in ("swept", "panels", "single"):
        for arguments in commands(whole / name, whole / name):
            assert check(arguments, name) == 0, arguments


@pytest.mark.parametrize(
    "file, before, after, message",
    [
        ("runs.csv", ",ok", ",ok,1", "runs.csv:2: 64 cells in 63 columns"),
        ("runs.csv", "\n1,", "\n0,", "runs.csv: row 1 is that of run 0"),
        ("messages.csv", "\n0,job0,0,", "\n9,job0,0,", "runs 0 to 9, where runs.csv has 8"),
        ("manifest.json", '"sweep":', '"sweeep":', None),
    ],
)
def test_what_is_wrong_is_named(whole, tmp_path, file, before, after, message):
    shutil.copytree(whole / "swept", tmp_path / "d")
    path = tmp_path / "d" / file
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    code, said, _ = call("plot", tmp_path / "d", "--kind=messages")
    if message is None:
        assert code in (0, 2)
    else:
        assert (code, message in said) == (2, True), said


def test_parts_of_the_manifest_are_named(whole, tmp_path):
    shutil.copytree(whole / "swept", tmp_path / "d")
    path = tmp_path / "d" / "manifest.json"
    document = json.loads(path.read_text())
    document["scenario"]["sweep"] = {"scheme.kind": "ring"}
    path.write_text(json.dumps(document))
    code, said, _ = call("report", tmp_path / "d")
    assert code == 2
    assert said.endswith('manifest.json: scenario.sweep.*: found "ring", expected a list\n')


def test_a_seed_gives_the_same_damage(whole, tmp_path):
    for seed in range(5):
        damaged_copy(whole / "swept", tmp_path / f"a{seed}", seed)
        damaged_copy(whole / "swept", tmp_path / f"b{seed}", seed)
        for path in (tmp_path / f"a{seed}").glob("*.csv"):
            other = tmp_path / f"b{seed}" / path.name
            assert path.is_dir() or path.read_bytes() == other.read_bytes()
    assert Damage(1).draw.random() != Damage(2).draw.random()


@pytest.mark.parametrize("seed", range(30))
def test_a_damaged_baseline_or_paper_is_told_in_one_line(whole, tmp_path, monkeypatch, seed):
    """./ns3 regress and reproduce, on folders that were simulated already."""
    monkeypatch.setattr("gradsync.studies.regress.call", lambda *_: ("", True))
    monkeypatch.setattr("gradsync.studies.reproduce.call", lambda *_, **__: ("", True))
    scenarios = tmp_path / "papers" / "swept"
    (scenarios / "baselines").mkdir(parents=True)
    (scenarios / "swept.json").write_text("{}")
    shutil.copy(whole / "swept" / "runs.csv", scenarios / "baselines" / "swept.csv")
    (scenarios / "baselines" / "made-with.txt").write_text("ns-3 3.37, Linux x86_64\n")
    (scenarios / "paper.toml").write_text(
        'title = "t"\nsource = "s"\nremark = "r"\nscenarios = ["swept.json"]\n'
        '[[row]]\nwhat = "w"\nof = {"scheme.kind" = "ring"}\nto = {"scheme.kind" = "ps"}\npaper = 1.2\n'
    )
    (tmp_path / "out").mkdir()
    damaged = [scenarios / "paper.toml", scenarios / "baselines" / "made-with.txt"]
    damaged += [scenarios / "baselines" / "swept.csv"]
    damage = Damage(seed)
    what = damaged_copy(whole / "swept", tmp_path / "out" / "swept", seed) if seed % 3 == 0 else ""
    if not what:
        kind = damage.draw.choice(
            [damage.cut, damage.empty, damage.garbage, damage.folder, damage.flip]
        )
        damage.file = lambda _: damage.draw.choice(damaged)
        kind(scenarios)
        what = kind.__name__
    regress = ("regress", f"--scenarios={scenarios}", f"--out={tmp_path / 'out'}")
    reproduce = (
        "reproduce",
        "swept",
        f"--papers={tmp_path / 'papers'}",
        f"--out={tmp_path / 'out'}",
    )
    for arguments in (regress, reproduce):
        code, said, _ = call(*arguments)
        assert code in (0, 1, 2), what
        assert said.count("\n") == 1 if code == 2 else "Traceback" not in said, (what, said)
