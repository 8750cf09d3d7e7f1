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


# The same as entries of P4Runtime: numbers are those of the p4info below.
P4INFO = """
tables {
  preamble { id: 1 name: "SlotIngress.worker" }
  match_fields { id: 1 name: "job" } match_fields { id: 2 name: "worker" } match_fields { id: 3 name: "port" }
}
tables {
  preamble { id: 2 name: "SlotEgress.receiver" }
  match_fields { id: 1 name: "job" } match_fields { id: 2 name: "worker" }
}
actions {
  preamble { id: 3 name: "SlotIngress.contribution" }
  params { id: 1 name: "workerBit" } params { id: 2 name: "allWorkers" } params { id: 3 name: "base" }
  params { id: 4 name: "slots" } params { id: 5 name: "group" } params { id: 6 name: "switchMac" }
  params { id: 7 name: "switchIp" }
}
actions {
  preamble { id: 4 name: "SlotEgress.addressResult" }
  params { id: 1 name: "mac" } params { id: 2 name: "ip" }
}
"""


def own_entries() -> str:
    def entry(table, keys, action, parameters):
        match = [rf'match {{ field_id: {i} exact {{ value: "\x{key:02x}" }} }}' for i, key in keys]
        params = [rf'params {{ param_id: {i} value: "{value}" }}' for i, value in parameters]
        what = f"action {{ action {{ action_id: {action} {' '.join(params)} }} }}"
        return f"entities {{ table_entry {{ table_id: {table} {' '.join(match)} {what} }} }}"

    text = []
    for worker in (0, 1):
        values = (
            rf"\x{1 << worker:02x}",
            r"\x03",
            r"\x00",
            r"\x80",
            r"\x01",
            r"\x02\0\0\0\0\0",
            r"\x0a\x80\0\0",
        )
        keys = list(enumerate((0, worker, worker), 1))
        text.append(entry(1, keys, 3, list(enumerate(values, 1))))
        values = (rf"\x02\0\0\0\0\x{worker + 1:02x}", rf"\x0a\0\0\x{worker + 1:02x}")
        text.append(entry(2, keys[:2], 4, list(enumerate(values, 1))))
    replicas = " ".join(f"replicas {{ egress_port: {i} instance: {i} }}" for i in (0, 1))
    group = f"multicast_group_entry {{ multicast_group_id: 1 {replicas} }}"
    return "\n".join([*text, f"entities {{ packet_replication_engine_entry {{ {group} }} }}"])


def test_entries_of_p4runtime_configure_as_commands_do(program, tmp_path):
    file = write_own_program(tmp_path)
    (tmp_path / "programs" / "own.txtpb").write_text(own_entries())
    (tmp_path / "programs" / "own.p4info.txtpb").write_text(P4INFO)
    scenario = json.loads(file.read_text())
    (own,) = scenario["transport"]["aggregation"]["programs"]
    own["configuration"] = "../programs/own.txtpb"
    entries = tmp_path / "studies" / "entries.json"
    entries.write_text(json.dumps(scenario))
    done = program("validate", entries)
    assert done.returncode == 2
    assert "entries of P4Runtime need p4info" in done.stderr
    own["p4info"] = "../programs/own.p4info.txtpb"
    entries.write_text(json.dumps(scenario))
    times = []
    for name in (file, entries):
        done = program("run", name, "--out", tmp_path / name.stem)
        assert done.returncode == 0, done.stderr
        with open(tmp_path / name.stem / "runs.csv", newline="", encoding="utf-8") as rows:
            (run,) = csv.DictReader(rows)
        assert (run["status"], run["wrong_sums"]) == ("ok", "0")
        times.append(run["ict_mean_s"])
    assert times[0] == times[1]


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


def test_play_tells_what_passed(program, tmp_path):
    compiled = COMPILED / "slot-aggregation.json"
    done = program("p4", "play", compiled, VECTORS / "levels.stf", VECTORS / "one-worker.stf")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].endswith("levels.stf: 38 packets in, 33 of 33 expectations passed, 0 failed")
    assert lines[1].endswith("one-worker.stf: 9 packets in, 9 of 9 expectations passed, 0 failed")
    # The same configuration as commands, a packet too short for its headers, and a wrong answer.
    (tmp_path / "own.cli").write_text(OWN_CONFIGURATION + "register_read epochs 0\n")
    (tmp_path / "own.stf").write_text(
        "packet 0 00\nexpect 1 00\ncheck_counter events(1) packets == 1\n"
    )
    options = ("--configuration", tmp_path / "own.cli")
    done = program("p4", "play", compiled, tmp_path / "own.stf", *options)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "epochs[0]= 0",
        f"{tmp_path}/own.stf:2: no packet left by port 1",
        f"{tmp_path}/own.stf: 1 packets in, 1 of 2 expectations passed, 1 failed",
    ]


def test_play_names_what_is_wrong_with_its_input(program, tmp_path):
    compiled = COMPILED / "slot-aggregation.json"
    vector = tmp_path / "own.stf"
    vector.write_text("\npakcet 0 00\n")
    done = program("p4", "play", compiled, vector)
    assert done.returncode == 2
    assert f'{vector}:2: the command "pakcet" is not supported' in done.stderr
    for words, problem in (
        (("play", compiled), "expected a vector"),
        (("play", tmp_path / "none.json", vector), "none.json: cannot be read"),
        (("play", vector, vector), "own.stf: this is not JSON"),
        (("ply", compiled), 'found "ply"; did you mean "play"? (allowed: play, describe)'),
        (("describe", compiled, vector), "found more than the program"),
    ):
        done = program("p4", *words)
        assert done.returncode == 2
        assert problem in done.stderr, done.stderr


def test_describe_tells_what_is_in_a_program(program, tmp_path):
    done = program("p4", "describe", COMPILED / "features.json")
    assert done.returncode == 0, done.stderr
    for line in (
        "  command: number 16, kind 8, count 8, result 16",
        "  labels: a stack of 4",
        "  parseLabels: extract labels, set, verify, then accept, parseLabels",
        "  FeatureIngress.byTernary: up to 1024 entries",
        "    key headers.operands.e ternary",
        "    action FeatureIngress.classify(result 16)",
        "    default FeatureIngress.classify(result 16) 0xffff",
        "  FeatureIngress.cells: 4 of 16 bits",
    ):
        assert line in done.stdout.splitlines(), done.stdout
    assert "runs here: " in done.stdout
    # What is refused is described too, and named.
    changed = json.loads((COMPILED / "features.json").read_text())
    changed["extern_instances"] = [{"name": "e", "id": 0, "type": "t"}]
    (tmp_path / "p.json").write_text(json.dumps(changed))
    done = program("p4", "describe", tmp_path / "p.json")
    assert done.returncode == 0
    assert "externs: e\n" in done.stdout
    assert "does not run here: " in done.stdout.splitlines()[-1]
    assert 'externs are not supported: "e"' in done.stdout.splitlines()[-1]
