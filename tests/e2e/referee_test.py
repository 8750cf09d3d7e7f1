# SPDX-License-Identifier: GPL-2.0-only
"""The referee itself: each of its laws holds for an honest run and refuses one that was doctored."""

import copy
import json
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from referee.case import TIME_UNITS, Case, case_from_json, picoseconds, quantity  # noqa: E402
from referee.catalogue import read_catalogue  # noqa: E402
from referee.draw_file import slot_commands  # noqa: E402
from referee.draw_scenario import draw_case  # noqa: E402
from referee.evidence import Evidence  # noqa: E402
from referee.judge import complaints_of, judge  # noqa: E402
from referee.law import LAWS  # noqa: E402
from referee.laws_forms import TOTALS  # noqa: E402
from referee.session import KEPT  # noqa: E402
from referee.shrink import shrink  # noqa: E402
from referee.simulator import Limits, Outcome, Simulator  # noqa: E402

STAR = {"kind": "star", "hosts": 4, "hostLink": {"rate": "10Gbps", "delay": "1us"}}
RACKS = {
    "kind": "spine-leaf",
    "spines": 1,
    "leaves": 2,
    "hostsPerLeaf": 2,
    "hostLink": {"rate": "10Gbps", "delay": "1us"},
    "fabricLink": {"rate": "10Gbps", "delay": "1us"},
    "oversubscription": 2,
}
PACKETS = {"kind": "roce", "mtu": "1000B", "ackEvery": 0}
JOB = {"gradient": "48000B", "iterations": 2, "compute": "5us", "timeout": "1s"}
RING = {"topology": STAR, "transport": PACKETS, "scheme": "ring", "job": JOB}

# The cases' files. Of the schedule, the computation of rank 1 waits for a message.
FILES = {
    "a.xml": (ROOT / "scenarios" / "algorithms" / "ring-4.xml").read_text(),
    "b.goal": """num_ranks 4
rank 0 {
a: calc 3000 cpu 0
s: send 700b to 1 tag 0 nic 0
s requires a
}
rank 1 {
r: recv 700b from 0 tag 0
b: calc 2000 cpu 1
b requires r
}
rank 2 {
}
rank 3 {
}
""",
    "p.json": (ROOT / "p4-behavioral" / "compiled" / "slot-aggregation.json").read_text(),
    "p.cli": slot_commands(4, 4),
}
LAYER = {"count": 4, "forward": "20us", "backward": "40us", "gradient": "4800B"}
HYBRID = {
    "blocks": [{**LAYER, "tensorForward": "480B", "tensorBackward": "960B"}],
    "activation": "300B",
    "tensor": 2,
    "pipeline": 2,
    "microbatches": 2,
}
BUCKETS = {"blocks": [LAYER], "bucket": "9kB", "firstBucket": "1kB"}
TRANSFORMER = {
    "model": {
        "kind": "transformer",
        "layers": 2,
        "hidden": 16,
        "heads": 4,
        "feedForward": 32,
        "vocabulary": 24,
        "sequence": 12,
    },
    "device": {
        "name": "of the test",
        "source": "made up",
        "memory": "1GB",
        "memoryBandwidth": 1e12,
        "peaks": [{"datatype": "bf16", "flops": 1e11, "source": "made up"}],
    },
    "achievedShare": 0.5,
    "tensor": 2,
}
# What draw_training.py knows: doc/iterations.rst and doc/models.rst.
TRAINING_KEYS = (
    *("blocks", "activation", "tensor", "context", "pipeline", "data", "expert", "expertTensor"),
    *("order", "schedule", "microbatches", "chunks", "zero", "overlap", "bucket", "firstBucket"),
    *("parameterShare", "exchange", "innerRanks", "streamPolicy", "credit", "piece", "streams"),
    *("slices", "barrier", "tensorScheme", "model", "device", "microbatchSize", "datatype"),
    *("recompute", "sequenceParallel", "achievedShare"),
)
# Without times on the way.
STILL = {"kind": "star", "hosts": 2, "hostLink": {"rate": "10Gbps", "delay": "0ns"}}


def _training(training, topology=STAR, transport=PACKETS, **job):
    return {"topology": topology, "transport": transport, "job": {"training": training, **job}}


# Honest cases: scenario and probes.
CASES = {
    "ring": (RING, ["again", "seed", "jobs", "prefetch", "trace", "quiet", "fluid"]),
    "refused": ({**RING, "topology": {**STAR, "hosts": 1}}, []),
    "timeout": ({**RING, "job": {**JOB, "timeout": "20us"}}, []),
    "fluid": ({**RING, "transport": "fluid"}, []),
    "ps": ({**RING, "scheme": {"kind": "ps", "servers": 0}}, []),
    "rat": ({**RING, "topology": RACKS, "scheme": "rat"}, []),
    "reducing": ({**RING, "job": {**JOB, "reduceRate": "10Gbps"}}, []),
    "codec": ({**RING, "job": {**JOB, "codec": "fp16"}}, []),
    "uneven": (
        {
            **RING,
            "topology": RACKS,
            "scheme": "rat",
            "job": {"gradient": "10007B"},
            "results": {"every": "1us"},
        },
        [],
    ),
    "sums": ({"topology": RACKS, "scheme": "switchml", "job": {"gradient": "10007B"}}, []),
    "byteps": (
        {
            **RING,
            "topology": {**STAR, "hosts": 5},
            "scheme": {"kind": "byteps", "cpuMachines": 1},
        },
        [],
    ),
    "libra": (
        {
            "topology": STAR,
            "scheme": {
                "kind": "libra",
                "parameters": 1000,
                "hotParameters": 50,
                "pipelineChunks": 2,
            },
            "job": {"gradient": "10007B"},
        },
        [],
    ),
    "switchml": (
        {
            "topology": STAR,
            "transport": {"kind": "roce", "aggregation": {"values": "real"}},
            "scheme": "switchml",
            "job": {"gradient": "10000B"},
        },
        ["engine"],
    ),
    "traffic": (
        {
            **RING,
            "traffic": [
                {"kind": "incast", "fanIn": 2, "size": "500B", "every": "20us", "duration": "50us"}
            ],
        },
        ["other-scheme"],
    ),
    "tensors": (
        {**RING, "job": {"tensors": [{"size": "4800B", "count": 2}, {"elements": 301}]}},
        ["tensors", "import"],
    ),
    "tensors-codec": (
        {**RING, "job": {"tensors": [{"size": "4801B"}, {"elements": 301, "codec": "int8"}]}},
        [],
    ),
    # 60 x 60 and 16 x 16 by 4 columns in the place of 3,600 and 256 elements; 40 elements stay as they are.
    "powersgd": (
        {
            **RING,
            "job": {
                "codec": "powersgd",
                "tensors": [{"elements": 3600}, {"elements": 256}, {"elements": 40}],
            },
        },
        [],
    ),
    "algorithm": ({**RING, "scheme": {"kind": "import", "file": "a.xml"}}, []),
    "schedule": ({**RING, "scheme": {"kind": "import", "file": "b.goal"}}, []),
    "program": (
        {
            "topology": STAR,
            "transport": {
                "kind": "roce",
                "aggregation": {
                    "values": "real",
                    "slot": {"slots": 4, "valuesPerPacket": 64},
                    "programs": [
                        {"switches": ["leaf0"], "program": "p.json", "configuration": "p.cli"}
                    ],
                },
            },
            "scheme": "switchml",
            "job": {"gradient": "10000B"},
        },
        [],
    ),
    "training": (_training(HYBRID, iterations=2), ["order", "whole"]),
    "pipeline": (
        _training(
            {"blocks": [{**LAYER, "gradient": "0B"}], "pipeline": 2, "microbatches": 3},
            STILL,
            {"kind": "fluid"},
        ),
        [],
    ),
    "buckets": (_training(BUCKETS), ["fluid"]),
    "buckets-fluid": (_training(BUCKETS, transport={"kind": "fluid"}), ["no-overlap"]),
    "one-block": (
        _training({"blocks": [{"backward": "9us", "gradient": "4800B"}]}, iterations=2),
        ["exchange"],
    ),
    "transformer": (_training(TRANSFORMER), []),
    "faults": (
        {
            **RING,
            "topology": RACKS,
            "faults": [
                {"kind": "host-pause-send", "random": 1, "start": "10us", "duration": "9us"}
            ],
        },
        ["other-scheme"],
    ),
}


def _cell(table, column, change, row=0, of="main"):
    """Changes a cell of a table: the doctor of most laws."""

    def doctor(evidence):
        cells = getattr(evidence, of).tables[table][row]
        assert cells[column] != change(cells[column])
        cells[column] = change(cells[column])

    return doctor


def _more(text):
    return str(int(text) + 1)


def _later(text):
    return f"{(picoseconds(text) + 10**6) / 10**12:.12f}"


def _outcome(**values):
    def doctor(evidence):
        for name, value in values.items():
            setattr(evidence.main.outcome, name, value)

    return doctor


def _drop(table):
    return lambda evidence: evidence.main.tables[table].pop()


def _repeat(table):
    return lambda evidence: evidence.main.tables[table].append(evidence.main.tables[table][0])


def _operation(**values):
    """Changes the first transfer of the exported plan."""

    def doctor(evidence):
        operations = evidence.plan["operations"]
        moves = (o for o in operations if o["kind"] in ("reduce", "copy") and o["from"] != o["to"])
        next(moves).update(values)

    return doctor


def _text(old, new):
    def doctor(evidence):
        assert old in evidence.description.out
        evidence.description.out = evidence.description.out.replace(old, new)

    return doctor


def _describes(evidence):
    evidence.description = Outcome(0, "", "", 0.0, 0)


def _swap_ends(evidence):
    """The first two messages of rank 0 in one another's place: order and data are then wrong."""
    rows = [row for row in evidence.main.tables["messages"] if row["iteration"] == "0"]
    first, last = rows[0], rows[-1]
    for column in ("start_s", "end_s"):
        first[column], last[column] = last[column], first[column]


def _never(_):
    return "1.000000000000"


def _soon(_):
    return "0.000000000001"


# Law -> (honest case, what a lying simulator would say).
def _more_hot(evidence):
    evidence.plan["chunkBytes"][0] += 1000


DOCTORS = {
    "every run ends in success refusal or a named failure": ("ring", _outcome(code=-6)),
    "runs stay within limits": ("ring", _outcome(peak_bytes=1 << 40)),
    "a refusal is one clear line": ("refused", _outcome(error="bad\nvery bad\n")),
    "what is refused is refused by every verb": ("refused", _describes),
    "describe knows every run that is simulated": ("ring", _text("job0: ring, 4 workers", "?")),
    "a failure is named": ("timeout", _outcome(error="")),
    "success means that everything finished": ("ring", _drop("iterations")),
    "unfinished transfers are listed once": ("timeout", _repeat("unfinished")),
    "no iteration outlasts its timeout": ("ring", _cell("iterations", "ict_s", lambda _: "2.0")),
    "a run repeats": ("ring", _cell("runs", "ict_mean_s", _later, of="again")),
    "processes change nothing": ("ring", _cell("runs", "events", _more, 2, "three_at_once")),
    "prefetching changes nothing": ("ring", _cell("links", "packets", _more, of="prefetched")),
    "a trace changes nothing": ("ring", _cell("runs", "events", _more, of="traced")),
    "what is recorded changes nothing": ("ring", _cell("runs", "events", _more, of="quiet")),
    "native switches are those of p4": (
        "switchml",
        _cell("runs", "wire_bytes", _more, of="other_engine"),
    ),
    "a seed changes only what is drawn": ("ring", _cell("runs", "events", _more, of="other_seed")),
    "foreign flows do not depend on the exchange": ("traffic", _cell("flows", "start_s", _later)),
    "faults do not depend on the exchange": (
        "faults",
        _cell("faults", "time_s", lambda _: "0.000000000000"),
    ),
    "goodput is what was delivered": ("ring", _cell("runs", "goodput_bytes", _more)),
    "totals are sums of links": ("ring", _cell("runs", "wire_bytes", _more)),
    "no link is used above its rate": ("ring", _cell("links", "utilisation", lambda _: "1.1")),
    "utilisation is wire bits over capacity": (
        "ring",
        _cell("links", "utilisation", lambda _: "0.9"),
    ),
    "payload is conserved at every node": ("ring", _cell("links", "payload_bytes", _more)),
    "wire bytes are counted by hand": ("ring", _cell("runs", "wire_bytes", _more)),
    "packets cross no fewer links than there are": (
        "ring",
        _cell("runs", "packet_hops", lambda _: "7"),
    ),
    "fluid has no headers and no losses": ("fluid", _cell("runs", "packet_hops", _more)),
    "what is sent again was lost or late": ("ring", _cell("runs", "retransmitted_bytes", _more)),
    "cross rack bytes are those of messages between racks": (
        "rat",
        _cell("runs", "cross_rack_bytes", _more),
    ),
    "samples are parts of their links": (
        "uneven",
        _cell("samples", "wire_bytes", lambda text: text + "000"),
    ),
    "peak receiver is that of the messages": ("ring", _cell("runs", "peak_received_bytes", _more)),
    "no time is negative or backward": (
        "ring",
        _cell("messages", "start_s", lambda _: "-0.000000000001"),
    ),
    "iterations follow each other": ("ring", _cell("iterations", "start_s", _later, 1)),
    "parts of an iteration add up": ("ring", _cell("iterations", "network_s", _later)),
    "completion times are those of the iterations": ("ring", _cell("runs", "ict_max_s", _later)),
    "messages lie within their iteration": ("ring", _cell("messages", "end_s", _never, -1)),
    "nothing is faster than the bound of any exchange": (
        "ring",
        _cell("runs", "times_bound", lambda _: "0.99"),
    ),
    "the fluid time is not below the bounds": ("ring", _text("job0: 0.", "job0: 0.000")),
    "endpoints are not faster than their links": (
        "ring",
        _cell("messages", "bytes", lambda text: text + "000"),
    ),
    "messages take the delay of their path": (
        "ring",
        _cell("messages", "start_s", lambda _: "0.999999999999"),
    ),
    "fluid is not slower than packets": ("ring", _cell("runs", "ict_mean_s", _never, of="fluid")),
    "faults end after they begin": ("faults", _cell("faults", "event", lambda _: "end")),
    "flows come within their window": ("traffic", _cell("flows", "bytes", _more)),
    "computation takes its time": ("ring", _cell("iterations", "compute_s", _later)),
    "adding takes its time": ("reducing", _cell("iterations", "ict_s", lambda _: "0.000000000001")),
    "every transfer of the plan is a message": ("ring", _drop("messages")),
    "ranks stand where they should": ("ring", _cell("messages", "src", lambda _: "host3", 1)),
    "messages wait for what the plan says": ("ring", _swap_ends),
    "an iteration ends with its last message": ("ring", _cell("messages", "end_s", _never, -1)),
    "messages make the sum of all": ("ring", _operation(kind="copy")),
    "chunks cut the gradient on elements": ("ring", lambda e: e.plan["chunkBytes"].append(4)),
    "no message is empty": ("ring", _cell("messages", "bytes", lambda _: "0")),
    "blocked workers are workers": ("uneven", _cell("blocked", "blocked_workers", lambda _: "5")),
    "the longest chain is that of the plan": ("ring", _cell("runs", "longest_chain", _more)),
    "a scheme moves the bytes of its closed form": ("ring", _operation(bytes=1)),
    "a rank of a ring sends all but two parts": ("ring", _operation(bytes=1)),
    "servers move their shards": ("ps", _operation(bytes=1)),
    "ranks of balanced schemes move alike": ("ring", _operation(bytes=1)),
    "rat crosses each oversubscribed level as little as can be": (
        "rat",
        _text("across racks: 96000", "across racks: 96004"),
    ),
    "one sum leaves each rack": ("sums", _cell("runs", "cross_rack_bytes", _more)),
    "levels are those of the network": ("rat", _text("rack: 2 groups", "rack: 3 groups")),
    "chains have the length of their closed form": ("ring", _cell("runs", "longest_chain", _more)),
    "hot parameters have their share of the updates": ("libra", _more_hot),
    "shards of byteps load all machines alike": ("byteps", _operation(bytes=100_000)),
    "messages have the size of their codec": ("codec", _operation(bytes=1)),
    "powersgd moves the bytes of two factors": ("powersgd", _operation(bytes=1)),
    "no transfer spans two tensors": ("tensors", _operation(chunkCount=9)),
    "tensors move the bytes of gradients of their sizes": ("tensors", _operation(bytes=1)),
    "a gradient is its tensors": ("tensors", _cell("links", "packets", _more, of="spelled_out")),
    "a plan that is exported and imported is the same": (
        "tensors",
        _cell("iterations", "ict_s", _later, of="imported"),
    ),
    "an algorithm sends the chunks of its file": ("algorithm", _operation(chunkCount=2)),
    "a schedule sends the messages of its file": ("schedule", _cell("messages", "bytes", _more)),
    "a schedule takes the time of its computations": (
        "schedule",
        # Of 3 and 2 microseconds one after the other.
        _cell("iterations", "ict_s", lambda _: "0.000004999999"),
    ),
    "a program that does what the switch does changes nothing": (
        "program",
        _cell("runs", "wire_bytes", _more, of="without_programs"),
    ),
    "fluid takes the time of the closed form": ("fluid", _cell("iterations", "ict_s", _later)),
    "a ring of packets takes the time of its packets": (
        "ring",
        _cell("iterations", "ict_s", _later),
    ),
    "slots clock themselves": ("switchml", _cell("iterations", "ict_s", _later)),
    "switches add up exactly": ("switchml", _cell("runs", "wrong_sums", _more)),
    "blocks move the bytes of their closed forms": (
        "training",
        _cell("runs", "goodput_bytes", _more),
    ),
    "transformers move the bytes of their closed forms": (
        "transformer",
        _cell("runs", "goodput_bytes", _more),
    ),
    "collectives carry all that is delivered": ("training", _cell("collectives", "count", _more)),
    "bandwidths are bytes over time": (
        "training",
        _cell("collectives", "busbw_bytes_per_s", lambda text: text + "0"),
    ),
    "collectives are not faster than links": ("training", _cell("collectives", "min_s", _soon)),
    "iterations take the time of the busiest link": (
        "training",
        _cell("links", "payload_bytes", lambda text: text + "000"),
    ),
    "switches pass on what training sends": ("training", _cell("links", "payload_bytes", _more)),
    "computation exposed and bubble are the iteration": (
        "training",
        _cell("training", "bubble_s", _later),
    ),
    "streams are parts of their rank": ("training", _cell("streams", "exposed_s", _never)),
    "ranks compute their blocks": ("training", _cell("training", "computation_s", _later)),
    "transformers compute their flops": ("transformer", _cell("runs", "mfu", lambda _: "0.99")),
    "the critical path has no gap": ("training", _cell("critical_path", "end_s", _later)),
    "pipelines take the time of their closed form": (
        "pipeline",
        _cell("iterations", "ict_s", _later),
    ),
    "buckets end when they can": ("buckets-fluid", _cell("iterations", "ict_s", _later)),
    "training is not slower on the fluid": (
        "buckets",
        _cell("runs", "iteration_mean_s", _never, of="fluid"),
    ),
    "overlap is not slower": ("buckets-fluid", _cell("runs", "iteration_mean_s", _never)),
    "one block is the exchange of one gradient": (
        "one-block",
        _cell("iterations", "ict_s", _later, of="as_exchange"),
    ),
    "the order of ranks moves no byte": (
        "training",
        _cell("runs", "goodput_bytes", _more, of="other_order"),
    ),
    "defaults may be spelled out": (
        "training",
        _cell("streams", "hidden_s", _later, of="spelled_training"),
    ),
    "describe tells the fluid iteration": ("pipeline", _text("of job0: 0.", "of job0: 1.")),
}

# What a doctor may change has to be there before.
_LAZY = ("main", "again", "other_seed", "three_at_once", "three_in_turn", "prefetched", "traced")
_LAZY += ("quiet", "other_engine", "fluid", "other_scheme", "description", "plans")
_LAZY += ("imported", "without_programs", "spelled_out")
_LAZY += ("as_exchange", "without_overlap", "other_order", "spelled_training")


@pytest.fixture(scope="module")
def simulator(request):
    program = os.environ.get("GRADSYNC_PROGRAM", str(ROOT / "build" / "release" / "gradsync"))
    simulator = Simulator(Path(program), Limits())
    yield simulator
    simulator.close()


@pytest.fixture(scope="module")
def honest(simulator):
    """Evidence of the honest cases, made once."""
    made = {}

    def get(name):
        if name not in made:
            scenario, probes = CASES[name]
            made[name] = Evidence(Case(name, scenario, probes, FILES), simulator)
        return made[name]

    return get


def _doctored(evidence):
    """A copy that may be changed without changing the honest one."""
    copied = copy.copy(evidence)
    for name in _LAZY:
        if name in evidence.__dict__:
            copied.__dict__[name] = copy.deepcopy(evidence.__dict__[name])
    # Derived from what a doctor changes.
    copied.__dict__.pop("network", None)
    copied.__dict__.pop("job_names", None)
    return copied


def test_each_law_has_a_doctor():
    assert set(DOCTORS) == set(LAWS)


def test_each_scheme_has_a_closed_form_or_a_reason(simulator):
    schemes = set(read_catalogue(simulator.list_kinds()).schemes)
    assert set(TOTALS) | {"auto", "import", "nccl"} == schemes


@pytest.mark.parametrize("name", DOCTORS)
def test_a_law_holds_honestly_and_refuses_the_doctored(name, honest):
    case, doctor = DOCTORS[name]
    evidence = honest(case)
    assert complaints_of(LAWS[name], evidence) == []
    doctored = _doctored(evidence)
    doctor(doctored)
    complaints = complaints_of(LAWS[name], doctored)
    assert complaints, "the law holds for the doctored run, too"
    assert not any("Error: " in complaint[:20] for complaint in complaints), complaints


def test_a_seed_draws_the_same_scenario_everywhere(simulator):
    catalogue = read_catalogue(simulator.list_kinds())
    first, again = (draw_case("7/1", catalogue) for _ in range(2))
    assert first.to_json() == again.to_json()
    assert len({draw_case(f"7/{i}", catalogue).text() for i in range(50)}) == 50


def test_everything_that_can_be_drawn_is(simulator):
    catalogue = read_catalogue(simulator.list_kinds())
    drawn = " ".join(draw_case(f"8/{i}", catalogue).text() for i in range(3000))
    for kinds in (catalogue.codecs, catalogue.faults, catalogue.traffic, catalogue.topologies):
        assert [kind for kind in kinds if f'"{kind}"' not in drawn] == []
    for kinds in (catalogue.controls, catalogue.transports, catalogue.load_balancing):
        assert [kind for kind in kinds if f'"{kind}"' not in drawn] == []
    schemes = [kind for kind in catalogue.schemes if f'"{kind}"' not in drawn]
    # It chooses a protocol (doc/nccl.rst).
    assert schemes == ["nccl"]
    # What is not a kind: plans of both formats, programs, tensors, training and its keys.
    for text in ('.xml"', '.goal"', '"programs"', '"tensors"', '"training"'):
        assert text in drawn
    assert [key for key in TRAINING_KEYS if f'"{key}"' not in drawn] == []


def test_a_failing_scenario_becomes_a_small_one():
    scenario = {
        "topology": {"kind": "star", "hosts": 9, "hostLink": {"rate": "10Gbps", "delay": "3us"}},
        "scheme": {"kind": "ring", "pipelineChunks": 3},
        "job": {"gradient": "5000B", "compute": "7us"},
        "faults": [{"kind": "flood"}, {"kind": "straggler", "random": 1}],
    }

    def fails(case):
        """Stragglers and more than three hosts."""
        kinds = [fault.get("kind") for fault in case.scenario.get("faults", [])]
        return "straggler" in kinds and case.scenario["topology"].get("hosts", 0) > 3

    small = shrink(Case("0", scenario, ["again"]), fails)
    assert small.probes == []
    assert small.scenario == {
        "topology": {"hosts": 4},
        "job": {"gradient": "0B"},
        "faults": [{"kind": "straggler"}],
    }


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_what_failed_once_is_still_looked_at_and_holds(path, simulator):
    kept = json.loads(path.read_text())
    assert kept["complaint"]
    verdict = judge(case_from_json(kept), simulator)
    assert verdict.checked[kept["law"]] == 1
    assert verdict.complaints == {}


def test_units_are_read_as_the_program_reads_them():
    assert quantity("1.5us", TIME_UNITS) == 1_500_000
    assert picoseconds("0.000000000001") == 1
    assert picoseconds("-1.5") == -1_500_000_000_000
