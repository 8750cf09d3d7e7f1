# SPDX-License-Identifier: GPL-2.0-only
"""Bytes: what is sent arrives, what arrives was sent, and on the wire it is as long as its headers say."""

import math
from collections import defaultdict
from collections.abc import Iterator

from referee.case import SIZE_UNITS, TIME_UNITS, picoseconds, quantity
from referee.evidence import Evidence
from referee.law import law

# doc/roce.rst, Wire format.
DATA_HEADERS, ACKNOWLEDGEMENT = 82, 86
# A frame of Ethernet has 64 bytes at least, 84 with preamble and gap: a payload of 1 is padded.
LEAST = 84
_LARGEST_PACKET = 9216 + 200
TELEMETRY = 42  # doc/congestion-control.rst, hpcc


def _moved(e: Evidence) -> list[tuple[str, str, int]]:
    """Every message and foreign flow that arrived."""
    messages = e.main.rows("messages")
    flows = [row for row in e.main.rows("flows") if row["status"] == "ok"]
    return [(row["src"], row["dst"], int(row["bytes"])) for row in messages + flows]


def _got(e: Evidence, row: dict[str, str]) -> int:
    """Bytes that a message brings to its receiver: those of a reduction in a switch its root alone gets."""
    if not e.aggregates:
        return int(row["bytes"])
    plan = e.plans[row["job"]]
    operation = plan["operations"][int(row["operation"])]
    if operation["kind"] == "aggregate" and "aggregationFlows" in plan:
        flow = plan["aggregationFlows"][operation["stream"]]
        if flow["flow"] == "reduce" and flow["root"] != operation["from"]:
            return 0
    return int(row["bytes"])


@law(
    "doc/results.rst: goodput_bytes are message bytes delivered, each once",
    when=lambda e: e.finished and e.one_plan,
)
def goodput_is_what_was_delivered(e: Evidence) -> Iterator[str]:
    """The bytes of all messages and flows, whatever was lost and sent again on the way."""
    flows = [row for row in e.main.rows("flows") if row["status"] == "ok"]
    want = sum(_got(e, row) for row in e.main.rows("messages"))
    want += sum(int(row["bytes"]) for row in flows)
    # Of traffic, flows may fail after parts of them arrived; tcp sends 1 byte for a message of 0.
    failed = any(row["status"] != "ok" for row in e.main.rows("flows"))
    # NetReduce's messages end at a neighbour, which may crash when it has its own sum already.
    failed |= e.aggregates and bool(e.scenario.get("faults"))
    if int(e.main.run["goodput_bytes"]) != want and not failed:
        yield f"goodput {e.main.run['goodput_bytes']}, messages and flows have {want}"


@law("doc/results.rst", when=lambda e: e.simulated, trains=True)
def totals_are_sums_of_links(e: Evidence) -> Iterator[str]:
    """Wire bytes, drops, marks and pauses of a run are those of its links."""
    links = e.main.rows("links")
    pairs = (
        ("wire_bytes", "wire_bytes"),
        ("dropped_packets", "dropped"),
        ("ecn_marked_packets", "ecn"),
    )
    for total, column in pairs:
        want = sum(int(row[column]) for row in links)
        # Of a packet without a path, or to a host or aggregation that is gone, no link tells.
        more = column == "dropped" and (e.scenario.get("faults") or e.main.rows("unfinished"))
        if int(e.main.run[total]) < want or (int(e.main.run[total]) != want and not more):
            yield f"{total} is {e.main.run[total]}, the links have {want}"
    pause = sum(picoseconds(row["pfc_pause_s"]) for row in links)
    if picoseconds(e.main.run["pfc_pause_s"]) != pause:
        yield f"pfc_pause_s is {e.main.run['pfc_pause_s']}, the links have {pause} ps"


@law("a link carries what its rate allows", when=lambda e: e.simulated, trains=True)
def no_link_is_used_above_its_rate(e: Evidence) -> Iterator[str]:
    """Utilisation is from 0 to 1, and no link has more payload than wire bytes."""
    for row in e.main.rows("links"):
        used = float(row["utilisation"])
        if not 0 <= used <= 1:
            yield f"{row['from']} -> {row['to']}: {used}"
        if int(row["payload_bytes"]) > int(row["wire_bytes"]):
            yield f"{row['from']} -> {row['to']}: more payload than wire bytes"


def _length(e: Evidence) -> int:
    """doc/results.rst, links.csv: from 0 to the end of the last iteration or foreign flow."""
    ends = [
        picoseconds(row["start_s"]) + picoseconds(row["ict_s"]) for row in e.main.rows("iterations")
    ]
    ends += [picoseconds(row["end_s"]) for row in e.main.rows("flows")]
    return max(ends, default=0)


@law("doc/results.rst, utilisation", when=lambda e: e.finished and _length(e) > 0, trains=True)
def utilisation_is_wire_bits_over_capacity(e: Evidence) -> Iterator[str]:
    """Utilisation by hand, from bytes, rate and the length of the run."""
    length = _length(e)
    for row in e.main.rows("links"):
        want = min(1.0, int(row["wire_bytes"]) * 8e12 / (int(row["rate_bps"]) * length))
        if not math.isclose(float(row["utilisation"]), want, rel_tol=1e-6, abs_tol=1e-6):
            yield f"{row['from']} -> {row['to']}: {row['utilisation']}, by hand {want:.6f}"


@law(
    "conservation",
    when=lambda e: e.finished and e.lossless and not e.aggregates and not e.scenario.get("faults"),
)
def payload_is_conserved_at_every_node(e: Evidence) -> Iterator[str]:
    """Switches pass on what they get, endpoints send and get their messages: nothing else."""
    into, out_of = defaultdict(int), defaultdict(int)
    for row in e.main.rows("links"):
        out_of[row["from"]] += int(row["payload_bytes"])
        into[row["to"]] += int(row["payload_bytes"])
    sent, received = defaultdict(int), defaultdict(int)
    for src, dst, size in _moved(e):
        sent[src] += size
        received[dst] += size
    # Fluid rounds the share of each link of a path to whole bytes (doc/fluid.rst), message by message.
    slack = (len(_moved(e)) + 1) * 2 if e.transport == "fluid" else 0
    if e.transport == "tcp" and any(size == 0 for _, _, size in _moved(e)):
        return  # travels as one byte
    if not e.one_plan:
        return
    for node in e.network.neighbours:
        if e.network.is_endpoint(node):
            for what, links, messages in (
                ("sends", out_of[node], sent[node]),
                ("receives", into[node], received[node]),
            ):
                if abs(links - messages) > slack:
                    yield f"{node} {what} {links} by its links, {messages} by its messages"
        elif abs(into[node] - out_of[node]) > slack * 4:
            yield f"{node} gets {into[node]} and passes on {out_of[node]}"


def _acknowledged_every(e: Evidence) -> int:
    """Packets per acknowledgement: doc/roce.rst and doc/congestion-control.rst."""
    every = int(e.setting("ackEvery", 16))
    window = int(e.setting("windowPackets", 0))
    if window:
        every = min(every, max(window // 2, 1))
    control = e.setting("congestionControl", "none")
    if control in ("dctcp", "swift", "hpcc"):
        return 1
    if control == "timely":
        return min(every or 16, 16)
    return every


def _counts_by_hand(e: Evidence) -> bool:
    """Wire bytes follow from the messages alone: in order, nothing lost, marked or paused."""
    if not (e.finished and e.transport == "roce" and e.one_plan and e.lossless):
        return False
    run = e.main.run
    in_order = e.fabric("loadBalancing", "hash") in ("hash", "destination")
    untouched = run["ecn_marked_packets"] == "0" and run["pfc_pause_s"] == "0.000000000000"
    return in_order and untouched and not e.aggregates and not e.scenario.get("faults")


def _packets(size: int, mtu: int) -> int:
    return max(1, math.ceil(size / mtu))


@law("doc/roce.rst: headers, MTU segmentation, acknowledgements", when=_counts_by_hand)
def wire_bytes_are_counted_by_hand(e: Evidence) -> Iterator[str]:
    """Each message's packets with 82 bytes more, and an acknowledgement back every so many of them."""
    mtu = quantity(str(e.setting("mtu", "4096B")), SIZE_UNITS)
    every = _acknowledged_every(e)
    telemetry = TELEMETRY if e.setting("congestionControl") == "hpcc" else 0
    wire = hops = 0
    for src, dst, size in _moved(e):
        packets = _packets(size, mtu)
        distance = e.network.distance(src, dst)
        answers = math.ceil(packets / every) if every else 0
        last = size - (packets - 1) * mtu + DATA_HEADERS + telemetry
        data = (packets - 1) * (mtu + DATA_HEADERS + telemetry) + max(LEAST, last)
        wire += distance * (data + answers * (ACKNOWLEDGEMENT + telemetry))
        hops += distance * packets
    if int(e.main.run["packet_hops"]) != hops:
        yield f"packet_hops {e.main.run['packet_hops']}, by hand {hops}"
    if int(e.main.run["wire_bytes"]) != wire:
        yield f"wire_bytes {e.main.run['wire_bytes']}, by hand {wire}"


@law(
    "doc/roce.rst, doc/results.rst",
    when=lambda e: e.finished and e.transport == "roce" and e.one_plan and not e.aggregates,
)
def packets_cross_no_fewer_links_than_there_are(e: Evidence) -> Iterator[str]:
    """Every packet crosses at least the links of a shortest path, whatever else goes on."""
    mtu = quantity(str(e.setting("mtu", "4096B")), SIZE_UNITS)
    if any(f["kind"] in ("link-down", "switch-down") for f in e.scenario.get("faults", [])):
        return  # routes become longer, and packets are lost
    least = sum(_packets(size, mtu) * e.network.distance(src, dst) for src, dst, size in _moved(e))
    if int(e.main.run["packet_hops"]) < least:
        yield f"packet_hops {e.main.run['packet_hops']} of at least {least}"


@law(
    "doc/fluid.rst: no headers", when=lambda e: e.simulated and e.transport == "fluid", trains=True
)
def fluid_has_no_headers_and_no_losses(e: Evidence) -> Iterator[str]:
    """On fluid wire bytes are payload (over the efficiency), and nothing is counted of packets."""
    for column in ("dropped_packets", "ecn_marked_packets", "retransmitted_packets", "packet_hops"):
        if e.main.run[column] != "0":
            yield f"{column} is {e.main.run[column]}"


@law("doc/results.rst, retransmitted_bytes", when=lambda e: e.simulated, trains=True)
def what_is_sent_again_was_lost_or_late(e: Evidence) -> Iterator[str]:
    """No repetition carries more than packets hold; none without a loss on a quiet, ordered network."""
    run = e.main.run
    packets, size = int(run["retransmitted_packets"]), int(run["retransmitted_bytes"])
    if e.transport == "roce" and not e.aggregates:  # slots have a size of their own
        mtu = quantity(str(e.setting("mtu", "4096B")), SIZE_UNITS)
        if size > packets * mtu:
            yield f"{size} bytes in {packets} packets of {mtu}"
    in_order = e.fabric("loadBalancing", "hash") in ("hash", "destination")
    patient = e.setting("timeout", "67108864ns") == "67108864ns"
    quiet = e.calm and in_order and patient and e.transport == "roce" and not e.aggregates
    if quiet and packets and run["dropped_packets"] == "0":
        yield f"{packets} packets sent again, none dropped"


@law(
    "doc/results.rst, cross_rack_bytes",
    when=lambda e: (
        e.finished
        and e.one_plan
        and not e.aggregates
        and e.scenario["topology"].get("kind") in ("spine-leaf", "fat-tree", "three-tier")
    ),
)
def cross_rack_bytes_are_those_of_messages_between_racks(e: Evidence) -> Iterator[str]:
    """Message bytes between hosts of different leaves, and without losses the payload of uplinks."""
    rack = e.network.rack
    want = sum(
        int(row["bytes"]) for row in e.main.rows("messages") if rack[row["src"]] != rack[row["dst"]]
    )
    if int(e.main.run["cross_rack_bytes"]) != want:
        yield f"cross_rack_bytes {e.main.run['cross_rack_bytes']}, messages have {want}"
    if e.lossless and not e.traffic and e.transport == "roce" and not e.scenario.get("faults"):
        uplinks = sum(
            int(row["payload_bytes"])
            for row in e.main.rows("links")
            if row["from"].startswith("leaf") and row["kind"] == "fabric"
        )
        if uplinks != want:
            yield f"uplinks carry {uplinks}, messages between racks have {want}"


@law("doc/results.rst, samples.csv", when=lambda e: e.simulated and bool(e.main.rows("samples")))
def samples_are_parts_of_their_links(e: Evidence) -> Iterator[str]:
    """Intervals of a link carry no more than the link in all, each no more than its rate allows."""
    every = quantity(e.scenario["results"]["every"], TIME_UNITS)
    links = {(row["from"], row["to"]): row for row in e.main.rows("links")}
    sampled: dict[tuple[str, str], int] = defaultdict(int)
    for row in e.main.rows("samples"):
        key = row["from"], row["to"]
        sampled[key] += int(row["wire_bytes"])
        # A packet counts when its first bit leaves, so that one may begin at the very end.
        most = int(links[key]["rate_bps"]) * every / 8e12 + _LARGEST_PACKET
        if int(row["wire_bytes"]) > most:
            yield f"{key} at {row['time_s']}: {row['wire_bytes']} bytes, its rate allows {most:.0f}"
    if len({(row["from"], row["to"]) for row in e.main.rows("links")}) != len(e.main.rows("links")):
        return  # parallel links have one name
    for key, size in sampled.items():
        if size > int(links[key]["wire_bytes"]):
            yield f"{key}: {size} bytes in samples, {links[key]['wire_bytes']} in all"


@law("doc/results.rst, peak_received_bytes", when=lambda e: e.finished and e.one_plan)
def peak_receiver_is_that_of_the_messages(e: Evidence) -> Iterator[str]:
    """The most that any rank receives in an iteration, from messages.csv."""
    received: dict[tuple[str, str, str], int] = defaultdict(int)
    for row in e.main.rows("messages"):
        received[row["job"], row["iteration"], row["dst"]] += _got(e, row)
    want = max(received.values(), default=0)
    if int(e.main.run["peak_received_bytes"]) != want:
        yield f"peak_received_bytes {e.main.run['peak_received_bytes']}, messages have {want}"
