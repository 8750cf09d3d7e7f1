# SPDX-License-Identifier: GPL-2.0-only
"""What others take this tree by: ns-3's test.py, Docker, citations, Sphinx."""

import hashlib
import re
import runpy
import subprocess
import tomllib

import jsonschema
import pytest
import yaml
from conftest import ROOT

PROJECT = tomllib.loads((ROOT / "analysis" / "pyproject.toml").read_text())["project"]


def test_ns3_runs_every_example_that_has_an_expected_output():
    lists = runpy.run_path(str(ROOT / "test" / "examples-to-run.py"))
    # In ns-3's form; the conditions are Python, over ns-3's configuration.
    assert all(eval(run) and eval(checked) for _, run, checked in lists["cpp_examples"])
    names = [name for name, _, _ in lists["cpp_examples"]]
    assert names == sorted(path.stem for path in (ROOT / "examples" / "expected").glob("*.txt"))
    # The program is no example: without a verb it is bad input.
    assert {path.stem for path in (ROOT / "examples").glob("*.cc")} - set(names) == {"gradsync"}
    assert lists["python_examples"] == []


def _instructions():
    """The lines of the Dockerfile without comments, each as its word and the rest."""
    text = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [tuple(line.split(None, 1)) for line in lines]


def test_docker_runs_the_first_command_of_the_readme_in_the_whole_tree():
    readme = (ROOT / "README.md").read_text()
    first = re.search(r"^```\n(\./ns3 .+)\n", readme, re.M)[1]
    assert first == "./ns3 run scenarios/rat-oversubscription.json"
    instructions = _instructions()
    assert [rest for word, rest in instructions if word == "RUN"] == [first]
    # The system that the README names, and nothing of a registry.
    assert [rest for word, rest in instructions if word == "FROM"] == ["debian:12"]
    assert "On Debian 12," in readme
    assert [rest for word, rest in instructions if word == "COPY"] == [". ."]


def test_docker_copies_what_git_tracks():
    ignored = [
        line
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line and line[0] != "#"
    ]
    told = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    # Folders of this tree, or a name anywhere in it.
    top = {name for name in ignored if not name.startswith("**/")}
    tracked = told.stdout.splitlines()
    assert [name for name in tracked if any(f"{name}/".startswith(f"{t}/") for t in top)] == []
    assert [name for name in tracked if "__pycache__" in name or ".egg-info" in name] == []
    # And not what is built here, nor the history.
    assert {".git", ".venv", "build", "results"} <= top


# Of the Citation File Format 1.2.0: the keys that are used here, and what they may be.
CITATION = {
    "type": "object",
    "additionalProperties": False,
    "required": ["cff-version", "message", "title", "authors"],
    "properties": {
        "cff-version": {"const": "1.2.0"},
        "message": {"type": "string", "minLength": 1},
        "type": {"enum": ["software", "dataset"]},
        "title": {"type": "string", "minLength": 1},
        "abstract": {"type": "string", "minLength": 1},
        "authors": {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name"],
                "properties": {"name": {"type": "string", "minLength": 1}},
            },
        },
        "version": {"type": "string", "minLength": 1},
        "license": {"const": "GPL-2.0-only"},
        "keywords": {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": {"type": "string", "minLength": 1},
        },
    },
}


def test_citation_is_valid_and_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    jsonschema.validate(citation, CITATION)
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]["text"]


def test_pages_are_of_this_version():
    settings = runpy.run_path(str(ROOT / "doc" / "conf.py"))
    assert (settings["project"], settings["release"]) == ("gradsync", PROJECT["version"])
    # A link that leads nowhere is a warning, and ./ns3 docs, a stage of CI, makes it an error.
    assert settings["nitpicky"]
    assert "\nstage pages ./ns3 docs\n" in (ROOT / ".ci" / "run").read_text()


@pytest.fixture
def sphinx(small_tree, tmp_path):
    """A tree whose Sphinx ends as a file says, and notes what it was called with."""
    small_tree.folder.joinpath("analysis").mkdir()
    python = small_tree.folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/called\nexit $(cat {tmp_path}/code)\n')
    python.chmod(0o755)
    lock = small_tree.folder / "analysis" / "requirements-docs.lock"
    lock.write_text("sphinx==1.0\n")
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    (small_tree.folder / ".venv" / "gradsync-requirements-docs.sha256").write_text(digest)
    return small_tree


@pytest.mark.parametrize("code, expected", [(0, 0), (1, 1), (2, 1)])
def test_a_warning_of_sphinx_is_a_failure(sphinx, tmp_path, code, expected):
    (tmp_path / "code").write_text(str(code))
    told = sphinx.run("docs", "--out=html")
    assert told.returncode == expected, told.stderr
    called = (tmp_path / "called").read_text().split()
    assert called[-2:] == [str(sphinx.folder / "doc"), "html"]
    assert {"--fail-on-warning", "--nitpicky", "--keep-going"} < set(called)
    assert ("the pages are in html/index.html" in told.stdout) == (code == 0)
