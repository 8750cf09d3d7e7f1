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
import stf  # noqa: E402


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
        p4info = (COMPILED / f"{program.name}.p4info.txt").read_bytes()
        assert told["p4info"] == hashlib.sha256(p4info).hexdigest()


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
        p4info = bmv2.p4info_of(output)
        assert p4info.read_bytes() == (COMPILED / p4info.name).read_bytes()


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
    count = sum(not stf.read(path).later for path in Path(VECTORS).glob("*.stf"))
    assert f"{count} passed, 0 failed" in done.stdout


def find_tofino_compiler():
    """Command and options of a compiler for Tofino on the PATH, or nothing."""
    if shutil.which("bf-p4c"):
        return ["bf-p4c", "--target", "tofino", "--arch", "tna"]
    if shutil.which("p4c"):
        help_text = subprocess.run(
            ["p4c", "--target-help"], capture_output=True, text=True, check=False
        ).stdout
        if "tofino" in help_text:
            return ["p4c", "--target", "tofino", "--arch", "tna"]
    return None


@pytest.mark.parametrize("settings", [[], ["-DSATURATE"], ["-DVALUES=16"], ["-DVALUES=32"]])
def test_the_program_for_tofino_compiles(tmp_path, settings):
    command = find_tofino_compiler()
    if command is None:
        text = "NOT COMPILED for Tofino: no bf-p4c, no p4c with the target tofino on the PATH"
        warnings.warn(text, stacklevel=2)
        pytest.skip(text)
    done = subprocess.run(
        [*command, *settings, "-o", tmp_path, "slot-aggregation-tna.p4"],
        cwd=programs.FOLDER,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("source", "setting"),
    [
        ("slot-aggregation.p4", "-DVALUES=0"),
        ("slot-aggregation.p4", "-DVALUES=65"),
        ("slot-aggregation.p4", "-DPOOL_SIZE=65537"),
        ("slot-aggregation-stages.p4", "-DVALUES=48"),
        ("atp.p4", "-DVALUES=65"),
    ],
)
def test_settings_that_cannot_be_compiled_are_an_error(tmp_path, source, setting):
    if shutil.which("cpp") is None:
        pytest.skip("no preprocessor")
    plain = tmp_path / source
    lines = (programs.FOLDER / source).read_text(encoding="ascii").splitlines(keepends=True)
    plain.write_text("".join(line for line in lines if "#include <" not in line))
    command = ["cpp", "-undef", "-nostdinc", "-x", "assembler-with-cpp", "-I", programs.FOLDER]
    good = subprocess.run([*command, plain], capture_output=True, text=True, check=False)
    assert good.returncode == 0, good.stderr
    bad = subprocess.run([*command, setting, plain], capture_output=True, text=True, check=False)
    assert bad.returncode != 0
    assert f'error "{setting[2:].split("=")[0]}: ' in bad.stderr


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


def write_router_scenario(folder, congestion):
    """Four workers of a ring at a switch that runs the router of p4-behavioral, for all packets."""
    routes = [
        f"table_add QueueIngress.route QueueIngress.forward 10.0.0.{host + 1}/32 => {host}"
        for host in range(4)
    ]
    (folder / "router.cli").write_text("\n".join([*routes, congestion]) + "\n")
    own = {
        "switches": ["leaf0"],
        "program": str(COMPILED / "queues.json"),
        "configuration": "router.cli",
        "packets": "all",
    }
    scenario = {
        "topology": {"kind": "star", "hosts": 4, "hostLink": {"rate": "10Gbps", "delay": "1us"}},
        "transport": {"aggregation": {"programs": [own]}},
        "job": {"gradient": "400kB"},
        "scheme": "ring",
    }
    file = folder / "router.json"
    file.write_text(json.dumps(scenario))
    return file


def run_once(program, file, out, *options):
    done = program("run", file, "--out", out, *options)
    assert done.returncode == 0, done.stderr
    with open(out / "runs.csv", newline="", encoding="utf-8") as rows:
        (run,) = csv.DictReader(rows)
    return run


def test_packets_of_roce_pass_a_program(program, tmp_path):
    file = write_router_scenario(tmp_path, "table_set_default QueueEgress.congestion NoAction")
    routed = run_once(program, file, tmp_path / "routed")
    plain = run_once(
        program, file, tmp_path / "plain", "--set", "transport.aggregation.programs=[]"
    )
    assert routed["ict_mean_s"] == plain["ict_mean_s"]
    # A program without routes drops all of them, and the transport gives up.
    (tmp_path / "router.cli").write_text("# no routes\n")
    lost = program("run", file, "--out", tmp_path / "lost")
    assert lost.returncode == 3
    assert "gave up after" in lost.stderr


def test_an_unknown_choice_of_packets_is_named(program, tmp_path):
    file = write_router_scenario(tmp_path, "# nothing")
    file.write_text(file.read_text().replace('"packets": "all"', '"packets": "roce"'))
    done = program("validate", file)
    assert done.returncode == 2
    assert "transport.aggregation.programs.0.packets" in done.stderr
    assert "roce" in done.stderr
