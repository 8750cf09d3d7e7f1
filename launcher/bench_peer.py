# SPDX-License-Identifier: GPL-2.0-only
"""Another simulator beside ours: any command, on the exchange that it is told in its options.

The exchange is a ring all-reduce in one job over a spine-leaf network that is not oversubscribed. What
the command prints is not looked at, but for its last line: if that is a JSON object, `data_packet_hops`
says how many hops of data packets it simulated and `ict_s` how long the exchange took; without the
first, it is credited with as many as ours. Its user seconds and peak memory are the system's own count.
"""

import contextlib
import json
import math
import os
import resource
import shlex
import shutil
import signal
import string
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass

from launcher.errors import BAD_INPUT, FAILURE, LauncherError
from launcher.nearest import nearest

# Of a run of a peer, unless the user says otherwise; ours take seconds.
LIMIT_S = 600.0
_LOOK_S = 0.02  # how often it is asked whether it has ended


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
        fields = [field for word in words for field in string.Formatter().parse(word)]
    except ValueError as error:
        raise LauncherError(f"--peer {command!r}: {error}", BAD_INPUT) from error
    for _, name, layout, conversion in fields:
        if layout or conversion:
            raise LauncherError(
                f"--peer {command!r}: a name in braces stands alone, without : or !", BAD_INPUT
            )
        if name is not None and name not in _NAMES:
            raise LauncherError(
                f"--peer: found {{{name}}}, allowed are {', '.join(sorted(_NAMES))}; the nearest is "
                f"{{{nearest(name, _NAMES)}}}",
                BAD_INPUT,
            )
    if not words or not shutil.which(words[0]):
        raise LauncherError(f"--peer {command!r}: there is no such program", BAD_INPUT)
    return words


def _told(command: str, output: str) -> dict:
    """What the last line says of the run, if it is a JSON object.

    Raises LauncherError if it has another value there than a number of hops or a time.
    """
    lines = output.strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {}
    told = {}
    for name, least in (("data_packet_hops", 1), ("ict_s", 0)):
        if not isinstance(found, dict) or name not in found:
            continue
        value = found[name]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or value < least:
            raise LauncherError(
                f"{command}: {name} in its last line: found {json.dumps(value)}, allowed are numbers "
                f"from {least} on",
                FAILURE,
            )
        told[name] = value
    return told


def _wait(child: subprocess.Popen, command: str, limit_s: float) -> resource.struct_rusage:
    """What a peer used until its end. Nothing that it has started outlives this call.

    Raises LauncherError if it takes longer than the limit.
    """
    end = time.monotonic() + limit_s
    try:
        while True:
            process, status, usage = os.wait4(child.pid, os.WNOHANG)
            if process != 0:
                child.returncode = os.waitstatus_to_exitcode(status)
                return usage
            if time.monotonic() > end:
                raise LauncherError(
                    f"{command}: has not ended after {limit_s:g} s; --peer-limit SECONDS gives it longer",
                    FAILURE,
                )
            time.sleep(_LOOK_S)
    finally:
        # A session of its own: its processes, and none of ours.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        if child.returncode is None:
            child.wait()


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    return f"ended by signal {-code} ({signal.strsignal(-code)})"


def _run(words: list[str], limit_s: float) -> dict:
    command = shlex.join(words)
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            child = subprocess.Popen(
                words,
                stdout=output,
                stderr=errors,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise LauncherError(f"{command}: cannot be started: {error}", BAD_INPUT) from error
        usage = _wait(child, command, limit_s)
        output.seek(0)
        errors.seek(0)
        if child.returncode != 0:
            said = errors.read().decode(errors="replace").strip() or "it says nothing"
            how = _how_it_ended(child.returncode)
            raise LauncherError(f"{command}: {how}: {said.splitlines()[-1]}", FAILURE)
        told = _told(command, output.read().decode(errors="replace"))
    return {
        **told,
        "user_s": usage.ru_utime,
        "peak_rss_bytes": usage.ru_maxrss * 1024,  # Linux counts in KiB
    }


def measure(
    command: list[str], exchange: Exchange, repeats: int, long_s: float, limit_s: float = LIMIT_S
) -> dict:
    """The median of some runs, by user time; of one run if it takes longer than `long_s`.

    A run that has not ended after `limit_s` is ended, and told by LauncherError, as is one that fails.
    """
    words = exchange.words(command)
    runs: list[dict] = []
    while len(runs) < repeats and not (runs and runs[-1]["user_s"] > long_s):
        runs.append(_run(words, limit_s))
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
