# SPDX-License-Identifier: GPL-2.0-only
"""Plans as tables, pictures and files, there and back."""

import json
from xml.etree import ElementTree

from conftest import ROOT, SMOKE, rows_of

PROFILE = ROOT / "profiles" / "h100-sxm-estimate-5us.profile.json"


def test_plan_names_the_buffers_of_a_swap(program):
    result = program("plan", SMOKE, "--set=scheme.kind=butterfly", "--json", "--verify")
    assert result.returncode == 0, result.stderr
    plan = json.loads(result.stdout)
    assert plan["collective"] == "all-reduce"
    assert plan["violations"] == []
    # 4 workers swap into the staging buffer of the step, then each adds it at home.
    moves = [
        (op["from"] == op["to"], op["fromBuffer"], op["toBuffer"]) for op in plan["operations"]
    ]
    assert set(moves) == {(False, 0, 1), (False, 0, 2), (True, 1, 0), (True, 2, 0)}


def test_exported_plan_comes_back_as_it_was(program, tmp_path):
    where = ["plan", SMOKE, "--set=scheme.kind=butterfly", "--set=topology.hostsPerLeaf=4"]
    result = program(*where, "--json", "--export=x.goal")
    assert result.returncode == 0, result.stderr
    scenario = json.loads(SMOKE.read_text())
    scenario |= {"scheme": {"kind": "import", "file": "x.goal"}, "sweep": {}}
    (tmp_path / "import.json").write_text(json.dumps(scenario))
    imported = program("plan", "import.json", "--json", "--verify")
    assert imported.returncode == 0, imported.stderr
    plan = json.loads(imported.stdout)
    assert plan.pop("violations") == []
    assert plan == json.loads(result.stdout)


def _ict(program, scenario, folder):
    (folder.parent / "one.json").write_text(json.dumps(scenario))
    result = program("run", "one.json", f"--out={folder}")
    assert result.returncode == 0, result.stderr
    return rows_of(folder / "iterations.csv")[0]["ict_s"]


def test_plan_that_was_exported_as_chakra_traces_takes_as_long(program, tmp_path):
    scenario = json.loads(SMOKE.read_text())
    scenario |= {"transport": "fluid", "scheme": "halving-doubling", "sweep": {}}
    (tmp_path / "plan.json").write_text(json.dumps(scenario))
    result = program("plan", "plan.json", "--export=x.{rank}.et")
    assert result.returncode == 0, result.stderr
    ranks = len(list(tmp_path.glob("x.*.et")))
    assert f"{ranks} workers" in result.stdout
    planned = _ict(program, scenario, tmp_path / "planned")
    scenario["job"] = {"trace": {"file": "x.{rank}.et", "ranks": ranks}}
    del scenario["scheme"]
    assert _ict(program, scenario, tmp_path / "traced") == planned


def test_training_that_was_exported_as_chakra_traces_takes_as_long(program, tmp_path):
    scenario = json.loads(SMOKE.read_text())
    block = {"count": 4, "forward": "40us", "backward": "80us", "gradient": "2MB"}
    training = {
        "blocks": [block | {"tensorForward": "100kB"}],
        "activation": "1MB",
        "tensor": 2,
        "pipeline": 2,
        "microbatches": 3,
        "data": 2,
    }
    scenario |= {"transport": "fluid", "scheme": "ring", "sweep": {}, "job": {"training": training}}
    (tmp_path / "train.json").write_text(json.dumps(scenario))
    result = program("plan", "train.json", "--export=x.{rank}.et")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("8 traces of ")
    # Of 2 x 2 x 2 ranks four pairs share tensors, and four gradients.
    groups = json.loads((tmp_path / "x.groups.json").read_text())
    assert sorted(groups.values()) == sorted(
        [[0, 1], [2, 3], [4, 5], [6, 7], [0, 2], [1, 3], [4, 6], [5, 7]]
    )
    trained = _ict(program, scenario, tmp_path / "trained")
    trace = {"file": "x.{rank}.et", "ranks": 8, "groups": "x.groups.json"}
    assert _ict(program, scenario | {"job": {"trace": trace}}, tmp_path / "traced") == trained
    for more, told in (
        (["--set=job.codec=fp16", f"--set=job.profile={PROFILE}"], "is compressed, which Chakra"),
        (["--verify"], '"job0" trains: it has no plan of its own'),
        (["--set=job.training.blocks.0.forward=1ns"], "takes 1000 ps: Chakra has whole micro"),
    ):  # fmt: skip
        told_by = program("plan", "train.json", "--export=y.{rank}.et", *more)
        assert told_by.returncode == 2
        assert told in told_by.stderr
    assert not list(tmp_path.glob("y.*"))


def test_plans_that_chakra_cannot_say_are_refused(program, tmp_path):
    for more, told in (
        (["--export=x.et"], 'found "x.et", expected {rank} in it, as ring.{rank}.et'),
        (
            ["--export=x.{rank}.et", "--set=scheme.kind=switchml"],
            "can say that the network adds up",
        ),
        (["--export=x.{rank}.et", "--set=job.protocol=ll"], "what a protocol adds to messages"),
    ):
        result = program("plan", SMOKE, *more)
        assert result.returncode == 2
        assert told in result.stderr
        assert result.stderr.count("\n") == 1
    assert not list(tmp_path.glob("*.et"))


def test_imported_plan_that_is_wrong_is_refused_before_anything_is_written(program, tmp_path):
    goal = "num_ranks 8\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 9b from 0\n}\n"
    (tmp_path / "x.goal").write_text(goal)
    scenario = json.loads(SMOKE.read_text())
    scenario |= {"scheme": {"kind": "import", "file": "x.goal"}, "sweep": {}}
    (tmp_path / "import.json").write_text(json.dumps(scenario))
    result = program("run", "import.json", "--out=r")
    assert result.returncode == 2
    assert "x.goal:6: found a recv of 9 bytes, expected 8" in result.stderr
    assert not (tmp_path / "r").exists()


def test_launcher_prints_draws_and_exports_a_plan(ns3, tmp_path):
    result = ns3(
        *("plan", str(SMOKE), "--run", "1", "--verify", "--no-install"),
        *("--draw", "plan.svg", "--export", "plan.goal"),
    )
    assert result.returncode == 0, result.stderr
    assert "verified: an all-reduce" in result.stdout
    drawing = ElementTree.parse(tmp_path / "plan.svg").getroot()
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert (tmp_path / "plan.goal").read_text().startswith("num_ranks ")
