# SPDX-License-Identifier: GPL-2.0-only
"""Another simulator beside ours: any command, on the exchange that it is told in its options.

The exchange is a ring all-reduce in one job over a spine-leaf network that is not oversubscribed. What
the command prints is not looked at, but for its last line: if that is a JSON object, `data_packet_hops`
says how many hops of data packets it simulated and `ict_s` how long the exchange took; without the
first, it is credited with as many as ours. Its user seconds and peak memory are the system's own count.
"""

import json
import os
import shlex
import shutil
import string
import subprocess
import tempfile
from dataclasses import asdict, dataclass

from launcher.errors import BAD_INPUT, FAILURE, LauncherError
from launcher.nearest import nearest


@dataclass(frozen=True)
class Exchange:
    """What both simulate. The fields are the names in braces of a command."""

    hosts: int
    leaves: int
    spines: int
    gradient_bytes: int
    mtu_bytes: int  # payload of a packet
    scheme: str = "ring"
    rate: str = "100Gbps"  # of every link
    delay: str = "1us"  # of every link

    def words(self, command: list[str]) -> list[str]:
        """The command for this exchange."""
        values = {**asdict(self), "hosts_per_leaf": self.hosts // self.leaves}
        return [word.format_map(values) for word in command]


_NAMES = (*Exchange.__dataclass_fields__, "hosts_per_leaf")


def read_command(command: str) -> list[str]:
    """The words of a command. Raises LauncherError if it is none, or names what no exchange has."""
    try:
        words = shlex.split(command)
        names = [name for word in words for _, name, _, _ in string.Formatter().parse(word)]
    except ValueError as error:
        raise LauncherError(f"--peer {command!r}: {error}", BAD_INPUT) from error
    for name in names:
        if name is not None and name not in _NAMES:
            raise LauncherError(
                f"--peer: found {{{name}}}, allowed are {', '.join(sorted(_NAMES))}; the nearest is "
                f"{{{nearest(name, _NAMES)}}}",
                BAD_INPUT,
            )
    if not words or not shutil.which(words[0]):
        raise LauncherError(f"--peer {command!r}: there is no such program", BAD_INPUT)
    return words


def _told(output: str) -> dict:
    """What the last line says, if it is a JSON object."""
    lines = output.strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else {}
    except json.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _run(words: list[str]) -> dict:
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(words, stdout=output, stderr=errors, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if child.returncode != 0:
            last = (errors.read().strip() or "it says nothing").splitlines()[-1]
            command = shlex.join(words)
            raise LauncherError(f"{command}: exit code {child.returncode}: {last}", FAILURE)
        told = _told(output.read())
    return {
        **{name: told[name] for name in ("data_packet_hops", "ict_s") if name in told},
        "user_s": usage.ru_utime,
        "peak_rss_bytes": usage.ru_maxrss * 1024,  # Linux counts in KiB
    }


def measure(command: list[str], exchange: Exchange, repeats: int, long_s: float) -> dict:
    """The median of some runs, by user time; of one run if it takes longer than `long_s`."""
    words = exchange.words(command)
    runs: list[dict] = []
    while len(runs) < repeats and not (runs and runs[-1]["user_s"] > long_s):
        runs.append(_run(words))
    found = sorted(runs, key=lambda run: run["user_s"])[len(runs) // 2]
    return {**found, "command": shlex.join(words)}


def lines(ours: dict, peer: dict) -> list[str]:
    """Both in words: hops a second, memory, time of the exchange, and how many times as fast ours is."""
    said = []
    rates = []
    for name, row in (("gradsync", ours), ("peer", peer)):
        hops = row.get("data_packet_hops", ours["data_packet_hops"])
        rates.append(hops / max(row["user_s"], 1e-9))
        ict = f"{1e3 * row['ict_s']:.4f} ms" if "ict_s" in row else "not told"
        credited = "" if "data_packet_hops" in row else " (hops as ours)"
        said.append(
            f"{name:<9} {ours['hosts']:>5} hosts, {ours['gradient_bytes'] / 1e6:g} MB:"
            f" {row['user_s']:>8.2f} user s, {rates[-1] / 1e6:>8.3f} M hops/s{credited},"
            f" peak {row['peak_rss_bytes'] / 1e6:.0f} MB, ICT {ict}"
        )
    return [*said, f"gradsync makes {rates[0] / rates[1]:.2f} times as many hops a second"]
