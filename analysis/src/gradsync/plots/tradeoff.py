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

from matplotlib.axes import Axes as Panel
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from gradsync.plots import page, style
from gradsync.results.folder import Results, to_number

_CODEC = "job.codec.kind"
_PROFILE = "job.profile"
_PLAIN = "fp32"
_RATE = re.compile(r"([0-9.]+)\s*([kKMGT]?)bps")
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


def describe(results: Results) -> list[str]:
    """One line for each codec and profile."""
    lines = []
    for curve in curves(results):
        at = curve.crossing()
        if at == 0:
            text = f"never pays from {format_rate(curve.rates[0])} on"
        elif math.isinf(at):
            text = f"pays up to {format_rate(curve.rates[-1])} at least"
        else:
            text = f"stops paying at {format_rate(at)}"
        lines.append(f"{curve.profile:<22} {curve.codec:<12} {text}")
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


def draw_tradeoff(results: Results, title: Callable[[Figure], None]) -> Figure:
    """A panel per profile: time over that of fp32, by link rate; a ring where a codec stops paying."""
    found = curves(results)
    profiles = list(dict.fromkeys(curve.profile for curve in found))
    looks = style.series_styles(dict.fromkeys(curve.codec for curve in found))
    figure, panels = page.subplots(
        1, len(profiles), (1.6 + 3.1 * len(profiles), 4.2), sharey=True, squeeze=False
    )
    for panel, profile in zip(panels[0], profiles):
        panel.axhline(1.0, color=style.INK, linewidth=0.9)
        for curve in found:
            if curve.profile == profile:
                _draw_curve(panel, curve, looks[curve.codec])
        panel.set_xscale("log")
        panel.set_yscale("log")
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _position: f"{value:g}"))
            axis.set_minor_formatter(NullFormatter())
        panel.set_xlabel("Link rate (Gb/s)")
        panel.set_title(profile)
    panels[0][0].set_ylabel("Iteration time over that of fp32")
    handles, labels = panels[0][0].get_legend_handles_labels()
    page.legend(figure, handles, labels, most=8)
    title(figure)
    return figure
