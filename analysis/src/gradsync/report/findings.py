# SPDX-License-Identifier: GPL-2.0-only
"""What a reader of results should know before believing them."""

from gradsync.results.codec_times import list_unmeasured
from gradsync.results.folder import Results, to_number
from gradsync.results.series import choose_axes, choose_scales, group


def _total(results: Results, column: str) -> int:
    values = [to_number(row.get(column, "")) for row in results.rows]
    return int(sum(value for value in values if value == value))


def _profiles(results: Results) -> list[str]:
    """Compression profiles that are no measurement, each once."""
    return [
        f"The times of {name} are no measurement (origin: {origin})."
        for name, origin in list_unmeasured(results).items()
    ]


def find_remarks(results: Results) -> list[str]:
    """What could not be drawn as the scenario asks, a sentence each."""
    axes = choose_axes(results)
    return list(choose_scales(results, axes, group(results, axes)).remarks)


def find_warnings(results: Results) -> list[str]:
    """One sentence each, the gravest first."""
    found = []
    for run in results.manifest.get("runs", []):
        if run.get("status") != "ok":
            found.append(f"Run {run.get('run')} {run.get('status')}: {run.get('problem', '')}")
    if len(found) > 10:
        found = [*found[:10], f"{len(found) - 10} further runs did not finish."]
    found += _profiles(results)
    dropped = _total(results, "dropped_packets")
    if dropped:
        runs = sum(to_number(row["dropped_packets"]) > 0 for row in results.rows)
        again = _total(results, "retransmitted_packets")
        found.append(f"{dropped:,} packets were dropped in {runs} runs, {again:,} were sent again.")
    fallbacks = _total(results, "fallbacks")
    if fallbacks:
        runs = sum(to_number(row["fallbacks"]) > 0 for row in results.rows)
        found.append(
            f"Switches did not aggregate any more in {runs} runs: "
            f"{fallbacks:,} times workers went on without them."
        )
    transport = results.scenario.get("transport", {})
    kinds = {str(transport.get("kind") if isinstance(transport, dict) else transport)}
    kinds.update(str(kind) for kind in results.scenario.get("sweep", {}).get("transport.kind", []))
    if "fluid" in kinds:
        found.append("The transport fluid simulates no packets: no headers, no queues, no losses.")
    if results.scenario.get("faults"):
        found.append("Faults are part of the scenario: times are those of a network that fails.")
    return found
