# SPDX-License-Identifier: GPL-2.0-only
"""trace.json as the program writes it: in Chrome's trace event format, as viewers of it read it.

Perfetto's trace processor is no part of its package on PyPI, which fetches it from elsewhere; what its
reader asks for is held here: https://perfetto.dev/docs/getting-started/other-formats and Chrome's "Trace
Event Format". tests/scenario/exchange-trace-test.cc has what traces say.
"""

import json
from collections import defaultdict
from decimal import Decimal

import jsonschema
import pytest
from conftest import ROOT, SCENARIOS, rows_of

from gradsync.studies.program import call

SCHEMA = json.loads((ROOT / "tests" / "e2e" / "trace.schema.json").read_text())
RUNS = {
    "quickstart": [],
    "imported": ['scheme={"kind": "import", "file": "algorithms/halo-4.goal"}'],
    "chain-blocking": [],
    "two-jobs": [],
    "crash-recovery": [],
    "pipeline-overlap": ["job.training.overlap=true", "job.training.schedule=1f1b"],
    "stale-synchronous": [],
}


def swept(name):
    return json.loads((SCENARIOS / f"{name}.json").read_text()).get("sweep", {})


@pytest.fixture(scope="module", params=RUNS)
def traced(request, tmp_path_factory):
    """The events of the first run of a scenario, and its folder."""
    out = tmp_path_factory.mktemp("trace") / "out"
    name = request.param
    changes = list(RUNS[name])
    fixed = {change.split("=")[0] for change in changes}
    for path, values in swept(name).items():
        if not any(other == path or path.startswith(f"{other}.") for other in fixed):
            value = values[0]
            text = value if isinstance(value, str) else json.dumps(value)
            changes.append(f"{path}={text}")
    options = [f"--set={change}" for change in changes]
    call(["run", str(SCENARIOS / f"{name}.json"), "--trace", f"--out={out}", *options])
    # Decimals, as picoseconds need more digits than floats of microseconds may have.
    text = next(out.glob("trace*.json")).read_text()
    return json.loads(text, parse_float=Decimal), out


def by_thread(events, phases):
    found = defaultdict(list)
    for event in events:
        if event["ph"] in phases:
            found[event["pid"], event["tid"]].append(event)
    return found


def test_every_event_is_one_of_the_format(traced):
    trace, _ = traced
    validator = jsonschema.Draft202012Validator(SCHEMA)
    numbers = {**trace, "traceEvents": trace["traceEvents"][:3000]}
    plain = json.loads(json.dumps(numbers, default=float))
    assert not list(validator.iter_errors(plain))


def test_the_schema_refuses_what_is_none():
    validator = jsonschema.Draft202012Validator(SCHEMA)
    good = {
        "ph": "f",
        "pid": 1,
        "tid": 1,
        "name": "m",
        "cat": "message",
        "id": 1,
        "ts": 1,
        "bp": "e",
    }
    assert validator.is_valid({"displayTimeUnit": "ms", "traceEvents": [good]})
    for damage in ({"bp": None}, {"id": 0}, {"ts": -1}, {"ph": "t"}, {"dur": 1}):
        bad = {key: value for key, value in {**good, **damage}.items() if value is not None}
        assert not validator.is_valid({"displayTimeUnit": "ms", "traceEvents": [bad]}), damage


def test_spans_of_a_thread_are_in_order_and_apart(traced):
    trace, _ = traced
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in trace["traceEvents"]
        if event["name"] == "thread_name"
    }
    for thread, spans in by_thread(trace["traceEvents"], "X").items():
        assert thread in names
        end = Decimal(0)
        for span in sorted(spans, key=lambda span: span["ts"]):
            assert span["ts"] >= end, (names[thread], span)
            end = span["ts"] + span["dur"]


def test_every_arrow_begins_once_and_ends_once_at_spans_that_are_there(traced):
    trace, _ = traced
    spans = by_thread(trace["traceEvents"], "X")
    begins, ends = (
        {event["id"]: event for event in trace["traceEvents"] if event["ph"] == phase}
        for phase in "sf"
    )
    count = sum(event["ph"] in "sf" for event in trace["traceEvents"])
    assert begins.keys() == ends.keys() and count == 2 * len(begins)
    starts = {thread: {span["ts"] for span in own} for thread, own in spans.items()}
    for number, begin in begins.items():
        end = ends[number]
        # Perfetto finds the two by number, name and category.
        assert (begin["name"], begin["cat"]) == (end["name"], end["cat"])
        for event in (begin, end):
            assert event["ts"] in starts[event["pid"], event["tid"]]
        assert (begin["pid"], begin["tid"]) != (end["pid"], end["tid"])


def test_there_are_as_many_arrows_as_messages_of_exchanges(traced):
    trace, out = traced
    arrows = sum(event["ph"] == "s" for event in trace["traceEvents"])
    messages = [row for row in rows_of(out / "messages.csv") if row["src"] != row["dst"]]
    # Messages of collectives of training iterations, and of asynchronous workers, have none.
    if not rows_of(out / "training.csv") and not rows_of(out / "updates.csv"):
        assert arrows == len(messages) > 0


def test_the_critical_path_is_as_long_as_the_iterations(traced):
    trace, out = traced
    if rows_of(out / "updates.csv"):
        return  # asynchronous workers wait for nobody's end
    events = trace["traceEvents"]
    paths = {
        event["pid"]
        for event in events
        if event["name"] == "process_name" and "critical path" in event["args"]["name"]
    }
    assert paths
    spans = [event for event in events if event["ph"] == "X" and event["pid"] in paths]
    assert all(span["cat"] == "critical" for span in spans)
    length = sum((span["dur"] for span in spans), Decimal(0))
    rows = rows_of(out / "iterations.csv")
    took = sum((Decimal(row["ict_s"]) for row in rows), Decimal(0))
    assert abs(length - 1_000_000 * took) <= Decimal("0.000001") * max(1, len(spans))
