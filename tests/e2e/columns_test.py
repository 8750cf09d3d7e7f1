# SPDX-License-Identifier: GPL-2.0-only
"""Result columns: declared once in C++, described by each manifest, read by that in Python."""

import csv
import json

import polars as pl
import pytest

import gradsync
from gradsync.errors import ResultsError
from gradsync.results.compare import compare_results
from gradsync.studies import regress

TYPES = {"integer": pl.Int64, "number": pl.Float64, "text": pl.String, "flag": pl.Boolean}
# What spreadsheets would compute, and what begins with their mark for text.
NAMES = ["=1+1", "+h", "-h", "@SUM(A1,A2)", "'h'", "plain"]


def star_of(names):
    nodes = [{"name": "-switch", "kind": "switch", "tier": 1}]
    nodes += [{"name": name, "kind": "host"} for name in names]
    rate = {"rate": "10Gbps", "delay": "1us"}
    links = [{"a": name, "b": "-switch", **rate} for name in names]
    return {"kind": "graph", "nodes": nodes, "links": links}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results with names of every kind, and with a swept column of each type."""
    scenario = gradsync.Scenario(
        title="Columns",
        topology=star_of(NAMES),
        scheme="ring",
        job={"name": "=job", "gradient": "60kB", "iterations": 2},
        results={"messages": True},
    )
    scenario = scenario.sweep("job.gradient", ["60kB", "120kB"]).sweep("job.iterations", [1, 2])
    scenario = scenario.sweep("results.messages", [True, False])
    return scenario.run(tmp_path_factory.mktemp("columns") / "results")


def header_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return next(csv.reader(file))


def test_the_manifest_describes_every_column_of_every_table(results):
    tables = {path.name for path in results.folder.glob("*.csv")}
    assert set(results.columns) == tables
    assert len(tables) == 15
    for table in tables:
        assert list(results.columns[table]) == header_of(results.folder / table)


def test_types_do_not_depend_on_what_is_in_a_column(results):
    # No run has the scheme auto, sums in switches, faults, flows or samples: all of these are empty.
    for path in results.write_parquet():
        frame = pl.read_parquet(path)
        described = results.manifest["columns"][path.with_suffix(".csv").name]
        assert dict(frame.schema) == {entry["name"]: TYPES[entry["type"]] for entry in described}
    assert results.runs["auto_estimate_s"].null_count() == len(results.rows)
    assert results.runs.schema["auto_estimate_s"] == pl.Float64
    assert results.runs.schema["wrong_sums"] == pl.Int64
    assert results.runs.schema["results.messages"] == pl.Boolean
    assert results.runs.schema["job.iterations"] == pl.Int64
    assert results.runs.schema["job.gradient"] == pl.String


def test_no_cell_of_text_begins_a_formula_and_readers_get_it_back(results):
    for path in results.folder.glob("*.csv"):
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                assert not any(cell.startswith(("=", "+", "@")) for cell in row.values())
                for name, cell in row.items():
                    # A number may be negative.
                    if cell.startswith("-"):
                        assert results.columns[path.name][name].kind in (int, float)
    assert set(results.links["from"]) == {*NAMES, "-switch"}
    assert set(results.messages["src"]) == set(NAMES)
    assert set(results.iterations["job"]) == {"=job"}
    results.write_parquet()
    assert set(pl.read_parquet(results.folder / "messages.parquet")["src"]) == set(NAMES)


def test_baselines_have_texts_as_they_are_written(results, tmp_path):
    column = results.columns["links.csv"]["from"]
    assert [column.text(column.cell(name)) for name in NAMES] == NAMES
    path = tmp_path / "baseline.csv"
    regress._write_baseline(path, results)
    columns = results.columns["runs.csv"]
    compared = [name for name, column in columns.items() if column.compared == "always"]
    assert header_of(path) == compared
    assert not {"run", "events", "wall_s", "peak_rss_bytes"} & set(compared)
    baseline = regress.read_baseline(path, results.swept, columns)
    comparison = regress.Comparison("it", results, baseline)
    assert regress.find_differences(comparison, exact=True) == []


def without_columns(results, folder):
    folder.mkdir()
    for path in results.folder.glob("*.csv"):
        (folder / path.name).write_bytes(path.read_bytes())
    manifest = {**results.manifest}
    del manifest["columns"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def test_folders_of_before_are_read_by_the_names_of_columns(results, tmp_path):
    old = gradsync.load(without_columns(results, tmp_path / "old"))
    assert old.columns == {}
    assert old.column("ict_mean_s").unit == "s"
    assert old.runs["ict_mean_s"].equals(results.runs["ict_mean_s"])
    assert old.links.schema["wire_bytes"] == pl.Int64
    # Nobody marked their texts.
    assert "'=1+1" in set(old.links["from"])
    assert len(old.write_parquet()) == 14
    assert compare_results(results.folder, results.folder) == []


@pytest.mark.parametrize(
    "columns",
    [
        [],
        {"runs.csv": {}},
        {"runs.csv": ["x"]},
        {"runs.csv": [{"name": "run"}]},
        {"runs.csv": [{"name": "run", "type": "float"}]},
        {"runs.csv": [{"name": "run", "type": "integer", "compared": "often"}]},
        {"runs.csv": [{"name": 1, "type": "integer"}]},
        {"../runs.csv": []},
    ],
)
def test_a_manifest_with_odd_columns_is_refused(results, tmp_path, columns):
    folder = without_columns(results, tmp_path / "odd")
    manifest = {**results.manifest, "columns": columns}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ResultsError, match=r"manifest\.json: columns"):
        gradsync.load(folder)
