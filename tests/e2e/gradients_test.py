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


def test_workers_and_seeds_draw_numbers_of_their_own(simulator):
    same = np.tile(np.random.default_rng(2).normal(size=300).astype(np.float32), (2, 1))

    def send(seed):
        with gradients.CodecLoop(_method("qsgd", levels=1), 2, [100, 200], seed) as loop:
            return loop.exchange(same)[0]

    assert (send(1)[0] != send(1)[1]).any()
    assert (send(1) == send(1)).all()
    assert (send(1) != send(2)).any()


def test_a_server_sends_the_sign_that_most_workers_have(simulator):
    signs = np.random.default_rng(3).choice([-0.5, 2.0], size=(5, 70)).astype(np.float32)
    method = _method("signsgd", magnitude=0.25)
    with (
        gradients.CodecLoop(method, 5, [70]) as workers,
        gradients.CodecLoop(method, 1, [70], 1) as server,
    ):
        decoded, size = workers.exchange(signs)
        assert (decoded == 0.25 * np.sign(signs)).all()
        assert size == 5 * 12  # three words of 32 signs
        down, size = server.exchange(decoded.sum(axis=0, keepdims=True))
    assert size == 12
    assert (down[0] == 0.25 * np.sign(np.sign(signs).sum(axis=0))).all()


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
    for at in (
        20 * 256 + 3,
        16384 + 5,
        17000,
        16384 + 256 + 32768 + 128 + 7,
        len(gradient) - 1,
    ):
        expected = (loss(at, 1e-5) - loss(at, -1e-5)) / 2e-5
        assert gradient[at] == pytest.approx(expected, rel=1e-3, abs=1e-7)


@needs_digits
def test_dgc_learns_the_digits_in_a_short_training(simulator):
    plain, dgc = (
        gradients.METHODS[0],
        next(m for m in gradients.METHODS if m.name == "dgc"),
    )
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


@needs_digits
def test_powersgd_takes_the_mean_of_all_gradients(simulator):
    plain = gradients.METHODS[0]
    powersgd = next(m for m in gradients.METHODS if m.name == "powersgd")
    assert powersgd.is_linear and powersgd.feedback
    found = gradients.study([plain, powersgd], gradients.Setup(1, 3, workers=4, batch=32), "a test")
    row = found["codecs"]["powersgd"]
    assert row["accuracy"] > 0.6
    # Rank 4 of 128 x 128, 16 x 16, 179 x 184 (32,768 elements), 11 x 12, 36 x 36 and, left as it is, 10.
    sides = [128 + 128, 16 + 16, 179 + 184, 11 + 12, 36 + 36]
    assert row["bytesPerElement"] == pytest.approx((16 * sum(sides) + 40) / 50_826, abs=1e-6)


def test_stored_trainings_reach_the_accuracy_without_compression():
    found = json.loads(STORED.read_text())
    assert found["provenance"]["seeds"] >= 10
    for name in ("fp16", "int8", "top-k", "bbtopk", "dgc", "bisparse"):
        row = found["codecs"][name]
        assert abs(row["difference"]) <= row["differenceHalfWidth"], name


def test_thc_is_equivalent_to_no_compression():
    # Within a point of it, with the whole interval: laid down before the trainings.
    row = json.loads(STORED.read_text())["codecs"]["thc"]
    assert len(row["accuracies"]) >= 10
    assert abs(row["difference"]) + row["differenceHalfWidth"] <= 0.01
    # 4 bits each of 16384, 32768 and 1280 weights, padded to 2048, and 256, 128 and 10 biases, padded to 16; 16 norms.
    coordinates = 16384 + 32768 + 2048 + 256 + 128 + 16
    assert row["bytesPerElement"] == pytest.approx((coordinates / 2 + 16 * 4) / 50_826, abs=1e-6)


def test_dgt_keeps_what_contributes_most_and_the_last_block():
    # Counted block by block: contributions are averages, C <- 0.3 C + 0.7 mean |g|.
    random = np.random.default_rng(3)
    size = gradients.BlockLoss.BLOCK
    for elements, reliable in [(1000, 0.5), (64, 0.2), (65, 0.0), (4096, 0.8), (777, 0.2)]:
        loss = gradients.BlockLoss(reliable, 2, elements)
        blocks = [range(begin, min(begin + size, elements)) for begin in range(0, elements, size)]
        kept = min(round(reliable * len(blocks)), len(blocks) - 1)
        scores = np.zeros((2, len(blocks)))
        for _ in range(3):
            values = random.normal(size=(2, elements)).astype(np.float32)
            arrived = loss.apply(values)
            for worker in range(2):
                for i, block in enumerate(blocks):
                    mean = np.mean([abs(values[worker, element]) for element in block])
                    scores[worker, i] = 0.3 * scores[worker, i] + 0.7 * mean
                best = sorted(range(len(blocks) - 1), key=lambda i: -scores[worker, i])[:kept]
                expected = np.zeros(elements, np.float32)
                for i in [*best, len(blocks) - 1]:
                    expected[list(blocks[i])] = values[worker, list(blocks[i])]
                assert np.array_equal(arrived[worker], expected)


def test_the_simulation_uses_measured_unions(program, tmp_path):
    unions = json.loads(STORED.read_text())["codecs"]["dgc"]["unions"]
    scenario = {
        "topology": {
            "kind": "star",
            "hosts": 2,
            "hostLink": {"rate": "8Gbps", "delay": "0s"},
        },
        "transport": "fluid",
        "job": {"gradient": "4MB", "codec": {"kind": "dgc", "density": str(STORED)}},
        "scheme": "ring",
    }
    (tmp_path / "s.json").write_text(json.dumps(scenario))
    done = program("plan", "s.json", "--json")
    assert done.returncode == 0, done.stderr
    sizes = {op["kind"]: op["bytes"] for op in json.loads(done.stdout)["operations"]}
    # Of half a million elements, as index and value: what one selects, and the union of two.
    assert sizes == {
        "reduce": 8 * round(5e5 * unions[0]),
        "copy": 8 * round(5e5 * unions[1]),
    }
    scenario["job"]["codec"]["kind"] = "fp16"
    (tmp_path / "s.json").write_text(json.dumps(scenario))
    assert program("plan", "s.json", "--json").returncode == 2
