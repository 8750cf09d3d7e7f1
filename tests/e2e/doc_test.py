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


roles.register_local_role("doc", _link)
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
