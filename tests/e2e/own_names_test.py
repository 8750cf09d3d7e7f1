# SPDX-License-Identifier: GPL-2.0-only
"""Names that a file of C++ has for itself alone mean nothing else wherever it is compiled together with others.

Many files are compiled as one (cmake/unity.cmake), and then have one unnamed namespace. A function in it hides
all of its name that headers declare, also from the other files: a call that fitted a header's function well may
convert its arguments and take this one instead, without a warning.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
TREES = ["model", "helper", "study"]
TESTS = ["tests/unit", "tests/scenario"]

# What stands at the beginning of a line of its namespace.
FUNCTION = r"^(?![#/}\s]|using |return|namespace|static_assert)(?:[^\n;{}()=]*[ &*])?(\w+)\("
TYPE = r"^(?:template <[^\n]*>\n)?(?:struct|class|enum class|enum|union) (?:alignas\(\d+\) )?(\w+)\b(?!;)"
ALIAS = r"^using (\w+) ="
CONSTANT = r"^(?:inline |static )*(?:constexpr|const) [^=({\n]*?(\w+)(?:\[[^\]]*\])*(?: =|\{|\()"
MACRO = re.compile(r"TEST(_[FP])?|INSTANTIATE_\w+|NS_\w+")


def _names(text: str, *patterns: str) -> set[str]:
    found = {name for pattern in patterns for name in re.findall(pattern, text, re.MULTILINE)}
    return {name for name in found if not MACRO.fullmatch(name)}


def _unnamed(text: str) -> str:
    bodies = re.findall(r"^namespace\n\{\n(.*?)^\} // namespace\n", text, re.DOTALL | re.MULTILINE)
    return "\n".join(bodies)


def _declared(text: str) -> set[str]:
    """In namespace ns3::gradsync itself."""
    whole = r"^namespace ns3::gradsync\n\{\n(.*?)^\} // namespace ns3::gradsync\n"
    nested = r"^namespace(?: [\w:]+)?\n\{\n.*?^\} // namespace.*?\n"
    bodies = re.findall(whole, text, re.DOTALL | re.MULTILINE)
    flat = (re.sub(nested, "", body, flags=re.DOTALL | re.MULTILINE) for body in bodies)
    return {name for body in flat for name in _names(body, FUNCTION, TYPE, ALIAS, CONSTANT)}


def _files(trees: Iterable[str], ending: str) -> Iterator[Path]:
    return (path for tree in trees for path in sorted((ROOT / tree).rglob(f"*{ending}")))


def _company(path: Path) -> str:
    """Whose files are compiled at once: of a room with all its folders, or of a program of tests."""
    folders = path.parent.relative_to(ROOT).parts
    return "/".join(folders[: 3 if folders[0] == "tests" else 2])


def _hidden(own: dict[Path, str], headers: Iterable[Path]) -> list[str]:
    declared = defaultdict(list)
    for header in headers:
        for name in _declared(header.read_text()):
            declared[name].append(header.name)
    return [
        f"{path.name}: {name} is in {declared[name][0]}"
        for path, text in own.items()
        for name in sorted(_names(text, FUNCTION, TYPE, ALIAS, CONSTANT))
        if name in declared
    ]


def _shared(own: dict[Path, str]) -> list[str]:
    # The compiler sees to it that aliases are of one type.
    files = defaultdict(list)
    for path, text in own.items():
        for name in _names(text, FUNCTION, TYPE, CONSTANT):
            files[_company(path), name].append(path.name)
    return [f"{name}: {', '.join(those)}" for (_, name), those in files.items() if len(those) > 1]


def _own(*trees: str) -> dict[Path, str]:
    return {path: _unnamed(path.read_text()) for path in _files(trees, ".cc")}


def test_own_names_of_sources_hide_none_of_a_header():
    own = _own(*TREES)
    assert len({name for text in own.values() for name in _names(text, FUNCTION)}) > 1000
    assert _hidden(own, _files(TREES, ".h")) == []


def test_own_names_of_tests_hide_none_of_a_header():
    assert _hidden(_own(*TESTS), _files([*TREES, "tests"], ".h")) == []


def test_files_that_are_compiled_together_share_no_own_name():
    assert _shared(_own(*TREES)) + _shared(_own(*TESTS)) == []


def test_what_hides_or_is_shared_is_found():
    """By what once stood there: limits of faults were compared with no time at all."""
    one, other = ROOT / "study/run/part-runs.cc", ROOT / "study/run/run-check.cc"
    text = "\nTime\nToTime(int64_t steps)\n{\n    return TimeStep(steps);\n}\n\nconstexpr int MOST = 3;\n"
    own = {one: _unnamed(f"namespace\n{{\n{text}\n}} // namespace\n"), other: text}
    found = _hidden(own, _files(["model/base"], ".h"))
    assert found == [f"{path.name}: ToTime is in time-range.h" for path in own]
    assert sorted(_shared(own)) == [
        f"{name}: part-runs.cc, run-check.cc" for name in ("MOST", "ToTime")
    ]
