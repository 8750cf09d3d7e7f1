# SPDX-License-Identifier: GPL-2.0-only
"""Reads manifest.json, and refuses one whose parts are not what the program writes."""

import json
from pathlib import Path
from typing import Any

from gradsync.errors import ResultsError
from gradsync.text import shown

_NAMES: dict[type, str] = {dict: "an object", list: "a list", str: "text"}
# What is looked into further on, by its path; `*` stands for every value of a list or an object.
_PARTS: dict[str, tuple[type, ...]] = {
    "program": (dict,),
    "host": (dict,),
    "scenarioFile": (str,),
    "columns": (dict,),
    "columns.*": (list,),
    "overrides": (list,),
    "overrides.*": (str,),
    "runs": (list,),
    "runs.*": (dict,),
    "scenario": (dict,),
    "scenario.title": (str,),
    "scenario.topology": (dict,),
    "scenario.transport": (dict, str),
    "scenario.scheme": (dict, str),
    "scenario.job": (dict,),
    "scenario.job.profile": (dict, str),
    "scenario.jobs": (list,),
    "scenario.jobs.*": (dict,),
    "scenario.jobs.*.profile": (dict, str),
    "scenario.faults": (list,),
    "scenario.sweep": (dict,),
    "scenario.sweep.*": (list,),
    "scenario.plot": (dict,),
    "scenario.plot.title": (str,),
    "scenario.plot.x": (str,),
    "scenario.plot.y": (str,),
    "scenario.plot.series": (str,),
    "scenario.plot.panels": (list,),
    "scenario.plot.panels.*": (str,),
    "scenario.plot.labels": (dict,),
    "scenario.plot.labels.*": (str,),
}


def _found(value: Any, path: list[str]) -> list[Any]:
    """The values at a path, none if it leads nowhere."""
    if not path:
        return [value]
    if path[0] == "*":
        inner = value.values() if isinstance(value, dict) else value
        return [found for item in inner for found in _found(item, path[1:])]
    return _found(value[path[0]], path[1:]) if path[0] in value else []


def check_parts(file: Path, document: Any) -> None:
    """Raise ResultsError for a part that is there and is something else."""
    if not isinstance(document, dict):
        raise ResultsError(f"{file}: found {shown(json.dumps(document))}, expected an object")
    # In this order, a part is looked into only after it was found to be what can be looked into.
    for path, allowed in _PARTS.items():
        for value in _found(document, path.split(".")):
            if not isinstance(value, allowed):
                expected = " or ".join(_NAMES[kind] for kind in allowed)
                found = shown(json.dumps(value))
                raise ResultsError(f"{file}: {path}: found {found}, expected {expected}")


def read_manifest(file: Path) -> dict[str, Any]:
    """The manifest. Raises ResultsError if it cannot be read or is something else."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise ResultsError(f"{file}: too many brackets within brackets") from error
    except (OSError, ValueError) as error:
        raise ResultsError(f"{file}: {shown(error)}") from error
    check_parts(file, document)
    return dict(document)
