# SPDX-License-Identifier: GPL-2.0-only
"""Plans that Python brings: built, verified by the program, and run as the schemes that it has."""

import json
import random

import pytest
from conftest import ROOT

import gradsync


@pytest.fixture(autouse=True)
def built(program, monkeypatch):
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(program.path))


def ring(workers):
    """Each part goes round twice: w - 1 ranks add to it, then w - 1 take the sum."""
    plan = gradsync.Plan(workers, chunks=workers)
    for step in range(2 * (workers - 1)):
        for rank in range(workers):
            pass_on = plan.reduce if step < workers - 1 else plan.send
            pass_on(source=rank, target=(rank + 1) % workers, chunk=(rank - step) % workers)
    return plan


def halving_doubling(workers):
    """Of 2^k ranks: partners swap halves of what they share, from the farthest on, and back."""
    plan = gradsync.Plan(workers, chunks=workers)
    distances = [2**bit for bit in range(workers.bit_length() - 1)]
    for distance in reversed(distances):
        for rank in range(workers):
            partner = rank ^ distance
            plan.reduce(rank, partner, partner // distance * distance, count=distance)
    for distance in distances:
        for rank in range(workers):
            plan.send(rank, rank ^ distance, rank // distance * distance, count=distance)
    return plan


@pytest.mark.parametrize("transport", ["fluid", "roce"])
@pytest.mark.parametrize(
    "build, scheme, sizes",
    [
        (ring, "ring", range(2, 10)),
        (halving_doubling, {"kind": "halving-doubling", "order": "far-first"}, [2, 4, 8]),
    ],
)
def test_plan_in_python_takes_what_the_scheme_takes(tmp_path, build, scheme, sizes, transport):
    dice = random.Random(f"{scheme} {transport}")
    for number in range(3):
        workers = dice.choice(sizes)
        # Also where the gradient is no whole number of parts, and a part has no element at all.
        elements = dice.choice([dice.randrange(1, 20), dice.randrange(20, 200_000)])
        job = {"gradient": f"{4 * elements}B"}
        plan = build(workers)
        plan.verify()
        base = gradsync.Scenario(
            gradsync.star(workers, "10Gbps"), scheme, transport=transport, job=job
        )
        own = plan.run(tmp_path / f"own-{number}", base)
        assert json.loads((own.folder / "plan.json").read_text()) == plan.to_dict()
        times = [base.run(tmp_path / f"built-in-{number}").iterations, own.iterations]
        assert times[0]["ict_s"].to_list() == times[1]["ict_s"].to_list()


def test_scheme_of_a_plan_is_swept_beside_others(tmp_path):
    plan = ring(4)
    scenario = gradsync.Scenario(gradsync.star(4, "10Gbps"), transport="fluid")
    swept = scenario.sweep("scheme", ["ring", plan.scheme(tmp_path / "mine.json")])
    times = swept.run(tmp_path / "r").runs["ict_mean_s"].to_list()
    assert len(times) == 2 and times[0] == times[1]


def test_plan_that_lacks_a_send_is_refused_in_the_verifiers_words(tmp_path):
    plan = gradsync.Plan(ranks=3)
    for source in (1, 2):
        plan.reduce(source, 0, 0)
    plan.send(0, 1, 0)
    with pytest.raises(gradsync.PlanError, match="no all-reduce: chunk 0 at worker 2 at the end"):
        plan.verify()
    with pytest.raises(
        gradsync.ScenarioError, match="no all-reduce: chunk 0 at worker 2 at the end"
    ):
        plan.run(tmp_path / "r", topology=gradsync.star(3, "1Gbps"), transport="fluid")
    assert not (tmp_path / "r").exists()
    plan.send(0, 2, 0)
    plan.verify()


def test_edges_that_are_given_are_all_that_there_are():
    plan = gradsync.Plan(ranks=2, chunks=2)
    there = plan.reduce(1, 0, 0, count=2)
    # Of its own accord it waits for the sum.
    own = plan.send(0, 1, 0)
    assert plan.to_dict()["operations"][own]["after"] == [there]
    back = plan.send(0, 1, 1, after=[])
    with pytest.raises(gradsync.PlanError, match="race"):
        plan.verify()
    plan.wait(back, [there])
    plan.verify()


def test_edges_by_data_leave_reads_and_sums_alone():
    plan = gradsync.Plan(ranks=3)
    after = [plan.reduce(1, 0, 0), plan.reduce(2, 0, 0), plan.send(0, 1, 0), plan.send(0, 2, 0)]
    rows = plan.to_dict()["operations"]
    # The sums come in any order; each copy waits for both, and for the read of what it replaces.
    assert [row["after"] for row in rows] == [[], [], after[:2], after[:2]]
    plan.verify()


def test_servers_buffers_joins_and_times_are_in_the_file(tmp_path):
    plan = gradsync.Plan(ranks=3, servers=1, chunks=[1, 3])
    pushes = [plan.reduce(worker, 2, 0, count=2) for worker in (0, 1)]
    update = plan.compute(2, 5_000_000, [plan.join(2, pushes)])
    pulls = [plan.send(2, worker, 0, count=2, after=[update]) for worker in (0, 1)]
    assert (len(plan), pulls) == (6, [4, 5])
    plan.verify()
    job = {"gradient": "1MB", "workers": 2}
    results = plan.run(
        tmp_path / "r", topology=gradsync.star(3, "8Gbps"), transport="fluid", job=job
    )
    # 1 MB at 8 Gb/s is 1 ms: two at a time to the server, 5 us of work, two at a time back; links as
    # star has them add 1 us each, two a way.
    assert results.iterations["ict_s"][0] == pytest.approx(2e-3 + 5e-6 + 2e-3 + 4e-6, rel=1e-9)


def test_all_gather_and_staging_buffers(tmp_path):
    gather = gradsync.Plan(2, chunks=2, collective="all-gather", sources=[0, 1])
    gather.send(0, 1, 0)
    gather.send(1, 0, 1)
    gather.verify()
    # Two ranks swap what they have, and each adds what came at home: the place is not yet read.
    swap = gradsync.Plan(2)
    for rank in (0, 1):
        swap.send(rank, 1 - rank, 0, to_buffer=1)
    for rank in (0, 1):
        swap.reduce(rank, rank, 0, from_buffer=1)
    swap.verify()


@pytest.mark.parametrize(
    "attempt, told",
    [
        (lambda plan: plan.send(0, 2, 0), r"rank 2, expected one of \[0, 2\)"),
        (lambda plan: plan.send(0, 1, 3, count=2), r"chunks \[3, 5\), expected at least one"),
        (lambda plan: plan.send(0, 1, 0, after=[0]), r"operation 0: expected one of \[0, 0\)"),
        (lambda plan: plan.wait(1, [0]), "operation 1: expected one"),
        (lambda plan: plan.run("r"), "expected a scenario, or a topology"),
        (lambda _: gradsync.Plan(2, servers=2), "expected a worker"),
    ],
)
def test_what_cannot_be_is_said_at_once(attempt, told):
    with pytest.raises(gradsync.PlanError, match=told):
        attempt(gradsync.Plan(2, chunks=4))


_OF_MACHINE = ("wall_s", "peak_rss_bytes")


def test_plan_of_a_scheme_runs_from_its_json_to_the_picosecond(program, tmp_path):
    scenario = json.loads((ROOT / "scenarios" / "smoke.json").read_text())
    scenario |= {"sweep": {}, "scheme": {"kind": "double-binary-tree", "pipelineChunks": 3}}
    (tmp_path / "built-in.json").write_text(json.dumps(scenario))
    printed = program("plan", "built-in.json", "--json")
    assert printed.returncode == 0, printed.stderr
    (tmp_path / "plan.json").write_text(printed.stdout)
    scenario["scheme"] = {"kind": "import", "file": "plan.json"}
    (tmp_path / "imported.json").write_text(json.dumps(scenario))
    assert program("plan", "imported.json", "--json").stdout == printed.stdout
    tables = []
    for name in ("built-in", "imported"):
        done = program("run", f"{name}.json", f"--out={name}")
        assert done.returncode == 0, done.stderr
        runs = gradsync.load(tmp_path / name).runs
        # But for what names the scheme and the run, and what the machine took.
        named = [c for c in runs.columns if c.startswith(("scheme", "run")) or c in _OF_MACHINE]
        tables.append(runs.drop(named))
    assert tables[0].equals(tables[1])


def test_wrong_json_is_one_message_with_file_and_path(program, tmp_path):
    plan = ring(4).to_dict()
    plan["operations"][5]["kind"] = "reduec"
    (tmp_path / "x.json").write_text(json.dumps(plan))
    scenario = {
        "topology": gradsync.star(4, "1Gbps"),
        "scheme": {"kind": "import", "file": "x.json"},
    }
    (tmp_path / "s.json").write_text(json.dumps(scenario))
    told = program("run", "s.json", "--out=r")
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert 'operations.5.kind: found "reduec"; did you mean "reduce"?' in told.stderr
    assert not (tmp_path / "r").exists()


def test_what_the_network_adds_up_is_refused_by_name(program, tmp_path):
    printed = program(
        "plan", ROOT / "scenarios" / "smoke.json", "--set=scheme.kind=switchml", "--json"
    )
    assert printed.returncode == 0, printed.stderr
    (tmp_path / "x.json").write_text(printed.stdout)
    scenario = {
        "topology": gradsync.star(4, "1Gbps"),
        "scheme": {"kind": "import", "file": "x.json"},
    }
    (tmp_path / "s.json").write_text(json.dumps(scenario))
    told = program("validate", "s.json")
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert "lets the network aggregate, which no file can say" in told.stderr
