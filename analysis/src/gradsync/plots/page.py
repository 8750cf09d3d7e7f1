# SPDX-License-Identifier: GPL-2.0-only
"""The page that a figure is for: a screen, or the columns of a paper."""

import math
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import wraps
from typing import Any, ParamSpec

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes as Panel
from matplotlib.figure import Figure
from matplotlib.font_manager import get_font_names

from gradsync.errors import ScenarioError
from gradsync.plots import style
from gradsync.text import shown

_MM = 1 / 25.4  # in inches
_POINT = 1 / 72.27  # likewise, as LaTeX has it
# The size of text that figures are drawn for; other sizes are in proportion.
_SIZE = float(style.RC_PARAMS["font.size"])  # type: ignore[arg-type]
# In narrower figures marks are smaller.
_NARROW = 4.5
_SMALL = 0.72


@dataclass(frozen=True)
class Page:
    """Where a figure goes. Those without a width are for the screen, and have titles."""

    width: float | None = None
    """inches"""
    font: str = str(style.RC_PARAMS["font.family"])
    size: float = _SIZE
    """of text, in points"""
    has_grid: bool = True
    is_double: bool = False
    """as wide as all columns"""

    @property
    def is_paper(self) -> bool:
        """Whether a caption below says what a title would."""
        return self.width is not None

    @property
    def mark_size(self) -> float:
        """Of lines and marks, to those on the screen."""
        if self.width is not None and self.width < _NARROW:
            return _SMALL
        return max(1.0, self.size / (1.1 * _SIZE))


@dataclass(frozen=True)
class _Paper:
    """Widths in inches of one column and of all, what text is set in, and who says so."""

    single: float
    double: float
    font: str
    size: float
    has_grid: bool = True


# The widths are the publishers'; doc/plots.rst has the sources. Fonts are those that come with
# matplotlib: STIX is a Times.
PAPERS = {
    "ieee": _Paper(3.5, 7.16, "STIXGeneral", 8),
    "acm": _Paper(241.1475 * _POINT, 506.295 * _POINT, "STIXGeneral", 8),
    "nature": _Paper(89 * _MM, 183 * _MM, "DejaVu Sans", 6.5, has_grid=False),
    # Half of a slide of 13.33 by 7.5 inches, and all of it, less the margins.
    "slides": _Paper(5.9, 12.3, "DejaVu Sans", 16),
}

_UNITS = {"mm": _MM, "cm": 10 * _MM, "in": 1.0, "pt": _POINT}
SCREEN = Page()
_current: ContextVar[Page] = ContextVar("page", default=SCREEN)
_P = ParamSpec("_P")


def _read_width(text: str) -> float:
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*(mm|cm|in|pt)", text.strip())
    width = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if not 1 <= width <= 40:
        raise ScenarioError(
            f"--width: found {shown(text)}, allowed: 1 to 40 inches, as 84mm, 8.4cm, 3.3in or 241pt"
        )
    return width


def _check_font(name: str) -> str:
    names = get_font_names()
    if name not in names:
        close = get_close_matches(name, names, 1, 0.0)
        nearest = f"; the nearest is {close[0]}" if close else ""
        raise ScenarioError(f"--font: {shown(name)} is not installed{nearest}")
    return name


def read_page(
    paper: str | None = None,
    columns: int | None = None,
    width: str | None = None,
    font: str | None = None,
    size: float | None = None,
) -> Page:
    """The page that options describe. Without any: a screen.

    Raises ScenarioError for a paper, width, font or size that there is not.
    """
    if paper is None and width is None and font is None and size is None and columns is None:
        return SCREEN
    if paper is not None and paper not in PAPERS:
        raise ScenarioError(f"--paper: found {shown(paper)}, allowed: {', '.join(PAPERS)}")
    if columns not in (None, 1, 2):
        raise ScenarioError(f"--columns: found {columns}, allowed: 1, 2")
    if columns is not None and (paper is None or width is not None):
        raise ScenarioError("--columns: of --paper, without --width")
    if size is not None and not 3 <= size <= 72:
        raise ScenarioError(f"--font-size: found {size:g}, allowed: 3 to 72 points")
    of = PAPERS[paper or "ieee"]
    is_double = columns == 2
    found = Page(of.double if is_double else of.single, of.font, of.size, of.has_grid, is_double)
    if width is not None:
        inches = _read_width(width)
        found = replace(found, width=inches, is_double=inches > 0.75 * of.double)
    if font is not None:
        found = replace(found, font=_check_font(font))
    return replace(found, size=size) if size is not None else found


def rc_params(page: Page) -> dict[str, Any]:
    """Matplotlib's parameters."""
    found: dict[str, Any] = dict(style.RC_PARAMS)
    if not page.is_paper:
        return found
    share = page.size / _SIZE
    sizes = ("axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize")
    for name in (*sizes, "legend.fontsize", "font.size", "axes.titlepad"):
        found[name] = min(float(found[name]) * share, page.size)
    found |= {
        "font.family": page.font,
        "mathtext.fontset": "stix" if page.font.startswith("STIX") else "dejavusans",
        "axes.titleweight": "normal",
        "axes.grid": page.has_grid,
        "axes.linewidth": 0.6,
        "grid.linewidth": 0.5,
        "legend.columnspacing": 1.2,
        "legend.handlelength": 2.4,
        "figure.constrained_layout.w_pad": 0.03,
        "figure.constrained_layout.h_pad": 0.03,
    }
    return found


def current() -> Page:
    """The page of the figure in hand."""
    return _current.get()


@contextmanager
def use(page: Page) -> Iterator[None]:
    """Figures of this block are for that page."""
    token = _current.set(page)
    try:
        with plt.rc_context(rc_params(page)):
            yield
    finally:
        _current.reset(token)


def dressed(draw: Callable[_P, Figure]) -> Callable[_P, Figure]:
    """Has the function draw with the parameters of the page, whoever calls it."""

    @wraps(draw)
    def drawn(*arguments: _P.args, **options: _P.kwargs) -> Figure:
        with plt.rc_context(rc_params(current())):
            return draw(*arguments, **options)

    return drawn


def subplots(
    rows: int, columns: int, figsize: tuple[float, float], by_rows: bool = False, **options: Any
) -> tuple[Figure, Any]:
    """As matplotlib's, fitted to the page.

    :param figsize: inches, on the screen
    :param by_rows: the height is that of so many rows of text, else it is in proportion
    """
    page = current()
    width, height = figsize
    if page.width is not None:
        share = page.size / _SIZE if by_rows else page.width / width
        width, height = page.width, max(height * share, 0.5 * page.width if not by_rows else 0)
    return plt.subplots(rows, columns, figsize=(width, height), layout="constrained", **options)


def points(size: float) -> float:
    """A size of text on the screen, as it is on the page."""
    return size * float(plt.rcParams["font.size"]) / _SIZE


def title(figure: Figure, text: str, size: float = 10, **options: Any) -> None:
    """The title of a figure; papers have captions instead."""
    if not current().is_paper:
        figure.suptitle(text, x=0.012, ha="left", fontsize=size, **options)


def name_values(panel: Panel, text: str, axis: str = "y") -> None:
    """What a panel shows: above it, where it is read without turning the head; papers have it at the axis."""
    if not current().is_paper:
        panel.set_title(text)
    elif axis == "y":
        panel.set_ylabel(text)
    else:
        panel.set_xlabel(text)


def fit(figure: Figure) -> None:
    """Wrap labels of axes that are longer than the figure, to be called when all is drawn."""
    if not current().is_paper:
        return
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    for panel in figure.axes:
        for label, most, way in (
            (panel.yaxis.label, figure.bbox.height, "height"),
            (panel.xaxis.label, figure.bbox.width, "width"),
        ):
            text = label.get_text()
            length = getattr(label.get_window_extent(renderer), way)
            room = 2 * _room(panel, way)
            if text and length > min(room, most):
                label.set_text(_wrap(text, math.ceil(length / min(room, most))))


def _wrap(text: str, lines: int) -> str:
    """In so many lines, as short as words allow."""
    widths = range(math.ceil(len(text) / lines), len(text) + 1)
    wrapped = (textwrap.wrap(text, width) for width in widths)
    return "\n".join(next(found for found in wrapped if len(found) <= lines))


def _room(panel: Panel, way: str) -> float:
    """From the middle of a panel to the nearer edge of the figure, in pixels."""
    box, whole = panel.get_window_extent(), panel.figure.bbox
    if way == "height":
        middle = (box.y0 + box.y1) / 2
        return float(min(middle, whole.height - middle))
    middle = (box.x0 + box.x1) / 2
    return float(min(middle, whole.width - middle))


def legend(
    figure: Figure, handles: Sequence[Any], labels: Sequence[str], most: int = 5, **options: Any
) -> None:
    """Below the panels, in as many columns as the page is wide for, at most so many."""
    count = min(len(labels), most)
    if not current().is_paper:
        figure.legend(handles, labels, loc="outside lower left", ncols=count, **options)
        return
    for columns in range(count, 0, -1):
        drawn = figure.legend(handles, labels, loc="outside lower center", ncols=columns, **options)
        renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
        if columns == 1 or drawn.get_window_extent(renderer).width <= 0.98 * figure.bbox.width:
            return
        drawn.remove()
