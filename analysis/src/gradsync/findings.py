# SPDX-License-Identifier: GPL-2.0-only
"""What a reader of results should know before believing them."""

from typing import Any

from gradsync.results import Results, to_number


def _total(results: Results, column: str) -> int:
    values = [to_number(row.get(column, "")) for row in results.rows]
    return int(sum(value for value in values if value == value))


def _profiles(manifest: dict[str, Any]) -> list[str]:
    """Profiles that are no measurement: their `origin` says what they are."""
    return [
        f"The profile {profile.get('name', profile.get('file', '?'))} is no measurement "
        f"(origin: {profile.get('origin', 'unknown')})."
        for profile in manifest.get("profiles", [])
        if profile.get("origin") not in ("measurement", "measured")
    ]


def find_warnings(results: Results) -> list[str]:
    """One sentence each, the gravest first."""
    found = []
    for run in results.manifest.get("runs", []):
        if run.get("status") != "ok":
            found.append(f"Run {run.get('run')} {run.get('status')}: {run.get('problem', '')}")
    if len(found) > 10:
        found = [*found[:10], f"{len(found) - 10} further runs did not finish."]
    found += _profiles(results.manifest)
    dropped = _total(results, "dropped_packets")
    if dropped:
        runs = sum(to_number(row["dropped_packets"]) > 0 for row in results.rows)
        again = _total(results, "retransmitted_packets")
        found.append(f"{dropped:,} packets were dropped in {runs} runs, {again:,} were sent again.")
    transport = results.scenario.get("transport", {})
    kinds = {str(transport.get("kind") if isinstance(transport, dict) else transport)}
    kinds.update(str(kind) for kind in results.scenario.get("sweep", {}).get("transport.kind", []))
    if "fluid" in kinds:
        found.append("The transport fluid simulates no packets: no headers, no queues, no losses.")
    if results.scenario.get("faults"):
        found.append("Faults are part of the scenario: times are those of a network that fails.")
    return found
