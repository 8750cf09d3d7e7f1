# SPDX-License-Identifier: GPL-2.0-only
"""The nearest known name to one that was mistyped."""

from collections.abc import Iterable


def distance(a: str, b: str) -> int:
    """Levenshtein distance: single-character insertions, deletions and replacements from a to b."""
    row = list(range(len(b) + 1))
    for i, char_a in enumerate(a, 1):
        above_left, row[0] = row[0], i
        for j, char_b in enumerate(b, 1):
            replaced = above_left + (char_a != char_b)
            above_left = row[j]
            row[j] = min(replaced, row[j] + 1, row[j - 1] + 1)
    return row[-1]


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name closest to `name`; the first in alphabetical order of those equally close."""
    return min(sorted(known), key=lambda candidate: distance(name.lower(), candidate.lower()))
