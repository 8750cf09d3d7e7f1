# SPDX-License-Identifier: GPL-2.0-only
"""How runs end: exit codes, messages, limits."""

from collections.abc import Iterator

from referee.case import picoseconds
from referee.evidence import Evidence
from referee.law import law

# A message that names a million operations is no message.
_LONGEST_LINE = 2000


@law("doc/results.rst, exit codes", trains=True)
def every_run_ends_in_success_refusal_or_a_named_failure(e: Evidence) -> Iterator[str]:
    """The exit code is 0, 2 or 3."""
    if e.main.code not in (0, 2, 3):
        yield f"exit code {e.main.code}: {e.main.outcome.error[-1500:]}"


@law("issue 18: no run above its limits of wall time and memory", trains=True)
def runs_stay_within_limits(e: Evidence) -> Iterator[str]:
    """A small scenario takes no minute and no gigabyte."""
    outcome, limits = e.main.outcome, e.simulator.limits
    if outcome.timed_out:
        yield f"killed after {outcome.seconds:.1f} s"
    if outcome.peak_bytes > limits.peak_bytes:
        yield f"{outcome.peak_bytes} bytes of memory, allowed are {limits.peak_bytes}"


@law("doc/scenario.rst, Errors", when=lambda e: e.refused, trains=True)
def a_refusal_is_one_clear_line(e: Evidence) -> Iterator[str]:
    """Bad input gives one line that names the file, and nothing is written."""
    lines = [line for line in e.main.outcome.error.splitlines() if line]
    errors = [line for line in lines if line.startswith("gradsync: error: ")]
    if len(errors) != 1 or not errors[0].startswith("gradsync: error: scenario.json: "):
        yield f"not one line that names the file: {lines}"
    if any(len(line) > _LONGEST_LINE for line in lines):
        yield f"a line of {max(map(len, lines))} characters"
    if e.main.tables or "internal" in e.main.outcome.error:
        yield f"tables {sorted(e.main.tables)}, {lines}"


@law("doc/scenario.rst, Errors", when=lambda e: e.refused, trains=True)
def what_is_refused_is_refused_by_every_verb(e: Evidence) -> Iterator[str]:
    """`describe` refuses what `run` refuses."""
    if e.description.code != 2:
        yield f"describe ends with {e.description.code}, the run with 2: {e.main.outcome.error}"


@law("doc/results.rst, gradsync describe", when=lambda e: e.simulated)
def describe_knows_every_run_that_is_simulated(e: Evidence) -> Iterator[str]:
    """`describe` ends well and names the jobs of what `run` simulates, and `plan` has their plans."""
    if e.description.code != 0 or len(e.job_names) < len(e.jobs):
        yield f"exit code {e.description.code}, jobs {e.job_names}: {e.description.error}"
    elif set(e.plans) != set(e.job_names):
        yield f"plans of {sorted(e.plans)}, jobs {e.job_names}"


@law("doc/faults.rst, Never a hang", when=lambda e: e.main.code == 3, trains=True)
def a_failure_is_named(e: Evidence) -> Iterator[str]:
    """An exchange that cannot finish ends with its cause, and the tables say so."""
    if "gradsync: error: run 0 unfinished: " not in e.main.outcome.error:
        yield f"no cause: {e.main.outcome.error!r}"
    if e.main.run["status"] != "unfinished":
        yield f"status {e.main.run['status']} with exit code 3"


@law("doc/results.rst, runs.csv", when=lambda e: e.main.code == 0, trains=True)
def success_means_that_everything_finished(e: Evidence) -> Iterator[str]:
    """Exit code 0: one run, ok, and a row for every iteration of every job."""
    rows = e.main.rows("runs")
    if len(rows) != 1 or rows[0]["status"] != "ok":
        yield f"runs {[row['status'] for row in rows]}"
    if e.main.rows("unfinished"):
        yield f"{len(e.main.rows('unfinished'))} unfinished transfers"
    if any(e.scheme(index).get("sync") == "mixed" for index in range(len(e.jobs))):
        return  # several jobs of one
    want = sum(job.get("iterations", 1) for job in e.jobs)
    if len(e.main.rows("iterations")) != want:
        yield f"{len(e.main.rows('iterations'))} iterations, asked for {want}"


@law("doc/faults.rst: unfinished.csv lists all transfers that are not done", trains=True)
def unfinished_transfers_are_listed_once(e: Evidence) -> Iterator[str]:
    """Only transfers that were not delivered, each once, with a state that is known."""
    seen = set()
    delivered = {
        (row["job"], row["iteration"], row["operation"]) for row in e.main.rows("messages")
    }
    reactions = any(row["kind"] == "reaction" for row in e.main.rows("faults"))
    for row in e.main.rows("unfinished"):
        key = row["job"], row["iteration"], row["operation"]
        if key in seen:
            yield f"twice: {key}"
        seen.add(key)
        if row["state"] not in ("network", "waiting"):
            yield f"state {row['state']}"
        # A reduction is delivered before it is added; a new plan has new numbers.
        if key in delivered and row["state"] == "network" and not reactions:
            yield f"{key} was delivered and is in the network"


@law("doc/scenario.rst, job.timeout", when=lambda e: e.simulated)
def no_iteration_outlasts_its_timeout(e: Evidence) -> Iterator[str]:
    """An iteration that took longer than job.timeout has failed."""
    if len(e.job_names) != len(e.jobs):
        return
    for index, job in enumerate(e.jobs):
        limit = e.time(job, "timeout")
        for row in e.main.rows("iterations"):
            if limit and row["job"] == e.job_name(index) and picoseconds(row["ict_s"]) > limit:
                yield f"iteration {row['iteration']} of {row['job']} took {row['ict_s']} s"
