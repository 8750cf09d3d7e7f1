# SPDX-License-Identifier: GPL-2.0-only
"""The traces of other projects, where they are beside the checkout: none of them is part of this one."""

import gzip
import json
import math
import re
import shutil
import tarfile
from decimal import Decimal

import pytest
from conftest import ROOT, rows_of

TRACES = ROOT.parent / "shared" / "traces"

pytestmark = pytest.mark.skipif(not TRACES.is_dir(), reason=f"there is no {TRACES}")


@pytest.fixture
def run(program, tmp_path):
    """Runs a trace on a star; `more` are other keys of the job."""

    def start(trace, hosts, transport="fluid", **more):
        job = {"trace": trace} if isinstance(trace, dict) else {"gradient": trace} if trace else {}
        link = {"rate": "100Gbps", "delay": "1us"}
        (tmp_path / "x.json").write_text(
            json.dumps(
                {
                    "topology": {"kind": "star", "hosts": hosts, "hostLink": link},
                    "transport": transport,
                    "job": {**job, **more},
                    "scheme": "ring",
                }
            )
        )
        shutil.rmtree(tmp_path / "r", ignore_errors=True)
        return program("run", "x.json", "--out", "r")

    return start


def _unpack(archive, name, tmp_path):
    """One file of an archive, as what comes after the last slash of its name."""
    with tarfile.open(TRACES / "chakra" / archive) as tar:
        path = tmp_path / name.rpartition("/")[2]
        path.write_bytes(tar.extractfile(name).read())
    return str(path)


def _ict(tmp_path):
    return rows_of(tmp_path / "r" / "iterations.csv")[0]["ict_s"]


def test_a_ring_of_messages_takes_what_the_scheme_takes(run, tmp_path):
    # 14 messages of 131,072 B a rank, and 7 additions of 7 us, which take 0 or as long as at
    # 131,072 x 8 bit / 7 us = 149,796,571,429 bit/s.
    folder = TRACES / "astra-sim" / "custom_ring_allreduce_8npus_1MB"
    file = str(folder / "custom_allreduce.{rank}.et")
    for transport in ("roce", "fluid"):
        for trace, job in (
            ({"file": file, "computeScale": 0}, {}),
            ({"file": file}, {"reduceRate": "149796571429bps"}),
        ):
            told = run(trace, 8, transport)
            assert told.returncode == 0, told.stderr
            found = _ict(tmp_path)
            assert run("1MiB", 8, transport, **job).returncode == 0
            assert found == _ict(tmp_path)


# Bytes of the whole buffer, of comm_size: that of an all-gather is what each rank brings.
@pytest.mark.parametrize("ranks", [4, 8])
@pytest.mark.parametrize(
    "kind, scheme", [("all_reduce", "ring"), ("all_gather", "all-gather"), ("all_to_all",) * 2,
                     ("reduce_scatter", "reduce-scatter")]
)  # fmt: skip
def test_one_collective_takes_what_its_scheme_takes(run, tmp_path, kind, scheme, ranks):
    file = TRACES / "astra-sim" / kind / f"{ranks}npus_1MB" / f"{kind}.{{rank}}.et"
    told = run({"file": str(file)}, ranks, "roce")
    assert told.returncode == 0, told.stderr
    found = _ict(tmp_path)
    size = f"{ranks if kind == 'all_gather' else 1}MiB"
    assert run(size, ranks, "roce", scheme=scheme.replace("_", "-")).returncode == 0
    assert found == _ict(tmp_path)


def test_chakra_trace_of_pytorch_is_refused_by_what_it_lacks_or_run_without(run, tmp_path):
    file = _unpack("feeder_tests_trace.tar.gz", "tests/data/chakra.0.et", tmp_path)
    told = run({"file": file, "ranks": 1}, 2)
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1
    for issue in (
        "14 collectives without comm_type",
        "1277 dependencies on nodes that are not there",
        "383 dependencies of nodes on themselves",
    ):
        assert issue in told.stderr
    told = run({"file": file, "ranks": 2, "onUnsupported": "skip"}, 2)
    assert told.returncode == 0, told.stderr
    # Five buckets of DDP and two broadcasts of parameters.
    bytes_of = [int(row["bytes"]) for row in rows_of(tmp_path / "r" / "collectives.csv")]
    expected = [8196000, 31502336, 26255360, 26550272, 9724160, 212480, 424]
    assert sorted(bytes_of) == sorted(expected)


@pytest.mark.parametrize("name", ["chakra.0.json", "small_chakra.0.json"])
def test_chakra_traces_in_json(run, tmp_path, name):
    file = _unpack("json_trace.tar.gz", f"jsonData/{name}", tmp_path)
    told = run({"file": file, "ranks": 2}, 2)
    assert told.returncode == 2
    assert "collectives without comm_type (the first: node 432 " in told.stderr
    told = run({"file": file, "ranks": 2, "onUnsupported": "skip"}, 2)
    assert told.returncode == 0, told.stderr


@pytest.mark.parametrize("path", sorted((TRACES / "aicb").glob("*_A100.txt")), ids=lambda p: p.stem)
def test_layers_of_aicb(run, path):
    told = run({"file": str(path)}, 16)
    assert told.returncode == 0, told.stderr
    assert "exposed communication" in told.stdout


@pytest.mark.parametrize("path", sorted((TRACES / "aicb").glob("*_mbs1.csv")), ids=lambda p: p.stem)
def test_communications_of_aicb(run, path, tmp_path):
    told = run({"file": str(path)}, 128)
    assert told.returncode == 0, told.stderr
    gathered = sum(
        int(row["bytes"]) * int(row["count"])
        for row in rows_of(tmp_path / "r" / "collectives.csv")
        if row["kind"] == "all-gather" and row["label"].startswith(("forward", "backward"))
    )
    if "zero3" in path.name:
        # All of the parameters once forth and once back (Llama-7B: 13,476,831,232 B).
        assert gathered == 2 * 13_476_831_232


def test_a_workload_of_9216_gpus(run):
    file = str(TRACES / "aicb" / "workload_analytical.txt")
    told = run({"file": file}, 64)
    assert told.returncode == 2
    assert "the trace is of 9216 ranks, but there are 64 endpoints" in told.stderr


def test_specifications_of_tables_are_refused(run):
    told = run({"file": str(TRACES / "aicb" / "Workload_spec_v1.1.csv")}, 4)
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1
    assert "is no communication" in told.stderr


DAPPLE = sorted((TRACES / "dapple").glob("*.txt"))


@pytest.mark.parametrize("path", DAPPLE, ids=lambda p: p.stem)
def test_layers_of_dapple_are_no_trace_but_a_model(run, path, tmp_path):
    told = run({"file": str(path)}, 4)
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1
    assert "is a table of layers as DAPPLE has them, which is a model" in told.stderr
    figures = [
        [
            sum(Decimal(part) for part in re.search(key + r"=\[?([^],]*)", line)[1].split("; "))
            for key in ("forward_compute_time", "backward_compute_time", "parameter_size")
        ]
        for line in path.read_text().splitlines()
        if line.startswith("node")
    ]
    training = {
        "model": str(path),
        "device": str(ROOT / "devices" / "h100-sxm.json"),
        "datatype": "fp32",
        "microbatchSize": int(path.stem.rpartition("-")[2]),
    }
    # On one rank the sum of all times, to the picosecond.
    told = run(None, 1, training=training)
    assert told.returncode == 0, told.stderr
    milliseconds = sum(forward + backward for forward, backward, _ in figures)
    assert Decimal(_ict(tmp_path)) * 1000 == milliseconds
    # On two, the gradients of all parameters, whole numbers of 4 bytes each.
    told = run(None, 2, training=training)
    assert told.returncode == 0, told.stderr
    exchanged = sum(
        int(row["bytes"]) * int(row["count"])
        for row in rows_of(tmp_path / "r" / "collectives.csv")
        if row["label"] == "gradients"
    )
    assert exchanged == sum(math.ceil(parameters / 4) * 4 for _, _, parameters in figures)
    # Two stages of two ranks, with messages between them.
    more = {"pipeline": 2, "microbatches": 4}
    told = run(None, 4, "roce", training=training | more)
    assert told.returncode == 0, told.stderr


PYTORCH = TRACES / "param" / "resnet_2gpu_et.json.gz"


def test_pytorch_traces_have_no_times(run):
    told = run({"file": str(PYTORCH)}, 2)
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1
    assert "none of its 14392 nodes has a time" in told.stderr
    with gzip.open(PYTORCH) as file:
        assert len(json.load(file)["nodes"]) == 14392


def test_pytorch_trace_of_ddp(run, tmp_path):
    # Three steps of five buckets and two broadcasts; the last one is run, on both ranks.
    trace = {"file": str(PYTORCH)}
    told = run(trace | {"computeScale": 0}, 2)
    assert told.returncode == 0, told.stderr
    rows = rows_of(tmp_path / "r" / "collectives.csv")
    floats = [2_049_000, 7_875_584, 6_563_840, 6_637_568, 2_431_040]
    expected = [4 * count for count in floats] + [4 * 53_120, 8 * 53]
    assert sorted(int(row["bytes"]) for row in rows) == sorted(expected)
    assert {row["count"] for row in rows} == {"1"}
    # One link each way: all-reduces of two ranks take their bytes, broadcasts too.
    bare = float(_ict(tmp_path))
    assert bare == pytest.approx(sum(expected) * 8 / 100e9, rel=0.01)
    # ResNet-50 on 32 images, 4.09 G multiplications of an image forward, twice as many backward but
    # for the image itself: at 0.556 of 15.7 TFLOP/s. All but the last bucket hides behind it.
    device = {"device": str(ROOT / "devices" / "v100-sxm2.json")}
    told = run(trace | device, 2)
    assert told.returncode == 0, told.stderr
    row = rows_of(tmp_path / "r" / "training.csv")[0]
    computed = float(row["computation_s"])
    first = 112 * 112 * 64 * 147
    flops = 32 * 2 * (3 * 4.09e9 - first)
    assert computed == pytest.approx(flops / (0.556 * 15.7e12), rel=0.05)
    assert computed < float(_ict(tmp_path)) < computed + 0.3 * bare
    # On packets, too.
    told = run(trace | device, 2, "roce")
    assert told.returncode == 0, told.stderr


def test_pytorch_traces_are_no_chakra(run):
    told = run({"file": str(PYTORCH), "format": "chakra-json"}, 2)
    assert told.returncode == 2
    assert "a PyTorch execution trace" in told.stderr
    assert told.stderr.count("\n") == 1
