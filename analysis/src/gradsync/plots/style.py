# SPDX-License-Identifier: GPL-2.0-only
"""The look of every plot: one colour and marker per scheme, wherever it appears."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class SeriesStyle:
    """How one series is drawn."""

    colour: str
    marker: str
    width: float = 1.7
    marker_size: float = 5.5
    order: float = 3.0
    line: str | tuple[int, tuple[int, int]] = "-"


# Okabe and Ito's palette, which colour-blind readers can tell apart; the marker says it again. Ring
# and rat lie on top of each other by theory: ring is drawn broad and below, so that both are seen.
_SCHEMES = {
    "ps": SeriesStyle("#D55E00", "s"),
    "ring": SeriesStyle("#0072B2", "o", width=3.2, marker_size=8.5, order=2.5),
    "rat": SeriesStyle("#009E73", "^", width=1.5, marker_size=5.5, order=3.5),
    "hierarchical": SeriesStyle("#CC79A7", "D", marker_size=5.0),
}
# The other schemes share eight colours; marker and line tell those of one colour apart.
_MORE_SCHEMES = (
    "halving-doubling k-nomial double-binary-tree blueconnect torus-2d mesh-2d bcube-hips multi-ring "
    "plink byteps ps-ring geo-hips parameter-hub butterfly all-gather reduce-scatter all-to-all "
    "broadcast reduce barrier sparse-all-gather passing switchml atp netreduce auto torus-hips "
    "federated import bbtopk ok-topk nccl nccl:ring nccl:tree nccl:collnet-direct nvls sharp libra flare"
).split()
_PALETTE = (
    "#56B4E9",
    "#E69F00",
    "#555555",
    "#882255",
    "#999933",
    "#332288",
    "#117733",
    "#AA4499",
)
_MARKERS = "vPXph<>*d"
LONG_DASHES = (0, (9, 3))
_LINES = ("-", "--", ":", "-.", LONG_DASHES)


def _further(index: int) -> SeriesStyle:
    colour = _PALETTE[index % len(_PALETTE)]
    turn = index // len(_PALETTE)
    return SeriesStyle(colour, _MARKERS[index % len(_MARKERS)], line=_LINES[turn % len(_LINES)])


_SCHEMES |= {name: _further(index) for index, name in enumerate(_MORE_SCHEMES)}
_NAMES = {"ps": "Parameter server", "ring": "Ring", "rat": "RAT", "hierarchical": "Hierarchical"}
_NAMES |= {"switchml": "SwitchML", "atp": "ATP", "passing": "PASSING", "netreduce": "NetReduce"}
_NAMES |= {"nvls": "NVLS", "sharp": "SHARP", "libra": "Libra", "flare": "FLARE"}

INK = "#222222"
WARNING = "#B00020"

# Everything that decides about the bytes of the SVG is fixed: text as paths, so that it looks the
# same without the font, and a salt for the identifiers.
RC_PARAMS = {
    "svg.hashsalt": "gradsync",
    "svg.fonttype": "path",
    # TrueType as it is: submission systems refuse Type 3, which is matplotlib's choice.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.labelsize": 9,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#555555",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.7,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "ytick.major.size": 3,
    "xtick.major.size": 3,
    "ytick.minor.size": 0,
    "lines.markeredgewidth": 0.9,
    "figure.constrained_layout.w_pad": 0.12,
    "figure.constrained_layout.h_pad": 0.08,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "savefig.facecolor": "white",
}


def series_styles(names: Iterable[str]) -> dict[str, SeriesStyle]:
    """The style of each series; those of a scheme never depend on what else is plotted."""
    styles = {}
    others = 0
    for name in names:
        if name in _SCHEMES:
            styles[name] = _SCHEMES[name]
        else:
            styles[name] = _further(others)
            others += 1
    return styles


def bar_colours(names: Iterable[str]) -> list[str]:
    """The colours of bars, which have their names beside them: of the scheme that a name is about, if any."""
    styles = series_styles(names := list(names))
    parts = [next((part for part in name.split(", ") if part in _SCHEMES), name) for name in names]
    return [(_SCHEMES.get(part) or styles[part]).colour for part in parts]


def mark_every(index: int, count: int) -> tuple[float, float]:
    """Where a line of many points has marks: few, and not where the other lines have them.

    :param index: of the line, of `count`
    """
    return (0.02 + 0.16 * index / max(1, count), 0.16)


def series_label(name: str) -> str:
    """How a series is called in the legend."""
    return _NAMES.get(name, name)
