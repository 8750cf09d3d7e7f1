# SPDX-License-Identifier: GPL-2.0-only
"""What a law is, and the list of all of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from referee.evidence import Evidence

Check = Callable[[Evidence], Iterator[str]]


@dataclass(frozen=True)
class Law:
    """Something that holds in every run: a function that yields what contradicts it."""

    name: str
    source: str
    when: Callable[[Evidence], bool]
    check: Check
    trains: bool

    def applies(self, e: Evidence) -> bool:
        """Whether it is about such a run."""
        return (self.trains or not e.trains) and self.when(e)

    @property
    def summary(self) -> str:
        return (self.check.__doc__ or "").strip().splitlines()[0]


LAWS: dict[str, Law] = {}


def law(
    source: str, when: Callable[[Evidence], bool] = lambda _: True, *, trains: bool = False
) -> Callable[[Check], Check]:
    """Adds a function to the laws; `source` says where it stands, `when` which runs it is about.

    Most know exchanges of one gradient alone; with `trains` they are about training, too.
    """

    def add(check: Check) -> Check:
        name = check.__name__.replace("_", " ")
        assert name not in LAWS, name
        LAWS[name] = Law(name, source, when, check, trains)
        return check

    return add
