# SPDX-License-Identifier: GPL-2.0-only
"""Child processes that share the terminal, and what Ctrl-C does to them."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager


def say(text: str) -> None:
    """Progress of the launcher itself: on standard error, so that results can be piped."""
    print(f"ns3: {text}", file=sys.stderr, flush=True)


def ask_for_huge_pages() -> None:
    """Let children keep their heap in huge pages (glibc 2.35), unless the user says otherwise.

    A simulation of a thousand hosts touches hundreds of megabytes in no order, and loses a sixth of
    its time to the tables of small pages.
    """
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    if "glibc.malloc.hugetlb" not in tunables:
        wanted = [*filter(None, [tunables]), "glibc.malloc.hugetlb=1"]
        os.environ["GLIBC_TUNABLES"] = ":".join(wanted)


@contextmanager
def child_decides_on_interrupt() -> Iterator[None]:
    """Let the child end itself on Ctrl-C, so that it can tidy up, and then pass its exit code on.

    The terminal sends SIGINT to both. A handler, unlike SIG_IGN, is not inherited by the child.
    """
    old = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, old)


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    """Run a child on the user's terminal; its exit code, or 128 + n if signal n ended it."""
    with child_decides_on_interrupt():
        child = subprocess.Popen(list(command), env=environment)
        old = signal.signal(signal.SIGTERM, lambda *_: child.terminate())
        try:
            code = child.wait()
        finally:
            signal.signal(signal.SIGTERM, old)
    return code if code >= 0 else 128 - code
