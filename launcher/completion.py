# SPDX-License-Identifier: GPL-2.0-only
"""./ns3 completion SHELL: what a shell may complete after ./ns3, from the help of the verbs.

Each verb's options are declared where it is carried out; its --help has them all, so that nothing is
repeated here. What the simulator has is left out while it is not built.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from launcher.completion_shells import bash, fish, zsh
from launcher.tree import RELEASE, ROOT, cores

# A line of a help: "  -h, --help  ...", "  --kind {a,b}", "  --jobs N:UINT in [1 - 4096] Runs ...".
_OPTION = re.compile(r"^  (?:-\w, ?)?(--[a-z][\w-]*)(?: (\{\S+\}|\[\S+|[A-Z]\S*))?", re.MULTILINE)
# What a verb wants, the argument after its options: "  SCENARIO FILE REQUIRED", "  DIR   results ...".
_POSITIONAL = re.compile(r"^(?:Positionals|positional arguments):\n  (\w+)", re.MULTILINE)
_FILES = frozenset({"SCENARIO", "TABLE"})
_FOLDERS = frozenset({"DIR", "RESULTS"})
P4_ACTIONS = ("play", "describe")
COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "reduce")
# What may stand in the place of files.
_VALUES = {"COLLECTIVE": COLLECTIVES, "ACTION": P4_ACTIONS}


@dataclass
class Words:
    """What may follow a verb."""

    help: str
    options: dict[str, list[str]] = field(default_factory=dict)  # name -> values that it may have
    takes_files: bool = False
    takes_folders: bool = False
    values: list[str] = field(default_factory=list)  # in the place of files


def _help_of(verb: str) -> str:
    command = [sys.executable, "-I", str(ROOT / "launcher"), verb, "--help"]
    # As wide as it takes: a broken line would hide what an option wants.
    variables = {**os.environ, "COLUMNS": "1000"}
    told = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    return told.stdout


def read_help(summary: str, text: str, names: Sequence[str]) -> Words:
    """What a help tells; `names` are schemes, for the options that take one."""
    words = Words(summary)
    for option, wanted in _OPTION.findall(text):
        choices = wanted[1:-1].split(",") if wanted.startswith("{") else []
        if wanted == "PATH=VALUE":  # of a scenario
            choices = [f"scheme.kind={name}" for name in names]
        words.options[option] = list(names) if option == "--scheme" else choices
    positional = _POSITIONAL.search(text)
    what = positional[1] if positional else ""
    words.takes_files = what in _FILES
    words.takes_folders = what in _FOLDERS
    words.values = list(_VALUES.get(what, ()))
    return words


def _scheme_names() -> list[str]:
    if not RELEASE.program.exists():
        return []
    command = [str(RELEASE.program), "list", "--json"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    kinds = json.loads(told.stdout)["schemes"]["kinds"] if told.returncode == 0 else []
    return [kind["name"] for kind in kinds]


def read_verbs(summaries: Mapping[str, str]) -> dict[str, Words]:
    """Every verb with what may follow it."""
    names = _scheme_names()
    with ThreadPoolExecutor(cores()) as pool:
        helps = pool.map(_help_of, summaries)
        return {
            verb: read_help(summary, text, names)
            for (verb, summary), text in zip(summaries.items(), helps)
        }


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}


def script(shell: str, summaries: Mapping[str, str]) -> str:
    """The script that a shell reads to complete what follows ./ns3."""
    verbs = read_verbs(summaries)
    for verb in ("help", "completion"):
        verbs[verb].values = list(summaries) if verb == "help" else list(SHELLS)
    return SHELLS[shell](verbs)
