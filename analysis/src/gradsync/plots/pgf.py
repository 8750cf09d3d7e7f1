# SPDX-License-Identifier: GPL-2.0-only
"""Figures for \\input into LaTeX: matplotlib's PGF backend, without a run of LaTeX.

The backend asks LaTeX how wide texts are. Here matplotlib's own fonts say it, which come close to
Times and Helvetica: LaTeX then sets the texts in the fonts of the document. Nothing is clipped, should
those be wider.
"""

from pathlib import Path
from typing import TextIO

import matplotlib
from matplotlib.backend_bases import RendererBase
from matplotlib.backends import backend_pgf
from matplotlib.figure import Figure


class _Renderer(backend_pgf.RendererPgf):
    """Measures texts itself."""

    get_text_width_height_descent = RendererBase.get_text_width_height_descent


_HEAD = r"""% A figure of gradsync, for \usepackage{pgf} and \input{FILE}.
\begingroup%
\makeatletter%
\providecommand{\mathdefault}[1]{#1}%
\begin{pgfpicture}%
"""
_TAIL = r"""\end{pgfpicture}%
\makeatother%
\endgroup%
"""


def _write(figure: Figure, stream: TextIO) -> None:
    width, height = figure.get_size_inches()
    stream.write(_HEAD)
    stream.write(
        rf"\pgfpathrectangle{{\pgfpointorigin}}{{\pgfqpoint{{{width:f}in}}{{{height:f}in}}}}%"
        "\n\\pgfusepath{use as bounding box}%\n"
    )
    figure.draw(_Renderer(figure, stream))  # type: ignore[no-untyped-call]
    stream.write(_TAIL)


def write_pgf(figure: Figure, path: Path) -> None:
    """Write a figure as PGF; the text is set in the document's fonts, at the figure's sizes."""
    dpi = figure.dpi
    # Points are the backend's unit.
    with matplotlib.rc_context({"pgf.rcfonts": False}), path.open("w", encoding="utf-8") as stream:
        figure.set_dpi(72)
        try:
            _write(figure, stream)
        finally:
            figure.set_dpi(dpi)
