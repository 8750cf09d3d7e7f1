# SPDX-License-Identifier: GPL-2.0-only
"""Draws training iterations: blocks with their times, small transformers, and networks of which all is known."""

from referee.catalogue import Catalogue
from referee.dice import Dice
from referee.draw_fault import draw_fault
from referee.draw_topology import draw_link, draw_topology
from referee.draw_transport import draw_transport
from referee.training_job import TENSOR_SCHEMES

# Bytes that a job may send in an iteration, all collectives together.
_MOST_BYTES = {"fluid": 10**10, "roce": 2_000_000, "tcp": 60_000}
_PROBES = ("again", "seed", "jobs", "prefetch", "trace", "quiet", "fluid", "order", "whole")
# What one exchange of today's jobs may be in the place of a block's: groups and dedicated servers aside.
_SCHEMES = (*TENSOR_SCHEMES, "butterfly", "rat", "hierarchical", "mesh-2d", "multi-ring")


def _axes(dice: Dice, training: dict, endpoints: int, names: tuple[str, ...]) -> None:
    """Degrees of parallelism whose product the endpoints allow; data takes the rest or some of it."""
    left = endpoints
    for name in names:
        degree = dice.of([d for d in (1, 1, 2, 2, 3, 4) if d <= left])
        if degree > 1:
            training[name] = degree
        left //= degree
    if dice.chance(0.7):
        training["data"] = dice.between(1, max(1, left))
    if dice.chance(0.3):
        order = dice.shuffled(("tp", "cp", "ep", "dp", "pp"))
        training["order"] = "-".join(order)


def _schedule(dice: Dice, training: dict) -> None:
    stages = training.get("pipeline", 1)
    training["schedule"] = dice.of(("gpipe", "1f1b", "interleaved", "zb-h1"))
    training["microbatches"] = dice.between(1, 5)
    if training["schedule"] == "interleaved":
        training["chunks"] = dice.between(1, 3)
        training["microbatches"] = stages * dice.between(1, 2)


def _exchange(dice: Dice, training: dict) -> None:
    """How gradients are exchanged."""
    if dice.chance(0.4):
        training["zero"] = dice.between(1, 2)
        training["parameterShare"] = dice.of((1, 0.5, 0.25, 2))
    elif dice.chance(0.5):
        training["exchange"] = dice.of(("scatter-gather", "hierarchical"))
        if training["exchange"] == "hierarchical" and dice.chance(0.8):
            ranks = training.get("data", 1) * training.get("context", 1)
            training["innerRanks"] = dice.of([d for d in range(1, ranks + 1) if ranks % d == 0])
    training["overlap"] = dice.chance(0.7)
    if dice.chance(0.5):
        training["barrier"] = False


def _order_of_exchange(dice: Dice, training: dict, gradient: int) -> None:
    """Buckets, and which of them goes first."""
    for name in ("bucket", "firstBucket"):
        if dice.chance(0.6):
            training[name] = f"{dice.spread(max(1, gradient // 2), 8 * gradient + 8)}B"
    if dice.chance(0.5):
        training["streamPolicy"] = dice.of(("program", "fifo", "lifo", "priority"))
    if dice.chance(0.4):
        training["piece"] = f"{4 * dice.between(max(1, gradient // 16), max(2, gradient // 2))}B"
    if dice.chance(0.3):
        training["credit"] = f"{dice.spread(1, 2 * gradient + 2)}B"
    if dice.chance(0.3):
        training["streams"] = dice.between(2, 3)
    if dice.chance(0.3):
        training["slices"] = dice.between(2, 4)


def _blocks(dice: Dice, training: dict, most: int) -> int:
    """Blocks, at least one for each chunk of each stage; bytes of the gradient of the first."""
    parts = training.get("pipeline", 1) * training.get("chunks", 1)
    kinds = dice.between(1, 3)
    count = -(-(parts + dice.between(0, 3)) // kinds)
    work = kinds * count * training.get("microbatches", 1) * 8
    size = max(4, most // work)
    unit = dice.of((1, 4, 48))  # of 48 all parts are whole
    blocks = []
    for _ in range(kinds):
        block: dict = {"forward": dice.microseconds(0, 90), "backward": dice.microseconds(0, 180)}
        if training.get("schedule") == "zb-h1":
            block["weight"] = dice.microseconds(0, 90)
        block["gradient"] = f"{unit * max(1, dice.spread(1, max(2, 4 * size // unit)))}B"
        for name in ("tensorForward", "tensorBackward"):
            if dice.chance(0.6):
                block[name] = f"{unit * max(1, dice.spread(1, max(2, size // unit)))}B"
        blocks.append({**block, "count": count} if count > 1 else block)
    training["blocks"] = blocks
    if dice.chance(0.8):
        training["activation"] = f"{dice.spread(1, max(2, size))}B"
    return int(blocks[0]["gradient"].removesuffix("B"))


def _of_blocks(dice: Dice, endpoints: int, most: int) -> dict:
    """Any parallelism of blocks."""
    training: dict = {}
    if dice.chance(0.12):
        training["zero"] = 3
        if dice.chance(0.6):
            training["data"] = dice.between(1, endpoints)
        _blocks(dice, training, most // endpoints)
        return training
    _axes(dice, training, endpoints, ("tensor", "context", "pipeline"))
    _schedule(dice, training)
    _exchange(dice, training)
    gradient = _blocks(dice, training, most // endpoints)
    _order_of_exchange(dice, training, gradient)
    if dice.chance(0.4):
        training["tensorScheme"] = dice.of(TENSOR_SCHEMES)
    return training


def _transformer(dice: Dice, training: dict) -> dict:
    """A decoder of a few thousand parameters, all of whose parts are whole on the ranks."""
    heads = training.get("tensor", 1) * dice.between(1, 2)
    size = 4 * dice.between(1, 2)
    stages = training.get("pipeline", 1) * training.get("chunks", 1)
    model = {
        "kind": "transformer",
        "layers": stages * dice.between(1, 2),
        "hidden": heads * size,
        "heads": heads,
        "feedForward": 2 * heads * size,
        "vocabulary": 12 * dice.between(2, 4),
        "sequence": 12 * dice.between(1, 2),
        "gated": dice.chance(0.5),
        "biases": dice.chance(0.5),
        "norm": dice.of(("rms", "layer")),
        "tiedEmbedding": dice.chance(0.4),
        "dropout": dice.chance(0.5),
    }
    if dice.chance(0.4):
        model["kvHeads"] = training.get("tensor", 1)
    if dice.chance(0.4):
        model["positions"] = model["sequence"]
    if "expert" in training:
        model |= {"experts": 12, "expertsPerToken": dice.between(1, 2)}
    return model


_DEVICE = {
    "name": "of the referee",
    "source": "made up",
    "memory": "80GB",
    "memoryBandwidth": 1e12,
    "peaks": [
        {"datatype": "bf16", "flops": 1e11, "source": "made up"},
        {"datatype": "fp32", "flops": 2e10, "source": "made up"},
    ],
}


def _of_a_table(dice: Dice, endpoints: int) -> dict:
    """Layers with what was measured of each."""
    training: dict = {}
    _axes(dice, training, min(endpoints, 12), ("pipeline",))
    _schedule(dice, training)
    _exchange(dice, training)
    training.pop("parameterShare", None)
    _order_of_exchange(dice, training, 8000)
    parts = training.get("pipeline", 1) * training.get("chunks", 1)
    # Whole picoseconds and bytes of every sample, and halves of what goes backward.
    layers = [
        {
            "name": f"layer{number}",
            "parameters": dice.spread(1, 2000),
            "forward": f"{2 * dice.between(1, 45)}us",
            "backward": f"{4 * dice.between(1, 45)}us",
            "output": f"{2 * dice.spread(1, 1000)}B",
        }
        for number in range(parts + dice.between(0, 3))
    ]
    training["model"] = {"kind": "table", "batch": dice.between(1, 2), "layers": layers}
    training["device"] = _DEVICE
    if dice.chance(0.4):
        training["microbatchSize"] = 2
    if dice.chance(0.3):
        training["datatype"] = "fp32"
    return training


def _of_a_model(dice: Dice, endpoints: int) -> dict:
    """A small transformer, or now and then a table of layers, on a made-up device."""
    if dice.chance(0.25):
        return _of_a_table(dice, endpoints)
    training: dict = {}
    _axes(dice, training, min(endpoints, 12), ("tensor", "context", "pipeline"))
    if training.get("tensor") == 4 or training.get("pipeline") == 4:
        training.pop("context", None)
    training.pop("order", None)
    _schedule(dice, training)
    _exchange(dice, training)
    training.pop("parameterShare", None)
    if dice.chance(0.2):
        training["zero"] = 3
        for name in ("tensor", "context", "pipeline", "chunks", "microbatches", "schedule"):
            training.pop(name, None)
        for name in ("barrier", "exchange", "innerRanks", "overlap"):
            training.pop(name, None)
    elif dice.chance(0.4):
        stage = training.get("tensor", 1) * training.get("context", 1) * training.get("data", 1)
        experts = [d for d in (2, 3, 4) if "data" in training and stage % d == 0]
        tensor = training.get("tensor", 1)
        fitting = [d for d in experts if stage // d % tensor == 0]
        if fitting:
            training["expert"] = dice.of(fitting)
            if tensor > 1 and dice.chance(0.5):
                training["expertTensor"] = 1
    if "expert" in training or dice.chance(0.4):
        training["sequenceParallel"] = True
    training |= {"model": _transformer(dice, training), "device": _DEVICE}
    training["achievedShare"] = dice.of((0.25, 0.5, 1))
    if dice.chance(0.4):
        training["microbatchSize"] = 2
    if dice.chance(0.3):
        training["datatype"] = "fp32"
    if dice.chance(0.5):
        training["recompute"] = dice.of(("selective", "full"))
    if training.get("zero") != 3:
        _order_of_exchange(dice, training, 4096)
    return training


def _star(dice: Dice, hosts: int, transport: dict | str, **link: str) -> dict:
    topology = {"kind": "star", "hosts": hosts, "hostLink": {**draw_link(dice), **link}}
    return {"topology": topology, "transport": transport}


def _free_pipeline(dice: Dice) -> dict:
    """Stages between which nothing takes time."""
    training: dict = {"pipeline": dice.between(1, 4)}
    _schedule(dice, training)
    parts = training["pipeline"] * training.get("chunks", 1)
    each = dice.between(1, 2)
    alike = training["schedule"] != "gpipe" or dice.chance(0.3)
    kinds = [(dice.between(1, 90), dice.between(1, 180)) for _ in range(1 if alike else parts)]
    training["blocks"] = [
        {"forward": f"{f}us", "backward": f"{b}us", "count": each * (parts if alike else 1)}
        for f, b in kinds
    ]
    if training["schedule"] == "zb-h1":
        # The closed form is of passes of one length.
        for block in training["blocks"]:
            block["backward"] = block["weight"] = block["forward"]
    scenario = _star(dice, training["pipeline"] * dice.between(1, 2), "fluid", delay="0ns")
    return {**scenario, "job": {"training": training}}


def _one_block(dice: Dice, catalogue: Catalogue) -> dict:
    """What is today's job: a computation and an exchange."""
    hosts = dice.between(2, 9)
    packets = dice.chance(0.6)
    transport = {"kind": "roce", "mtu": "1000B"} if packets else {"kind": "fluid"}
    block = {
        "backward": dice.microseconds(0, 200),
        "gradient": f"{dice.spread(1, 300_000 // hosts if packets else 10**9)}B",
    }
    scheme = dice.of([kind for kind in _SCHEMES if kind in catalogue.schemes])
    job = {"training": {"blocks": [block]}, "iterations": dice.between(1, 2)}
    if dice.chance(0.3):
        job["reduceRate"] = dice.of(("10Gbps", "100Gbps"))
    if dice.chance(0.3):
        job["start"] = dice.microseconds(0, 100)
    return {**_star(dice, hosts, transport), "scheme": scheme, "job": job}


def _data_parallel(dice: Dice) -> dict:
    """Buckets of equal ranks on one switch: nothing but them is on the links."""
    training: dict = {"microbatches": dice.between(1, 3), "overlap": dice.chance(0.7)}
    gradient = _blocks(dice, training, 200_000)
    for block in training["blocks"]:
        block.pop("tensorForward", None)
        block.pop("tensorBackward", None)
    for name in ("bucket", "firstBucket"):
        training[name] = f"{dice.spread(max(1, gradient // 2), 4 * gradient)}B"
    transport = "fluid" if dice.chance(0.6) else {"kind": "roce", "mtu": "1000B", "ackEvery": 0}
    scenario = _star(dice, dice.between(2, 8), transport)
    return {**scenario, "job": {"training": training, "iterations": dice.between(1, 2)}}


def _any(dice: Dice, catalogue: Catalogue) -> dict:
    """Any network and transport, now and then with faults."""
    topology, endpoints = draw_topology(dice, catalogue.topologies)
    scenario: dict = {"topology": topology}
    transport = draw_transport(dice, catalogue, scenario)
    made = dice.chance(0.5) and transport != "tcp"
    training = (
        _of_a_model(dice, endpoints)
        if made
        else _of_blocks(dice, endpoints, _MOST_BYTES[transport])
    )
    job: dict = {"training": training}
    if dice.chance(0.4):
        job["iterations"] = dice.between(2, 3)
    if dice.chance(0.1):
        job["reduceRate"] = dice.of(("10Gbps", "100Gbps"))
    if dice.chance(0.1):
        job["start"] = dice.microseconds(0, 100)
    if dice.chance(0.12):
        near = "host0" if topology["kind"] == "star" and "server" not in topology else None
        scenario["faults"] = [draw_fault(dice, catalogue.faults, transport, endpoints, near)]
        job |= {"timeout": "200ms"} | ({"reaction": "replan"} if dice.chance(0.5) else {})
    elif dice.chance(0.05):
        job["timeout"] = dice.of(("1ps", "1us", "100us"))
    scenario["job"] = job
    if dice.chance(0.3):
        # An all-reduce: what ZeRO and models ask for has keys of its own.
        scenario["scheme"] = dice.of(TENSOR_SCHEMES)
    return scenario


def draw_training(dice: Dice, catalogue: Catalogue) -> tuple[dict, list[str]]:
    """A scenario that trains, and what else is run beside it."""
    roll = dice.between(1, 100)
    if roll <= 12:
        return _free_pipeline(dice), []
    if roll <= 24:
        return _one_block(dice, catalogue), ["exchange"]
    if roll <= 42:
        return _data_parallel(dice), ["fluid", "no-overlap"]
    return _any(dice, catalogue), sorted({dice.of(_PROBES), dice.of(_PROBES)})
