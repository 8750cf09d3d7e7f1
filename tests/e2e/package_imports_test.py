# SPDX-License-Identifier: GPL-2.0-only
"""Who imports whom in the Python package: rooms as doc/python.rst has them, and no circle."""

import ast
from graphlib import CycleError, TopologicalSorter

import pytest
from conftest import ROOT

PACKAGE = ROOT / "analysis" / "src" / "gradsync"
# What the modules of a room may import beside those of their own; `errors` and `text` are for all.
MAY_IMPORT = {
    "results": set(),
    "plans": set(),
    "plots": {"results"},
    "report": {"results", "plots"},
    "studies": {"results", "plans", "plots", "report"},
    # The package itself and its command line.
    "__init__": {"results", "plots", "studies", "version"},
    "__main__": {"results", "plots", "report", "studies", "command_line", "version"},
    "command_line": set(),
    "errors": set(),
    "text": set(),
    "version": set(),
}


def name_of(path):
    """A file as imports name it: gradsync.plots.style."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(
        ".__init__"
    )


MODULES = {name_of(path): path for path in PACKAGE.rglob("*.py")}


def imports_of(source, modules):
    """The modules that a source imports, wherever in it: also late, and for types alone."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports are not used here"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in modules else node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & set(modules)


def room_of(module):
    return module.split(".")[1] if "." in module else "__init__"


GRAPH = {name: imports_of(path.read_text(), MODULES) for name, path in MODULES.items()}


def test_the_imports_are_found():
    source = (
        "import gradsync.errors\nfrom gradsync.plots import style, nothing\n"
        "def late():\n    from gradsync.results.folder import load\n"
    )
    found = imports_of(source, MODULES)
    assert found == {
        "gradsync.errors",
        "gradsync.plots",
        "gradsync.plots.style",
        "gradsync.results.folder",
    }
    assert sum(map(len, GRAPH.values())) > 100


@pytest.mark.parametrize("module", MODULES)
def test_a_room_imports_only_those_that_it_may(module):
    allowed = MAY_IMPORT[room_of(module)] | {room_of(module), "errors", "text"}
    assert {name for name in GRAPH[module] if room_of(name) not in allowed} == set()


def test_no_module_imports_itself_by_way_of_others():
    # Raises CycleError, which names the circle.
    assert len(list(TopologicalSorter(GRAPH).static_order())) == len(MODULES)
    with pytest.raises(CycleError):
        list(TopologicalSorter({"a": {"b"}, "b": {"a"}}).static_order())


def test_rooms_have_no_circle():
    assert len(list(TopologicalSorter(MAY_IMPORT).static_order())) == len(MAY_IMPORT)


def test_packages_run_nothing_when_they_are_imported():
    # Where any of them is enough to ask for, and what needs the standard library alone stays so.
    for path in PACKAGE.glob("*/__init__.py"):
        assert [type(node).__name__ for node in ast.parse(path.read_text()).body] == ["Expr"], path
