# SPDX-License-Identifier: GPL-2.0-only
"""Plans and programs from files: what a file says happens, read here by other means than the program's."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from xml.etree import ElementTree

from referee.case import picoseconds
from referee.evidence import WALL_CLOCK, Evidence
from referee.law import law
from referee.laws_plan import crosses, endpoint_order
from referee.laws_repeat import differences


def _file(e: Evidence, ending: str) -> str | None:
    """The file of the only job's plan, if it is of this kind."""
    scheme = e.scheme()
    named = scheme.get("file", "") if len(e.jobs) == 1 and scheme["kind"] == "import" else ""
    return e.case.files[named] if named.endswith(ending) else None


# Steps of an algorithm that send; doc/import.rst.
_SENDING = ("s", "rcs", "rrcs", "rrs")


@law(
    "doc/import.rst, MSCCL",
    when=lambda e: e.simulated and e.one_plan and _file(e, ".xml") is not None,
)
def an_algorithm_sends_the_chunks_of_its_file(e: Evidence) -> Iterator[str]:
    """Between each two ranks as many chunks as the sending steps of their thread blocks count."""
    want: Counter[tuple[int, int]] = Counter()
    for gpu in ElementTree.fromstring(_file(e, ".xml")).iter("gpu"):
        for block in gpu.iter("tb"):
            pair = int(gpu.get("id")), int(block.get("send"))
            steps = [step for step in block.iter("step") if step.get("type") in _SENDING]
            want[pair] += sum(int(step.get("cnt")) for step in steps)
    have: Counter[tuple[int, int]] = Counter()
    for operation in filter(crosses, e.plan["operations"]):
        have[operation["from"], operation["to"]] += operation["chunkCount"]
    # Chunks without elements are not sent.
    empty = min(e.plan["chunkBytes"]) == 0
    if any(have[pair] > want[pair] for pair in have) or (not empty and have != +want):
        yield f"chunks by pair: {dict(have)}, the file has {dict(want)}"


_STATEMENT = re.compile(r"(\w+): (send|recv|calc) (\d+)b?(?: (?:to|from) (\d+) tag (\d+))?.*")
_REQUIREMENT = re.compile(r"(\w+) (i?requires) (\w+)")


class _Goal:
    """A GOAL schedule, as far as the laws want it."""

    def __init__(self, text: str):
        self.messages: list[tuple[int, int, int]] = []  # from, to, bytes on the wire
        self.steps: dict[tuple[int, str], tuple[str, int]] = {}
        self.before: dict[tuple[int, str], list[tuple[str, tuple[int, str]]]] = defaultdict(list)
        sends, receives = defaultdict(list), defaultdict(list)
        for rank, block in re.findall(r"rank (\d+) \{(.*?)\}", text, re.DOTALL):
            for line in block.strip().splitlines():
                self._read(int(rank), line, sends, receives)
        for key, senders in sends.items():
            for sender, receiver in zip(senders, receives[key], strict=True):
                self.before[receiver].append(("message", sender))

    def _read(self, rank: int, line: str, sends: dict, receives: dict) -> None:
        required = _REQUIREMENT.fullmatch(line)
        if required:
            later, how, before = required.groups()
            self.before[rank, later].append((how, (rank, before)))
            return
        label, kind, number, peer, tag = _STATEMENT.fullmatch(line).groups()
        self.steps[rank, label] = kind, int(number)
        if kind == "send":
            sends[rank, int(peer), tag].append((rank, label))
            if rank != int(peer):
                self.messages.append((rank, int(peer), max(1, int(number))))
        elif kind == "recv":
            receives[int(peer), rank, tag].append((rank, label))

    def ends(self) -> dict[tuple[int, str], int]:
        """When each step ends at the soonest, in nanoseconds: as if messages took no time and every
        processor did everything at once."""
        begins: dict[tuple[int, str], int] = {}
        ends: dict[tuple[int, str], int] = {}

        def settle(step: tuple[int, str]) -> None:
            if step in ends:
                return
            begin = arrival = 0
            for how, before in self.before[step]:
                settle(before)
                if how == "message":
                    arrival = max(arrival, ends[before])
                else:
                    begin = max(begin, begins[before] if how == "irequires" else ends[before])
            kind, number = self.steps[step]
            begins[step] = begin
            ends[step] = max(arrival, begin + (number if kind == "calc" else 0))

        for step in self.steps:
            settle(step)
        return ends


@law(
    "doc/import.rst, GOAL",
    when=lambda e: e.simulated and e.one_plan and _file(e, ".goal") is not None,
)
def a_schedule_sends_the_messages_of_its_file(e: Evidence) -> Iterator[str]:
    """In every iteration each message of the file once, with its bytes, between its ranks."""
    names = endpoint_order(e)
    goal = _Goal(_file(e, ".goal"))
    want = Counter((names[src], names[dst], size) for src, dst, size in goal.messages)
    for row in e.main.rows("iterations"):
        rows = [m for m in e.main.rows("messages") if m["iteration"] == row["iteration"]]
        have = Counter((m["src"], m["dst"], int(m["bytes"])) for m in rows)
        if have != want:
            yield f"iteration {row['iteration']}: {(have - want) + (want - have)} differ"


@law(
    "doc/import.rst, GOAL",
    when=lambda e: e.simulated and e.one_plan and _file(e, ".goal") is not None,
)
def a_schedule_takes_the_time_of_its_computations(e: Evidence) -> Iterator[str]:
    """No iteration is shorter than the longest chain of computations, whatever messages cost."""
    least = max(_Goal(_file(e, ".goal")).ends().values(), default=0) * 1000
    for row in e.main.rows("iterations"):
        took = picoseconds(row["ict_s"]) - picoseconds(row["compute_s"])
        if took < least:
            yield f"iteration {row['iteration']} takes {took} ps, its computations {least} ps"


@law(
    "doc/import.rst, Round trip",
    when=lambda e: (
        e.simulated
        and e.probed("import")
        and e.one_plan
        and e.single
        and "job" in e.scenario
        and "protocol" not in e.jobs[0]
        and not (e.aggregates or e.compressed() or e.scenario.get("faults"))
    ),
)
def a_plan_that_is_exported_and_imported_is_the_same(e: Evidence) -> Iterator[str]:
    """The GOAL file of `plan --export` in the place of the scheme gives the same run."""
    yield from differences(e.main, e.imported, (*WALL_CLOCK, "auto_choice", "auto_estimate_s"))


@law(
    "doc/p4.rst, Programs of your own",
    when=lambda e: (
        e.simulated
        and isinstance(e.scenario.get("transport"), dict)
        and bool(e.setting("aggregation", {}).get("programs"))
    ),
)
def a_program_that_does_what_the_switch_does_changes_nothing(e: Evidence) -> Iterator[str]:
    """slot-aggregation.p4 as a program of the user gives the packets and sums of the native switch."""
    yield from differences(e.main, e.without_programs, (*WALL_CLOCK, "events"))
