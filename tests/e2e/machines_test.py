# SPDX-License-Identifier: GPL-2.0-only
"""One run on several machines (--ranks): hosts of the test's own, in network namespaces that a wire joins,
each with a name of its own, so that MPI has no memory to share and talks over the wire."""

import json
import os
import re
import shlex
import shutil
import subprocess
import warnings
from itertools import count

import pytest
from conftest import ROOT
from ranks_test import SCENARIO, files_of, pytestmark, write

__all__ = ["pytestmark"]
PROGRAM = ROOT / "build" / "release" / "gradsync"
NUMBERS = count()
# Open MPI's way to a machine: the name of the host, then the words of a command.
AGENT = """#!/bin/sh
host=$1
shift
exec ip netns exec "$host" unshare --uts sh -c 'hostname "$0" && exec sh -c "$1"' "$host" "$*"
"""


def do(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


class Machines:
    """Two hosts with a wire between them."""

    def __init__(self, folder):
        name = f"gs{os.getpid()}-{next(NUMBERS)}"
        self.names = [f"{name}a", f"{name}b"]
        self.folder = folder

    def build(self):
        first, second = self.names
        for name in self.names:
            do("ip", "netns", "add", name)
        wire = ("type", "veth", "peer", "name", "wire", "netns", second)
        do("ip", "link", "add", "wire", "netns", first, *wire)
        for number, name in enumerate(self.names, 1):
            do("ip", "-n", name, "addr", "add", f"10.99.0.{number}/24", "dev", "wire")
            do("ip", "-n", name, "link", "set", "wire", "up")
            do("ip", "-n", name, "link", "set", "lo", "up")
        self.agent = self.folder / "agent"
        self.agent.write_text(AGENT)
        self.agent.chmod(0o755)
        self.hosts = self.folder / "hosts"
        self.hosts.write_text("".join(f"{name} slots=1\n" for name in self.names))

    def remove(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    def start(self, *words):
        """A command on the first host, whose mpirun knows both."""
        settings = {
            "OMPI_MCA_plm_rsh_agent": str(self.agent),
            "OMPI_MCA_orte_default_hostfile": str(self.hosts),
            "OMPI_MCA_btl_tcp_if_include": "10.99.0.0/24",
            "OMPI_MCA_oob_tcp_if_include": "10.99.0.0/24",
        }
        enter = [self.agent, self.names[0], shlex.join(map(str, words))]
        return subprocess.run(
            enter,
            cwd=self.folder,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def get_wire_bytes(self):
        statistics = json.loads(do("ip", "-j", "-s", "-n", self.names[0], "link", "show", "wire"))
        return sum(statistics[0]["stats64"][way]["bytes"] for way in ("rx", "tx"))


@pytest.fixture
def machines(tmp_path):
    made = Machines(tmp_path)
    try:
        if shutil.which("ip") is None:
            raise FileNotFoundError("no ip: package iproute2")
        made.build()
    except (OSError, subprocess.CalledProcessError) as error:
        made.remove()
        why = getattr(error, "stderr", None) or str(error)
        warnings.warn(f"NOT RUN on several machines: {why}", stacklevel=1)
        pytest.skip(f"no network namespaces: {why}")
    yield made
    made.remove()


def test_processes_of_two_machines_make_the_same_files(program, tmp_path, machines):
    file = write(tmp_path, job={"gradient": "3MB", "iterations": 3})
    alone = program("run", file, "--out=r1", "--ranks=1", "--progress=never")
    assert alone.returncode == 0, alone.stderr
    before = machines.get_wire_bytes()
    apart = machines.start(PROGRAM, "run", file, "--out=r2", "--ranks=2", "--progress=never")
    assert apart.returncode == 0, apart.stderr
    assert files_of(tmp_path / "r2") == files_of(tmp_path / "r1")
    # Of the ring's 8 connections 2 join the halves. On each 14 chunks of 375 kB an iteration, in
    # packets of 4,096 bytes at most: 92, each of which crosses as 48 bytes.
    hosts = SCENARIO["topology"]["leaves"] * SCENARIO["topology"]["hostsPerLeaf"]
    packets = 2 * 2 * (hosts - 1) * -(-(3_000_000 // hosts) // 4096)
    assert machines.get_wire_bytes() - before > 3 * packets * 48


def test_a_machine_that_cannot_be_reached_ends_the_run_with_a_message(tmp_path, machines):
    file = write(tmp_path, job={"gradient": "3MB"})
    machines.hosts.write_text(f"{machines.names[0]} slots=1\nnowhere slots=1\n")
    apart = machines.start(PROGRAM, "run", file, "--out=r", "--ranks=2", "--progress=never")
    assert apart.returncode == 1
    (line,) = apart.stderr.splitlines()
    assert re.fullmatch(r"gradsync: error: run 0 .*nowhere.*; ORTE was unable to .*", line), line
