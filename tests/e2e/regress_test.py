# SPDX-License-Identifier: GPL-2.0-only
"""The regression of completion-time curves: complete, exact, and able to fail."""

import csv
import json
import re
from xml.etree import ElementTree

import pytest
from conftest import ROOT

from gradsync.__main__ import main
from gradsync.studies.regress import Difference, Regression
from gradsync.studies.regress_report import draw_overlay, table

REGRESSION = ROOT / "scenarios" / "regression"
SMALL = {
    "topology": {"kind": "star", "hosts": 4, "hostLink": {"rate": "10Gbps"}},
    "job": {"gradient": "100kB"},
    "sweep": {"scheme.kind": ["ps", "ring"]},
    "scheme": "ring",
}


def resolved_scenarios(program):
    for path in sorted(REGRESSION.glob("*.json")):
        told = program("resolve", path)
        assert told.returncode == 0, told.stderr
        yield from (run["scenario"] for run in json.loads(told.stdout))


def listed(program, section):
    """The names in a section of --list, which are indented by two."""
    text = program("list").stdout.split(section, 1)[1].split("\n\n", 1)[0]
    return set(re.findall(r"^  ([\w:-]+) ", text, re.MULTILINE))


def test_every_scheme_transport_congestion_control_codec_and_fault_is_covered(program):
    runs = list(resolved_scenarios(program))
    schemes = {run["scheme"]["kind"] for run in runs if "scheme" in run}
    transports = [run["transport"] for run in runs]
    transports = [{"kind": t} if isinstance(t, str) else t for t in transports]
    faults = {fault["kind"] for run in runs for fault in run.get("faults", [])}
    known = json.loads(program("list", "--json").stdout)
    known_faults = {kind["name"] for kind in known["faults"]["kinds"]}
    registered = listed(program, "Schemes (scheme.kind)\n")
    assert {"ps", "ring", "rat"} <= registered and "link-down" in known_faults
    # auto is no scheme of its own: it takes one of the others.
    assert registered - schemes - {"auto"} == set()
    assert (
        listed(program, "Transports (transport.kind)\n") - {t["kind"] for t in transports} == set()
    )
    controls = {t.get("congestionControl") for t in transports}
    assert listed(program, "Congestion control of roce") - controls == set()
    assert known_faults - faults == set()
    codecs = {run["job"].get("codec", {}).get("kind") for run in runs if "job" in run}
    assert {kind["name"] for kind in known["codecs"]["kinds"]} - codecs == set()


def test_committed_baselines_are_of_all_scenarios():
    assert {path.stem for path in (REGRESSION / "baselines").glob("*.csv")} == {
        path.stem for path in REGRESSION.glob("*.json")
    }


@pytest.fixture
def small(program, tmp_path, monkeypatch, capsys):
    """A regression of one scenario with its baseline, and a function that runs it."""
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(program.path))
    folder = tmp_path / "scenarios"
    folder.mkdir()
    (folder / "small.json").write_text(json.dumps(SMALL))

    def regress(*options):
        code = main(["regress", f"--scenarios={folder}", f"--out={tmp_path / 'out'}", *options])
        return code, capsys.readouterr().out

    assert regress("--update")[0] == 0
    regress.baseline = folder / "baselines" / "small.csv"
    regress.made_with = folder / "baselines" / "made-with.txt"
    regress.scenario = folder / "small.json"
    regress.out = tmp_path / "out"
    return regress


def slow_down(baseline, scheme, factor):
    """The baseline as if the simulator of today were slower than yesterday's by a factor."""
    with open(baseline, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if row["scheme.kind"] == scheme:
            for column in ("ict_mean_s", "ict_min_s", "ict_max_s"):
                row[column] = f"{float(row[column]) / factor:.12f}"
    with open(baseline, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize("made_with", [None, "ns-3 3.99, Plan9 vax"])
def test_one_percent_slower_scheme_is_caught_and_named(small, made_with):
    if made_with:
        small.made_with.write_text(made_with)
    code, told = small()
    assert code == 0, told
    slow_down(small.baseline, "ring", 1.01)
    code, told = small()
    assert code == 1
    assert re.search(r"^small +scheme.kind=ring +ict_mean_s .* \+1.00%$", told, re.M)
    assert "scheme.kind=ps" not in told
    assert "1 differ" in told
    suite = ElementTree.parse(small.out / "junit.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert suite.find("testcase/failure").get("message").startswith("small: scheme.kind=ring:")
    code, told = small("--update")
    assert code == 0 and "+1.00%" in told
    assert small()[0] == 0


def test_tolerance_holds_only_for_another_platform(small):
    slow_down(small.baseline, "ring", 1.001)
    assert small()[0] == 1
    small.made_with.write_text("ns-3 3.99, Plan9 vax")
    assert small()[0] == 0


def test_runs_that_came_or_went_are_differences(small):
    scenario = json.loads(small.scenario.read_text())
    scenario["sweep"]["scheme.kind"] = ["ps", "rat"]
    small.scenario.write_text(json.dumps(scenario))
    code, told = small()
    assert code == 1
    assert re.search(r"scheme.kind=ring +run +there +missing", told)
    assert re.search(r"scheme.kind=rat +run +missing +there", told)


def test_overlay_marks_the_runs_that_differ(small, tmp_path):
    slow_down(small.baseline, "ring", 1.01)
    regression = Regression(small.scenario.parent, small.out)
    regression.run()
    draw_overlay(regression, tmp_path / "a.svg")
    draw_overlay(regression, tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert {found.point for found in regression.differences} == {"scheme.kind=ring"}


def test_table_puts_completion_times_first():
    found = [
        Difference("s", "p", "wire_bytes", "1", "2"),
        Difference("s", "p", "ict_mean_s", "1", "2"),
    ]
    lines = table(found).splitlines()
    assert "ict_mean_s" in lines[1] and "+100.00%" in lines[1]
    assert "wire_bytes" in lines[2]
