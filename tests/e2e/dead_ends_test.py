# SPDX-License-Identifier: GPL-2.0-only
"""What a reader of the documentation tries, and where nothing but one useful line may come of it."""

import importlib.util
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT

import gradsync
from gradsync.__main__ import main

SMOKE = ROOT / "scenarios" / "smoke.json"


@pytest.fixture
def four(program, tmp_path, monkeypatch):
    """Results of four hosts with two sizes."""
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(program.path))
    scenario = gradsync.Scenario(gradsync.star(4, "10Gbps"), transport="fluid")
    return scenario.sweep("job.gradient", ["1MB", "2MB"]).run(tmp_path / "r")


def test_a_file_without_a_kind_is_the_plot_itself(four, tmp_path, capsys):
    out = tmp_path / "x.pdf"
    assert main(["plot", str(four.folder), f"--out={out}"]) == 0
    assert out.read_bytes().startswith(b"%PDF")
    assert capsys.readouterr().err == f"wrote {out}\n"
    assert not (four.folder / "plot.svg").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--kind=links", "--out=x.bmp"], "x.bmp: found .bmp, expected "),
        (["--out=x"], "x: found no ending, expected "),
        (["--kind=links", "--kind=bytes", "--out=x.svg"], "--out x.svg: one file for 2 pictures"),
        (["--kind=link"], "invalid choice: 'link'"),
        (["--out=nowhere/x.svg"], "nowhere"),
    ],
)
def test_a_picture_that_cannot_be_is_one_line(four, tmp_path, monkeypatch, capsys, options, said):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert main(["plot", str(four.folder), *options]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and said in told
    assert sorted(tmp_path.iterdir()) == before


def test_every_kind_that_can_be_drawn_can_be_asked_for(four, capsys):
    from gradsync.plots.kinds import KINDS

    for kind in KINDS:
        code = main(["plot", str(four.folder), f"--kind={kind}", "--run=0"])
        told = capsys.readouterr().err
        # Some need what this scenario has not recorded, which they say.
        assert code == 0 or "nothing was recorded" in told or "no " in told, (kind, told)


def test_pandas_frames_need_what_the_page_says(four):
    page = (ROOT / "doc" / "python.rst").read_text(encoding="utf-8")
    with open(ROOT / "analysis" / "pyproject.toml", "rb") as file:
        extra = tomllib.load(file)["project"]["optional-dependencies"]["pandas"]
    needed = [requirement.split(">")[0] for requirement in extra]
    # https://docs.pola.rs: to_pandas() goes by way of Arrow.
    assert needed == ["pandas", "pyarrow"]
    assert "pip install './analysis[pandas]'" in page
    if all(importlib.util.find_spec(name) for name in needed):
        assert list(four.runs.to_pandas()["job.gradient_bytes"]) == [1_000_000, 2_000_000]
    else:
        with pytest.raises(ImportError):
            four.runs.to_pandas()


def test_a_fat_tree_needs_no_more_than_its_hosts_links(program, tmp_path, monkeypatch):
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(program.path))
    whole = gradsync.Scenario(gradsync.fat_tree(4, "10Gbps"), transport="fluid").run(tmp_path / "a")
    assert [row["workers"] for row in whole.rows] == ["16"]
    assert [float(row["oversubscription"]) for row in whole.rows] == [1.0]
    slow = gradsync.fat_tree(4, "10Gbps", uplink=gradsync.link("5Gbps", "2us"))
    # Two hosts of 10 Gb/s below two links of 5.
    results = gradsync.Scenario(slow, transport="fluid").run(tmp_path / "b")
    assert float(results.rows[0]["oversubscription"]) == 2.0
    ratio = gradsync.fat_tree(4, "10Gbps", rackOversubscription=4)
    results = gradsync.Scenario(ratio, transport="fluid").run(tmp_path / "c")
    assert float(results.rows[0]["oversubscription"]) == 4.0


def sweep(out, *options):
    return main(["sweep", str(SMOKE), f"--out={out}", *options])


def test_a_dry_run_of_a_sweep_ends_without_errors(program, tmp_path, monkeypatch, capfd):
    pytest.importorskip("snakemake")
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(program.path))
    out = tmp_path / "dry"
    assert sweep(out, "--snakemake=--dry-run") == 0
    told = capfd.readouterr()
    assert "nothing was to be done: 6 runs are missing as before" in told.err
    assert "has no result" not in told.err and "gave no result" not in told.err
    assert not (out / "runs.csv").exists()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--executor=slumr", "slumr"),
        ("--snakemake=--no-such-option", "unrecognized arguments: --no-such-option"),
    ],
)
def test_a_wrong_option_of_snakemake_is_one_line(
    program, tmp_path, monkeypatch, capfd, option, said
):
    pytest.importorskip("snakemake")
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(program.path))
    assert sweep(tmp_path / "r", option) == 2
    told = capfd.readouterr()
    assert "usage" not in told.out + told.err
    announced, line, *rest = told.err.strip().split("\n")
    assert announced.startswith("6 runs to do, in ")  # so many batches as the machine has use for
    assert line.startswith("gradsync: snakemake: ") and said in line
    assert rest == []


def test_the_wrapper_of_snakemake_travels_with_the_package():
    assert (Path(gradsync.__file__).parent / "studies" / "snakemake_call.py").is_file()
