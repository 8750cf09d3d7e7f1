# SPDX-License-Identifier: GPL-2.0-only
"""Names and units of the columns of runs.csv, as axis labels and scales."""

import re
from collections.abc import Iterable, Mapping

# Column: (text, unit). A unit of seconds or bytes is scaled to the values at hand.
_COLUMNS = {
    "ict_mean_s": ("Iteration completion time", "s"),
    "ict_min_s": ("Shortest iteration completion time", "s"),
    "ict_max_s": ("Longest iteration completion time", "s"),
    "bound_s": ("Least time of the exchange", "s"),
    "times_bound": ("Exchange time over the bound", ""),
    "cross_rack_bytes": ("Bytes across racks", "B"),
    "peak_received_bytes": ("Most bytes that a rank receives", "B"),
    "longest_chain": ("Longest chain of transfers", ""),
    "auto_estimate_s": ("Estimate of the scheme auto", "s"),
    "goodput_bytes": ("Payload delivered", "B"),
    "wire_bytes": ("Bytes on links", "B"),
    "dropped_packets": ("Dropped packets", ""),
    "ecn_marked_packets": ("ECN-marked packets", ""),
    "pfc_pause_s": ("Time paused by PFC", "s"),
    "retransmitted_packets": ("Retransmitted packets", ""),
    "retransmitted_bytes": ("Retransmitted bytes", "B"),
    "sum_packets": ("Sums from switches", ""),
    "sum_overflows": ("Packets that overflowed a sum", ""),
    "overflowed_sums": ("Sums beyond int32", ""),
    "wrong_sums": ("Wrong sums", ""),
    "sum_relative_error": ("Error of the sums over the sums", ""),
    "sum_largest_error": ("Largest error of a sum", ""),
    "float_packets": ("Contributions sent as floats", ""),
    "server_packets": ("Packets at parameter servers", ""),
    "fallbacks": ("Fallbacks to an exchange without switches", ""),
    "tree_rebuilds": ("Times that other switches took over", ""),
    "packet_hops": ("Packet hops", ""),
    "events": ("Events", ""),
    "wall_s": ("Wall-clock time", "s"),
    "peak_rss_bytes": ("Peak memory", "B"),
    "oversubscription": ("Oversubscription", "x : 1"),
    "workers": ("Workers", ""),
}
_SCALES = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")),
    "B": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
}


def scale(column: str, values: Iterable[float]) -> tuple[float, str]:
    """The divisor and unit that bring the largest of `values` above 1."""
    unit = _COLUMNS.get(column, ("", ""))[1]
    if unit not in _SCALES:
        return 1.0, unit
    largest = max((abs(value) for value in values if value == value), default=0.0)
    for divisor, name in _SCALES[unit]:
        if largest >= divisor:
            return divisor, name
    return _SCALES[unit][-1]


def label(column: str, unit: str, hints: Mapping[str, str]) -> str:
    """The axis label of a column: the scenario's own text if it has one, with the unit."""
    # hostsPerLeaf: Hosts per leaf.
    words = re.sub("([A-Z])", r" \1", column.rsplit(".", 1)[-1]).lower().capitalize()
    text = hints.get(column) or _COLUMNS.get(column, (words, ""))[0]
    return f"{text} ({unit})" if unit and "(" not in text else text
