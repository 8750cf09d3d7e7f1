# SPDX-License-Identifier: GPL-2.0-only
"""From which link rate on a codec stops paying: crossings of its time with that of the plain gradient."""

import csv
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from matplotlib.artist import Artist
from matplotlib.axes import Axes as Panel
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullFormatter

from gradsync.plots import page, style
from gradsync.results.folder import Results, to_number

_CODEC = "job.codec.kind"
_PROFILE = "job.profile"
_PLAIN = "fp32"
_HATCH = "////"
_RATE = re.compile(r"([0-9.]+)\s*([kKMGT]?)bps")
# The ends of an estimate that is a range have profiles of their own, by the time of a launch in microseconds.
_END = re.compile(r"(.+)-([0-9.]+)us")
_PREFIXES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


@dataclass(frozen=True)
class Curve:
    """One codec with the times of one profile: its time over that of fp32, by ascending link rate."""

    profile: str
    codec: str
    rates: list[float]
    """bits per second"""
    ratios: list[float]

    def crossing(self) -> float:
        """The link rate at which it stops paying; infinity: it always pays, 0: never.

        Between the two rates around it, straight in the logarithms of rate and ratio. It is the first
        one: with faster links a codec that takes time can only lose.
        """
        points = [(x, y) for x, y in zip(self.rates, self.ratios) if not math.isnan(y)]
        if not points or points[0][1] >= 1:
            return 0.0
        for (low, before), (high, after) in zip(points, points[1:]):
            if after >= 1:
                share = -math.log(before) / (math.log(after) - math.log(before))
                return float(low * (high / low) ** share)
        return math.inf


@dataclass(frozen=True)
class Band:
    """One codec on one device: its curve, or those at the ends of an estimate that is a range."""

    device: str
    codec: str
    ends: list[Curve]

    def crossing(self) -> tuple[float, float]:
        """The lowest and the highest link rate at which it may stop paying."""
        found = [curve.crossing() for curve in self.ends]
        return min(found), max(found)


def to_rate(text: str) -> float:
    """Bits per second of a rate such as "10Gbps"; NaN for what is none."""
    found = _RATE.fullmatch(text.strip())
    return float(found[1]) * _PREFIXES[found[2]] if found else math.nan


def format_rate(rate: float) -> str:
    """A rate in words, three digits."""
    for prefix in "TGMk":
        if rate >= _PREFIXES[prefix]:
            return f"{float(f'{rate / _PREFIXES[prefix]:.3g}'):g} {prefix}b/s"
    return f"{rate:g} b/s"


def _rates(results: Results, path: str) -> list[float]:
    """The rates of a swept path; folders of before have no column with the numbers."""
    column = results.number_of(path)
    return (
        results.numbers(column) if column != path else [to_rate(row[path]) for row in results.rows]
    )


def _rate_path(results: Results) -> str | None:
    for path in results.swept:
        if path.endswith(".rate") and not any(map(math.isnan, _rates(results, path))):
            return path
    return None


def applies(results: Results) -> bool:
    """Whether codecs, fp32 among them, are swept over the rate of links."""
    return (
        _CODEC in results.swept
        and any(row[_CODEC] == _PLAIN for row in results.rows)
        and _rate_path(results) is not None
    )


def _name_profile(cell: str) -> str:
    """The profile's file without its endings."""
    try:
        profile = json.loads(cell)  # one that was in its place already
        cell = str(profile.get("file", "profile"))
    except ValueError:
        pass
    return Path(cell).name.removesuffix(".profile.json")


def _fixed_profile(results: Results) -> str:
    profile = results.scenario.get("job", {}).get("profile", "no profile")
    cell = profile if isinstance(profile, str) else json.dumps(profile)
    return _name_profile(cell)


def curves(results: Results) -> list[Curve]:
    """A curve per profile and codec but fp32, in the order of the runs; equal points are averaged."""
    path = _rate_path(results) or ""
    times: dict[tuple[str, str], dict[float, list[float]]] = {}
    for row, rate in zip(results.rows, _rates(results, path)):
        profile = _name_profile(row[_PROFILE]) if _PROFILE in row else ""
        key = profile or _fixed_profile(results), row[_CODEC]
        point = times.setdefault(key, {}).setdefault(rate, [])
        point.append(to_number(row["ict_mean_s"]))
    found = []
    for (profile, codec), points in times.items():
        plain = times.get((profile, _PLAIN), {})
        rates = sorted(points.keys() & plain.keys())
        ratios = [fmean(points[rate]) / fmean(plain[rate]) for rate in rates]
        if codec != _PLAIN:
            found.append(Curve(profile, codec, rates, ratios))
    return found


def bands(results: Results) -> list[Band]:
    """The curves, those of one device and codec as one."""
    found: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves(results):
        end = _END.fullmatch(curve.profile)
        found.setdefault((end[1] if end else curve.profile, curve.codec), []).append(curve)
    return [Band(device, codec, ends) for (device, codec), ends in found.items()]


def _name_crossing(at: float, rates: list[float]) -> str:
    if at == 0:
        return f"below {format_rate(rates[0])}"
    return f"above {format_rate(rates[-1])}" if math.isinf(at) else format_rate(at)


def describe(results: Results) -> list[str]:
    """One line for each codec and device."""
    lines = []
    for band in bands(results):
        rates = band.ends[0].rates
        low, high = band.crossing()
        if high == 0:
            text = f"never pays from {format_rate(rates[0])} on"
        elif math.isinf(low):
            text = f"pays up to {format_rate(rates[-1])} at least"
        elif low == high:
            text = f"stops paying at {format_rate(low)}"
        else:
            ends = f"{_name_crossing(low, rates)} and {_name_crossing(high, rates)}"
            text = f"stops paying between {ends}"
        lines.append(f"{band.device:<22} {band.codec:<12} {text}")
    return lines


def write_crossings(results: Results, path: Path) -> None:
    """crossings.csv: profile, codec and the rate in bits per second, inf or 0 beyond those simulated."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["profile", "codec", "stops_paying_at_bps"])
        for curve in curves(results):
            writer.writerow([curve.profile, curve.codec, f"{curve.crossing():.6g}"])


def _draw_curve(panel: Panel, curve: Curve, look: style.SeriesStyle) -> None:
    panel.plot(
        [rate / 1e9 for rate in curve.rates],
        curve.ratios,
        color=look.colour,
        linewidth=look.width,
        linestyle=look.line,
        marker=look.marker,
        markersize=look.marker_size,
        markeredgecolor="white",
        label=curve.codec,
    )
    at = curve.crossing()
    if 0 < at < math.inf:
        panel.plot([at / 1e9], [1.0], "o", markersize=8, mfc="none", mec=look.colour, zorder=5)


def _draw_band(panel: Panel, band: Band, look: style.SeriesStyle) -> None:
    """What lies between the ends of an estimate, hatched, so that it is not taken for a measurement."""
    first, last = band.ends[0], band.ends[-1]
    rates = [rate for rate in first.rates if rate in last.rates]
    fast, slow = (dict(zip(end.rates, end.ratios)) for end in (first, last))
    panel.fill_between(
        [rate / 1e9 for rate in rates],
        [fast[rate] for rate in rates],
        [slow[rate] for rate in rates],
        facecolor=to_rgba(look.colour, 0.16),
        edgecolor=to_rgba(look.colour, 0.7),
        hatch=_HATCH,
        linewidth=0.5,
    )
    reach = [at / 1e9 for at in band.crossing() if 0 < at < math.inf]
    panel.plot(reach, [1.0] * len(reach), "o-", markersize=5, color=look.colour, zorder=5)


def _draw(panel: Panel, found: list[Band], looks: dict[str, style.SeriesStyle]) -> None:
    for band in found:
        if len(band.ends) == 1:
            _draw_curve(panel, band.ends[0], looks[band.codec])
        else:
            _draw_band(panel, band, looks[band.codec])
    panel.set_xscale("log")
    panel.set_yscale("log")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _position: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    panel.set_xlabel("Link rate (Gb/s)")


def _make_legend(figure: Figure, found: list[Band], looks: dict[str, style.SeriesStyle]) -> None:
    handles: list[Artist] = [
        Line2D([], [], color=look.colour, linewidth=look.width, linestyle=look.line, label=codec)
        for codec, look in looks.items()
    ]
    if any(len(band.ends) > 1 for band in found):
        estimate = Patch(facecolor="white", edgecolor=style.INK, hatch=_HATCH, linewidth=0.5)
        estimate.set_label("estimate: a range")
        handles.append(estimate)
    page.legend(figure, handles, [str(handle.get_label()) for handle in handles], most=8)


def draw_tradeoff(results: Results, title: Callable[[Figure], None]) -> Figure:
    """A panel per device: time over that of fp32, by link rate; a ring, or two dots, where a codec stops paying."""
    found = bands(results)
    devices = list(dict.fromkeys(band.device for band in found))
    looks = style.series_styles(dict.fromkeys(band.codec for band in found))
    figure, panels = page.subplots(
        1, len(devices), (1.6 + 3.1 * len(devices), 4.2), sharey=True, squeeze=False
    )
    for panel, device in zip(panels[0], devices):
        panel.axhline(1.0, color=style.INK, linewidth=0.9)
        _draw(panel, [band for band in found if band.device == device], looks)
        panel.set_title(device)
    panels[0][0].set_ylabel("Iteration time over that of fp32")
    _make_legend(figure, found, looks)
    title(figure)
    return figure
