# SPDX-License-Identifier: GPL-2.0-only
"""Chooses where the gradients of jobs are added in the network, so that its most loaded part is loaded least.

As GRID does (Fang et al., "GRID: Gradient routing with in-network aggregation for distributed training",
IEEE/ACM Transactions on Networking 31(5), 2023): a linear program in which each group of workers may use
several trees of switches in part, and randomised rounding of what it says. doc/aggregation.rst has both.
"""

import itertools
import json
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from gradsync.errors import ScenarioError
from gradsync.studies.program import call

# Of so few choices all are tried.
EXACT_CHOICES = 4096


@dataclass(frozen=True)
class Tree:
    """What a group of workers puts on the network when it aggregates at a root."""

    root: str
    seconds: Mapping[str, float]
    """How long each link direction and each switch is busy with it."""
    room: Mapping[str, float]
    """The share of each switch's room that it takes."""


@dataclass(frozen=True)
class Group:
    """Workers of a job that aggregate together."""

    job: str
    number: int
    trees: tuple[Tree, ...]
    fixed: int
    """Which of the trees the network takes by itself."""


@dataclass(frozen=True)
class Routing:
    """What was chosen: a tree for each group, by index. Times in seconds."""

    groups: tuple[Group, ...]
    chosen: tuple[int, ...]
    bound: float
    """Of the linear program: no choice of one tree each is better."""

    @property
    def seconds(self) -> float:
        """How long the most loaded part of the network is busy."""
        return busiest(self.groups, self.chosen)

    @property
    def fixed_seconds(self) -> float:
        """The same with the trees that the network takes by itself."""
        return busiest(self.groups, [group.fixed for group in self.groups])

    def roots(self, job: str) -> list[str]:
        """Of the groups of a job."""
        return [
            group.trees[tree].root
            for group, tree in zip(self.groups, self.chosen)
            if group.job == job
        ]


def read_groups(told: Mapping[str, Any]) -> tuple[Group, ...]:
    """What `gradsync trees` says."""
    links = told["links"]

    def read_tree(tree: Mapping[str, Any]) -> Tree:
        seconds = {
            f"link {use['direction']}": use["bytes"] / links[use["direction"]]["bytesPerSecond"]
            for use in tree["links"]
        }
        seconds |= {f"switch {adder['name']}": adder["seconds"] for adder in tree["switches"]}
        room = {adder["name"]: adder["room"] for adder in tree["switches"]}
        return Tree(tree["root"], seconds, room)

    groups = []
    for job in told["jobs"]:
        for number, group in enumerate(job["groups"]):
            trees = tuple(read_tree(tree) for tree in group["trees"])
            fixed = [tree.root for tree in trees].index(group["fixed"])
            groups.append(Group(job["name"], number, trees, fixed))
    return tuple(groups)


def _add(chosen: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for amounts in chosen:
        for name, amount in amounts.items():
            total[name] = total.get(name, 0.0) + amount
    return total


def busiest(groups: Sequence[Group], chosen: Sequence[int]) -> float:
    """How long the most loaded link or switch is busy with a tree of each group, in seconds."""
    return max(
        _add(group.trees[tree].seconds for group, tree in zip(groups, chosen)).values(), default=0.0
    )


def _total(groups: Sequence[Group], chosen: Sequence[int]) -> float:
    return sum(sum(group.trees[tree].seconds.values()) for group, tree in zip(groups, chosen))


# What rounding of doubles may add up to.
_TOLERANCE = 1e-9


def has_room(groups: Sequence[Group], chosen: Sequence[int]) -> bool:
    """Whether every switch has room for what adds there."""
    taken = _add(group.trees[tree].room for group, tree in zip(groups, chosen))
    return max(taken.values(), default=0.0) <= 1.0 + _TOLERANCE


def relax(groups: Sequence[Group]) -> tuple[float, list[list[float]]]:
    """The least time of the most loaded part when groups may use trees in part, and the share of each tree.

    Minimise t, subject to: the shares of each group sum to 1; each link and switch is busy for t at
    most; each switch has the room.
    """
    column = itertools.count()
    columns = [[next(column) for _ in group.trees] for group in groups]
    last = next(column)
    names: dict[tuple[str, str], int] = {}
    rows, places, values = [], [], []
    for group, own in zip(groups, columns):
        for tree, place in zip(group.trees, own):
            for kind, amounts in (("busy", tree.seconds), ("room", tree.room)):
                for name, amount in amounts.items():
                    rows.append(names.setdefault((kind, name), len(names)))
                    places.append(place)
                    values.append(amount)
    limits = [0.0 if kind == "busy" else 1.0 for kind, _ in names]
    for (kind, _), row in names.items():
        if kind == "busy":
            rows.append(row)
            places.append(last)
            values.append(-1.0)
    whole = [(row, place) for row, own in enumerate(columns) for place in own]
    found = linprog(
        [0.0] * last + [1.0],
        A_ub=coo_matrix((values, (rows, places)), shape=(len(names), last + 1)),
        b_ub=limits,
        A_eq=coo_matrix(([1.0] * len(whole), tuple(zip(*whole))), shape=(len(groups), last + 1)),
        b_eq=[1.0] * len(groups),
        bounds=(0.0, None),
        method="highs",
    )
    if not found.success:
        raise ScenarioError(f"the linear program of the trees: {found.message}")
    shares = [[max(0.0, float(found.x[place])) for place in own] for own in columns]
    return float(found.fun), shares


def _roundings(
    shares: Sequence[Sequence[float]], rounds: int, seed: int
) -> Iterable[tuple[int, ...]]:
    """The tree with the largest share of each group; then trees drawn by their shares."""
    yield tuple(own.index(max(own)) for own in shares)
    draw = random.Random(seed)
    for _ in range(rounds):
        yield tuple(draw.choices(range(len(own)), own)[0] for own in shares)


def route(groups: tuple[Group, ...], rounds: int, seed: int) -> Routing:
    """The best of the roundings, and never worse than what the network takes by itself.

    Where there are few choices, the best of all of them.
    """
    bound, shares = relax(groups)
    choices: Iterable[tuple[int, ...]]
    if math.prod(len(group.trees) for group in groups) <= EXACT_CHOICES:
        choices = itertools.product(*(range(len(group.trees)) for group in groups))
    else:
        choices = _roundings(shares, rounds, seed)
    best = tuple(group.fixed for group in groups)
    least = busiest(groups, best), _total(groups, best)
    for chosen in choices:
        reached = busiest(groups, chosen), _total(groups, chosen)
        if reached < least and has_room(groups, chosen):
            best, least = chosen, reached
    return Routing(groups, best, bound)


def find_routing(scenario: Path, rounds: int, seed: int) -> Routing:
    """Of the jobs of a scenario. Raises ScenarioError where none of them aggregates."""
    told, _ = call(["trees", str(scenario)])
    groups = read_groups(json.loads(told))
    if not groups:
        raise ScenarioError(f"{scenario}: no job has switches aggregate for it")
    return route(groups, rounds, seed)


def write_scenario(scenario: Path, routing: Routing, out: Path) -> None:
    """The scenario with the roots of every job that aggregates."""
    document = json.loads(scenario.read_text(encoding="utf-8"))
    jobs = document["jobs"] if "jobs" in document else [document.setdefault("job", {})]
    for number, job in enumerate(jobs):
        roots = routing.roots(job.get("name", f"job{number}"))
        if roots:
            job["aggregationRoots"] = roots[:1] if len(set(roots)) == 1 else roots
    out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def as_table(routing: Routing) -> str:
    """A line for each group, and what it comes to."""
    lines = [f"{'job':<16} {'group':>5}  {'by itself':<12} chosen"]
    for group, tree in zip(routing.groups, routing.chosen):
        fixed, chosen = group.trees[group.fixed].root, group.trees[tree].root
        lines.append(f"{group.job:<16} {group.number:>5}  {fixed:<12} {chosen}")
    lines.append(
        f"\nThe most loaded part of the network is busy for {1e6 * routing.seconds:.3f} us, by itself "
        f"for {1e6 * routing.fixed_seconds:.3f} us; no choice takes less than {1e6 * routing.bound:.3f} us."
    )
    return "\n".join(lines)
