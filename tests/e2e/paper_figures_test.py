# SPDX-License-Identifier: GPL-2.0-only
"""Figures for papers: fonts that submission systems take, the publishers' widths, readable in grey."""

import itertools
import os
import re
import shutil
import subprocess

import pytest
from conftest import ROOT, call, simulate_losses
from matplotlib.colors import to_rgb

import gradsync
from gradsync import command_line
from gradsync.errors import ScenarioError
from gradsync.plots import page, style
from gradsync.plots.kinds import KINDS, draw_kind, plot_kind
from gradsync.plots.training import HIDDEN, PARTS
from gradsync.report import figures, network
from gradsync.report.page import write_report

TITLE = "Losses of a title"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return simulate_losses(tmp_path_factory.mktemp("paper") / "r", TITLE, repeats=3)


def told(*command):
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=True
    ).stdout


def list_fonts(pdf):
    """(type, embedded) of each font, as pdffonts tells them."""
    lines = told("pdffonts", pdf).splitlines()
    start, end = lines[0].index("type"), lines[0].index("encoding")
    embedded = lines[0].index("emb")
    return [(line[start:end].strip(), line[embedded : embedded + 3]) for line in lines[2:]]


def plot(results, kind, out, **options):
    return plot_kind(results, kind, out=out, on=page.read_page(**options))


@pytest.mark.parametrize("paper", page.PAPERS)
@pytest.mark.parametrize("kind", ["ict", "busbw", "messages", "bytes", "links"])
def test_fonts_are_embedded_truetype_and_the_page_is_a_column(results, tmp_path, paper, kind):
    for columns, width in ((1, page.PAPERS[paper].single), (2, page.PAPERS[paper].double)):
        pdf = plot(results, kind, tmp_path / "x.pdf", paper=paper, columns=columns)
        fonts = list_fonts(pdf)
        assert fonts
        assert {name for name, _ in fonts} <= {"CID TrueType", "TrueType"}
        assert {embedded for _, embedded in fonts} == {"yes"}
        size = re.search(r"Page size:\s+([\d.]+) x ([\d.]+) pts", told("pdfinfo", pdf))
        assert float(size[1]) == pytest.approx(72 * width, abs=0.01)
        text = told("pdftotext", pdf, "-")
        assert TITLE not in text


@pytest.mark.parametrize("kind", ["ict", "messages"])
def test_pdfs_of_screens_have_no_type_3_fonts_either(results, tmp_path, kind):
    fonts = list_fonts(plot_kind(results, kind, out=tmp_path / "x.pdf"))
    assert fonts and not any("Type 3" in name for name, _ in fonts)


def test_widths_are_those_of_the_guides():
    """IEEE 3.5 and 7.16 inches, Nature 89 and 183 mm, acmart's sigconf 241.15 and 506.30 pt."""
    widths = {name: (paper.single, paper.double) for name, paper in page.PAPERS.items()}
    assert widths["ieee"] == (3.5, 7.16)
    assert widths["nature"] == pytest.approx((89 / 25.4, 183 / 25.4))
    # Letter paper, 8.5 inches of 72.27 pt, margins of 54 pt, 24 pt between columns.
    text = 8.5 * 72.27 - 2 * 54
    assert widths["acm"] == pytest.approx(((text - 24) / 2 / 72.27, text / 72.27))
    assert 5 <= page.PAPERS["nature"].size <= 7


@pytest.mark.parametrize("ending", ["pdf", "pgf", "svg", "png"])
def test_the_same_results_give_the_same_bytes(results, tmp_path, ending):
    paths = [tmp_path / f"{name}.{ending}" for name in "ab"]
    first, second = (plot(results, "ict", path, paper="acm").read_bytes() for path in paths)
    assert first == second
    assert b"CreationDate" not in first


def test_pgf_is_whole_and_needs_no_latex(results, tmp_path, monkeypatch):
    latex = shutil.which("pdflatex")
    monkeypatch.setenv("PATH", str(tmp_path))
    text = plot(results, "ict", tmp_path / "x.pgf", paper="ieee").read_text()
    for what in ("pgfpicture", "pgfscope"):
        assert text.count(rf"\begin{{{what}}}") == text.count(rf"\end{{{what}}}") > 0
    assert text.count("{") == text.count("}")
    for label in ("Parameter server", "Ring", "Hosts per leaf"):
        assert label in text
    assert r"\setmainfont" not in text  # the fonts are the document's
    if latex is None:
        return  # it is written all the same
    document = r"\documentclass{article}\usepackage{pgf}\begin{document}\input{x.pgf}\end{document}"
    (tmp_path / "t.tex").write_text(document)
    command = [latex, "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    monkeypatch.setenv("PATH", os.defpath)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_width_font_and_size_can_be_chosen(results, tmp_path):
    pdf = plot(results, "ict", tmp_path / "x.pdf", width="84mm", font="DejaVu Serif", size=7)
    assert "DejaVuSerif" in told("pdffonts", pdf)
    size = re.search(r"Page size:\s+([\d.]+)", told("pdfinfo", pdf))
    assert float(size[1]) == pytest.approx(84 / 25.4 * 72, abs=0.01)
    figure = draw_kind(results, "ict", on=page.read_page(width="84mm", size=7))
    sizes = {text.get_size() for text in figure.findobj(match=page.plt.Text) if text.get_text()}
    assert max(sizes) == 7 and min(sizes) > 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": "84"}, "--width: found 84, allowed: 1 to 40 inches"),
        ({"width": "9mm"}, "--width: found 9mm"),
        ({"font": "DejaVu Sanz"}, "DejaVu Sanz is not installed; the nearest is DejaVu Sans"),
        ({"size": 100}, "--font-size: found 100, allowed: 3 to 72"),
        ({"columns": 2}, "--columns: of --paper"),
        ({"paper": "iee"}, "--paper: found iee, allowed: ieee, acm"),
    ],
)
def test_what_there_is_not_is_said(options, message):
    with pytest.raises(ScenarioError, match=re.escape(message)):
        page.read_page(**options)


def test_command_line_knows_all_kinds_and_papers():
    assert tuple(KINDS) == command_line._KINDS
    assert tuple(page.PAPERS) == command_line._PAPERS


def test_one_command_makes_a_figure(results, tmp_path):
    done = call(
        [ROOT / "ns3", "plot", results.folder, "--paper=ieee", "--kind=busbw", "--out=x.pdf"],
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert list_fonts(tmp_path / "x.pdf")
    refused = call([ROOT / "ns3", "plot", results.folder, "--width=1"], tmp_path)
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1


def test_bus_bandwidth_is_that_of_the_runs(results):
    """Of all-reduce 2 (w - 1) / w times the gradient over the time (nccl-tests)."""
    (panel,) = draw_kind(results, "busbw").axes
    ring = next(line for line in panel.get_lines() if line.get_label() == "Ring")
    rows = [row for row in results.rows if row["scheme.kind"] == "ring"]
    for hosts, shown in zip(ring.get_xdata(), ring.get_ydata()):
        workers = 2 * hosts
        times = [
            float(row["ict_mean_s"]) for row in rows if float(row["topology.hostsPerLeaf"]) == hosts
        ]
        rates = [2 * (workers - 1) / workers * 200e3 / time for time in times]
        # In MB/s; the mean of rates, not the rate of the mean.
        assert shown == pytest.approx(sum(rates) / len(rates) / 1e6, rel=1e-6)


def lightness(colour):
    """L* of CIELAB, 0 to 100: what is left of a colour in grey."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    y = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear))
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


def test_lightness_is_that_of_cielab():
    assert lightness("#000000") == 0
    assert lightness("#FFFFFF") == pytest.approx(100)
    assert lightness("#777777") == pytest.approx(50.03, abs=0.1)


def test_series_differ_in_grey(program):
    listed = program("list").stdout.split("\n\n", 1)[0].splitlines()
    schemes = [line.split()[0] for line in listed if line[:2] == "  " and line[2] != " "]
    looks = style.series_styles(schemes)
    assert len({(look.marker, look.line) for look in looks.values()}) == len(schemes)
    # Whatever else is compared, as many as have a legend.
    others = style.series_styles(f"other {index}" for index in range(24)).values()
    assert len({(look.marker, look.line) for look in others}) == 24


def test_parts_of_bars_differ_in_grey():
    for one, other in itertools.combinations([*PARTS.values(), HIDDEN], 2):
        apart = abs(lightness(one.colour) - lightness(other.colour))
        assert one.hatch != other.hatch or apart > 20, (one, other)


def test_lines_of_many_points_have_marks(results):
    """Without them nothing but the colour tells them apart."""
    lines = draw_kind(results, "messages").axes[0].get_lines()
    assert len({line.get_marker() for line in lines}) == len(lines) == 2
    assert len({line.get_markevery() for line in lines}) == 2
    # All begin before the first one repeats.
    starts = [style.mark_every(index, 24)[0] for index in range(24)]
    assert starts == sorted(set(starts))
    assert starts[-1] < starts[0] + style.mark_every(0, 24)[1] < 1


def test_report_and_plots_have_the_same_intervals_and_colours(results):
    figure = draw_kind(results, "ict")
    panel = figure.axes[0]
    bars = {to_rgb(bar.get_color()[0]): bar.get_segments() for bar in panel.collections[1::2]}
    bars = {
        colour: [(segment[0][1], segment[1][1]) for segment in segments]
        for colour, segments in bars.items()
    }
    shown = {
        to_rgb(trace.line.color): [
            (y - less, y + more)
            for y, less, more in zip(trace.y, trace.error_y.arrayminus, trace.error_y.array)
        ]
        for trace in figures._ict(results).data
    }
    assert len(shown) == 2
    assert shown.keys() == bars.keys()
    for colour, spans in shown.items():
        for span, bar in zip(spans, bars[colour], strict=True):
            assert span == pytest.approx(bar)
            assert span[0] < span[1]


def test_networks_are_those_of_the_runs_that_are_asked_for(results, tmp_path):
    drawn = re.findall(r'<option value="(\d+)"', network.render(results, [7, 2, 3]))
    assert drawn == ["7", "2", "3"]
    assert "3 of 12 runs are drawn" in network.render(results, [7, 2, 3])
    assert "are drawn" not in network.render(results)
    with pytest.raises(gradsync.ResultsError, match="has runs 0 to 11, not 12"):
        write_report(results.folder, tmp_path / "x.html", [12])
    done = call(
        [ROOT / "ns3", "report", results.folder, "--network=1,4-6", "--out=x.html"], tmp_path
    )
    assert done.returncode == 0, done.stderr
    page_text = (tmp_path / "x.html").read_text()
    assert re.findall(r'<option value="(\d+)"', page_text) == ["1", "4", "5", "6"]
    wrong = call([ROOT / "ns3", "report", results.folder, "--network=4-x"], tmp_path)
    assert wrong.returncode == 2
    assert "allowed: runs as 3,7,20-25" in wrong.stderr
