# SPDX-License-Identifier: GPL-2.0-only
"""The pages of the documentation: their markup, and what they link to."""

import re
from typing import ClassVar

import pytest
from conftest import ROOT
from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives, roles

DOC = ROOT / "doc"
PAGES = sorted(DOC.glob("*.rst"))


def _link(name, rawtext, text, line, inliner, options=None, content=()):
    target = re.sub(r".*<(.+)>", r"\1", text)
    if any((DOC / f"{target}{suffix}").exists() for suffix in (".rst", ".md")):
        return [nodes.literal(rawtext, text)], []
    return [], [inliner.reporter.error(f"there is no page {target}", line=line)]


class _Contents(Directive):
    """Sphinx's toctree, which docutils alone does not have."""

    has_content = True
    option_spec: ClassVar = {"maxdepth": directives.nonnegative_int}

    def run(self):
        return [nodes.literal_block(text="\n".join(self.content))]


class _Included(Directive):
    """Sphinx's literalinclude, likewise: a part of a file between two texts that it has."""

    required_arguments = 1
    option_spec: ClassVar = {
        "language": directives.unchanged,
        "start-at": directives.unchanged,
        "end-at": directives.unchanged,
        "end-before": directives.unchanged,
        "append": directives.unchanged,
    }

    def run(self):
        lines = (DOC / self.arguments[0]).read_text().splitlines()
        first, last = 0, len(lines)
        if start := self.options.get("start-at"):
            first = self._find(start, lines, 0)
        if end := self.options.get("end-before"):
            last = self._find(end, lines, first + 1)
        if end := self.options.get("end-at"):
            last = self._find(end, lines, first + 1) + 1
        return [nodes.literal_block(text="\n".join(lines[first:last]))]

    def _find(self, text: str, lines: list[str], first: int) -> int:
        found = [number for number in range(first, len(lines)) if text in lines[number]]
        if not found:
            raise self.error(f"{self.arguments[0]} has no line with {text!r}")
        return found[0]


roles.register_local_role("doc", _link)
directives.register_directive("literalinclude", _Included)
directives.register_directive("toctree", _Contents)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_markup_is_right_and_links_lead_somewhere(page):
    said = []

    class Log:
        write = staticmethod(said.append)

    settings = {"report_level": 2, "halt_level": 5, "warning_stream": Log}
    publish_doctree(page.read_text(), source_path=str(page), settings_overrides=settings)
    assert said == []


def test_index_names_every_page():
    tree = publish_doctree((DOC / "index.rst").read_text())
    listed = {
        line for block in tree.findall(nodes.literal_block) for line in block.astext().split()
    }
    pages = {page.stem for page in [*PAGES, *DOC.glob("*.md")]} - {"index"}
    assert listed == pages
