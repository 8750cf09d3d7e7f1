# SPDX-License-Identifier: GPL-2.0-only
"""The benchmark of hybrid-parallel jobs on a small job; nothing is timed here."""

import json
import subprocess

from conftest import ROOT

BENCH = ROOT / "build" / "release" / "hybrid-bench"
LAYERS = 2  # of width 256, one a stage
HIDDEN = 256
SEQUENCE = 128
MICROBATCHES = 2
TENSOR = 8
DATA = 4


def run(*options):
    settings = {
        "layers": LAYERS,
        "hidden": HIDDEN,
        "heads": 8,
        "feedForward": 1024,
        "vocabulary": 1000,
        "sequence": SEQUENCE,
    }
    command = [str(BENCH), "--gpus", str(TENSOR * 2 * DATA), "--stages", "2"]
    for key, value in settings.items():
        command += ["--set", f"job.training.model.{key}={value}"]
    command += ["--set", f"job.training.microbatches={MICROBATCHES}", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_small_job_is_the_same_job_by_packets_and_with_servers_as_fluids():
    fluid = run()
    packets = run("--servers", "packets")
    assert fluid["gpus"] == 64
    assert fluid["goodput_bytes"] == packets["goodput_bytes"]
    # All that leaves servers is packets in both; NVLinks have none in the first.
    assert 0 < fluid["data_packet_hops"] < packets["data_packet_hops"]
    # Of eight rails one is simulated: a message of each microbatch and rank of a stage, forward and
    # back, and of each stage gradients that are scattered and parameters that are gathered.
    of_a_rail = 2 * MICROBATCHES * DATA + 2 * LAYERS
    assert fluid["recorded_collectives"] == (TENSOR - 1) * of_a_rail
    assert fluid["iteration_s"] < packets["iteration_s"] < 1.05 * fluid["iteration_s"]
    again = run()
    same = ("iteration_s", "data_packet_hops", "events")
    assert [again[key] for key in same] == [fluid[key] for key in same]


def test_messages_between_stages_are_the_hops_that_the_closed_form_has():
    # Of each microbatch, forward and back, each rank of a stage sends a rank of the other one its
    # share of the activations (bf16): GPU, NIC, leaf, NIC, GPU are four hops of each packet.
    few = run()
    more = run("--set", f"job.training.microbatches={MICROBATCHES + 1}")
    share = 2 * SEQUENCE * HIDDEN // TENSOR
    packets = -(-share // 4096)
    assert more["data_packet_hops"] - few["data_packet_hops"] == 2 * TENSOR * DATA * packets * 4


def test_a_size_that_fills_no_server_is_refused():
    done = subprocess.run(
        [str(BENCH), "--gpus", "12"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "found 12 GPUs" in done.stderr
