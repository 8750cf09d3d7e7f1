# SPDX-License-Identifier: GPL-2.0-only
"""./ns3 fit: parameters that a table was simulated with are found again, and bad input is one message."""

import argparse
import csv
import json
import math
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT, SCENARIOS, rows_of

from gradsync.__main__ import main
from gradsync.errors import ScenarioError
from gradsync.studies.collective import Request, make_scenario
from gradsync.studies.fit import _find_errors
from gradsync.studies.fit_request import choose_fitted, read_fit_request
from gradsync.studies.measured import COLUMNS, bus_factor, read_table
from gradsync.studies.quantity import read_quantity

_HOSTS = 5
_KIB = 2**10
_SIZES = tuple(size * _HOSTS * _KIB for size in (1, 16, 256, 1024))
_RATE = 1e9  # bytes per second of a link, 8 Gb/s
_TABLES = sorted((SCENARIOS / "papers").glob("*/*.csv"))


def ring_time(size, delay_s, efficiency):
    """A ring of five hosts: 2 (w - 1) steps of a fifth of the bytes over two links."""
    return 2 * (_HOSTS - 1) * (size / _HOSTS / (efficiency * _RATE) + 2 * delay_s)


def write_table(path, rows, **changes):
    """`rows`: (size, algorithm, time in us, busbw), all of an all-reduce."""
    about = {"title": "Five hosts", "source": "simulated", "ranks": _HOSTS} | changes
    about["topology"] = about.get("topology", "star.json")
    lines = [f"{key} = {json.dumps(value)}" for key, value in about.items()]
    path.with_suffix(".toml").write_text("\n".join(lines))
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows((size, "all-reduce", *rest) for size, *rest in rows)


@pytest.fixture
def folder(program, tmp_path, monkeypatch):
    """With star.json, five hosts around a switch, links of 8 Gb/s and 1 us."""
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(program.path))
    star = {"kind": "star", "hosts": _HOSTS, "hostLink": {"rate": "8Gbps", "delay": "1us"}}
    (tmp_path / "star.json").write_text(json.dumps(star))
    return tmp_path


@pytest.fixture
def fit(folder, capsys):
    """Fits folder/table.csv; gives code, stdout, stderr."""

    def run(*options):
        code = main(["fit", str(folder / "table.csv"), f"--out={folder / 'out'}", *options])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def simulate_table(folder, *overrides):
    """table.csv of what a ring takes with these values, to the picosecond."""
    request = Request("all-reduce", folder / "star.json", ("ring",), _SIZES, "fluid", overrides)
    rows = make_scenario(request).run(folder / "known").runs.iter_rows(named=True)
    times = [row["ict_mean_s"] for row in rows]
    write_table(folder / "table.csv", [(s, "", t * 1e6, "") for s, t in zip(_SIZES, times)])
    return times


# The last step of the search is below 1e-6 of a span of ln 500 = 6.2; derivatives are taken over 1e-3 of it,
# so each step leaves about a thousandth of the error before it. Times are whole picoseconds of 50 us: 2e-8.
_NEAR = 1e-6


def test_known_parameters_are_found_and_rows_that_were_not_fitted_agree(fit, folder):
    times = simulate_table(folder, "topology.hostLink.delay=3us", "transport.efficiency=0.8")
    assert times == pytest.approx([ring_time(size, 3e-6, 0.8) for size in _SIZES], rel=1e-6)
    code, out, _ = fit(
        "--parameters=topology.hostLink.delay=1us:100ns:50us,transport.efficiency=0.9:0.5:1"
    )
    assert code == 0
    found = json.loads((folder / "out" / "fit.json").read_text())
    delay, efficiency = (parameter["value"] for parameter in found["parameters"])
    assert float(delay.removesuffix("us")) == pytest.approx(3, rel=_NEAR)
    assert float(efficiency) == pytest.approx(0.8, rel=_NEAR)
    assert found["converged"] and found["evaluations"] <= 30
    assert found["fitted_bytes"] == [_SIZES[0], _SIZES[-1]]
    assert found["table"]["source"] == "simulated"
    errors = found["errors"]["not fitted"]
    assert errors["rows"] == 2
    assert errors["mean"] < 2 * _NEAR
    assert found["errors"]["not fitted, from 1 GiB on"] == {
        "rows": 0,
        "mean": None,
        "worst_size": None,
        "worst_ratio": None,
    }
    assert "fitted: 2 rows, error 0.00%" in out
    assert (folder / "out" / "fit.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize("seed", range(3))
def test_whatever_the_values_are_they_are_found(fit, folder, seed):
    draw = random.Random(seed)
    delay, efficiency = f"{draw.uniform(0.2, 40):.3f}us", f"{draw.uniform(0.52, 0.98):.3f}"
    simulate_table(folder, f"topology.hostLink.delay={delay}", f"transport.efficiency={efficiency}")
    start = f"topology.hostLink.delay={draw.uniform(0.2, 40):.3f}us:100ns:50us"
    code, _, _ = fit(f"--parameters={start},transport.efficiency=0.7:0.5:1", "--rows=80KiB,5MiB")
    assert code == 0
    found = json.loads((folder / "out" / "fit.json").read_text())
    values = [float(parameter["value"].removesuffix("us")) for parameter in found["parameters"]]
    # Of 80 KiB and more a delay is a smaller part than of 5 KiB: a hundred times less is left of the clock's digits.
    assert values == pytest.approx([float(delay[:-2]), float(efficiency)], rel=100 * _NEAR)
    assert found["errors"]["not fitted"]["mean"] < 100 * _NEAR


def test_a_rate_is_fitted_in_its_own_unit_from_what_the_topology_has(fit, folder):
    simulate_table(folder, "topology.hostLink.rate=3210Mbps")
    code, out, _ = fit("--parameters=topology.hostLink.rate")
    assert code == 0
    (line,) = (line for line in out.splitlines() if line.startswith("topology.hostLink.rate"))
    value, rest = line.removeprefix("topology.hostLink.rate = ").split("Gbps", 1)
    assert float(value) == pytest.approx(3.21, rel=_NEAR)
    assert rest == " (from 0.8Gbps to 80Gbps)"


def test_table_of_a_fit_has_what_was_measured_beside_what_is_simulated(fit, folder):
    # Twice as slow as the star is; nothing of it is fitted but the rate, and so half of it.
    rows = [(size, "", 2e6 * ring_time(size, 0, 1), "") for size in _SIZES]
    write_table(folder / "table.csv", rows)
    options = ["--set=topology.hostLink.delay=0s", f"--rows={_SIZES[1]}B..{_SIZES[2]}B"]
    code, _, _ = fit("--parameters=topology.hostLink.rate=8Gbps:1Gbps:9Gbps", *options)
    assert code == 0
    found = rows_of(folder / "out" / "fit.csv")
    assert [row["fitted"] for row in found] == ["False", "True", "True", "False"]
    for row, size in zip(found, _SIZES):
        assert int(row["size_bytes"]) == size
        assert float(row["simulated_over_measured"]) == pytest.approx(1, rel=_NEAR)
        # A ring fills its links: half of 1 GB/s.
        for kind in ("measured", "simulated"):
            assert float(row[f"{kind}_busbw_bytes_per_s"]) == pytest.approx(_RATE / 2, rel=1e-5)


def test_a_second_fit_simulates_nothing_again_and_says_the_same(fit, folder):
    simulate_table(folder, "transport.efficiency=0.7")
    option = "--parameters=transport.efficiency=0.9:0.5:1"
    first = fit(option)

    def walls():
        # Wall-clock times differ between any two simulations of a run.
        return {path: path.read_text() for path in (folder / "out").rglob("runs.csv")}

    before = walls()
    assert len(before) > 3
    assert fit(option) == first
    assert walls() == before


def test_the_search_ends_at_a_bound_and_at_the_most_evaluations(fit, folder):
    simulate_table(folder, "transport.efficiency=0.5")
    code, out, _ = fit("--parameters=transport.efficiency=0.9:0.6:1")
    assert code == 0
    assert "transport.efficiency = 0.6 (from 0.6 to 1; AT ITS BOUND)" in out
    code, out, _ = fit("--parameters=transport.efficiency=0.9:0.3:1", "--evaluations=2")
    assert code == 0
    assert "2 points simulated, NOT converged" in out


def test_rows_of_an_algorithm_are_chosen(fit, folder):
    size = _SIZES[2]
    rows = [(_SIZES[0], "", 50, ""), (size, "tree", 900, ""), (size, "ring", "", 0.7)]
    write_table(folder / "table.csv", [*rows, (_SIZES[3], "ring", "", 0.8)])
    option = "--parameters=transport.efficiency=0.9:0.5:1"
    code, _, told = fit(option)
    assert code == 2
    assert f"lines 3 and 4 have {size} bytes both; choose by --algorithm" in told
    code, out, _ = fit(option, "--algorithm=ring", f"--rows={size}B")
    assert code == 0
    assert "not fitted: 1 rows" in out


def test_of_several_schemes_the_fastest_counts_at_each_size(fit, folder):
    # PS and ring both take 8/5 K/B and the delays of two links for each step, of which a ring has 8 and PS 2; a
    # tree sends all of K in each step. The table is that of PS.
    request = Request("all-reduce", folder / "star.json", ("ps",), _SIZES, "fluid", _SLOW)
    times = make_scenario(request).run(folder / "known").runs["ict_mean_s"].to_list()
    assert times == pytest.approx([8 / 5 * s / _RATE + 2 * 2 * 1e-4 for s in _SIZES], rel=1e-6)
    write_table(folder / "table.csv", [(s, "", t * 1e6, "") for s, t in zip(_SIZES, times)])
    options = [f"--set={override}" for override in _SLOW]
    code, out, _ = fit(_EFFICIENCY, *options, "--scheme=ring,ps", "--scheme=k-nomial")
    assert code == 0
    assert {row["scheme"] for row in rows_of(folder / "out" / "fit.csv")} == {"ps"}
    assert "ring or ps or k-nomial" in out
    assert "not fitted: 2 rows, error 0.00%" in out


def test_values_of_a_protocol_are_found_and_the_fastest_protocol_counts(fit, folder):
    # LL has the shorter hop and half of the bytes are flags: small sizes are LL's, large ones those of Simple.
    overrides = ("job.protocol.baseLatency=30us",)
    request = Request("all-reduce", folder / "star.json", ("ring",), _SIZES, "fluid", overrides)
    times = {}
    for kind in ("ll", "simple"):
        one = replace(request, protocols=(kind,))
        rows = make_scenario(one).run(folder / kind).runs.iter_rows(named=True)
        times[kind] = [row["ict_mean_s"] for row in rows]
    assert times["ll"][0] < times["simple"][0] and times["ll"][-1] > times["simple"][-1]
    fastest = [min(pair) for pair in zip(*times.values())]
    write_table(folder / "table.csv", [(s, "", t * 1e6, "") for s, t in zip(_SIZES, fastest)])
    parameter = "--parameters=job.protocol.baseLatency=8us:1us:1ms"
    code, out, _ = fit(parameter, "--protocol=ll", "--protocol=simple")
    assert code == 0
    found = json.loads((folder / "out" / "fit.json").read_text())
    assert found["scenario"]["protocols"] == ["ll", "simple"]
    value = found["parameters"][0]["value"].removesuffix("us")
    assert float(value) == pytest.approx(30, rel=1e-5)
    schemes = [row["scheme"] for row in rows_of(folder / "out" / "fit.csv")]
    assert (schemes[0], schemes[-1]) == ("ring, ll", "ring, simple")
    assert "not fitted: 2 rows, error 0.00%" in out


_SLOW = ("topology.hostLink.delay=100us",)
_EFFICIENCY = "--parameters=transport.efficiency=0.9:0.5:1"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--parameters=transport.efficiency"], "no value there to start from"),
        (["--parameters=transport.efficiency=0.9"], "cannot be its bound 9"),
        (["--parameters=transport.eficiency=0.9"], 'did you mean "efficiency"'),
        (["--parameters=transport.efficiency=0.9:0.95:1"], "expected LOW <= START <= HIGH"),
        (["--parameters=transport.efficiency=0.9:1us:2us"], "of different kinds"),
        (["--parameters=topology.hostLink.delay=0s"], "needs bounds"),
        (["--parameters=topology.hostLink.delay=1m"], "is no number, time or rate"),
        (["--parameters=topology.hosts.x"], "no value there to start from"),
        (["--parameters=a=1,b=2,c=3"], "names 3, expected at most 2"),
        (["--parameters=a=1,a=2"], "names a twice"),
        (["--parameters=a=1,"], "expected PATH"),
        (["--parameters=transport.efficiency=0.9:0.5"], "expected START or START:LOW:HIGH"),
        (["--parameters=job.start=1us"], "changes no time of the rows that are fitted"),
        ([_EFFICIENCY, "--rows=3B"], "no such row; there are 5 KiB, 80 KiB, 1.25 MiB, 5 MiB"),
        ([_EFFICIENCY, "--rows=1B..1GiB"], "none is left to check"),
        ([_EFFICIENCY, "--rows=many"], "is no size"),
        ([f"{_EFFICIENCY},topology.hostLink.delay", "--rows=5KiB"], "need at least 2 rows"),
        ([_EFFICIENCY, "--collective=broadcast"], "no row of broadcast"),
        ([_EFFICIENCY, "--evaluations=0"], "expected 1 or more"),
        ([_EFFICIENCY, "--scheme=rnig"], "ring"),
        ([_EFFICIENCY, "--set=topology.hosts=4"], "of 5 ranks, but 4 take part"),
    ],
)
def test_bad_input_is_one_message(fit, folder, options, words):
    write_table(folder / "table.csv", [(size, "", 1000, "") for size in _SIZES])
    code, out, err = fit(*options)
    assert (code, out) == (2, "")
    # What was simulated until it was known to be bad is told before.
    lines = [line for line in err.splitlines() if " of at most " not in line]
    assert len(lines) == 1
    assert words in lines[0]


_HEAD = ",".join(COLUMNS)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        (_HEAD, "no row below the head"),
        (f"{_HEAD},x\n", "line 1: unknown column x"),
        ("size_bytes,collective,algorithm,time_us\n", "0 columns busbw_gb_per_s"),
        (f"{_HEAD}\n8,all-reduce,,1\n", "line 2: 4 cells, expected 5"),
        (f"{_HEAD}\n8,all-reduce,,1,\n8.5,all-reduce,,1,\n", "line 3, size_bytes: 8.5"),
        (f"{_HEAD}\n{'9' * 5000},all-reduce,,1,\n", "line 2, size_bytes"),
        (f"{_HEAD}\n8,all-redcue,,1,\n", "line 2, collective: unknown all-redcue"),
        (f"{_HEAD}\n8,all-reduce,,1,2\n", "line 2: time_us or busbw_gb_per_s"),
        (f"{_HEAD}\n8,all-reduce,,,\n", "line 2: time_us or busbw_gb_per_s"),
        (f"{_HEAD}\n8,all-reduce,,nan,\n", "line 2, time_us: nan"),
        (f"{_HEAD}\n8,all-reduce,,1e-300,\n", "line 2, time_us: 1e-300"),
        (f"{_HEAD}\n8,all-reduce,,,-1\n", "line 2, busbw_gb_per_s: -1"),
        (f"{_HEAD}\n8,all-reduce,,1,\n8,broadcast,,1,\n", "all-reduce and broadcast"),
    ],
)
def test_bad_table_is_told_by_line_and_column(fit, folder, text, words):
    write_table(folder / "table.csv", [])
    (folder / "table.csv").write_text(text)
    code, out, err = fit(_EFFICIENCY)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert str(folder / "table.csv") in err
    assert words in err


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ranks": "5"}, "ranks is 5, expected a whole number"),
        ({"ranks": 1}, "expected 2 or more"),
        ({"sorce": "x"}, "unknown key sorce; the nearest is source"),
        ({"set": [1]}, "expected a list of PATH=VALUE"),
        ({"topology": "none.json"}, "none.json"),
        ({"topology": "a\0b"}, "topology has a character"),
    ],
)
def test_bad_side_file_is_one_message(fit, folder, changes, words):
    write_table(folder / "table.csv", [(size, "", 1000, "") for size in _SIZES], **changes)
    code, out, err = fit(_EFFICIENCY)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert words in err


def test_a_table_without_its_side_file_or_not_there_is_refused(fit, folder):
    assert "table.toml: not there" in fit(_EFFICIENCY)[2]
    write_table(folder / "table.csv", [])
    (folder / "table.csv").unlink()
    assert "table.csv: No such file" in fit(_EFFICIENCY)[2]


def test_no_table_is_more_than_a_message(folder):
    """Tables and side files with bytes changed at random are read or refused."""
    write_table(folder / "table.csv", [(size, "ring", 1000, "") for size in _SIZES], set=["a=1"])
    whole = {name: (folder / f"table.{name}").read_bytes() for name in ("csv", "toml")}
    draw = random.Random(1)
    refused = 0
    for _ in range(600):
        name = draw.choice(sorted(whole))
        changed = bytearray(whole[name])
        for _ in range(draw.randint(1, 4)):
            place = draw.randrange(len(changed))
            changed[place : place + draw.randint(0, 2)] = draw.choice(
                [b"", b'"', b"\n", b",", b"9", b"[", b"\\u0000", b"\0", b"\xff", b"e9", b"="]
            )
        (folder / f"table.{name}").write_bytes(changed)
        try:
            assert read_table(folder / "table.csv").rows
        except ScenarioError as error:
            assert str(folder / "table.") in str(error)
            refused += 1
        (folder / f"table.{name}").write_bytes(whole[name])
    assert 100 < refused < 600


def test_errors_are_geometric_means():
    # ln 1.1 and -ln 1.1 are as far off: 10 %; ln 1.21 twice as far.
    assert _find_errors({1: 1.1, 2: 1 / 1.1}).mean == pytest.approx(0.1)
    found = _find_errors({1: 1 / 1.21, 2: 1.0, 4: 1.1})
    assert found.mean == pytest.approx(math.exp(math.log(1.1)) - 1)
    assert (found.rows, found.worst_size, found.worst_ratio) == (3, 1, 1 / 1.21)


def test_quantities_are_read_and_written_exactly():
    for text, value in (("2us", 2e6), ("0.5ns", 500), ("400Gbps", 4e11), ("0.9", 0.9)):
        found, unit = read_quantity(text, "x")
        assert found == value
        assert unit.render(value) == text
    _, unit = read_quantity("1us", "x")
    assert unit.render(1234567.4) == "1.234567us"
    for text in ("1e400us", "us", "1MiB", "", "1 us", "0x1"):
        with pytest.raises(ScenarioError):
            read_quantity(text, "x")


def test_rows_to_fit_are_lists_and_ranges():
    sizes = (1, 2, 4, 8, 16)
    assert choose_fitted(None, sizes, 2) == {1, 16}
    assert choose_fitted("2B,4B..8B", sizes, 2) == {2, 4, 8}
    assert choose_fitted("4B", sizes, 1) == {4}


@pytest.mark.parametrize("path", _TABLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_tables_of_the_tree_fit_on_their_topologies(program, monkeypatch, path):
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(program.path))
    table = read_table(path)
    assert table.source and table.topology.exists()
    assert [row.size for row in table.rows] == sorted(row.size for row in table.rows)
    options = {
        "algorithm": None,
        "scheme": [],
        "protocol": [],
        "topology": None,
        "transport": "fluid",
    }
    options |= {"rows": None, "set": [], "evaluations": 1, "collective": None}
    request = read_fit_request(
        argparse.Namespace(table=path, parameters="transport.efficiency=0.9:0.5:1", **options)
    )
    make_scenario(request.measure).resolve()


_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def documented_fits():
    """Of doc/calibration-tables.rst each command, and the lines of its output that it has."""
    page = (ROOT / "doc" / "calibration-tables.rst").read_text().replace("\\\n", " ")
    for command in re.findall(r"^  \./ns3 (fit .*)\n\n((?:  .+\n)+)", page, re.M):
        yield command[0].split(), [line.strip() for line in command[1].splitlines()]


def test_every_documented_fit_is_found():
    assert len(list(documented_fits())) == 9
    assert all(any("not fitted" in line for line in lines) for _, lines in documented_fits())


@pytest.mark.parametrize("table", ["nccl-b200-4x8", "nccl-a100-8"])
def test_documented_fits_say_what_the_documentation_says(
    program, tmp_path, monkeypatch, capsys, table
):
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(program.path))
    monkeypatch.chdir(ROOT)
    ((arguments, lines),) = (
        fit for fit in documented_fits() if table in fit[0][1] and "nccl" in fit[0]
    )
    assert main([*arguments, f"--out={tmp_path / 'out'}"]) == 0
    told = {_NUMBER.sub("#", line): line for line in capsys.readouterr().out.splitlines()}
    for line in lines:
        # Digits beyond the tolerance of the search are those of a processor's linear algebra.
        found = told[_NUMBER.sub("#", line)]
        numbers = [[float(number) for number in _NUMBER.findall(text)] for text in (found, line)]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-3)


# What one GPU can send at most, in GB/s: its NVLink; over NICs its own, as no ring enters a node more often
# than it has NICs; with NVLS, where each sends its buffer once, 2 (n - 1)/n times its link.
_MOST = {"nccl-b200-4x8": 8 * 50, "nccl-h200-8": 450, "nccl-a100-8": 300}


def test_tables_of_the_tree_are_below_what_their_links_can_carry():
    assert {path.parent.name for path in _TABLES} == set(_MOST)
    for path in _TABLES:
        for row in read_table(path).rows:
            factor = bus_factor(row.collective, read_table(path).ranks)
            most = _MOST[path.parent.name] * (factor if row.algorithm == "nvls" else 1)
            assert row.size / row.time_s * factor / 1e9 < most, (path, row.line)


def test_tables_of_the_tree_are_found():
    assert len(_TABLES) == 3 and all(isinstance(path, Path) for path in _TABLES)
