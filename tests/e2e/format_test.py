# SPDX-License-Identifier: GPL-2.0-only
"""./ns3 format, and the hooks that do the same before a commit."""

import shutil
import sys

import pytest
import yaml
from conftest import ROOT, call

pytestmark = pytest.mark.skipif(
    shutil.which("clang-format-14") is None, reason="there is no clang-format-14"
)


@pytest.fixture
def tree(small_tree):
    """A tree in git with a well-formatted file of each language."""
    folder = small_tree.folder
    shutil.copy(ROOT / ".clang-format", folder)
    (folder / "analysis").mkdir()
    for file in (
        "analysis/pyproject.toml",
        *(f"analysis/{p.name}" for p in ROOT.glob("analysis/*.lock")),
    ):
        shutil.copy(ROOT / file, folder / file)
    (folder / ".venv").symlink_to(sys.prefix)
    small_tree.source("int\nmain()\n{\n    return 0;\n}\n")
    (folder / "study.py").write_text("print(1)\n")
    assert call(["git", "init", "-q"], folder).returncode == 0
    (folder / ".git" / "info" / "exclude").write_text("build\n.venv\n")
    return small_tree


def test_what_is_formatted_is_counted(tree):
    result = tree.run("format", "--check", "--no-install")
    assert result.returncode == 0, result.stdout + result.stderr
    python = len(list((tree.folder / "launcher").glob("*.py"))) + 1
    assert result.stdout == f"1 files of C++ and {python} of Python are formatted\n"


@pytest.mark.parametrize(
    "file, wrong, right",
    [
        ("main.cc", "int main( ) {return 0;}\n", "int\nmain()\n{\n    return 0;\n}\n"),
        ("study.py", "print( 1 )\n", "print(1)\n"),
        (
            "study.py",
            "import sys\nimport os\n\nprint(os, sys)\n",
            "import os\nimport sys\n\nprint(os, sys)\n",
        ),
    ],
)
def test_what_is_not_is_told_and_mended(tree, file, wrong, right):
    path = tree.folder / file
    path.write_text(wrong)
    result = tree.run("format", "--check", "--no-install")
    assert result.returncode == 1
    assert file in result.stdout + result.stderr
    assert path.read_text() == wrong
    assert tree.run("format", "--no-install").returncode == 0
    assert path.read_text() == right


def test_what_no_tool_mends_is_told(tree):
    (tree.folder / "study.py").write_text("print(unknown)\n")
    for options in (["--check"], []):
        result = tree.run("format", "--no-install", *options)
        assert result.returncode == 1
        assert "F821" in result.stdout


def test_hooks_are_of_this_tree_and_run_the_same_tools():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [entry["repo"] for entry in hooks] == ["local"]
    entries = [hook["entry"].split() for hook in hooks[0]["hooks"]]
    assert [entry[0] for entry in entries] == ["clang-format-14", *[".venv/bin/ruff"] * 2]
    assert {hook["language"] for hook in hooks[0]["hooks"]} == {"system"}
