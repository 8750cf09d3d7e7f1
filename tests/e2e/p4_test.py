# SPDX-License-Identifier: GPL-2.0-only
"""The P4 programs: what is committed fits together, and the real switch answers as the vectors say."""

import csv
import hashlib
import json
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from conftest import ROOT

VECTORS = ROOT / "p4-behavioral" / "vectors"
COMPILED = ROOT / "p4-behavioral" / "compiled"
sys.path.insert(0, str(VECTORS))

import bmv2  # noqa: E402
import check  # noqa: E402
import edges  # noqa: E402
import generate  # noqa: E402
import programs  # noqa: E402


def require_tools():
    missing = bmv2.missing_tools()
    if missing:
        text = f"NOT RUN on the real BMv2: {', '.join(missing)} not on the PATH"
        warnings.warn(text, stacklevel=2)
        pytest.skip(text)


def test_compiled_programs_are_those_of_the_sources():
    noted = json.loads((COMPILED / "compiled.json").read_text())["programs"]
    assert sorted(noted) == sorted(program.name for program in programs.PROGRAMS)
    for program in programs.PROGRAMS:
        told = noted[program.name]
        assert told["sources"] == program.source_hashes(), "compile again: vectors/programs.py"
        assert told["settings"] == list(program.settings)
        compiled = (COMPILED / f"{program.name}.json").read_bytes()
        assert told["json"] == hashlib.sha256(compiled).hexdigest()


def test_committed_vectors_are_those_of_the_generator(tmp_path):
    for vector in generate.all_vectors(generate.SEED, generate.ROUNDS):
        vector.write(tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.glob("*.stf")}
    kept = {path.name: path.read_bytes() for path in VECTORS.glob("*.stf")}
    # Recorded from the real switch.
    del kept["features.stf"]
    assert made == kept


def test_hand_written_vectors_agree_with_the_reference():
    assert [wrong for vector in edges.vectors() for wrong in check.mismatches(vector)] == []


def test_a_wrong_expectation_is_noticed():
    vector = edges.duplicates()
    # The third packet is dropped; the last one is answered.
    assert vector.steps[-1].startswith("expect 1 ")
    del vector.steps[-1]
    assert len(check.mismatches(vector)) == 1


def test_real_compiler_makes_the_committed_programs(tmp_path):
    require_tools()
    for program in programs.PROGRAMS:
        output = tmp_path / f"{program.name}.json"
        program.compile(output)
        assert output.read_bytes() == (COMPILED / output.name).read_bytes()


def test_real_switch_answers_as_the_vectors_say():
    require_tools()
    done = subprocess.run(
        [sys.executable, VECTORS / "play.py", "--jobs", "8"],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    count = len(list(Path(VECTORS).glob("*.stf")))
    assert f"{count} passed, 0 failed" in done.stdout


def test_p4_engine_has_the_results_of_the_native_switch(program, tmp_path):
    scenario = ROOT / "scenarios" / "p4-engine.json"
    done = program("run", scenario, "--out", tmp_path / "out", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "out" / "runs.csv", newline="", encoding="utf-8") as file:
        runs = list(csv.DictReader(file))
    cost = {"run", "transport.aggregation.engine", "wall_s", "peak_rss_bytes"}
    results = [{key: row[key] for key in row if key not in cost} for row in runs]
    assert len(results) == 6
    assert results[:3] == results[3:]
    assert [row["wrong_sums"] for row in results] == ["0"] * 6


# Two workers of job 0 at ports 0 and 1 of node 0, with the addresses that doc/p4.rst tells.
OWN_CONFIGURATION = """
table_add SlotIngress.worker SlotIngress.contribution 0 0 0 => 1 3 0 128 1 02:00:00:00:00:00 10.128.0.0
table_add SlotIngress.worker SlotIngress.contribution 0 1 1 => 2 3 0 128 1 02:00:00:00:00:00 10.128.0.0
table_add SlotEgress.receiver SlotEgress.addressResult 0 0 => 02:00:00:00:00:01 10.0.0.1
table_add SlotEgress.receiver SlotEgress.addressResult 0 1 => 02:00:00:00:00:02 10.0.0.2
mc_mgrp_create 1
mc_node_create 0 0
mc_node_associate 1 0
mc_node_create 1 1
mc_node_associate 1 1
"""


def write_own_program(folder, configuration=OWN_CONFIGURATION):
    """A scenario with a program of the user's, in folders beside each other."""
    (folder / "programs").mkdir(exist_ok=True)
    (folder / "studies").mkdir(exist_ok=True)
    shutil.copy(COMPILED / "slot-aggregation.json", folder / "programs" / "own.json")
    (folder / "programs" / "own.cli").write_text(configuration)
    own = {
        "switches": ["leaf0"],
        "program": "../programs/own.json",
        "configuration": "../programs/own.cli",
    }
    scenario = {
        "topology": {"kind": "star", "hosts": 2, "hostLink": {"rate": "10Gbps", "delay": "1us"}},
        "transport": {"aggregation": {"values": "real", "programs": [own]}},
        "job": {"gradient": "100kB"},
        "scheme": "switchml",
    }
    file = folder / "studies" / "own.json"
    file.write_text(json.dumps(scenario))
    return file


def test_a_program_of_the_user_aggregates(program, tmp_path):
    file = write_own_program(tmp_path)
    times = []
    for name, change in (("own", []), ("native", ["--set", "transport.aggregation.programs=[]"])):
        done = program("run", file, "--out", tmp_path / name, *change)
        assert done.returncode == 0, done.stderr
        with open(tmp_path / name / "runs.csv", newline="", encoding="utf-8") as rows:
            (run,) = csv.DictReader(rows)
        assert (run["status"], run["wrong_sums"]) == ("ok", "0")
        times.append(run["ict_mean_s"])
    assert times[0] == times[1]
    manifest = json.loads((tmp_path / "own" / "manifest.json").read_text())
    (noted,) = manifest["scenario"]["transport"]["aggregation"]["programs"]
    assert len(noted["digest"]) == 16
    # Another program is another run, also where the names are the same.
    write_own_program(tmp_path, OWN_CONFIGURATION + "# changed\n")
    done = program("run", file, "--out", tmp_path / "own")
    changed = json.loads((tmp_path / "own" / "manifest.json").read_text())
    assert changed["runs"][0]["hash"] != manifest["runs"][0]["hash"]


@pytest.mark.parametrize(
    ("configuration", "problem"),
    [
        ("table_add nothing", "transport.aggregation.programs.0: "),
        ("\ntable_add nothing a 1 => 2", 'own.cli:2: there is no table "nothing"'),
    ],
)
def test_a_wrong_configuration_names_file_and_line(program, tmp_path, configuration, problem):
    done = program("validate", write_own_program(tmp_path, configuration))
    assert done.returncode == 2
    assert problem in done.stderr


def test_a_missing_program_is_named(program, tmp_path):
    file = write_own_program(tmp_path)
    (tmp_path / "programs" / "own.json").unlink()
    done = program("validate", file)
    assert done.returncode == 2
    assert "transport.aggregation.programs.0.program: " in done.stderr
    assert "programs/own.json cannot be read: No such file or directory" in done.stderr
