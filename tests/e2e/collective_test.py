# SPDX-License-Identifier: GPL-2.0-only
"""./ns3 collective: nccl-tests' table of a simulated collective."""

import json

import pytest
from conftest import TOPOLOGIES, rows_of

from gradsync.__main__ import main
from gradsync.errors import ScenarioError
from gradsync.studies.collective import read_size

_HOSTS = 5


@pytest.fixture
def collective(program, tmp_path, monkeypatch, capsys):
    """Measures on five hosts around a switch with links of 8 Gb/s, 1 GB/s; gives code, stdout, stderr."""
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(program.path))
    star = {"kind": "star", "hosts": _HOSTS, "hostLink": {"rate": "8Gbps", "delay": "0s"}}
    (tmp_path / "star.json").write_text(json.dumps(star))

    def run(*options):
        topology = f"--topology={tmp_path / 'star.json'}"
        code = main(["collective", *options, topology, f"--out={tmp_path / 'out'}"])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def _measured(table):
    """The rows of a table: size, elements, time in us, algbw, busbw."""
    rows = [line.split() for line in table.splitlines() if line and not line.startswith("#")]
    return [(int(row[0]), int(row[1]), *map(float, row[3:])) for row in rows]


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("all-reduce", 8 / 5),
        ("all-gather", 4 / 5),
        ("reduce-scatter", 4 / 5),
        ("all-to-all", 4 / 5),
    ],
)
def test_optimal_collectives_fill_their_links(collective, name, factor):
    # Nothing but the rate costs time: busbw is that of the link, 1 GB/s, and the time factor x size.
    scheme = ["--scheme=ring"] if name == "all-reduce" else []
    sizes = ["--from=20kB", "--to=320kB"]  # which the five ranks share evenly
    code, out, _ = collective(name, *scheme, *sizes, "--transport=fluid")
    assert code == 0
    rows = _measured(out)
    assert [row[0] for row in rows] == [20_000, 80_000, 320_000]
    for size, elements, time, algbw, busbw in rows:
        assert elements == size // 4
        assert time == pytest.approx(factor * size / 1e3, rel=1e-3)
        assert algbw == pytest.approx(1 / factor, abs=1e-3)
        assert busbw == pytest.approx(1, abs=1e-3)


def test_schemes_are_compared_in_one_picture_and_one_folder(collective, tmp_path):
    code, out, _ = collective("all-reduce", "--scheme=ring,ps", "--from=64KiB", "--to=256KiB")
    assert code == 0
    assert "# all-reduce, 5 ranks, roce" in out
    assert [line for line in out.splitlines() if line in ("# ring", "# ps")] == ["# ring", "# ps"]
    assert len(_measured(out)) == 4
    assert (tmp_path / "out" / "busbw.svg").read_bytes().startswith(b"<?xml")
    rows = rows_of(tmp_path / "out" / "runs.csv")
    assert [row["scheme.kind"] for row in rows] == ["ring", "ring", "ps", "ps"]
    # By packets less than the link has; PS with its shards at all hosts moves what the ring does.
    assert all(0.5e9 < float(row["busbw_bytes_per_s"]) < 1e9 for row in rows)


def test_algorithms_of_a_collective_are_its_schemes(collective):
    code, out, _ = collective("all-gather", "--scheme=ring,bruck", "--from=20kB", "--to=20kB")
    assert code == 0
    assert len(_measured(out)) == 2


def test_protocols_are_compared_by_their_closed_form(collective, tmp_path):
    # 2 x 4 steps of a fifth of the buffer at 1 GB/s, of twice as much by LL and 16/15 by LL128, each
    # later by a hop between servers, all by the base: NCCL's figures in us.
    figures = {
        "none": (0, 0, 1),
        "simple": (8.4, 14, 1),
        "ll": (6.6, 2.7, 2),
        "ll128": (14, 4, 16 / 15),
    }
    sizes = ["--from=300kB", "--to=4800kB"]
    protocols = "--protocol=" + ",".join(figures)
    code, out, _ = collective("all-reduce", "--scheme=ring", *sizes, protocols, "--transport=fluid")
    assert code == 0
    heads = [line[2:] for line in out.splitlines() if line.startswith("# ring")]
    assert heads == [f"ring, {name}" for name in figures]
    rows = iter(_measured(out))
    for base, hop, growth in figures.values():
        for size in (300_000, 1_200_000, 4_800_000):
            measured, _, time, algbw, busbw = next(rows)
            assert measured == size
            assert time == pytest.approx(base + 8 * (hop + growth * size / 5 / 1e3), abs=0.006)
            # Bandwidths are those of the buffer, not of what is sent for it.
            assert algbw == pytest.approx(size / time / 1e3, abs=1e-3)
            assert busbw == pytest.approx(algbw * 8 / 5, abs=2e-3)
    kinds = [row["job.protocol.kind"] for row in rows_of(tmp_path / "out" / "runs.csv")]
    assert kinds == [name for name in figures for _ in range(3)]


def test_what_nccl_would_take_is_told_with_its_reasons(collective):
    # Five servers of one rank behind 1 GB/s. A tree by LL has 6.8 + 4 x 5 us and 1 GB/s x 0.92 / 3.8 / 2,
    # a ring by Simple 1.4 x (8.4 + 8 x 14) us and 5/8 GB/s.
    sizes = ["--from=1kB", "--to=64MB", "--factor=64000"]
    code, out, _ = collective("all-reduce", "--scheme=nccl,ring", *sizes, "--transport=fluid")
    assert code == 0
    rows = [line.split() for line in out.splitlines() if line and not line.startswith("#")]
    assert [row[6:] for row in rows] == [["tree", "ll"], ["ring", "simple"], [], []]
    told = [line[2:] for line in out.splitlines() if "us" in line and "NCCL" in line]
    small = 26.8 + 1000 / (1e3 * 0.92 / 3.8 / 2)
    large = 1.4 * 120.4 + 64e6 / (1e3 * 5 / 8)
    machine = "NCCL's model of 5 ranks in 5 servers, 1 GB/s inside and 1 GB/s out of a server"
    assert told == [
        f"1000 B: {machine}: tree ll, {small:.2f} us",
        f"64000000 B: {machine}: ring simple, {large:.2f} us",
    ]
    reasons = [
        line.split()[1] for line in out.splitlines() if line.startswith("#   ") and ":" in line
    ]
    assert reasons == ["tree:", "ring:", "tree:", "ring:"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["all-redcue"], "unknown collective all-redcue"),
        (["all-reduce", "--scheme=all-gather"], "is no scheme of an all-reduce"),
        (["all-reduce", "--scheme=rnig"], "ring"),
        (["all-reduce", "--scheme=ring,"], "separated by commas"),
        (["all-reduce", "--protocol=ll,"], "--protocol: expected names separated by commas"),
        (["all-reduce", "--protocol=ll127"], "ll128"),
        (["all-reduce", "--from=2MiB", "--to=1MiB"], "is more than --to"),
        (["all-reduce", "--from=many"], "is no size"),
        (["all-reduce", "--from=0B"], "from 1B to 16TiB"),
        (["all-reduce", "--factor=1"], "expected 2 or more"),
        (["all-reduce", "--set=job"], "expected PATH=VALUE"),
    ],
)
def test_bad_input_is_one_message(collective, options, words):
    code, out, err = collective(*options)
    assert code == 2
    assert out == ""
    assert words in err
    assert len(err.strip().splitlines()) == 1


def test_sizes_are_read_as_scenarios_have_them():
    assert read_size("64KiB") == 65_536
    assert read_size("1.5MB") == 1_500_000
    assert read_size("7") == 7
    for text in ("1.5B", "-1MB", "1TB", "", "17592186044417"):
        with pytest.raises(ScenarioError):
            read_size(text)


def test_real_machines_have_the_bandwidth_of_their_links(program, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(program.path))
    topology = f"--topology={TOPOLOGIES / 'hgx-h100.json'}"
    sizes = ["--from=64MiB", "--to=64MiB", "--scheme=ring", "--transport=fluid"]
    out = tmp_path / "h100"
    assert main(["collective", "all-reduce", topology, *sizes, f"--out={out}"]) == 0
    (row,) = _measured(capsys.readouterr().out)
    assert row[4] == pytest.approx(450, rel=0.05)  # NVLink, 450 GB/s each way; 14 steps of 200 ns
