# SPDX-License-Identifier: GPL-2.0-only
"""Draws jobs: a scheme, a gradient or its tensors, and what can be said beside them."""

from referee.case import SIZE_UNITS, Files, quantity
from referee.catalogue import Catalogue
from referee.dice import Dice
from referee.draw_file import draw_import
from referee.draw_scheme import IN_NETWORK, dedicated_of, draw_scheme
from referee.draw_tensors import draw_tensors

# Bytes that all workers together contribute. Fluid costs by message, packets by byte, TCP most.
_MOST_BYTES = {"fluid": 10**12, "roce": 3_000_000, "tcp": 120_000}


# doc/compression.rst: tensors are for synchronous all-reduces.
_NO_TENSORS = ("federated", "import", "all-gather", "reduce-scatter", "broadcast", "reduce")
_NO_TENSORS += ("all-to-all", "barrier", "sparse-all-gather")


def _draw_gradient(dice: Dice, transport: str, workers: int) -> str:
    most = max(8, _MOST_BYTES[transport] // max(1, workers))
    if dice.chance(0.15):
        return f"{dice.between(1, 64)}B"  # fewer elements than workers, or less than one
    if dice.chance(0.35):
        # Whole elements in every part: closed forms hold to the byte.
        unit = 4 * workers * 12
        return f"{unit * max(1, dice.spread(1, max(2, most // unit)))}B"
    return f"{dice.spread(1, most)}B"


def _is_plain_star(scenario: dict) -> bool:
    """One switch, with no more hosts than the bitmaps of SwitchML's program hold (32)."""
    topology = scenario["topology"]
    return topology["kind"] == "star" and "server" not in topology


def _draw_aggregation(dice: Dice, scenario: dict, scheme: dict) -> None:
    aggregation: dict = {}
    if dice.chance(0.6):
        aggregation["values"] = dice.of(("sizes", "real", "float"))
    slot: dict = {}
    if dice.chance(0.5):
        slot["slots"] = dice.of((1, 4, 32, 128))
    if dice.chance(0.3):
        slot["valuesPerPacket"] = dice.of((1, 32, 64, 256))
    if scheme["kind"] in ("switchml", "passing") and dice.chance(0.3):
        aggregation["engine"] = "p4"
        slot.pop("valuesPerPacket", None)
    elif scheme["kind"] == "switchml" and _is_plain_star(scenario) and dice.chance(0.4):
        # Of several packets a message may have wrong sums where packets are lost (doc/aggregation.rst).
        slot["format"] = dice.of(("switchml", "switchml-rocev2"))
        slot["messagePackets"] = 1
        slot["valuesPerPacket"] = dice.of((64, 256))
    slot["timeout"] = "1ms"
    aggregation["slot"] = slot
    aggregation["atp"] = {"firstTimeout": "2ms"}
    if dice.chance(0.2):
        aggregation["atp"]["busyShare"] = dice.of((0.25, 0.5, 1))
    if dice.chance(0.2):
        aggregation["processingDelay"] = "500ns"
        aggregation["pipelinePacketRate"] = 100e6
    transport = scenario["transport"]
    transport["aggregation"] = aggregation
    if scheme["kind"] == "netreduce":
        transport.pop("recovery", None)
        transport.pop("reorderTolerance", None)
        if transport.get("congestionControl") == "hpcc":
            del transport["congestionControl"]
        if scenario.get("fabric", {}).get("loadBalancing") in ("spray", "adaptive"):
            del scenario["fabric"]["loadBalancing"]


def _draw_codec(dice: Dice, catalogue: Catalogue, scenario: dict, job: dict) -> None:
    scheme = job["scheme"]
    if scheme["kind"] in IN_NETWORK:
        _draw_aggregation(dice, scenario, scheme)
        if dice.chance(0.15):
            job["codec"] = dice.of(("fixed-point", "int8"))
    elif scheme.get("file", "").endswith(".goal"):
        return  # which says nothing of data
    elif scheme["kind"] != "sparse-all-gather" and dice.chance(0.2):
        job["codec"] = dice.of(catalogue.codecs)


def draw_protocol(dice: Dice, job: dict, kind: str) -> None:
    """What the messages of a job take beside their bytes, of which it adds none."""
    if kind in IN_NETWORK or kind == "federated":
        return  # they have no messages between ranks, or do not wait for all
    job["protocol"] = {
        "kind": "simple",
        "baseLatency": dice.microseconds(0, 30),
        "hopLatency": dice.microseconds(0, 5),
        "networkHopLatency": dice.microseconds(0, 15),
    }


def draw_job(
    dice: Dice, catalogue: Catalogue, scenario: dict, endpoints: int, files: Files
) -> dict:
    """A job of the scenario: its scheme, and what can be said beside it."""
    packets = scenario["transport"]["kind"] == "roce"
    from_file = endpoints > 1 and dice.chance(0.08)
    scheme, workers = (
        draw_import(dice, endpoints, files)
        if from_file
        else draw_scheme(dice, catalogue, endpoints, packets)
    )
    job: dict = {"scheme": scheme}
    available = max(1, endpoints - dedicated_of(scheme))
    if workers is None and available > 2 and dice.chance(0.2):
        workers = dice.between(2, available)
    if workers is not None and workers >= 2:
        job["workers"] = workers
        if "root" in scheme:
            scheme["root"] %= workers
    count = workers or available
    job["gradient"] = _draw_gradient(dice, scenario["transport"]["kind"], count)
    for name in ("chunkBytes", "partitionBytes"):
        # A million pieces of a large gradient are a plan of minutes.
        if scheme.get(name) or (name == "chunkBytes" and scheme["kind"] == "parameter-hub"):
            pieces = quantity(job["gradient"], SIZE_UNITS) // dice.between(1, 40)
            scheme[name] = max(scheme.get(name, 32768), pieces + 1)
    if dice.chance(0.3):
        job["iterations"] = dice.between(2, 3)
    if dice.chance(0.3):
        job["compute"] = dice.microseconds(0, 200)
    if dice.chance(0.1):
        job["reduceRate"] = dice.of(("10Gbps", "100Gbps"))
    if dice.chance(0.15):
        job["maxOutstandingSends"] = dice.between(1, 4)
    if dice.chance(0.1):
        job["start"] = dice.microseconds(0, 100)
    _draw_codec(dice, catalogue, scenario, job)
    refused = scheme["kind"] in _NO_TENSORS and not dice.chance(0.1)
    if dice.chance(0.2) and not refused:
        draw_tensors(dice, catalogue, job, with_codecs=scheme["kind"] not in IN_NETWORK)
    return job
