# SPDX-License-Identifier: GPL-2.0-only
"""Draws exchange schemes: the program says which parameters there are, this file which values.

A parameter that nobody here knows is drawn by its type, so that a new one is not left out.
"""

from referee.catalogue import Catalogue, Parameter
from referee.dice import Dice

IN_NETWORK = (
    "switchml",
    "passing",
    "atp",
    "libra",
    "netreduce",
    "sharp",
    "flare",
    "nccl:collnet-direct",
)
# Of laws that few of their scenarios are for.
_OFTEN = ("byteps", "rat")
# draw_file.py draws the first; the second chooses a protocol, of which the laws of messages know none;
# draw_aggregation.py draws the others.
_NOT_DRAWN = ("import", "nccl", "nvls", "sharp", "libra", "flare")


def _divisors(number: int) -> list[int]:
    return [d for d in range(1, number + 1) if number % d == 0]


def _dedicated(dice: Dice, endpoints: int) -> int:
    return dice.between(0, min(3, max(0, endpoints - 2)))


def _draw_value(dice: Dice, kind: str, parameter: Parameter, endpoints: int) -> object:
    """A value for one parameter."""
    name, default = parameter.name, parameter.default
    if name == "servers":
        return _dedicated(dice, endpoints)
    if name in ("parties", "boxes"):
        return dice.between(1, max(1, min(3, endpoints // 3)))
    if name == "root":
        return dice.between(0, max(0, endpoints - 1))
    if name in ("groupSize", "width"):
        return dice.of(_divisors(endpoints))
    if name in ("inside", "groupLevel", "weights", "dimensions", "strides", "layers", "sizes"):
        return default
    if name in ("tokenBytes", "entryBytes"):
        return dice.between(1, 40)
    if name in ("chunkBytes", "partitionBytes"):
        return dice.spread(64, 100_000)
    if name == "roundTimeout":
        return "20s"
    if name == "density":
        return dice.of((0.01, 0.1, 0.5))
    if name == "spread":
        return dice.of((0, 0.3))
    if parameter.choices:
        return dice.of(parameter.choices)
    if isinstance(default, bool):
        return dice.chance(0.5)
    if isinstance(default, int):
        return dice.between(max(1, min(2, default)), 4)
    return default


def _fix_shape(dice: Dice, scheme: dict, workers: int) -> int | None:
    """Schemes of a shape want certain numbers of workers: how many, or None for any."""
    kind = scheme["kind"]
    if kind == "bcube-hips":
        ports = scheme.get("ports", 2)
        powers = [n**ports for n in range(2, workers + 1) if n**ports <= workers]
        return dice.of(powers) if powers else None
    if kind in ("torus-hips", "blueconnect") and dice.chance(0.7):
        width = dice.of(_divisors(workers))
        scheme["dimensions"] = [width, workers // width]
    if kind == "sparse-all-gather" and dice.chance(0.5):
        scheme["sizes"] = [dice.between(0, 5000) for _ in range(workers)]
        scheme["sizes"][0] += 1
    if kind == "rat" and dice.chance(0.2):
        scheme["weights"] = [dice.between(0, 3) for _ in range(workers)]
        scheme["weights"][0] += 1
    return None


def dedicated_of(scheme: dict) -> int:
    """Dedicated servers that a scheme of the registry asks for."""
    kind = scheme["kind"]
    if kind in ("ps-ring", "atp", "libra"):
        return scheme.get("servers", 1)
    if kind == "byteps":
        return scheme.get("cpuMachines", 0)
    if kind == "geo-hips":
        return scheme.get("parties", 2) + 1
    if kind == "parameter-hub":
        return scheme.get("boxes", 2) * scheme.get("nics", 1)
    return 1 if kind == "federated" else scheme.get("servers", 0)


def draw_scheme(
    dice: Dice, catalogue: Catalogue, endpoints: int, packets: bool
) -> tuple[dict, int | None]:
    """A scheme, and the number of workers where it wants a certain one."""
    kinds = [
        kind
        for kind in catalogue.schemes
        if kind not in _NOT_DRAWN and (packets or kind not in IN_NETWORK)
    ]
    kind = dice.of([*kinds, *_OFTEN])
    if kind == "auto" and endpoints > 8 and dice.chance(0.8):
        return draw_scheme(dice, catalogue, endpoints, packets)  # it estimates all others
    scheme: dict = {"kind": kind}
    for parameter in catalogue.schemes[kind]:
        if dice.chance(0.4):
            scheme[parameter.name] = _draw_value(dice, kind, parameter, endpoints)
    if kind == "byteps":
        scheme["cpuMachines"] = _dedicated(dice, endpoints)
        if scheme.get("partitionBytes"):
            scheme.pop("pipelineChunks", None)
    if kind == "parameter-hub":
        scheme["nics"] = 1 if endpoints < 8 else dice.between(1, 2)
    if kind == "rat" or kind in ("broadcast", "reduce", "double-binary-tree"):
        scheme["pipelineChunks"] = dice.between(1, 4)  # 16 pieces of little are many packets
    if kind == "bcube-hips":
        scheme["ports"] = dice.of((1, 2, 2, 3))
    if dedicated_of(scheme) > endpoints - 2 and not dice.chance(0.1):
        return draw_scheme(dice, catalogue, endpoints, packets)
    workers = max(1, endpoints - dedicated_of(scheme))
    if "root" in scheme:
        scheme["root"] %= workers
    for name in ("width", "groupSize"):
        if name in scheme:
            scheme[name] = dice.of(_divisors(workers))
    if kind == "federated" and "minimumReplies" in scheme:
        scheme["minimumReplies"] = dice.between(1, workers)
    return scheme, _fix_shape(dice, scheme, workers)
