# SPDX-License-Identifier: GPL-2.0-only
"""A plan that is verified and run by the simulator."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradsync.errors import PlanError, ScenarioError
from gradsync.plans.document import PlanDocument
from gradsync.results.folder import Results
from gradsync.studies.scenario import Scenario
from gradsync.studies.topologies import star

_FILE = "plan.json"
# For what a plan is verified with: any gradient of whole elements will do.
_BYTES_A_CHUNK = 4


class Plan(PlanDocument):
    """An exchange of your own, built in Python: no C++ and no rebuild.

    >>> plan = Plan(ranks=2)
    >>> there = plan.reduce(source=1, target=0, chunk=0)
    >>> back = plan.send(source=0, target=1, chunk=0, after=[there])
    >>> plan.verify()
    >>> plan.run("results/mine", topology=gradsync.star(2, "40Gbps"), job={"gradient": "1MB"})
    """

    def scheme(self, path: str | Path) -> dict[str, str]:
        """Save the plan; the `scheme` of a scenario, or a value of a sweep over `scheme`, that runs it."""
        return {"kind": "import", "file": str(self.save(path).resolve())}

    def verify(self) -> None:
        """Let the program prove that the plan does what its collective says, free of races.

        Raises PlanError with the verifier's words: operation, ranks and chunk.
        """
        sizes = self.to_dict().get("chunkBytes")
        gradient = sum(sizes) if sizes else _BYTES_A_CHUNK * self.chunks
        with tempfile.TemporaryDirectory() as folder:
            scenario = Scenario(
                star(self.ranks, "1Gbps"),
                self.scheme(Path(folder) / _FILE),
                transport="fluid",
                job={"gradient": f"{gradient}B", "workers": self.workers},
            )
            try:
                scenario.check()
            except ScenarioError as error:
                # Without where the plan was for that, and what it is called in a scenario.
                text = str(error)
                for before in (f"{_FILE}: ", "the plan of the scheme import is "):
                    text = text.split(before, 1)[-1]
                raise PlanError(text) from error

    def run(
        self,
        out: str | Path,
        scenario: Scenario | None = None,
        *,
        topology: Mapping[str, Any] | None = None,
        jobs: int | None = None,
        **sections: Any,
    ) -> Results:
        """Simulate the plan in a scenario, or on a topology with `sections` of one, as Scenario has them.

        The plan is kept in the results folder as plan.json. Raises PlanError without either, and what
        Scenario.run raises.
        """
        if (scenario is None) == (topology is None) or (scenario is not None and sections):
            raise PlanError("run: expected a scenario, or a topology and sections")
        out = Path(out)
        made = not out.exists()
        out.mkdir(parents=True, exist_ok=True)
        # Relative to scenario.json, which is in the same folder.
        self.save(out / _FILE)
        scheme = {"kind": "import", "file": _FILE}
        base = scenario or Scenario(topology or {}, **sections)
        try:
            return base.set("scheme", scheme).run(out, jobs=jobs)
        except ScenarioError:
            if made:
                (out / _FILE).unlink()
                out.rmdir()
            raise
