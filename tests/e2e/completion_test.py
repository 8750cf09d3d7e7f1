# SPDX-License-Identifier: GPL-2.0-only
"""What shells complete ./ns3 with, asked of the shells themselves, and --version."""

import json
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

sys.path.append(str(ROOT))

import gradsync
from gradsync.studies.collective import COLLECTIVES
from launcher import completion
from launcher.cli import _VERBS

# Typed, and words that are offered for the last one; in ROOT.
OFFERED = [
    ("./ns3 re", {"report", "reproduce", "regress"}),
    ("./ns3 --v", {"--version"}),
    ("./ns3 run --no-", {"--no-install", "--no-plot", "--no-resume", "--no-skip"}),
    ("./ns3 test --f", {"--filter", "--fuzz"}),
    ("./ns3 run scenarios/quick", {"scenarios/quickstart.json"}),
    ("./ns3 plot --kind q", {"queues"}),
    ("./ns3 plot --kind=q", {"queues"}),
    ("./ns3 collective all-", {"all-reduce", "all-gather", "all-to-all"}),
    ("./ns3 collective all-reduce --scheme double", {"double-binary-tree"}),
    ("./ns3 run x.json --set scheme.kind=halv", {"scheme.kind=halving-doubling"}),
    ("./ns3 run x.json --set=scheme.kind=nccl:t", {"scheme.kind=nccl:tree"}),
    ("./ns3 completion ", {"bash", "zsh", "fish"}),
]


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """A file for each shell."""
    folder = tmp_path_factory.mktemp("completion")
    summaries = {verb: row.help for verb, row in _VERBS.items()}
    for shell in completion.SHELLS:
        (folder / shell).write_text(completion.script(shell, summaries))
    return folder


def _run(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _put_in_place(typed, reply):
    """What bash makes of the line: it replaces what follows the last of its own breaks."""
    word = typed.rsplit(None, 1)[-1] if not typed.endswith(" ") else ""
    return re.sub(r"[^=:]*$", "", word) + reply


@pytest.mark.parametrize("typed, offered", OFFERED, ids=[typed for typed, _ in OFFERED])
def test_bash_offers_what_there_is(scripts, typed, offered):
    asked = f'source "$1"; COMP_LINE=$2 COMP_POINT=${{#2}}; {_COMPLETE}'
    replies = _run("bash", "--norc", "-uc", asked, "bash", scripts / "bash", typed).splitlines()
    words = {_put_in_place(typed, reply).removeprefix("--kind=") for reply in replies}
    assert {word.removeprefix("--set=") for word in words} == offered


_COMPLETE = '_gradsync_ns3; printf "%s\\n" "${COMPREPLY[@]}"'


def test_bash_calls_it_for_the_launcher(scripts):
    told = _run("bash", "--norc", "-c", 'source "$1"; complete -p ./ns3 ns3', "x", scripts / "bash")
    assert told.count("-F _gradsync_ns3") == 2


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
@pytest.mark.parametrize("typed, offered", OFFERED, ids=[typed for typed, _ in OFFERED])
def test_fish_offers_what_there_is(scripts, typed, offered):
    told = _run("fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]",
                str(scripts / "fish"), typed)  # fmt: skip
    words = {line.split("\t")[0] for line in told.splitlines()}
    assert {re.sub("^--(kind|set)=", "", word) for word in words} == offered


# A terminal of zsh's own, in which the line is typed; where one word is left, it stands there.
_ZPTY = r"""
zmodload zsh/zpty
zpty -b typing zsh -f -i
zpty -w typing "cd ${(q)1}; autoload -Uz compinit; compinit -u -D; source ${(q)2}; bindkey '^I' complete-word; PS1='>'"
zpty -w typing 'print re''ady'
zpty -r typing line '*ready*ready*'
zpty -w -n typing "$3"$'\t'
zpty -w -n typing $'\C-a'"print -rl -- "$'\C-e'$'\n'
zpty -w typing 'print re''ached'
zpty -r typing line '*reached'
print -r -- "$line"
zpty -d typing
"""


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
@pytest.mark.parametrize(
    "typed, offered",
    [(typed, next(iter(offered))) for typed, offered in OFFERED if len(offered) == 1],
)
def test_zsh_completes_what_there_is_one_of(scripts, typed, offered):
    told = _run("zsh", "-f", "-c", _ZPTY, "zsh", str(ROOT), str(scripts / "zsh"), typed)
    assert any(line.strip().endswith(offered) for line in told.splitlines()), told


def test_every_verb_and_option_is_there(scripts):
    text = (scripts / "bash").read_text()
    for verb in _VERBS:
        case = re.search(rf"^        {verb}\)\n            options='(.*)'$", text, re.M)
        if verb not in ("help",):
            help_text = _run(sys.executable, "-I", str(ROOT / "launcher"), verb, "--help")
            named = set(re.findall(r"^ +(?:-h, ?)?(--[\w-]+)", help_text, re.M))
            assert set(case[1].split()) == named and "--help" in named, verb


def test_options_are_read_from_both_kinds_of_help():
    of_program = (
        "Positionals:\n  SCENARIO FILE REQUIRED      Scenario\n\nOptions:\n"
        "  -h,--help                   Print\n  --set PATH=VALUE            Override\n"
        "  --jobs N:UINT in [1 - 4096] Runs\n  --prepare Excludes: --points\n"
    )
    words = completion.read_help("", of_program, ["ring"])
    assert words.options == {
        "--help": [], "--set": ["scheme.kind=ring"], "--jobs": [], "--prepare": []
    }  # fmt: skip
    assert (words.takes_files, words.takes_folders) == (True, False)
    of_package = (
        "positional arguments:\n  DIR   results\n\noptions:\n  --kind {a,b}\n  --out FILE  f\n"
    )
    words = completion.read_help("", of_package, [])
    assert words.options == {"--kind": ["a", "b"], "--out": []}
    assert (words.takes_files, words.takes_folders) == (False, True)


def test_collectives_are_those_of_the_package():
    assert set(completion.COLLECTIVES) == set(COLLECTIVES)


def test_schemes_are_those_of_the_program(scripts, program):
    kinds = json.loads(program("list", "--json").stdout)["schemes"]["kinds"]
    text = (scripts / "fish").read_text()
    assert all(f"scheme.kind={kind['name']}" in text for kind in kinds)


def test_another_shell_is_refused_in_one_line(ns3):
    told = ns3("completion", "csh")
    assert (told.returncode, told.stdout, told.stderr.count("\n")) == (2, "", 1)
    assert "bash" in told.stderr and "csh" in told.stderr


def test_version_names_program_ns3_and_compiler(ns3, program, monkeypatch):
    line = r"gradsync 0\.1\.0 \(commit [^,]+, ns-3 3\.[\d.]+, (GCC|Clang) \d.*\)\n"
    of_program = program("--version").stdout
    assert re.fullmatch(line, of_program)
    assert re.fullmatch(line, ns3("--version").stdout)
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(program.path))
    of_package = _run(sys.executable, "-P", "-m", "gradsync", "--version")
    python = ".".join(map(str, sys.version_info[:3]))
    assert of_package == f"gradsync 0.1.0 (Python {python}); simulator: {of_program}"


def test_version_is_one_everywhere(small_tree):
    project = (ROOT / "analysis" / "pyproject.toml").read_text()
    cmake = (ROOT / "cmake" / "version.cmake").read_text()
    assert f'version = "{gradsync.__version__}"' in project
    assert f"set(gradsync_version {gradsync.__version__})" in cmake
    # Where nothing is built yet, what there is to build it with.
    shutil.copytree(ROOT / "analysis", small_tree.folder / "analysis")
    told = small_tree.run("--version")
    assert re.fullmatch(
        r"gradsync 0\.1\.0 \(not built yet; ns-3 3[.\d]+, C\+\+ compiler \d[.\d]+\)\n", told.stdout
    )
