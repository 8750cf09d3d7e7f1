# SPDX-License-Identifier: GPL-2.0-only
"""Small mistakes in C++ as people make them, one at a time."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# What stands for what; the spaces keep templates, pointers and references out of it.
_SWAPS = (
    (" < ", " <= "),
    (" <= ", " < "),
    (" > ", " >= "),
    (" >= ", " > "),
    (" == ", " != "),
    (" != ", " == "),
    (" + ", " - "),
    (" - ", " + "),
    (" * ", " / "),
    (" += ", " -= "),
    (" -= ", " += "),
    (" && ", " || "),
    (" || ", " && "),
    ("std::min", "std::max"),
    ("std::max", "std::min"),
    ("return true;", "return false;"),
    ("return false;", "return true;"),
)
_NUMBER = re.compile(r"(?<![\w.'\"])\d+(?![\w.'\"])")
_CONDITION = re.compile(r"^(\s*(?:else )?if \()(.+)(\))$")
# A whole statement on a line, not a declaration: those do not compile without their names anyway.
_STATEMENT = re.compile(
    r"^\s+[\w:>.\-\[\]*()]+(?:\(.*\)| [-+|&]?= .+|\+\+|--);$|^\s+(?:break|continue);$"
)
_ENDS = (";", "{", "}", ":", "")


@dataclass(frozen=True)
class Mutation:
    """A line of a file and what stands there instead."""

    line: int  # from 1 on
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.line}: {self.before.strip()}  =>  {self.after.strip() or '(nothing)'}"


def _code(line: str) -> str:
    """The line with comments and texts blanked, at the same places."""
    line = re.sub(r'"(?:[^"\\]|\\.)*"', lambda text: '"' + " " * (len(text[0]) - 2) + '"', line)
    line = re.sub(r"/\*.*?\*/", lambda text: "~" * len(text[0]), line)
    return re.sub(r"//.*", lambda text: "~" * len(text[0]), line)


def _of_line(line: str, previous: str) -> Iterator[str]:
    code = _code(line)
    for old, new in _SWAPS:
        for found in re.finditer(re.escape(old), code):
            yield line[: found.start()] + new + line[found.end() :]
    for found in _NUMBER.finditer(code):
        yield line[: found.start()] + str(int(found[0]) + 1) + line[found.end() :]
    if condition := _CONDITION.match(line):
        yield f"{condition[1]}!({condition[2]}){condition[3]}"
    if _STATEMENT.match(code) and previous.endswith(_ENDS):
        yield ""


def find_mutations(text: str) -> list[Mutation]:
    """All mutations of a file in the order of its lines, its includes and comments left alone."""
    found, previous, in_comment = [], "", False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        in_comment = (in_comment or stripped.startswith("/*")) and not previous.endswith("*/")
        if not in_comment and not stripped.startswith(
            ("#", "//", "template", "namespace", "NS_LOG")
        ):
            found += [Mutation(number, line, after) for after in _of_line(line, previous)]
        previous = stripped
    return found


def mutated(text: str, mutation: Mutation) -> str:
    """The file with the mutation."""
    lines = text.splitlines()
    assert lines[mutation.line - 1] == mutation.before
    lines[mutation.line - 1] = mutation.after
    return "\n".join(lines) + "\n"
