# SPDX-License-Identifier: GPL-2.0-only
"""Child processes that share the terminal, and what Ctrl-C does to them."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any


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


_ENDING = (signal.SIGTERM, signal.SIGHUP)


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


@contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen]:
    """A child that decides on Ctrl-C itself, and is told to end when this process is."""
    told: list[int] = []
    children: list[subprocess.Popen] = []

    def pass_on(number: int, _frame: object) -> None:
        told.append(number)
        for child in children:
            child.send_signal(number)

    # A signal that is ignored, as nohup has it, stays so.
    numbers = [n for n in _ENDING if signal.getsignal(n) is not signal.SIG_IGN]
    old = {number: signal.signal(number, pass_on) for number in numbers}
    try:
        with child_decides_on_interrupt(), subprocess.Popen(list(command), **options) as child:
            children.append(child)
            if told:
                child.send_signal(told[0])
            yield child
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def end_children_with_me() -> None:
    """Make SIGTERM an exception here, at which a child that is waited for is ended."""

    def end(number: int, _frame: object) -> None:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    """Run a child on the user's terminal; its exit code, or 128 + n if signal n ended it."""
    with started(command, env=environment) as child:
        code = child.wait()
    return code if code >= 0 else 128 - code
