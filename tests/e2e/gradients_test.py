# SPDX-License-Identifier: GPL-2.0-only
"""Training with the simulator's codecs in the loop, and the simulation with what it measured."""

import json
import subprocess
from importlib.util import find_spec

import pytest
from conftest import ROOT

np = pytest.importorskip("numpy")
from gradsync.studies import digits, gradients  # noqa: E402

needs_digits = pytest.mark.skipif(find_spec("sklearn") is None, reason="no scikit-learn here")
STORED = ROOT / "profiles" / "digits.gradients.json"


@pytest.fixture
def simulator(program, monkeypatch):
    monkeypatch.setenv("GRADSYNC_PROGRAM", program.path)


def _method(kind, feedback=False, **parameters):
    return gradients.Method({"kind": kind, **parameters}, feedback)


def test_workers_have_codecs_of_their_own(simulator):
    # Two workers, tensors of 2 and 3 elements; top-k of one element each, with error feedback.
    first = np.array([[3, 1, 5, 2, 4], [0, 1, 0, 0, 1]], np.float32)
    with gradients.CodecLoop(_method("top-k", True, density=0.1), 2, [2, 3]) as loop:
        decoded, size = loop.exchange(first)
        assert decoded.tolist() == [[3, 0, 5, 0, 0], [0, 1, 0, 0, 1]]
        assert size == 2 * 2 * 8
        # What was kept back comes again: 1, and 4 of 2 and 4.
        decoded, _ = loop.exchange(np.zeros_like(first))
        assert decoded.tolist() == [[0, 1, 0, 0, 4], [0, 0, 0, 0, 0]]
    with gradients.CodecLoop(_method("fp16"), 1, [2]) as loop:
        decoded, size = loop.exchange(np.array([[1 + 2**-12, 2]], np.float32))
        assert (decoded.tolist(), size) == ([[1, 2]], 4)


def test_a_gradient_that_breaks_off_and_a_wrong_codec_are_refused(program):
    def run(codec, data):
        command = [program.path, "codec", codec, "--tensors=2"]
        return subprocess.run(command, input=data, capture_output=True, check=False)

    done = run('{"kind": "fp16"}', b"12345")
    assert done.returncode == 2
    assert b"standard input: ends in the middle of a gradient, 5 of 8 bytes" in done.stderr
    done = run('{"kind": "fp15"}', b"")
    assert done.returncode == 2
    assert b"codec.kind" in done.stderr


def test_a_warm_up_sends_fewer_elements_from_step_to_step(simulator):
    method = next(m for m in gradients.VARIANTS if m.name == "dgc-0.1-percent-warm-up")
    found = gradients.Method({**method.codec, "warmUp": 1, "sampleRate": 1}, False)
    gradient = np.random.default_rng(1).normal(size=(1, 10_000)).astype(np.float32)
    with gradients.CodecLoop(found, 1, [10_000]) as loop:
        sizes = [loop.exchange(gradient)[1] for _ in range(5)]
    # 25, 6.3, 1.5, 0.4 and 0.1 % at 8 bytes; the threshold is of all elements, so it is exact.
    assert sizes == [20_000, 5_040, 1_200, 320, 80]


@needs_digits
def test_the_gradient_is_that_of_the_loss():
    data = digits.read_digits(1)
    network = digits.Network(1)
    images, labels = data.images[:8], data.labels[:8]
    gradient = network.gradient(images, labels)

    def loss(at, step):
        network.weights = network.weights.astype(np.float64)
        network.weights[at] += step
        out = network._forward(images.astype(np.float64))[-1]
        network.weights[at] -= step
        chosen = out[np.arange(8), labels]
        return (np.log(np.exp(out).sum(axis=1)) - chosen).mean()

    # A weight of each layer and a bias, by central differences.
    for at in (20 * 256 + 3, 16384 + 5, 17000, 16384 + 256 + 32768 + 128 + 7, len(gradient) - 1):
        expected = (loss(at, 1e-5) - loss(at, -1e-5)) / 2e-5
        assert gradient[at] == pytest.approx(expected, rel=1e-3, abs=1e-7)


@needs_digits
def test_dgc_learns_the_digits_in_a_short_training(simulator):
    plain, dgc = gradients.METHODS[0], next(m for m in gradients.METHODS if m.name == "dgc")
    found = gradients.study([plain, dgc], gradients.Setup(1, 3, workers=4, batch=32), "a test")
    # A tenth of the digits is right by chance. One element of 24 of those of fp32 is sent at most.
    assert found["codecs"]["fp32"]["accuracy"] > 0.8
    assert found["codecs"]["fp32"]["bytesPerElement"] == 4
    row = found["codecs"]["dgc"]
    assert row["accuracy"] > 0.6
    assert row["bytesPerElement"] < 4 / 24
    assert len(row["unions"]) == 4
    assert row["unions"] == sorted(row["unions"])
    assert row["unions"][0] < 0.011


def test_stored_trainings_reach_the_accuracy_without_compression():
    found = json.loads(STORED.read_text())
    assert found["provenance"]["seeds"] >= 10
    for name in ("fp16", "int8", "top-k", "bbtopk", "dgc", "bisparse"):
        row = found["codecs"][name]
        assert abs(row["difference"]) <= row["differenceHalfWidth"], name


def test_the_simulation_uses_measured_unions(program, tmp_path):
    unions = json.loads(STORED.read_text())["codecs"]["dgc"]["unions"]
    scenario = {
        "topology": {"kind": "star", "hosts": 2, "hostLink": {"rate": "8Gbps", "delay": "0s"}},
        "transport": "fluid",
        "job": {"gradient": "4MB", "codec": {"kind": "dgc", "density": str(STORED)}},
        "scheme": "ring",
    }
    (tmp_path / "s.json").write_text(json.dumps(scenario))
    done = program("plan", "s.json", "--json")
    assert done.returncode == 0, done.stderr
    sizes = {op["kind"]: op["bytes"] for op in json.loads(done.stdout)["operations"]}
    # Of half a million elements, as index and value: what one selects, and the union of two.
    assert sizes == {"reduce": 8 * round(5e5 * unions[0]), "copy": 8 * round(5e5 * unions[1])}
    scenario["job"]["codec"]["kind"] = "fp16"
    (tmp_path / "s.json").write_text(json.dumps(scenario))
    assert program("plan", "s.json", "--json").returncode == 2
