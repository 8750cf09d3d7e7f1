# SPDX-License-Identifier: GPL-2.0-only
"""Makes a failing scenario small: parts are left out and numbers reduced while the same law still complains.

Structural, as delta debugging is (Zeller and Hildebrandt, IEEE TSE 28(2), 2002), on the tree of the JSON
document: what is no longer a scenario is refused by the program and so never kept.
"""

import copy
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from referee.case import Case

_SECONDS = 40.0


def _paths(node: object, path: tuple = ()) -> Iterator[tuple]:
    """Every place of a document, outer ones first: what is large goes first."""
    if path:
        yield path
    items = node.items() if isinstance(node, dict) else enumerate(node)
    if isinstance(node, (dict, list)):
        for key, value in list(items):
            if isinstance(value, (dict, list)):
                yield from _paths(value, (*path, key))
            else:
                yield (*path, key)


def _get(document: object, path: tuple) -> object:
    for key in path:
        document = document[key]
    return document


def _without(document: dict, path: tuple) -> dict:
    smaller = copy.deepcopy(document)
    del _get(smaller, path[:-1])[path[-1]]
    return smaller


def _with(document: dict, path: tuple, value: object) -> dict:
    changed = copy.deepcopy(document)
    _get(changed, path[:-1])[path[-1]] = value
    return changed


def _smaller_values(value: object) -> Iterator[object]:
    """Simpler values in the place of one: small first."""
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        for other in (1, 2, 3, value // 2, value - 1):
            if 0 <= other < value:
                yield other
    if isinstance(value, str):
        quantity = re.fullmatch(r"(\d+)([A-Za-z]+)", value)
        if quantity:
            for other in _smaller_values(int(quantity.group(1))):
                yield f"{other}{quantity.group(2)}"


def _candidates(scenario: dict) -> Iterator[dict]:
    """Scenarios that are a step smaller."""
    jobs = scenario.get("jobs")
    if jobs:
        for job in jobs:
            alone = {key: value for key, value in scenario.items() if key not in ("jobs", "scheme")}
            rest = {key: value for key, value in job.items() if key != "scheme"}
            yield {**alone, "job": rest, "scheme": job.get("scheme", scenario.get("scheme"))}
    places = list(_paths(scenario))
    for path in places:
        # Without a gradient it has that of ResNet-50, which is no smaller case.
        if path[-1] not in ("topology", "gradient", "job", "jobs"):
            yield _without(scenario, path)
    for path in places:
        for value in _smaller_values(_get(scenario, path)):
            yield _with(scenario, path, value)


def shrink(case: Case, still_fails: Callable[[Case], bool], seconds: float = _SECONDS) -> Case:
    """The smallest case found within the time for which `still_fails` holds."""
    deadline = time.monotonic() + seconds
    for probe in list(case.probes):
        fewer = replace(case, probes=[p for p in case.probes if p != probe])
        if still_fails(fewer):
            case = fewer
    progress = True
    while progress and time.monotonic() < deadline:
        progress = False
        for scenario in _candidates(case.scenario):
            if time.monotonic() > deadline:
                break
            smaller = replace(case, scenario=scenario)
            if still_fails(smaller):
                case, progress = smaller, True
                break
    return case
