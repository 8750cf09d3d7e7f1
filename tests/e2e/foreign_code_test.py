# SPDX-License-Identifier: GPL-2.0-only
"""Files that came with a scenario are data: no verb runs code from the folder in which the user stands."""

import re
import shutil
import sys
from pathlib import Path

import pytest
from conftest import ROOT, SmallTree, call

sys.path.append(str(ROOT))
import contextlib

from launcher.cli import _VERBS

# What simulations and workflows ask of it, as if there were a run to do.
PRINTS_A_RUN = '#include <cstdio>\nint main() { std::puts("[{\\"run\\": 0, \\"done\\": false}]"); }'

# A command line for each verb that gets as far as a tree without scenarios and results lets it.
COMMANDS = {
    "run": ("run", "s.json"),
    "sweep": ("sweep", "s.json", "--no-plot"),
    "describe": ("describe", "s.json"),
    "validate": ("validate", "s.json"),
    "plan": ("plan", "s.json"),
    "auto": ("auto", "s.json"),
    "list": ("list",),
    "trees": ("trees", "s.json"),
    "p4": ("p4", "describe", "p.json"),
    "plot": ("plot", "."),
    "report": ("report", "."),
    "export": ("export", "."),
    "reproduce": ("reproduce",),
    "route": ("route", "s.json"),
    "regress": ("regress",),
    "collective": ("collective", "all-reduce", "--topology=s.json"),
    "fit": ("fit", "s.csv", "--parameters=transport.efficiency"),
    "sum-errors": ("sum-errors",),
    "gradients": ("gradients", "--quick", "--codec=none"),
    "gallery": ("gallery",),
    "test": ("test",),
    "bench": ("bench",),
    "calibrate": ("calibrate", "--quick"),
    "format": ("format", "--check"),
    "completion": ("completion", "bash"),
    "docs": ("docs",),
    "python": ("python", "missing.py"),
    "build": ("build",),
    "doctor": ("doctor",),
    "help": ("help",),
}


def lay_traps(folder: Path) -> Path:
    """A module for every name that somebody may import; the file that they write to when they run."""
    sprung = folder / "sprung"
    packages = Path(sys.prefix).glob("lib/python3*/site-packages/*")
    names = {path.name.removesuffix(".py") for path in packages}
    names |= sys.stdlib_module_names | {"gradsync", "pip", "launcher", "sitecustomize", "conftest"}
    for name in filter(str.isidentifier, names):
        if not (folder / name).exists():
            (folder / f"{name}.py").write_text(f"open({str(sprung)!r}, 'a').write('{name} ')\n")
    # Snakemake's profile of a workflow, which may name commands; one with an option that does not exist.
    for profile in (folder / "profiles" / "default", folder / "default"):
        profile.mkdir(parents=True)
        (profile / "config.yaml").write_text("no-such-option: true\n")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p json\n")
    return sprung


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A tree of this launcher and package, full of traps."""
    tree = SmallTree(tmp_path_factory.mktemp("foreign") / "tree")
    tree.source(PRINTS_A_RUN)
    for file in [*ROOT.glob("analysis/*.lock"), *ROOT.glob("analysis/src/**/*")]:
        if file.is_file() and "__pycache__" not in file.parts:
            copy = tree.folder / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)
    (tree.folder / ".venv").symlink_to(sys.prefix)
    for folder in ("scenarios/papers", "tests/e2e", "scenarios/regression"):
        (tree.folder / folder).mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "e2e" / "pytest.ini", tree.folder / "tests" / "e2e")
    for file in ("s.json", "scenarios/regression/s.json"):
        (tree.folder / file).write_text("{}")
    tree.sprung = lay_traps(tree.folder)
    return tree


def test_the_traps_work(tree):
    """Without -P every one of these would run the first module that it imports."""
    for arguments in (["-m", "gradsync"], ["-c", "import json"], ["-m", "snakemake"]):
        call([tree.folder / ".venv" / "bin" / "python", *arguments], tree.folder)
        assert tree.sprung.read_text()
        tree.sprung.unlink()


def test_there_is_a_command_for_every_verb():
    assert set(COMMANDS) == set(_VERBS)


@pytest.mark.parametrize("verb", COMMANDS)
def test_no_verb_runs_a_module_of_the_current_folder(tree, verb):
    options = [] if verb in ("doctor", "help") else ["--no-install"]
    # A colon at the end means the current folder to Python, unless it is told otherwise.
    variables = {"PYTHONPATH": "/nonexistent:", "GRADSYNC_PROGRAM": ""}
    result = call(["./ns3", *COMMANDS[verb], *options], tree.folder, variables)
    assert not tree.sprung.exists(), tree.sprung.read_text()
    assert "no-such-option" not in result.stderr
    if verb in ("sweep", "reproduce", "help", "doctor"):
        assert result.returncode == 0, result.stderr


def test_a_program_in_the_current_folder_is_not_run(tmp_path, monkeypatch):
    from gradsync.errors import ScenarioError
    from gradsync.studies.program import find_program

    built = tmp_path / "build" / "release" / "gradsync"
    built.parent.mkdir(parents=True)
    built.write_text("#!/bin/sh\n")
    built.chmod(0o755)
    (tmp_path / "scenarios").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRADSYNC_PROGRAM", raising=False)
    with contextlib.suppress(ScenarioError):
        assert find_program() != built


STARTS_PYTHON = re.compile(r'(?<!-)(python3?|"\$python"|"\$1") +(-\w|\S+\.py|"\$root)')


def shell_lines():
    """The lines of our scripts that start a Python."""
    names = [
        ROOT / "ns3",
        *ROOT.glob(".ci/*"),
        *ROOT.glob("tests/*.sh"),
        *ROOT.glob("analysis/**/Snakefile"),
    ]
    for path in names:
        for line in path.read_text().splitlines():
            if STARTS_PYTHON.search(line) and not line.startswith("#"):
                yield f"{path.name}: {line.strip()}"


def test_scripts_start_python_without_the_current_folder():
    lines = list(shell_lines())
    assert len(lines) >= 7, lines
    assert [line for line in lines if STARTS_PYTHON.search(line)[2] not in ("-I", "-P")] == []
