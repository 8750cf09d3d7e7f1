# SPDX-License-Identifier: GPL-2.0-only
"""./ns3 route: the choice of switches is never worse than the network's own, and packets bear it out."""

import itertools
import json
import random

import pytest
from conftest import SCENARIOS, rows_of

from gradsync.__main__ import main
from gradsync.errors import ScenarioError
from gradsync.studies import routing
from gradsync.studies.routing import Group, Tree, busiest, has_room, relax, route

ROUTING = SCENARIOS / "gradient-routing.json"


def draw_groups(dice, count, most_trees, limited=False):
    """Groups whose trees load some of eight links and six switches."""

    def draw_tree(number):
        links = dice.sample(range(8), dice.randint(1, 5))
        switches = dice.sample(range(6), dice.randint(1, 3))
        seconds = {f"link {link}": dice.choice((0.5, 1.0, 2.0, 3.3)) for link in links}
        seconds |= {f"switch {switch}": dice.choice((0.0, 0.7)) for switch in switches}
        room = {f"s{switch}": dice.choice((0.1, 0.4)) if limited else 0.0 for switch in switches}
        return Tree(f"s{number}", seconds, room)

    groups = []
    for number in range(count):
        trees = tuple(draw_tree(tree) for tree in range(dice.randint(1, most_trees)))
        groups.append(Group(f"job{number}", 0, trees, dice.randrange(len(trees))))
    return tuple(groups)


@pytest.fixture
def roundings_only(monkeypatch):
    """No instance is small enough to try everything."""
    monkeypatch.setattr(routing, "EXACT_CHOICES", 0)


@pytest.mark.parametrize("seed", range(60))
def test_roundings_are_never_worse_than_what_is_fixed_nor_better_than_the_bound(
    roundings_only, seed
):
    dice = random.Random(seed)
    groups = draw_groups(dice, dice.randint(1, 20), 6)
    found = route(groups, 32, seed)
    fixed = [group.fixed for group in groups]
    assert found.fixed_seconds == busiest(groups, fixed)
    assert found.bound - 1e-9 <= found.seconds <= found.fixed_seconds
    assert route(groups, 32, seed) == found


@pytest.mark.parametrize("seed", range(40))
def test_switches_have_room_for_what_is_chosen(roundings_only, seed):
    dice = random.Random(seed)
    groups = draw_groups(dice, dice.randint(2, 9), 4, limited=True)
    fixed = [group.fixed for group in groups]
    if not has_room(groups, fixed):
        return  # the simulator would not have run it
    found = route(groups, 64, seed)
    assert has_room(groups, found.chosen)
    assert found.seconds <= found.fixed_seconds


def best_by_hand(groups):
    """Of all choices, written down without the functions of the study."""
    times = []
    for trees in itertools.product(*(group.trees for group in groups)):
        total = {}
        for tree in trees:
            for name, seconds in tree.seconds.items():
                total[name] = total.get(name, 0) + seconds
        times.append(max(total.values()))
    return min(times)


@pytest.mark.parametrize("seed", range(40))
def test_few_choices_are_all_tried(seed):
    dice = random.Random(seed)
    groups = draw_groups(dice, dice.randint(1, 5), 4)
    found = route(groups, 0, seed)
    assert found.seconds == pytest.approx(best_by_hand(groups))
    assert found.bound <= found.seconds + 1e-9


def test_roundings_find_the_best_where_shares_are_even(roundings_only):
    """Four equal groups on two roots with a link each: two and two, which the bound says, too."""
    trees = tuple(Tree(f"s{i}", {f"link {i}": 1.0}, {}) for i in range(2))
    groups = tuple(Group(f"job{i}", 0, trees, 0) for i in range(4))
    found = route(groups, 256, 1)
    assert found.fixed_seconds == 4
    assert found.seconds == found.bound == 2


def test_the_bound_is_that_of_the_relaxation():
    """Three groups of 1 s on two roots: 1.5 s in shares, 2 s with a root each."""
    trees = tuple(Tree(f"s{i}", {f"link {i}": 1.0}, {}) for i in range(2))
    groups = tuple(Group(f"job{i}", 0, trees, 0) for i in range(3))
    bound, shares = relax(groups)
    assert bound == pytest.approx(1.5)
    assert [sum(own) for own in shares] == pytest.approx([1, 1, 1])
    assert route(groups, 256, 1).seconds == 2


def ict_of(program, scenario, out):
    result = program("run", scenario, f"--out={out}")
    assert result.returncode == 0, result.stderr
    rows = rows_of(out / "iterations.csv")
    return {row["job"]: float(row["ict_s"]) for row in rows}


def test_what_is_predicted_of_a_scenario_holds_packet_by_packet(
    program, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(program.path))
    routed = tmp_path / "routed.json"
    assert main(["route", str(ROUTING), "--out", str(routed)]) == 0
    assert "The most loaded part of the network" in capsys.readouterr().out
    found = routing.find_routing(ROUTING, 256, 1)
    # By itself both of 4 MB meet at one spine; else one of 4 and one of 1. 342 bytes for 256, 10 Gb/s.
    packets = {4: 15625, 1: -(-1_000_000 // 256)}
    assert found.fixed_seconds == pytest.approx(2 * packets[4] * 342 * 0.8e-9)
    assert found.seconds == pytest.approx((packets[4] + packets[1]) * 342 * 0.8e-9)
    fixed = ict_of(program, ROUTING, tmp_path / "fixed")
    chosen = ict_of(program, routed, tmp_path / "chosen")
    # The links that are most loaded are busy from the beginning to the end, within a round trip.
    assert max(fixed.values()) == pytest.approx(found.fixed_seconds, rel=0.01)
    assert max(chosen.values()) == pytest.approx(found.seconds, rel=0.01)
    document = json.loads(routed.read_text())
    roots = {job["name"]: job["aggregationRoots"] for job in document["jobs"]}
    assert roots["large0"] != roots["large1"]
    assert roots["small0"] != roots["small1"]


def test_bad_input_is_one_message(program, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(program.path))
    ring = tmp_path / "ring.json"
    ring.write_text(json.dumps(json.loads(ROUTING.read_text()) | {"scheme": "ring"}))
    assert main(["route", str(ring)]) == 2
    assert "no job has switches aggregate for it" in capsys.readouterr().err
    assert not (tmp_path / "ring-routed.json").exists()
    swept = json.loads(ROUTING.read_text()) | {"sweep": {"seed": [1, 2]}}
    ring.write_text(json.dumps(swept))
    with pytest.raises(ScenarioError, match="found 2 runs, expected a scenario of one"):
        routing.find_routing(ring, 1, 1)


@pytest.mark.parametrize(
    ("roots", "said"),
    [
        (["spine7"], "no switch has the name"),
        (["host0"], "no switch has the name"),
        (["leaf9"], "no switch has the name"),
    ],
)
def test_a_root_must_be_a_switch(program, tmp_path, roots, said):
    document = json.loads(ROUTING.read_text())
    document["jobs"][0]["aggregationRoots"] = roots
    file = tmp_path / "roots.json"
    file.write_text(json.dumps(document))
    result = program("validate", file)
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr


def test_roots_are_for_jobs_that_aggregate_at_switches_that_do(program, tmp_path):
    document = json.loads(ROUTING.read_text())
    document["jobs"][0] |= {"aggregationRoots": ["spine0"], "scheme": "ring"}
    file = tmp_path / "roots.json"
    file.write_text(json.dumps(document))
    result = program("validate", file)
    assert result.returncode == 2
    assert "no switches aggregate for it" in result.stderr
    del document["jobs"][0]["scheme"]
    document["transport"]["aggregation"]["tier"] = "leaf"
    file.write_text(json.dumps(document))
    result = program("validate", file)
    assert result.returncode == 2
    assert "spine0 is to be the root of an aggregation, but does not aggregate" in result.stderr
