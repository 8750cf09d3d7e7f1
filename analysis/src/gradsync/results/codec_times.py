# SPDX-License-Identifier: GPL-2.0-only
"""Where the times of codecs come from: measurements, or estimates, which must be seen as such."""

import json
from pathlib import Path
from typing import Any

from gradsync.results.folder import Results

_MEASURED = "measurement"
_ESTIMATED = "roofline-estimate"
_FREE = "fp32"
"""The codec that takes no time."""


def _origin(results: Results, profile: Any) -> tuple[str, str]:
    """Name and origin of a profile, which is a file beside the scenario or already in its place."""
    if isinstance(profile, str):
        file = Path(results.manifest.get("scenarioFile", "")).parent / profile
        try:
            profile = {"file": profile, **json.loads(file.read_text(encoding="utf-8"))}
        except (OSError, ValueError):
            return profile, "unknown: the file is not there"
    return str(profile.get("file", "?")), str(profile.get("origin", "unknown"))


def list_unmeasured(results: Results) -> dict[str, str]:
    """Origins of the profiles that are no measurement, by their names."""
    scenario = results.scenario
    jobs = [scenario.get("job", {}), *scenario.get("jobs", [])]
    profiles = [job["profile"] for job in jobs if "profile" in job]
    for path, values in scenario.get("sweep", {}).items():
        profiles += values if path.endswith(".profile") else []
    named = dict(_origin(results, profile) for profile in profiles)
    return {name: origin for name, origin in named.items() if origin != _MEASURED}


def _value(cell: Any) -> Any:
    """What a cell of runs.csv stands for, which may be an object as JSON."""
    try:
        return json.loads(cell) if isinstance(cell, str) and cell.startswith("{") else cell
    except ValueError:
        return cell


def _kind(codec: Any) -> str:
    return str(codec.get("kind", "")) if isinstance(codec, dict) else str(codec or "")


def is_estimated(results: Results, row: dict[str, str]) -> bool:
    """Whether a run has times of codecs that are estimates; results of old programs lack the column."""
    if (origins := row.get("codec_times")) is not None:
        return _ESTIMATED in origins
    jobs = {"job": results.scenario.get("job", {})}
    jobs |= {f"jobs.{i}": job for i, job in enumerate(results.scenario.get("jobs", []))}
    for path, job in jobs.items():
        codec = row.get(f"{path}.codec.kind") or _kind(
            _value(row.get(f"{path}.codec", job.get("codec")))
        )
        profile = _value(row.get(f"{path}.profile", job.get("profile")))
        takes_time = codec not in ("", _FREE) and profile
        if takes_time and _origin(results, profile)[1] == _ESTIMATED:
            return True
    return False
