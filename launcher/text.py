# SPDX-License-Identifier: GPL-2.0-only
"""Text from outside as it may be shown on a terminal; as gradsync.text, which the launcher does without."""

MOST = 200


def printable(text: object) -> str:
    """The same with control characters written out; lines stay lines."""
    return "".join(
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode()
        for char in str(text).encode("utf-8", "backslashreplace").decode()
    )


def shown(text: object) -> str:
    """One line of at most 200 characters, as a part of a message or a table."""
    line = printable(text).replace("\n", "\\n").replace("\t", "\\t")
    return line if len(line) <= MOST else line[: MOST - 1] + "…"
