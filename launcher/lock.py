# SPDX-License-Identifier: GPL-2.0-only
"""One at a time: what several launchers of one tree must not do at once."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from launcher.process import say
from launcher.tree import ROOT


@contextmanager
def only_one(name: str, doing: str) -> Iterator[None]:
    """Hold the lock build/NAME.lock; the system releases it even if this process is killed."""
    path = ROOT / "build" / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{doing} already: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
