# SPDX-License-Identifier: GPL-2.0-only
"""./ns3 test --fuzz: every reader of files under libFuzzer, beginning with its corpus."""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from launcher.errors import BAD_INPUT, FAILURE, OK, LauncherError
from launcher.process import say
from launcher.tests import Count
from launcher.tree import ROOT, Profile, cores

PROGRAM = "reader-fuzz"
CORPORA = ROOT / "tests" / "fuzz" / "corpus"
# What the tree has of good files beside the corpus.
_SEEDS = {
    "scenario": ("scenarios",),
    "topology": ("topologies",),
    "profile": ("profiles",),
}
_SCHEMA = ROOT / "scenarios" / "scenario.schema.json"
# A single text; far more than any takes with sanitizers on a busy machine.
_TEXT_SECONDS = 25
_MEMORY_MB = 2560
_LONGEST_TEXT = 1 << 16
_WORD = re.compile(r"[A-Za-z_][\w.-]{2,39}")


@dataclass
class Outcome:
    """How the fuzzing of a reader ended."""

    reader: str
    good: bool
    text: str


def _dictionary(paths: list[Path], target: Path) -> None:
    """Write libFuzzer's dictionary of the words in files."""
    words: set[str] = set()
    for path in paths:
        words.update(_WORD.findall(path.read_text(encoding="utf-8", errors="replace")))
    target.write_text("".join(f'"{word}"\n' for word in sorted(words)), encoding="utf-8")


def _fuzz(profile: Profile, reader: str, seconds: int) -> Outcome:
    work = profile.directory / "found" / reader
    found = work / "texts"
    found.mkdir(parents=True, exist_ok=True)
    seeds = [ROOT / name for name in _SEEDS.get(reader, ())]
    files = [path for folder in (CORPORA / reader, *seeds) for path in folder.rglob("*.*")]
    _dictionary([*files, _SCHEMA], work / "words.dict")
    command = [
        str(profile.directory / PROGRAM),
        f"-max_total_time={seconds}",
        f"-timeout={_TEXT_SECONDS}",
        f"-rss_limit_mb={_MEMORY_MB}",
        f"-max_len={_LONGEST_TEXT}",
        f"-artifact_prefix={work}/",
        f"-dict={work / 'words.dict'}",
        "-use_value_profile=1",
        "-print_final_stats=1",
        *map(str, (found, CORPORA / reader, *seeds)),
    ]
    variables = {**os.environ, "GRADSYNC_READER": reader}
    ended = subprocess.run(
        command, env=variables, capture_output=True, text=True, errors="replace", check=False
    )
    (work / "log").write_text(ended.stderr, encoding="utf-8")
    tried = re.search(r"number_of_executed_units: (\d+)", ended.stderr)
    if ended.returncode == 0 and tried:
        return Outcome(reader, True, f"{reader}: {tried[1]} texts")
    end = "\n".join(ended.stderr.splitlines()[-40:])
    return Outcome(reader, False, f"{reader}: exit code {ended.returncode}, see {work}\n{end}")


def choose_readers(name: str | None) -> list[str]:
    """The reader of that name, or all that have a corpus."""
    readers = sorted(folder.name for folder in CORPORA.iterdir())
    if name is None:
        return readers
    if name not in readers:
        raise LauncherError(f"--reader {name}: expected one of {', '.join(readers)}", BAD_INPUT)
    return [name]


def fuzz(profile: Profile, seconds: int, readers: list[str]) -> int:
    """Give these readers together so many seconds of wall time; 0 only if nothing was found.

    What is found stays in found/READER of the build, and the next start goes on from there.
    """
    share = max(1, seconds * min(cores(), len(readers)) // len(readers))
    say(f"fuzzing {', '.join(readers)}, {share} s each")
    count = Count()
    with ThreadPoolExecutor(cores()) as pool:
        for outcome in pool.map(lambda reader: _fuzz(profile, reader, share), readers):
            print(outcome.text, flush=True)
            count += Count(passed=1) if outcome.good else Count(failed=1)
    print(count)
    return OK if count.failed == 0 else FAILURE
