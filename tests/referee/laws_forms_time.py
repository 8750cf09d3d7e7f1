# SPDX-License-Identifier: GPL-2.0-only
"""The closed forms for time: doc/schemes.rst on one switch, without packets and with them.

Fluid meets them where all parts have the same size; what is left is a tick of rounding for each step of the
longest chain (doc/fluid.rst, Exactness).
"""

import math
from collections.abc import Callable, Iterator

from referee.case import RATE_UNITS, SIZE_UNITS, TIME_UNITS, picoseconds, quantity
from referee.evidence import Evidence
from referee.law import law
from referee.laws_bytes import ACKNOWLEDGEMENT, DATA_HEADERS

_TICKS = 4


def _link(e: Evidence) -> tuple[int, int]:
    """Bits a second and picoseconds of delay of each link of a star."""
    link = e.scenario["topology"]["hostLink"]
    rate, delay = link.get("rate", "0bps"), link.get("delay", "1us")
    return quantity(rate, RATE_UNITS), quantity(delay, TIME_UNITS)


def _log2(w: int) -> int:
    return w.bit_length() - 1


def _ps(w: int, s: dict) -> tuple[float, int] | None:
    p, m = s.get("servers", 0), s.get("pipelineChunks", 1)
    if p == 0:
        return (2 * (w - 1) / w, 2) if m == 1 else None
    if s.get("barrier"):
        return 2 * max(1, w / p), 2
    # Workers that are fewer than servers have other bottlenecks for each half.
    return (w / p * (1 + 1 / m), 2) if w >= p else None


def _hierarchical(w: int, s: dict) -> tuple[float, int] | None:
    g = s.get("groupSize", 0)
    if g < 2 or w % g or w == g or s.get("broadcast", "chain") == "chain":
        return None
    groups = w // g
    if not s.get("barrier", True) or s.get("pipelineChunks", 1) != 1:
        return None
    if s.get("broadcast") == "star":
        last, steps = g - 1, 1
    else:
        last, steps = 2 * (g - 1) / g, g  # the root's parts, then around the ring
        return None if s.get("broadcastChunks", 16) else (last, steps)
    total = 2 * (g - 1) / g + 2 * (groups - 1) / groups + last
    return total, 2 * (g - 1) + 2 * (groups - 1) + steps


def _torus(w: int, s: dict) -> tuple[float, int] | None:
    x = s.get("width", 0)
    if not x or s.get("pipelineChunks", 1) != 1:
        return None
    y = w // x
    return 2 * (x - 1) / x + 2 * (y - 1) / w, 2 * (x - 1) + 2 * (y - 1)


def _blueconnect(w: int, s: dict) -> tuple[float, int] | None:
    dimensions = s.get("dimensions")
    if not dimensions or s.get("pipelineChunks", 1) != 1:
        return None
    total, product = 0.0, 1
    for p in dimensions:
        total += 2 * (p - 1) / p / product
        product *= p
    return total, sum(2 * (p - 1) for p in dimensions)


def _plink(w: int, s: dict) -> tuple[float, int] | None:
    g = s.get("groupSize", 0)
    if g < 2 or w % g or w == g or s.get("pipelineChunks", 1) != 1:
        return None
    return 2 * ((g - 1) / g + (w // g - 1) / w), 4


def _broadcast(w: int, s: dict) -> tuple[float, int] | None:
    algorithm, m = s.get("algorithm", "chain"), s.get("pipelineChunks", 16)
    if algorithm == "chain":
        # The last piece passes w-2 ranks after it has left the root.
        return 1 + (w - 2) / m, w - 1
    if algorithm == "star":
        return w - 1, 1
    return None


def _power(form: Callable[[int], tuple[float, int]]) -> Callable[[int, dict], tuple | None]:
    """Of powers of two, in one piece."""
    return lambda w, s: None if w & (w - 1) or s.get("pipelineChunks", 1) != 1 else form(w)


def _whole(form: Callable[[int], tuple[float, int]]) -> Callable[[int, dict], tuple | None]:
    """In one piece."""
    return lambda w, s: None if s.get("pipelineChunks", 1) != 1 else form(w)


# Scheme -> (time in K/B, transfers after each other) on one switch; None where there is no form.
TIMES: dict[str, Callable[[int, dict], tuple[float, int] | None]] = {
    "ring": _whole(lambda w: (2 * (w - 1) / w, 2 * (w - 1))),
    "ps": _ps,
    "ok-topk": _whole(lambda w: (2 * (w - 1) / w, 2)),
    "halving-doubling": _power(lambda w: (2 * (w - 1) / w, 2 * _log2(w))),
    "butterfly": _power(lambda w: (_log2(w), _log2(w))),
    "k-nomial": lambda w, s: (
        None
        if w & (w - 1) or s.get("radix", 2) != 2 or s.get("pipelineChunks", 1) != 1
        else (2 * _log2(w), 2 * _log2(w))
    ),
    "hierarchical": _hierarchical,
    "torus-2d": _torus,
    "blueconnect": _blueconnect,
    "plink": _plink,
    "broadcast": _broadcast,
    "reduce": _broadcast,
    "all-to-all": lambda w, s: ((w - 1) / w, w - 1 if s.get("algorithm") == "pairwise" else 1),
    "reduce-scatter": _whole(lambda w: ((w - 1) / w, w - 1)),
    "all-gather": _whole(lambda w: ((w - 1) / w, w - 1)),
}
# Where the steps depend on a parameter: direct exchanges are one step.
_DIRECT = ("all-gather", "reduce-scatter")


def _on_one_switch(e: Evidence) -> bool:
    """One exchange alone on a star of hosts."""
    topology = e.scenario["topology"]
    return (
        e.calm
        and topology["kind"] == "star"
        and "server" not in topology
        and len(e.jobs) == 1
        and not e.compressed()
        and "tensors" not in e.jobs[0]
        and "reduceRate" not in e.jobs[0]
        and not e.jobs[0].get("maxOutstandingSends")
        and e.scheme()["kind"] in TIMES
    )


def _form(e: Evidence) -> tuple[float, int] | None:
    """Time in K/B and steps, where all parts are of one size."""
    scheme = e.scheme()
    if len(set(e.plan["chunkBytes"])) != 1:
        return None
    form = TIMES[scheme["kind"]](e.plan["workers"], scheme)
    if form and scheme["kind"] in _DIRECT and scheme.get("algorithm", "ring") != "ring":
        if scheme["algorithm"] != "direct":
            return None  # Bruck's steps carry different numbers of parts
        return form[0], 1
    return form


@law(
    "doc/schemes.rst, T of each scheme",
    when=lambda e: (
        e.finished
        and e.transport == "fluid"
        and _on_one_switch(e)
        and e.one_plan
        and _form(e) is not None
    ),
)
def fluid_takes_the_time_of_the_closed_form(e: Evidence) -> Iterator[str]:
    """T = form · K/B, two delays and a hop of the protocol a step, to a few ticks of the clock a step."""
    rate, delay = _link(e)
    rate *= float(e.setting("efficiency", 1.0))
    times, steps = _form(e)
    base, hop = e.protocol()
    want = base + times * e.gradient() * 8e12 / rate + steps * (2 * delay + hop)
    pipelined = e.scheme().get("pipelineChunks", 16 if e.scheme()["kind"] in _CHAINS else 1)
    for row in e.main.rows("iterations"):
        took = picoseconds(row["ict_s"]) - picoseconds(row["compute_s"])
        if not math.isclose(took, want, rel_tol=1e-9, abs_tol=_TICKS * (steps + pipelined)):
            yield f"{took} ps, T = {times} K/B + {steps} steps = {want:.1f} ps"


_CHAINS = ("broadcast", "reduce")


def _ring_packets(e: Evidence) -> bool:
    return (
        e.transport == "roce"
        and _on_one_switch(e)
        and e.scheme()["kind"] == "ring"
        and e.scheme().get("pipelineChunks", 1) == 1
        and e.setting("congestionControl", "none") == "none"
        and not e.setting("windowPackets", 0)
        and e.main.run["dropped_packets"] == "0"
        and e.main.run["retransmitted_packets"] == "0"
        and len(set(e.plan["chunkBytes"])) == 1
    )


@law("reference, packet level ring on one switch", when=_ring_packets)
def a_ring_of_packets_takes_the_time_of_its_packets(e: Evidence) -> Iterator[str]:
    """2(w-1) steps of: all packets of a part, the last one once more by the switch, two delays.

    Without acknowledgements exactly; with them at least that, and at most as much more as all
    acknowledgements of a step and one packet take.
    """
    rate, delay = _link(e)
    mtu = quantity(str(e.setting("mtu", "4096B")), SIZE_UNITS)
    part, w = e.plan["chunkBytes"][0], e.plan["workers"]
    packets = math.ceil(part / mtu)
    # A short last packet waits at the switch for the full one before it.
    longest = DATA_HEADERS + min(part, mtu)
    step = (part + packets * DATA_HEADERS + longest) * 8e12 / rate + 2 * delay
    base, hop = e.protocol()
    want, rounding = base + 2 * (w - 1) * (step + hop), 2 * (w - 1) * (packets + 2)
    every = int(e.setting("ackEvery", 16))
    answers = math.ceil(packets / every) if every else 0
    more = 2 * (w - 1) * answers * 2 * (ACKNOWLEDGEMENT + longest) * 8e12 / rate
    for row in e.main.rows("iterations"):
        took = picoseconds(row["ict_s"]) - picoseconds(row["compute_s"])
        if not want - rounding <= took <= want + more + rounding:
            yield f"{took} ps, by hand {want:.0f} to {want + more:.0f} ps"


# doc/aggregation.rst, Wire format and SwitchML's own packets: bytes beside the values, of a packet, of
# the first and of the last packet of a message; 20 of preamble and gap are in the first.
_SLOT_HEADERS = {
    "slot": (322 - 256 + 20, 0, 0),
    "switchml": (76, 0, 0),
    "switchml-rocev2": (82, 16, 4),
}


def _slots_alone(e: Evidence) -> bool:
    aggregation = e.setting("aggregation", {})
    topology = e.scenario["topology"]
    return (
        e.calm
        and e.transport == "roce"
        and topology["kind"] == "star"
        and "server" not in topology
        and len(e.jobs) == 1
        and not e.compressed()
        and "tensors" not in e.jobs[0]
        and e.scheme()["kind"] == "switchml"
        and e.scheme().get("pipelineChunks", 1) == 1
        and aggregation.get("values", "sizes") != "float"
        and not aggregation.get("pipelinePacketRate")
        and not aggregation.get("processingDelay")
        and e.main.run["dropped_packets"] == "0"
        and e.main.run["fallbacks"] == "0"
    )


@law("doc/aggregation.rst, T of M packets through W slots", when=_slots_alone)
def slots_clock_themselves(e: Evidence) -> Iterator[str]:
    """(M+1)t + 2d where slots are enough, else round trips: to the rounding of a packet a step.

    M messages take t each; the 1 is a first packet, which the switch has to have whole.
    """
    rate, delay = _link(e)
    slot = e.setting("aggregation", {}).get("slot", {})
    kind = slot.get("format", "slot")
    size = slot.get("messagePackets", 4) if kind == "switchml-rocev2" else 1
    values, window = slot.get("valuesPerPacket", 64), slot.get("slots", 128) // size
    messages = math.ceil(math.ceil(e.gradient() / 4) / (values * size))
    packets = messages * size
    each, opening, closing = _SLOT_HEADERS[kind]
    t = (size * (values * 4 + each) + opening + closing) * 8e12 / rate
    first = (values * 4 + each + opening + (closing if size == 1 else 0)) * 8e12 / rate
    trip = t + first + 2 * delay
    if messages <= window or window * t >= trip:
        want = messages * t + first + 2 * delay
    else:
        want = (messages - 1) // window * trip + (messages - 1) % window * t + trip
    for row in e.main.rows("iterations"):
        took = picoseconds(row["ict_s"]) - picoseconds(row["compute_s"])
        if abs(took - want) > packets + 2:
            yield f"{took} ps for {packets} packets in {window} slots, by hand {want:.0f} ps"


@law(
    "doc/aggregation.rst: sums are exact at any loss",
    when=lambda e: e.simulated and any(e.main.run[c] for c in ("wrong_sums", "sum_packets")),
)
def switches_add_up_exactly(e: Evidence) -> Iterator[str]:
    """No sum is wrong, and of values that fit none overflows."""
    run = e.main.run
    if run["wrong_sums"] not in ("", "0"):
        yield f"{run['wrong_sums']} wrong sums"
    values = e.setting("aggregation", {}) if e.transport == "roce" else {}
    # 2^24 at most each (valueBits), of at most 127 workers.
    fitting = values.get("values") == "real" and "valueBits" not in values
    if fitting and (run["overflowed_sums"] not in ("", "0") or run["sum_overflows"] != "0"):
        yield f"{run['overflowed_sums']} overflows of values below 2^24"
