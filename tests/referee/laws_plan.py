# SPDX-License-Identifier: GPL-2.0-only
"""The messages of a run against the plan that is exported: each once, in order, and whole at the end."""

from collections import defaultdict
from collections.abc import Iterator

from referee.case import picoseconds, tensors_of
from referee.evidence import Evidence
from referee.law import law

_NETWORK = ("reduce", "copy", "signal")


def crosses(operation: dict) -> bool:
    """Whether an operation has a row in messages.csv: moves within a rank and joins have none."""
    if operation["kind"] == "aggregate":
        return True  # from a rank to itself, by way of the switches
    return operation["kind"] in _NETWORK and operation["from"] != operation["to"]


def _messages(e: Evidence) -> dict[tuple[str, str], dict[int, dict]]:
    """Rows of messages.csv by job and iteration, then by operation."""
    found: dict[tuple[str, str], dict[int, dict]] = defaultdict(dict)
    for row in e.main.rows("messages"):
        found[row["job"], row["iteration"]][int(row["operation"])] = row
    return found


@law("doc/results.rst, messages.csv", when=lambda e: e.simulated and e.one_plan)
def every_transfer_of_the_plan_is_a_message(e: Evidence) -> Iterator[str]:
    """A finished iteration has each transfer of its plan once, with its bytes, and nothing else."""
    rows = e.main.rows("messages")
    found = _messages(e)
    if sum(map(len, found.values())) != len(rows):
        yield "an operation is delivered twice"
    for row in e.main.rows("iterations"):
        plan = e.plans[row["job"]]
        want = {o["id"]: o["bytes"] for o in plan["operations"] if crosses(o)}
        have = {n: int(r["bytes"]) for n, r in found[row["job"], row["iteration"]].items()}
        if have != want:
            lack = sorted(set(want.items()) ^ set(have.items()))[:5]
            yield f"{row['job']} {row['iteration']}: operation and bytes differ: {lack}"


@law("doc/scenario.rst, endpoints", when=lambda e: e.simulated and e.one_plan)
def ranks_stand_where_they_should(e: Evidence) -> Iterator[str]:
    """Workers on the first endpoints, dedicated servers on the last ones, each rank on one."""
    names = endpoint_order(e)
    for (job, _), rows in _messages(e).items():
        plan = e.plans[job]
        workers, servers = plan["workers"], plan["ranks"] - plan["workers"]
        if len(e.job_names) != len(e.jobs):
            return  # the parties of mixed-sync
        place = names[:workers] + (names[-servers:] if servers else [])
        for number, row in rows.items():
            operation = plan["operations"][number]
            want = place[operation["from"]], place[operation["to"]]
            if (row["src"], row["dst"]) != want:
                yield f"operation {number} goes {row['src']} -> {row['dst']}, expected {want}"
                return


def endpoint_order(e: Evidence) -> list[str]:
    """doc/topology.rst: endpoints are numbered leaf by leaf, accelerators of a server in order."""

    def key(name: str) -> tuple[int, ...]:
        digits = "".join(c if c.isdigit() else " " for c in name)
        return tuple(int(part) for part in digits.split())

    if e.scenario["topology"]["kind"] == "graph":
        return [n["name"] for n in e.scenario["topology"]["nodes"] if n["kind"] == "host"]
    return sorted(e.network.endpoints, key=key)


def _plain_times(e: Evidence) -> bool:
    """Operations take no time but that of their messages."""
    return (
        e.simulated
        and e.one_plan
        and not e.aggregates
        and not any(f["kind"].startswith(("straggler", "host-crash")) for f in _faults(e))
        and not any(e.compressed(index) for index in range(len(e.jobs)))
    )


def _computes(plan: dict) -> bool:
    """Schedules of others compute between their messages (doc/import.rst)."""
    return any(operation["kind"] == "compute" for operation in plan["operations"])


def _faults(e: Evidence) -> list[dict]:
    return e.scenario.get("faults", [])


@law("doc/engine.rst, How a plan is run", when=_plain_times)
def messages_wait_for_what_the_plan_says(e: Evidence) -> Iterator[str]:
    """A transfer starts when all before it is done: no sooner, and where nothing else holds it no later."""
    for index, job in enumerate(e.jobs):
        name = e.job_name(index)
        if name not in e.plans:
            return
        free = "reduceRate" not in job and not job.get("maxOutstandingSends")
        free &= not _computes(e.plans[name])
        for row in e.main.rows("iterations"):
            if row["job"] == name:
                begin = picoseconds(row["start_s"]) + picoseconds(row["compute_s"])
                begin += e.protocol(index)[0]
                rows = _messages(e)[name, row["iteration"]]
                yield from _replay_times(e.plans[name], rows, begin, free)


def _replay_times(plan: dict, rows: dict[int, dict], begin: int, free: bool) -> Iterator[str]:
    done: dict[int, int] = {}
    operations = plan["operations"]
    for number in _in_order(operations):
        operation = operations[number]
        ready = max((done[before] for before in operation["after"]), default=begin)
        ready = max(ready, begin)
        done[number] = ready
        if not crosses(operation):
            continue
        row = rows.get(number)
        if row is None:
            yield f"operation {number} was not delivered"
            return
        start, end = picoseconds(row["start_s"]), picoseconds(row["end_s"])
        if start < ready or (free and start != ready):
            yield f"operation {number} starts at {start} ps, what it waits for is done at {ready} ps"
            return
        done[number] = end


def _in_order(operations: list[dict]) -> list[int]:
    """A topological order (Kahn 1962)."""
    waits = [len(operation["after"]) for operation in operations]
    later = defaultdict(list)
    for operation in operations:
        for before in operation["after"]:
            later[before].append(operation["id"])
    order = [number for number, count in enumerate(waits) if count == 0]
    for number in order:
        for successor in later[number]:
            waits[successor] -= 1
            if waits[successor] == 0:
                order.append(successor)
    return order


@law(
    "doc/engine.rst: an iteration ends with its last operation",
    when=lambda e: _plain_times(e) and e.finished,
)
def an_iteration_ends_with_its_last_message(e: Evidence) -> Iterator[str]:
    """Where adding is free, the end of an iteration is the last delivery."""
    for index, job in enumerate(e.jobs):
        name = e.job_name(index)
        if "reduceRate" in job or name not in e.plans or _computes(e.plans[name]):
            continue
        for row in e.main.rows("iterations"):
            rows = _messages(e).get((row["job"], row["iteration"]), {})
            if row["job"] != e.job_name(index) or not rows:
                continue
            last = max(picoseconds(message["end_s"]) for message in rows.values())
            end = picoseconds(row["start_s"]) + picoseconds(row["ict_s"])
            if end != last:
                yield f"{row['job']} {row['iteration']} ends at {end} ps, its last message at {last} ps"


def _replayable(e: Evidence) -> bool:
    """The sets of contributions follow from the messages: what a plan is for, one by one."""
    return (
        e.finished
        and e.one_plan
        and not e.aggregates
        and e.single
        and e.plan["collective"] == "all-reduce"
        and not e.compressed()
        and "reduceRate" not in e.jobs[0]
    )


@law("doc/plan.rst: each worker ends with the sum of all", when=_replayable)
def messages_make_the_sum_of_all(e: Evidence) -> Iterator[str]:
    """Replayed in the order of their times, messages bring every contribution to every worker once."""
    plan = e.plan
    for row in e.main.rows("iterations"):
        begin = picoseconds(row["start_s"]) + picoseconds(row["compute_s"])
        rows = _messages(e)[row["job"], row["iteration"]]
        for chunk, size in enumerate(plan["chunkBytes"]):
            if size:
                yield from _replay_chunk(plan, rows, begin, chunk)


def _moves(plan: dict, rows: dict[int, dict], begin: int, chunk: int) -> list[tuple]:
    """What reads and writes one chunk, in time: what ends at an instant comes before what starts then."""
    done: dict[int, int] = {}
    steps = []
    operations = plan["operations"]
    for place, number in enumerate(_in_order(operations)):
        operation = operations[number]
        ready = max((done[before] for before in operation["after"]), default=begin)
        end = picoseconds(rows[number]["end_s"]) if number in rows else ready
        start = picoseconds(rows[number]["start_s"]) if number in rows else ready
        done[number] = end
        if operation["kind"] not in ("reduce", "copy"):
            continue
        first = operation["firstChunk"]
        if first <= chunk < first + operation["chunkCount"]:
            local = number not in rows
            # Within a rank a move takes no time: it ends where it starts, in the plan's order.
            steps.append((start, 1, place, "start", operation))
            steps.append((end, 1 if local else 0, place, "end", operation))
    return sorted(steps, key=lambda step: step[:3])


def _replay_chunk(plan: dict, rows: dict[int, dict], begin: int, chunk: int) -> Iterator[str]:
    everybody = (1 << plan["workers"]) - 1
    held = {(rank, 0): 1 << rank for rank in range(plan["workers"])}
    travelling: dict[int, int] = {}
    for _, _, _, event, operation in _moves(plan, rows, begin, chunk):
        target = operation["to"], operation["toBuffer"]
        if event == "start":
            travelling[operation["id"]] = held.get((operation["from"], operation["fromBuffer"]), 0)
            if not travelling[operation["id"]]:
                yield f"chunk {chunk}: operation {operation['id']} sends nothing"
        elif operation["kind"] == "copy":
            held[target] = travelling[operation["id"]]
        else:
            if held.get(target, 0) & travelling[operation["id"]]:
                yield f"chunk {chunk}: operation {operation['id']} adds a contribution twice"
            held[target] = held.get(target, 0) | travelling[operation["id"]]
    for rank in range(plan["workers"]):
        if held[rank, 0] != everybody:
            yield f"chunk {chunk}: worker {rank} lacks contributions: {held[rank, 0]:b}"


@law("doc/plan.rst, chunks are whole elements", when=lambda e: e.simulated and e.one_plan)
def chunks_cut_the_gradient_on_elements(e: Evidence) -> Iterator[str]:
    """Chunks add up to the buffer, and all but the last are multiples of 4 bytes."""
    for name, plan in e.plans.items():
        sizes = plan["chunkBytes"]
        if sum(sizes) != plan["bytes"]:
            yield f"{name}: chunks of {sum(sizes)} bytes in all, the buffer has {plan['bytes']}"
        # Bytes that are no element go with the last part of a worker's buffer, of which all-to-all has many.
        kinds = {e.scheme(index)["kind"] for index in range(len(e.jobs))}
        elements = not kinds & {"sparse-all-gather", "barrier"}
        # The chunks of a schedule are its messages.
        elements &= plan["collective"] != "exchange of messages"
        sizes_of = (size for job in e.jobs for size, _ in tensors_of(job))
        elements &= all(size % 4 == 0 for size in sizes_of)
        if elements and any(size % 4 for size in sizes[:-1]):
            yield f"{name}: a chunk ends within an element: {sizes[:20]}"


@law("doc/schemes.rst: parts without elements are not sent", when=lambda e: e.simulated)
def no_message_is_empty(e: Evidence) -> Iterator[str]:
    """There are no messages of 0 bytes."""
    for row in e.main.rows("messages"):
        if int(row["bytes"]) <= 0:
            yield f"{row}"
            return


@law("doc/results.rst, blocked.csv", when=lambda e: e.simulated)
def blocked_workers_are_workers(e: Evidence) -> Iterator[str]:
    """Never more workers wait than there are, and a row is a change."""
    last: dict[str, str] = {}
    for row in e.main.rows("blocked"):
        if not 0 <= int(row["blocked_workers"]) <= int(e.main.run["workers"]):
            yield f"{row}"
        if last.get(row["job"]) == row["blocked_workers"]:
            yield f"no change: {row}"
        last[row["job"]] = row["blocked_workers"]


@law(
    "doc/results.rst, longest_chain",
    when=lambda e: e.simulated and e.one_plan and not e.aggregates and len(e.job_names) == 1,
)
def the_longest_chain_is_that_of_the_plan(e: Evidence) -> Iterator[str]:
    """Transfers in the longest path through the exported plan."""
    depth: dict[int, int] = {}
    operations = e.plan["operations"]
    for number in _in_order(operations):
        before = max((depth[b] for b in operations[number]["after"]), default=0)
        moves = operations[number]["kind"] in ("reduce", "copy") and crosses(operations[number])
        depth[number] = before + (1 if moves else 0)
    if e.main.run["longest_chain"] != str(max(depth.values(), default=0)):
        yield f"{e.main.run['longest_chain']}, the plan has {max(depth.values(), default=0)}"
