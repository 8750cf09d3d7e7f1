# SPDX-License-Identifier: GPL-2.0-only
"""The benchmarks' launcher: a peer beside them, and the history of their figures; nothing is timed here."""

import csv
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, call

from gradsync.errors import ResultsError
from gradsync.studies.bench_plot import draw_history, plot_history, read_history

sys.path.insert(0, str(ROOT))
from launcher import bench, bench_history, bench_peer
from launcher.errors import BAD_INPUT, FAILURE, LauncherError

EXCHANGE = bench_peer.Exchange(4, 2, 2, 100_000, 1456)


def write_peer(folder, text):
    """A simulator of one's own, as words of a command."""
    (folder / "peer.py").write_text(text)
    return [sys.executable, str(folder / "peer.py")]


def test_a_peer_is_told_the_exchange_that_ours_simulates(tmp_path):
    words = write_peer(
        tmp_path,
        "import sys, json\n"
        "print('progress')\n"
        "print(json.dumps({'data_packet_hops': 5000, 'ict_s': 0.25, 'told': sys.argv[1:]}))\n",
    )
    options = ["{hosts}x{leaves}x{hosts_per_leaf}", "{spines}", "{gradient_bytes}", "{rate}{delay}"]
    peer = bench_peer.measure(
        bench_peer.read_command(" ".join([*words, *options])), EXCHANGE, 3, 20.0
    )
    assert peer["command"].endswith("4x2x2 2 100000 100Gbps1us")
    assert (peer["data_packet_hops"], peer["ict_s"]) == (5000, 0.25)
    # 2 * 3 steps of 25,000 bytes by four hosts, in packets of 1456: 18 a step; two hops within a
    # leaf, where the ring's neighbour is for half of the hosts, and four between leaves.
    ours = bench._measure(
        "exchange-bench",
        "--spines=2",
        "--leaves=2",
        "--hosts-per-leaf=2",
        "--gradient=100000",
        "--mtu=1456",
    )
    assert ours["data_packet_hops"] == 6 * 18 * (2 * 2 + 2 * 4)
    said = bench_peer.lines({**ours, "user_s": 2.0}, {**peer, "user_s": 4.0})
    assert "250.0000 ms" in said[1] and "hops as ours" not in said[1]
    # 1,296 hops in 2 s beside 5,000 in 4 s.
    assert said[2] == f"gradsync makes {(1296 / 2) / (5000 / 4):.2f} times as many hops a second"


def test_a_peer_that_tells_nothing_is_credited_with_our_hops(tmp_path):
    words = write_peer(tmp_path, "print('done: 12')\n")
    peer = bench_peer.measure(words, EXCHANGE, 1, 20.0)
    ours = {"hosts": 4, "gradient_bytes": 1e5, "data_packet_hops": 1000, "ict_s": 1e-3}
    ours |= {"user_s": 1.0, "peak_rss_bytes": 1e6}
    said = bench_peer.lines(ours, {**peer, "user_s": 10.0})
    assert "(hops as ours)" in said[1] and "ICT not told" in said[1]
    assert said[2] == "gradsync makes 10.00 times as many hops a second"


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("no-such-simulator {hosts}", "there is no such program"),
        ("", "there is no such program"),
        ("true {host}", r"found {host}, allowed are delay, .*; the nearest is {hosts}"),
        ("true 'open", "No closing quotation"),
        ("true {hosts", "expected '}'"),
        ("true {hosts:x}", "stands alone, without : or !"),
        ("true {hosts!z}", "stands alone, without : or !"),
    ],
)
def test_a_command_that_cannot_be_run_is_refused_before_anything_is_measured(command, told):
    with pytest.raises(LauncherError, match=told) as caught:
        bench_peer.read_command(command)
    assert caught.value.code == BAD_INPUT


def test_a_peer_that_fails_is_told_in_its_own_words(tmp_path):
    words = write_peer(tmp_path, "import sys\nsys.exit('no route to host 3')\n")
    with pytest.raises(LauncherError, match=r"exit code 1: no route to host 3") as caught:
        bench_peer.measure(words, EXCHANGE, 3, 20.0)
    assert caught.value.code == FAILURE


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import os\nos.kill(os.getpid(), 9)\n", "ended by signal 9 (Killed): it says nothing"),
        (
            "import sys\nsys.stderr.buffer.write(b'\\xff\\xfe')\nsys.exit(3)\n",
            "exit code 3: \ufffd\ufffd",
        ),
        (
            'print(\'{"data_packet_hops": "many"}\')\n',
            'data_packet_hops in its last line: found "many", allowed are numbers from 1 on',
        ),
        ("print('{\"data_packet_hops\": 0}')\n", "found 0, allowed are numbers from 1 on"),
        ("print('{\"ict_s\": NaN}')\n", "ict_s in its last line: found NaN"),
        ("print('{\"ict_s\": true}')\n", "ict_s in its last line: found true"),
    ],
)
def test_a_peer_that_tells_nonsense_is_one_message(tmp_path, text, told):
    with pytest.raises(LauncherError) as caught:
        bench_peer.measure(write_peer(tmp_path, text), EXCHANGE, 1, 20.0)
    assert told in str(caught.value) and caught.value.code == FAILURE


def test_what_a_peer_prints_may_be_anything(tmp_path):
    words = write_peer(tmp_path, "import sys\nsys.stdout.buffer.write(b'\\xff\\x00{\\n[1, {}]')\n")
    peer = bench_peer.measure(words, EXCHANGE, 1, 20.0)
    assert "data_packet_hops" not in peer and "ict_s" not in peer


def test_a_peer_that_hangs_is_ended_with_all_that_it_started(tmp_path):
    words = write_peer(
        tmp_path,
        "import subprocess, time\n"
        "child = subprocess.Popen(['sleep', '1000'])\n"
        f"open({str(tmp_path / 'child')!r}, 'w').write(str(child.pid))\n"
        "time.sleep(1000)\n",
    )
    with pytest.raises(LauncherError, match=r"not ended after 3 s; --peer-limit SECONDS") as caught:
        bench_peer.measure(words, EXCHANGE, 3, 20.0, 3.0)
    assert caught.value.code == FAILURE
    # A process that has ended is gone, or waits to be asked how: state Z.
    stat = Path(f"/proc/{(tmp_path / 'child').read_text()}/stat")
    for _ in range(100):
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("its child goes on")


def test_a_peer_that_cannot_be_started_is_told(tmp_path):
    program = tmp_path / "peer"
    program.write_text("no program\n")
    program.chmod(0o755)
    with pytest.raises(LauncherError, match=r"cannot be started: .*Exec format error") as caught:
        bench_peer.measure(bench_peer.read_command(str(program)), EXCHANGE, 1, 20.0)
    assert caught.value.code == BAD_INPUT


def test_what_may_go_wrong_does_so_before_the_grid_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "RESULTS", tmp_path)
    monkeypatch.setattr(bench, "_measure", lambda *_: {"data_packet_hops": 1})
    monkeypatch.setattr(bench, "_measure_grid", lambda _full: pytest.fail("it is measured"))
    with pytest.raises(LauncherError, match="exit code 1"):
        bench.run_benchmarks(False, ["false"])
    (tmp_path / "bench-history.csv").write_text("a,b\n1,2\n")
    with pytest.raises(LauncherError, match="no history"):
        bench.run_benchmarks(False, [])


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf", "soon"])
def test_a_limit_is_a_number_of_seconds(tmp_path, limit):
    told = call([ROOT / "ns3", "bench", "--no-install", f"--peer-limit={limit}"], tmp_path)
    assert told.returncode == 2
    assert "--peer-limit" in told.stderr and len(told.stderr.splitlines()) == 1


def row_of(scheme="ring", hosts=16, rate=10e6, **more):
    load = {"scheme": scheme, "hosts": hosts, "gradient_bytes": 1000000, "mtu_bytes": 1456}
    load |= {"congestion_control": "none", "max_outstanding_sends": 0}
    figures = {"data_packet_hops": 1, "events": 1, "user_s": 1.0, "hops_per_user_s": rate}
    figures |= {"peak_rss_bytes": 5e6, "times_stock_ns3": None, "share_of_radix_core": 0.5}
    return {**load, **figures, "not_kept": 1, **more}


def test_a_history_grows_by_the_rows_of_each_run_and_is_drawn(tmp_path):
    path = tmp_path / "bench-history.csv"
    bench_history.add(path, [row_of(), row_of("ps", 128)])
    bench_history.add(path, [row_of(rate=11e6)])
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == bench_history.COLUMNS
    assert [(row["scheme"], row["hops_per_user_s"]) for row in rows] == [
        ("ring", "10000000.0"),
        ("ps", "10000000.0"),
        ("ring", "11000000.0"),
    ]
    # Two runs within a second are drawn as one; here they lie a day apart.
    text = path.read_text().splitlines()
    text[3] = "2099-01-01" + text[3][10:]
    path.write_text("\n".join(text) + "\n")
    panel = draw_history(read_history(path)).axes[0]
    assert [list(line.get_ydata()) for line in panel.lines] == [[10.0, 11.0], [10.0]]
    assert plot_history(path).read_text().startswith("<?xml")


def test_only_the_machine_that_was_measured_last_is_drawn(tmp_path):
    path = tmp_path / "history.csv"
    bench_history.add(path, [row_of()])
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, bench_history.COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([{**rows[0], "machine": "another"}, rows[0]])
    assert [row["machine"] for row in read_history(path)] == [rows[0]["machine"]]


def test_a_file_that_is_no_history_is_left_alone(tmp_path):
    path = tmp_path / "bench-history.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(LauncherError, match=r"no history of \./ns3 bench"):
        bench_history.add(path, [row_of()])
    assert path.read_text() == "a,b\n1,2\n"
    with pytest.raises(ResultsError, match="there is no column date"):
        read_history(path)
    bench_history.add(good := tmp_path / "good.csv", [row_of(rate="fast")])
    with pytest.raises(ResultsError, match="hops_per_user_s is fast, expected a number"):
        read_history(good)


def test_a_mistyped_placeholder_ends_bench_at_once_with_exit_code_2(tmp_path):
    told = call([ROOT / "ns3", "bench", "--no-install", "--peer=true {hots}"], tmp_path)
    assert told.returncode == 2
    assert "the nearest is {hosts}" in told.stderr
    assert not (tmp_path / "results").exists()
