# SPDX-License-Identifier: GPL-2.0-only
"""Runs that several processes simulate together (--ranks): the same files, named refusals, and a process
that dies."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import ROOT

LIBRARY = ROOT / "build" / "release" / "gradsync-mpi.so"
pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(
        shutil.which("mpirun") is None or not LIBRARY.exists(),
        reason="no Open MPI: ./ns3 run --ranks 2 installs it",
    ),
]
SCENARIO = {
    "title": "Racks",
    "topology": {
        "kind": "spine-leaf",
        "spines": 2,
        "leaves": 4,
        "hostsPerLeaf": 2,
        "hostLink": {"rate": "10Gbps", "delay": "1us"},
        "oversubscription": 2,
    },
    "job": {"gradient": "300kB", "iterations": 3, "compute": "5us"},
    "scheme": "ring",
    "results": {"trace": True},
}
COSTS = ("wall_s", "peak_rss_bytes")


def write(folder, **sections):
    file = folder / "s.json"
    file.write_text(json.dumps({**SCENARIO, **sections}))
    return file


def files_of(folder):
    """Name -> text of every result file, wall-clock columns aside."""
    texts = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in (".csv", ".json") and ".runs" not in path.parts:
            texts[path.name] = path.read_text()
    header, *rows = texts["runs.csv"].splitlines()
    columns = header.split(",")
    kept = [i for i, name in enumerate(columns) if name not in COSTS]
    texts["runs.csv"] = [[row.split(",")[i] for i in kept] for row in (header, *rows)]
    texts.pop("manifest.json")
    return texts


def test_all_files_are_the_same_for_any_number_of_processes(program, tmp_path):
    file = write(
        tmp_path,
        sweep={"scheme.kind": ["ps", "rat", "ring", "plink", "hierarchical", "multi-ring"]},
    )
    expected = None
    for ranks in (1, 2, 3, 4):
        done = program("run", file, f"--out=r{ranks}", f"--ranks={ranks}", "--progress=never")
        assert done.returncode == 0, done.stderr
        found = files_of(tmp_path / f"r{ranks}")
        assert {"runs.csv", "iterations.csv", "links.csv", "messages.csv"} <= found.keys()
        assert any(name.startswith("trace") for name in found)
        expected = expected or found
        assert found == expected


def test_switches_that_aggregate_give_the_same_files(program, tmp_path):
    file = write(
        tmp_path,
        transport={"kind": "roce", "aggregation": {"values": "real"}},
        job={"gradient": "100kB", "iterations": 2, "compute": "5us", "workers": 6},
        sweep={"scheme.kind": ["switchml", "libra", "sharp", "flare", "atp", "netreduce"]},
    )
    for ranks in (1, 2, 4):
        done = program("run", file, f"--out=r{ranks}", f"--ranks={ranks}", "--progress=never")
        assert done.returncode == 0, done.stderr
    expected = files_of(tmp_path / "r1")
    print_at = expected["runs.csv"][0].index("sum_print")
    assert all(row[print_at] for row in expected["runs.csv"][1:])
    assert files_of(tmp_path / "r2") == expected
    assert files_of(tmp_path / "r4") == expected


def test_the_quickstart_is_the_same(program, tmp_path):
    # Of its schemes hierarchical has barriers for which all processes wait.
    file = ROOT / "scenarios" / "quickstart.json"
    for ranks in (1, 2):
        done = program("run", file, f"--out=r{ranks}", f"--ranks={ranks}", "--progress=never")
        assert done.returncode == 0, done.stderr
    assert files_of(tmp_path / "r2") == files_of(tmp_path / "r1")


def test_jobs_that_fail_and_losses_are_the_same(program, tmp_path):
    # The first job has 20 us for what takes 160 at least; the second goes on without it, and loses packets.
    jobs = [
        {"gradient": "200kB", "timeout": "20us", "endpoints": ["host0", "host2", "host5"]},
        {"gradient": "100kB", "iterations": 3, "endpoints": ["host1", "host2", "host6"]},
    ]
    sections = {key: value for key, value in SCENARIO.items() if key != "job"}
    sections |= {"jobs": jobs, "scheme": "ps", "fabric": {"lossRate": 0.01}}
    file = tmp_path / "s.json"
    file.write_text(json.dumps(sections))
    codes = []
    for ranks in (1, 3):
        done = program("run", file, f"--out=r{ranks}", f"--ranks={ranks}", "--progress=never")
        assert "timed out" in done.stderr
        codes.append(done.returncode)
    assert codes[0] == codes[1] != 0
    assert files_of(tmp_path / "r3") == files_of(tmp_path / "r1")


def test_training_iterations_are_the_same(program, tmp_path):
    # Tensor-parallel groups of a server as packets and as fluids, pipelines and gradients between
    # servers, all in the trace.
    topology = {
        "kind": "spine-leaf",
        "spines": 1,
        "leaves": 1,
        "hostsPerLeaf": 4,
        "hostLink": {"rate": "100Gbps", "delay": "1us"},
        "fabricLink": {"rate": "100Gbps", "delay": "1us"},
        "server": {
            "accelerators": 2,
            "nics": 2,
            "pcieSwitches": 2,
            "nvlink": {"rate": "600Gbps", "delay": "100ns"},
        },
    }
    block = {
        "count": 4,
        "forward": "20us",
        "backward": "30us",
        "gradient": "200kB",
        "tensorForward": "100kB",
        "tensorBackward": "100kB",
    }
    training = {
        "blocks": [block],
        "activation": "50kB",
        "tensor": 2,
        "pipeline": 2,
        "microbatches": 4,
        "zero": 1,
    }
    file = write(
        tmp_path,
        topology=topology,
        transport="roce",
        job={"training": training, "iterations": 2},
        sweep={"fidelity.server": ["packets", "fluid"]},
    )
    for ranks in (1, 2, 3):
        done = program("run", file, f"--out=r{ranks}", f"--ranks={ranks}", "--progress=never")
        assert done.returncode == 0, done.stderr
    expected = files_of(tmp_path / "r1")
    assert {"runs.csv", "training.csv"} <= expected.keys()
    assert any(name.startswith("trace") for name in expected)
    assert files_of(tmp_path / "r2") == expected
    assert files_of(tmp_path / "r3") == expected


def test_what_goes_on_beside_the_job_is_the_same(program, tmp_path):
    file = write(
        tmp_path,
        faults=[
            {
                "kind": "straggler",
                "random": 1,
                "slowdown": {"distribution": "uniform", "low": 1, "high": 3},
            },
            {
                "kind": "link-degraded",
                "at": "leaf1",
                "rateShare": 0.3,
                "extraDelay": "2us",
                "start": "50us",
            },
            {"kind": "host-pause-send", "random": 2, "every": "60us"},
        ],
        traffic=[{"kind": "poisson", "sizes": "hadoop", "load": 0.2}],
        results={"trace": True, "every": "20us"},
    )
    for ranks in (1, 2, 4):
        done = program("run", file, f"--out=r{ranks}", f"--ranks={ranks}", "--progress=never")
        assert done.returncode == 0, done.stderr
        found = files_of(tmp_path / f"r{ranks}")
        assert {"faults.csv", "flows.csv", "samples.csv"} <= found.keys()
        assert found == files_of(tmp_path / "r1")


def test_what_is_too_large_for_shared_memory_goes_by_messages(program, tmp_path):
    # 2 * 255 * 256 transfers, half of which arrive in process 1: at the end it hands over 65,280
    # records of 40 bytes at once, where a board of SharedBoards has room for 2 MiB.
    topology = {**SCENARIO["topology"], "leaves": 16, "hostsPerLeaf": 16}
    file = write(tmp_path, topology=topology, job={"gradient": "256kB"}, scheme="ps")
    for ranks in (1, 2):
        done = program("run", file, f"--out=r{ranks}", f"--ranks={ranks}", "--progress=never")
        assert done.returncode == 0, done.stderr
    assert files_of(tmp_path / "r2") == files_of(tmp_path / "r1")


def test_processes_without_shared_memory_talk_by_messages_alone(program, tmp_path, monkeypatch):
    file = write(tmp_path, scheme="rat")
    for ranks in (1, 3):
        done = program("run", file, f"--out=r{ranks}", f"--ranks={ranks}", "--progress=never")
        assert done.returncode == 0, done.stderr
        monkeypatch.setenv("OMPI_MCA_osc", "^sm")  # nothing of Open MPI that could share memory
    assert files_of(tmp_path / "r3") == files_of(tmp_path / "r1")


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """A file with what mpirun is called with, a line each."""
    calls = tmp_path / "calls"
    stand_in = tmp_path / "bin" / "mpirun"
    stand_in.parent.mkdir()
    real = shutil.which("mpirun")
    stand_in.write_text(f'#!/bin/sh\necho "$@" >>"{calls}"\nexec "{real}" "$@"\n')
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stand_in.parent}:{os.environ['PATH']}")
    return calls


def test_networks_are_looked_for_only_where_mpi_is_told_of_any(
    program, tmp_path, monkeypatch, calls
):
    told = ("OMPI_MCA_", "SLURM_", "PBS_", "LSB_", "PE_HOSTFILE")
    for name in [name for name in os.environ if name.startswith(told)]:
        monkeypatch.delenv(name)
    file = write(tmp_path)
    for number, variable in enumerate((None, "OMPI_MCA_btl_base_verbose", "SLURM_CPUS_ON_NODE")):
        with monkeypatch.context() as changed:
            if variable:
                changed.setenv(variable, "0")
            done = program("run", file, f"--out=r{number}", "--ranks=2")
        assert done.returncode == 0, done.stderr
    assert ["--mca pml ob1" in call for call in calls.read_text().splitlines()] == [
        True,
        False,
        False,
    ]


def test_no_skip_reaches_the_processes(program, tmp_path, calls):
    # Files are the same either way, so what mpirun is called with is looked at.
    file = write(tmp_path)
    for option in ([], ["--no-skip"]):
        done = program("run", file, f"--out=r{len(option)}", "--ranks=2", *option)
        assert done.returncode == 0, done.stderr
    skipping, simulating = calls.read_text().splitlines()
    assert "--rank-of 0" in skipping and "--no-skip" not in skipping
    assert "--rank-of 0" in simulating and "--no-skip" in simulating.split()
    assert files_of(tmp_path / "r1") == files_of(tmp_path / "r0")


@pytest.mark.parametrize(
    ("sections", "named"),
    [
        ({"transport": "tcp"}, "transport.kind"),
        ({"fabric": {"countBlocked": True}}, "attribute CountBlocked"),
        ({"fabric": {"pfc": False}, "scheme": "hierarchical"}, "not known ahead"),
        (
            {
                "scheme": "switchml",
                "transport": {"kind": "roce", "aggregation": {"slot": {"sharing": "dynamic"}}},
            },
            "Sharing is dynamic",
        ),
        ({"results": {"pcap": [["leaf0", "spine0"]]}}, "results.pcap"),
        ({"faults": [{"kind": "host-crash", "hosts": [1], "start": "1ms"}]}, "host-crash"),
    ],
)
def test_what_cannot_go_with_it_is_named_before_anything_is_written(
    program, tmp_path, sections, named
):
    done = program("run", write(tmp_path, **sections), "--out=r", "--ranks=2")
    assert done.returncode == 2
    assert named in done.stderr and "--ranks" in done.stderr
    assert not (tmp_path / "r").exists()


def test_more_processes_than_parts_are_refused(program, tmp_path):
    done = program("run", write(tmp_path), "--out=r", "--ranks=9")
    assert done.returncode == 2
    # Four leaves; a host's link is no place to divide at, as the host does not forward.
    assert "--ranks: found 9: the network has 4 parts" in done.stderr


def children_of(process):
    """All processes below one, whatever their depth."""
    found = []
    for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
        found += [int(child), *children_of(int(child))]
    return found


def is_rank(process):
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return words[0].endswith(b"gradsync") and b"--rank-of" in words


def wait_for_ranks(process, count):
    for _ in range(600):
        try:
            ranks = [child for child in children_of(process) if is_rank(child)]
        except OSError:
            ranks = []
        if len(ranks) >= count:
            return ranks
        time.sleep(0.05)
    raise AssertionError("the processes did not start")


def test_a_process_that_dies_ends_its_run_alone(program, tmp_path):
    # The first run is short, the second one long enough to be killed in it.
    file = write(tmp_path, sweep={"job.iterations": [1, 1000000]}, results={"messages": False})
    command = [ROOT / "build/release/gradsync", "run", file, "--out=r", "--ranks=2", "--jobs=2"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        while not list((tmp_path / "r" / ".runs").glob("0-*")):
            assert child.poll() is None
            time.sleep(0.05)
        time.sleep(0.2)
        os.kill(wait_for_ranks(child.pid, 2)[-1], signal.SIGKILL)
        _, words = child.communicate(timeout=120)
    assert child.returncode == 1
    assert re.search(r"run 1 .*rank [01] crashed: signal 9 \(Killed\)", words), words
    assert len(list((tmp_path / "r" / ".runs").glob("0-*"))) == 1
    assert list((tmp_path / "r" / ".runs").glob("1-*")) == []
