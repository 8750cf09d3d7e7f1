# SPDX-License-Identifier: GPL-2.0-only
"""Plans as tables, pictures and files, there and back."""

import json
from xml.etree import ElementTree

from conftest import SMOKE


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
