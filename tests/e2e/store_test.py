# SPDX-License-Identifier: GPL-2.0-only
"""The store of results on a disk that fails at one call: nothing is lost, and nothing in silence.

tests/support/failing-store.cc spoils the N-th call of a kind on the files of a results folder. Every start
must end with the whole results or with a message and an exit code, and the next start on a good disk with
the whole results, without simulating again what was stored. CI tries every STRIDE-th N from one drawn at
random on, GRADSYNC_STORE_STRIDE=1 tries them all.
"""

import copy
import errno
import json
import os
import random
import shutil
import signal
import struct
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT

from gradsync.results.compare import compare_results

# The smallest runs that write every kind of file: tables, a trace, captures.
SCENARIO = {
    "title": "Store",
    "topology": {
        "kind": "star",
        "hosts": 2,
        "hostLink": {"rate": "10Gbps", "delay": "1us"},
    },
    "transport": "roce",
    "job": {"gradient": "20kB", "iterations": 2},
    "scheme": "ring",
    "results": {"messages": True, "trace": True, "pcap": [["host0", "leaf0"]]},
    "sweep": {"scheme.kind": ["ring", "ps"]},
}
# As in the state of the shim.
KINDS = "create open read write sync close rename link mkdir remove list".split()
FULL = str(int(errno.ENOSPC))
BROKEN = str(int(errno.EIO))
WAYS = {
    "create": (FULL,),
    "open": (BROKEN,),
    "read": (BROKEN, "short", str(int(errno.EINTR))),
    "write": (FULL, "short", "die", "cut"),
    "sync": (BROKEN, "cut"),
    "close": (BROKEN,),
    "rename": (FULL, "die", "cut"),
    "link": (BROKEN, "cut"),
    "mkdir": (FULL, "cut"),
    "remove": (BROKEN, "cut"),
    "list": (BROKEN,),
}
CASES = [(kind, how) for kind, ways in WAYS.items() for how in ways]
STRIDE = int(os.environ.get("GRADSYNC_STORE_STRIDE", "12"))


@dataclass
class Ended:
    """How a start ended."""

    code: int
    said: str


class Store:
    """A results folder in the care of the shim."""

    def __init__(self, program, shim: Path, folder: Path):
        self.program = program
        self.shim = shim
        self.folder = folder
        self.out = folder / "out"
        self.state = folder / "state"
        folder.mkdir()
        (folder / "s.json").write_text(json.dumps(SCENARIO))

    def begin(self, *options, call="", how="", delay=0):
        """A start in a group of processes of its own, as the power cut kills the group."""
        variables = {
            "LD_PRELOAD": str(self.shim),
            "FAILING_STORE_FOLDER": str(self.out),
            "FAILING_STORE_STATE": str(self.state),
            "FAILING_STORE_CALL": call,
            "FAILING_STORE_HOW": how,
            "FAILING_STORE_DELAY": str(delay),
        }
        return subprocess.Popen(
            [
                self.program,
                "run",
                "s.json",
                f"--out={self.out}",
                "--progress=never",
                "--jobs=1",
                *options,
            ],
            cwd=self.folder,
            env={**os.environ, **variables},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def beside(self, name: str) -> "Store":
        """The same folder under another shim, with calls counted apart."""
        other = copy.copy(self)
        other.state = self.folder / name
        return other

    def start(self, *options, **spoiled) -> Ended:
        """A start up to its end, the first one of a state."""
        self.state.unlink(missing_ok=True)
        with self.begin(*options, **spoiled) as process:
            _, said = process.communicate(timeout=120)
        return Ended(process.returncode, said)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Of the last start: how many calls of each kind there were, and whether one was spoiled."""
        form = f"{len(KINDS) + 1}Q"
        with open(self.state, "rb") as file:
            return struct.unpack(form, file.read(struct.calcsize(form)))

    @property
    def counts(self) -> dict[str, int]:
        return dict(zip(KINDS, self.numbers))

    @property
    def was_spoiled(self) -> bool:
        return self.numbers[-1] == 1

    @property
    def runs(self) -> dict[str, int]:
        """The stored runs, and when they were written."""
        found = (self.out / ".runs").glob("[0-9]*-*")
        return {run.name: run.stat().st_mtime_ns for run in found}

    @property
    def files(self) -> set[str]:
        paths = (self.out.rglob("*")) if self.out.exists() else ()
        return {str(path.relative_to(self.out)) for path in paths}

    def is_like(self, other: "Store") -> list[str]:
        """How the results differ from others, wall-clock columns and the manifest aside."""
        if not (self.out / "runs.csv").exists():
            return ["no results"]
        differences = compare_results(self.out, other.out)
        for name in other.files:
            mine, its = self.out / name, other.out / name
            if name.startswith(".runs") or its.is_dir() or name in ("runs.csv", "manifest.json"):
                continue
            if not mine.exists() or mine.read_bytes() != its.read_bytes():
                differences.append(name)
        return differences


@pytest.fixture(scope="module")
def make_store(tmp_path_factory):
    program = os.environ.get("GRADSYNC_PROGRAM", str(ROOT / "build" / "release" / "gradsync"))
    shim = Path(program).with_name("failing-store.so")
    folder = tmp_path_factory.mktemp("store")
    return lambda name: Store(program, shim, folder / name)


@pytest.fixture(scope="module")
def whole(make_store):
    """Results that nothing disturbed."""
    store = make_store("whole")
    assert store.start() == Ended(0, "")
    return store


def check_message(ended: Ended, what: str) -> None:
    """Errors are told in lines of their own; a signal, or an exception that nobody knows, is a failure."""
    lines = ended.said.splitlines()
    assert ended.code in (1, 2), (what, ended)
    assert any(line.startswith("gradsync: error: ") for line in lines), (what, ended)
    assert all(line.startswith("gradsync: ") for line in lines), (what, ended)
    assert "internal error" not in ended.said, (what, ended)


def check_case(make_store, whole: Store, kind: str, how: str, number: int) -> int:
    """One failure and the start after it; the exit code of the first."""
    what = f"{kind} {number} {how}"
    store = make_store(f"{kind}-{how}-{number}")
    first = store.start(call=f"{kind}:{number}", how=how)
    assert store.was_spoiled, what
    if first.code == 0:
        assert store.is_like(whole) == [], what
    elif first.code != -signal.SIGKILL:
        check_message(first, what)
    kept = store.runs
    second = store.start()
    assert second == Ended(0, ""), (what, first, second)
    assert store.is_like(whole) == [], (what, first)
    assert store.files == whole.files, (what, first)
    assert {run: store.runs[run] for run in kept} == kept, (what, first)
    shutil.rmtree(store.folder)
    return first.code


@pytest.mark.parametrize("kind, how", CASES)
def test_a_failure_is_told_and_mended_by_the_next_start(make_store, whole, kind, how):
    count = whole.counts[kind]
    numbers = range(1 + random.randrange(min(STRIDE, count)), count + 1, STRIDE)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        codes = list(pool.map(lambda n: check_case(make_store, whole, kind, how, n), numbers))
    print(f"{kind} {how}: {count} calls, exit codes {dict(Counter(codes))}")


def end_all(processes) -> list[Ended]:
    """The ends of programs that run at the same time."""
    ended = []
    for process in processes:
        _, said = process.communicate(timeout=120)
        ended.append(Ended(process.returncode, said))
    return ended


@pytest.mark.parametrize("seed", range(4))
def test_programs_that_do_the_same_runs_at_once_keep_one_of_each(make_store, whole, seed):
    store = make_store(f"points-{seed}")
    slow = random.Random(seed).choice((100, 1000, 3000))
    programs = [store.begin(f"--points={points}", delay=slow) for points in ("0-1", "0-1", "1")]
    assert end_all(programs) == [Ended(0, "")] * 3
    kept = store.runs
    assert len(kept) == 2
    assert store.start("--assemble") == Ended(0, "")
    assert store.runs == kept
    assert store.is_like(whole) == []
    assert store.files == whole.files


def test_programs_that_begin_the_same_folder_at_once_take_each_other_for_their_own(make_store):
    # Each looks at the folder while another makes it; a store seen before its lock was refused once.
    for number in range(16):
        store = make_store(f"begun-{number}")
        slow = (100, 1000, 3000)[number % 3]
        programs = [store.begin("--points=1", delay=slow) for _ in range(6)]
        assert end_all(programs) == [Ended(0, "")] * 6, number
        assert len(store.runs) == 1, number
        shutil.rmtree(store.folder)


def test_one_of_two_programs_dies_and_the_other_finishes(make_store, whole):
    for number in random.sample(range(1, whole.counts["write"] // 2), 8):
        store = make_store(f"dying-{number}")
        dying = store.begin("--points=0-1", call=f"write:{number}", how="die", delay=500)
        other = store.beside("other").begin("--points=0-1", delay=500)
        assert [ended.code for ended in end_all([dying, other])].count(0) >= 1, number
        assert len(store.runs) == 2, number
        assert store.start("--assemble") == Ended(0, ""), number
        assert store.is_like(whole) == [], number
        assert store.files == whole.files, number


def test_two_whole_starts_exclude_each_other(make_store, whole):
    store = make_store("whole-twice")
    ended = end_all([store.begin(delay=2000), store.begin(delay=2000)])
    assert sorted(end.code for end in ended) == [0, 2], ended
    refused = next(end for end in ended if end.code == 2)
    assert refused.said == f"gradsync: error: {store.out}: another gradsync writes to this folder\n"
    assert store.is_like(whole) == []
    assert store.files == whole.files
