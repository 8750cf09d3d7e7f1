# SPDX-License-Identifier: GPL-2.0-only
"""doc/tutorial.rst does what it says: its programs and its commands, one after the other."""

import re
import shlex

from conftest import ROOT
from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import roles

PAGE = ROOT / "doc" / "tutorial.rst"


def _blocks():
    """(language, text) of every block of code, in the order of the page."""
    roles.register_local_role("doc", lambda _name, raw, *_: ([nodes.literal(raw, raw)], []))
    tree = publish_doctree(PAGE.read_text(), source_path=str(PAGE))
    return [(block["classes"][1], block.astext()) for block in tree.findall(nodes.literal_block)]


def test_tutorial_does_what_it_says(ns3, tmp_path):
    program = ""
    said = []
    for language, text in _blocks():
        if language == "python":
            # A whole program begins with its imports; what does not is added to it.
            program = text if text.startswith("import ") else f"{program}\n\n{text}"
            (tmp_path / "tree.py").write_text(program + "\n")
        elif language == "console":
            launcher, *arguments = shlex.split(text.removeprefix("$ "))
            assert launcher == "./ns3"
            done = ns3(*arguments, "--no-install")
            said.append((done.returncode, done.stdout, done.stderr))
        else:
            code, out, problems = said[-1]
            # Of a traceback the last line.
            shown = problems.splitlines()[-1] if code else out.rstrip("\n")
            assert shown == text
    codes = [code for code, _, _ in said]
    assert codes == [1, 0, 0, 0, 0], said
    assert said[1] == (0, "", "")
    assert (tmp_path / "trees.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "results" / "trees" / "report.html").exists()


def test_page_names_its_picture_and_every_command():
    text = PAGE.read_text()
    assert (ROOT / "doc" / re.search(r"figure:: (\S+)", text)[1]).exists()
    assert len(_blocks()) == text.count(".. code-block::")


def test_table_of_the_readme_is_what_is_printed(program):
    readme = (ROOT / "README.md").read_text()
    sample = re.search(
        r"`./ns3 run (\S+)`, a small one, prints this table:\n\n```\n(.+?)\n```", readme, re.S
    )
    done = program("run", ROOT / sample[1], "--out=r", "--progress=never")
    assert done.returncode == 0, done.stderr
    printed = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    assert sample[2] in printed


def test_pictures_of_the_readme_are_there():
    pictures = re.findall(r"!\[[^]]+\]\((\S+)\)", (ROOT / "README.md").read_text())
    assert len(pictures) >= 3
    assert [name for name in pictures if not (ROOT / name).exists()] == []
