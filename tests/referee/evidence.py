# SPDX-License-Identifier: GPL-2.0-only
"""What laws look at: the run of a case, its plans, and the other runs that its probes ask for.

All of it is made when a law first wants it, so that a case costs what its laws cost.
"""

import copy
import json
import re
from functools import cached_property

from referee.case import TIME_UNITS, Case, jobs_of, quantity, scheme_of, tensors_of
from referee.network import Network
from referee.simulator import Outcome, Results, Simulator
from referee.training_job import TrainingJob, training_job

# doc/results.rst: what may differ between two equal runs.
WALL_CLOCK = ("wall_s", "peak_rss_bytes")


class Evidence:
    """The case and everything that the simulator says of it."""

    def __init__(self, case: Case, simulator: Simulator):
        self.case = case
        self.scenario = case.scenario
        self.simulator = simulator

    @cached_property
    def main(self) -> Results:
        self._write(self.scenario)
        return self.simulator.simulate("scenario.json", "--jobs=1")

    def _write(self, scenario: dict) -> None:
        for name, text in self.case.files.items():
            self.simulator.write(name, text)
        self.simulator.write("scenario.json", json.dumps(scenario))

    # What was asked for.

    @property
    def transport(self) -> str:
        transport = self.scenario.get("transport", "roce")
        return transport if isinstance(transport, str) else transport["kind"]

    def protocol(self, index: int = 0) -> tuple[int, int]:
        """What messages of a job take before the first one, and after each between servers, in ps."""
        protocol = self.jobs[index].get("protocol", {})
        base, hop = (protocol.get(name, "0s") for name in ("baseLatency", "networkHopLatency"))
        return quantity(base, TIME_UNITS), quantity(hop, TIME_UNITS)

    def setting(self, name: str, default: object = None) -> object:
        """A value of the transport."""
        transport = self.scenario.get("transport", {})
        return default if isinstance(transport, str) else transport.get(name, default)

    def fabric(self, name: str, default: object = None) -> object:
        return self.scenario.get("fabric", {}).get(name, default)

    @property
    def jobs(self) -> list[dict]:
        return jobs_of(self.scenario)

    def job_name(self, index: int) -> str:
        return self.jobs[index].get("name", f"job{index}")

    def scheme(self, index: int = 0) -> dict:
        return scheme_of(self.scenario, self.jobs[index])

    def gradient(self, index: int = 0) -> int:
        return sum(size for size, _ in tensors_of(self.jobs[index]))

    def compressed(self, index: int = 0) -> bool:
        """Something of a job has a codec."""
        job = self.jobs[index]
        return "codec" in job or any("codec" in tensor for tensor in job.get("tensors", []))

    @property
    def trains(self) -> bool:
        """The job is one of training iterations."""
        return any("training" in job for job in self.jobs)

    @cached_property
    def training(self) -> TrainingJob:
        return training_job(self.jobs[0]["training"], len(self.network.endpoints))

    @property
    def faulty(self) -> bool:
        return bool(self.scenario.get("faults"))

    def time(self, job: dict, name: str) -> int:
        """A time of a job in picoseconds."""
        return quantity(job.get(name, "0s"), TIME_UNITS)

    def compute(self, job: dict) -> int:
        return quantity(job.get("compute", "0s"), TIME_UNITS)

    # How it ended.

    @property
    def refused(self) -> bool:
        return self.main.code == 2

    @property
    def simulated(self) -> bool:
        """There are tables of one run."""
        return self.main.code in (0, 3) and bool(self.main.rows("runs"))

    @property
    def finished(self) -> bool:
        return self.main.code == 0 and self.simulated

    @property
    def calm(self) -> bool:
        """Nothing goes wrong and nobody else is there."""
        return self.finished and not self.scenario.get("faults") and not self.traffic

    @property
    def traffic(self) -> bool:
        return bool(self.scenario.get("traffic"))

    @property
    def single(self) -> bool:
        """One job, of a scheme that is one job in the simulator too."""
        return len(self.jobs) == 1 and self.scheme().get("sync") != "mixed"

    @property
    def lossless(self) -> bool:
        run = self.main.run
        return run["dropped_packets"] == "0" and run["retransmitted_packets"] == "0"

    @cached_property
    def aggregates(self) -> bool:
        return any("aggregate" in kinds for kinds in map(_kinds, self.plans.values()))

    @cached_property
    def network(self) -> Network:
        return Network(self.scenario["topology"], self.main.rows("links"))

    # Plans.

    @property
    def one_plan(self) -> bool:
        """Every iteration runs the plan that can be exported."""
        reactions = any(row["kind"] == "reaction" for row in self.main.rows("faults"))
        codecs = [part.get("codec") for job in self.jobs for part in (job, *job.get("tensors", []))]
        warms_up = any(isinstance(codec, dict) and codec.get("warmUp") for codec in codecs)
        gated = any(self.scheme(i)["kind"] == "federated" for i in range(len(self.jobs)))
        described = self.simulated and not self.trains and self.description.code == 0
        return described and not (reactions or warms_up or gated)

    @cached_property
    def job_names(self) -> list[str]:
        """Names of the jobs as the simulator has them: mixed-sync makes several of one."""
        return re.findall(r"^  (\S+): .* workers, ", self.description.out, re.MULTILINE)

    @cached_property
    def plans(self) -> dict[str, dict]:
        """The exported plan of every job."""
        self._write(self.scenario)
        plans = {}
        for name in self.job_names:
            outcome = self.simulator.plan("scenario.json", name, "--json")
            if outcome.code != 0:
                raise RuntimeError(f"plan of {name}: exit code {outcome.code}: {outcome.error}")
            plans[name] = json.loads(outcome.out)
        return plans

    @property
    def plan(self) -> dict:
        """That of the only job."""
        return next(iter(self.plans.values()))

    @cached_property
    def description(self) -> Outcome:
        self._write(self.scenario)
        return self.simulator.describe("scenario.json")

    def described(self, pattern: str) -> list[tuple[str, ...]]:
        """What matches in the text of `describe`."""
        return re.findall(pattern, self.description.out, re.MULTILINE)

    # Probes.

    def probed(self, name: str) -> bool:
        return name in self.case.probes

    def _variant(self, change: dict, *options: str) -> Results:
        """The case with some values changed: dotted path -> value, None to leave it out."""
        scenario = copy.deepcopy(self.scenario)
        for path, value in change.items():
            *folders, name = path.split(".")
            place = scenario
            for folder in folders:
                if isinstance(place.get(folder), str):
                    place[folder] = {"kind": place[folder]}
                place = place.setdefault(folder, {})
            if value is None:
                place.pop(name, None)
            else:
                place[name] = value
        self._write(scenario)
        return self.simulator.simulate("scenario.json", *options)

    @cached_property
    def again(self) -> Results:
        return self._variant({}, "--jobs=1")

    @cached_property
    def other_seed(self) -> Results:
        return self._variant({"seed": self.scenario.get("seed", 1) % 4_294_967_295 + 1}, "--jobs=1")

    @cached_property
    def three_at_once(self) -> Results:
        return self._variant({"repeat": 3}, "--jobs=3")

    @cached_property
    def three_in_turn(self) -> Results:
        return self._variant({"repeat": 3}, "--jobs=1")

    @cached_property
    def prefetched(self) -> Results:
        """With the scheduler's prefetching switched over."""
        other = 1_000_000 if self.fabric("prefetchPorts") == 0 else 0
        return self._variant({"fabric.prefetchPorts": other}, "--jobs=1")

    @cached_property
    def traced(self) -> Results:
        return self._variant({}, "--jobs=1", "--trace")

    @cached_property
    def quiet(self) -> Results:
        return self._variant({"results.messages": False, "results.links": False}, "--jobs=1")

    @cached_property
    def other_engine(self) -> Results:
        """With the native switches in the place of the P4 program, or the other way round."""
        engine = self.scenario["transport"].get("aggregation", {}).get("engine", "native")
        return self._variant(
            {"transport.aggregation.engine": "native" if engine == "p4" else "p4"}, "--jobs=1"
        )

    @cached_property
    def fluid(self) -> Results:
        """The same exchange without packets."""
        return self._variant({"transport": "fluid", "fabric": None}, "--jobs=1")

    @cached_property
    def other_scheme(self) -> Results:
        """The same faults and foreign traffic around another exchange."""
        return self._variant({"scheme": "ring", "job.codec": None}, "--jobs=1")

    @cached_property
    def imported(self) -> Results:
        """With the plan from a file, into which it was exported."""
        self._write(self.scenario)
        told = self.simulator.plan("scenario.json", self.job_names[0], "--export=exported.goal")
        if told.code != 0:
            raise RuntimeError(f"plan --export: exit code {told.code}: {told.error}")
        change = {"scheme": {"kind": "import", "file": "exported.goal"}}
        if "tensors" in self.jobs[0]:
            change |= {"job.tensors": None, "job.gradient": f"{self.gradient()}B"}
        return self._variant(change, "--jobs=1")

    @cached_property
    def without_programs(self) -> Results:
        """With the native switch in the place of programs of the user's."""
        return self._variant({"transport.aggregation.programs": None}, "--jobs=1")

    @cached_property
    def as_exchange(self) -> Results:
        """A job of one block as one that computes and exchanges a gradient."""
        block = self.jobs[0]["training"]["blocks"][0]
        change = {
            "job.training": None,
            "job.compute": block["backward"],
            "job.gradient": block["gradient"],
            "scheme": self.scheme(),
        }
        return self._variant(change, "--jobs=1")

    @cached_property
    def without_overlap(self) -> Results:
        return self._variant({"job.training.overlap": False}, "--jobs=1")

    @cached_property
    def other_order(self) -> Results:
        """Data-parallel ranks next to each other, stages last."""
        return self._variant({"job.training.order": "dp-ep-cp-tp-pp"}, "--jobs=1")

    @cached_property
    def spelled_training(self) -> Results:
        """With data and what else has a default given."""
        job = self.training
        change: dict = {"job.training.data": job.data}
        defaults: dict = {"order": "tp-cp-ep-dp-pp", "schedule": "1f1b"}
        if job.given.get("zero") != 3:  # which has blocks, not buckets, and always overlaps
            defaults |= {"overlap": True, "firstBucket": "1048576B", "bucket": "26214400B"}
            if "blocks" in job.given:
                defaults["parameterShare"] = 1
        for name, value in defaults.items():
            if name not in job.given:
                change[f"job.training.{name}"] = value
        return self._variant(change, "--jobs=1")

    @cached_property
    def spelled_out(self) -> Results:
        """Each tensor with its bytes and codec; a gradient as the only tensor."""
        job = self.jobs[0]
        tensors = []
        for tensor in job.get("tensors", [{"size": job.get("gradient")}]):
            size = f"{tensor['elements'] * 4}B" if "elements" in tensor else tensor["size"]
            codec = tensor.get("codec", job.get("codec", "fp32"))
            tensors += [{"size": size, "codec": codec}] * tensor.get("count", 1)
        change = {"job.gradient": None, "job.codec": None, "job.tensors": tensors}
        return self._variant(change, "--jobs=1")


def _kinds(plan: dict) -> set[str]:
    return {operation["kind"] for operation in plan["operations"]}
