# SPDX-License-Identifier: GPL-2.0-only
"""A scenario in code: what a scenario file says (doc/scenario.rst), changed, swept, checked and run."""

import copy
import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gradsync.errors import ScenarioError, SimulationError
from gradsync.results.folder import Results, load
from gradsync.studies.program import call

# Keys whose values name files.
_FILES = ("file", "profile", "density", "program", "configuration")


class Scenario:
    """A scenario document. Every change gives a new scenario; the old one stays as it is.

    >>> Scenario(topology={"kind": "star", "hosts": 4}, scheme="ring").set("job.gradient", "1MB")
    """

    def __init__(
        self,
        topology: Mapping[str, Any],
        scheme: str | Mapping[str, Any] = "ring",
        **sections: Any,
    ):
        """A scenario from its sections, by their names in a scenario file; `None` leaves one out."""
        parts = {"topology": topology, "scheme": scheme, **sections}
        self._document: dict[str, Any] = {
            key: copy.deepcopy(value) for key, value in parts.items() if value is not None
        }

    @classmethod
    def load(cls, path: str | Path) -> "Scenario":
        """Read a scenario file; files that it names, relative to it, are still found afterwards.

        Raises ScenarioError if it cannot be read.
        """
        path = Path(path)
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ScenarioError(f"{path}: {error}") from error
        if not isinstance(document, dict):
            raise ScenarioError(f"{path}: a scenario is an object")
        return cls._of(_find_files(document, "", path.parent))

    @classmethod
    def _of(cls, document: dict[str, Any]) -> "Scenario":
        scenario = cls.__new__(cls)
        scenario._document = document
        return scenario

    @property
    def document(self) -> dict[str, Any]:
        """A copy of the document, as JSON would have it."""
        return copy.deepcopy(self._document)

    def set(self, path: str, value: Any) -> "Scenario":
        """The scenario with one value changed, by its dotted path: `set("topology.leaves", 8)`.

        A sweep over that path ends. Raises ScenarioError if the path leads through something that is
        neither an object nor a list.
        """
        document = self.document
        document.get("sweep", {}).pop(path, None)
        *parents, last = path.split(".")
        place: Any = document
        for segment in parents:
            if isinstance(place, dict) and isinstance(place.get(segment), str):
                # "scheme": "ring" is short for {"kind": "ring"}.
                place[segment] = {"kind": place[segment]}
            place = _step(place, segment, path)
        if isinstance(place, list):
            place[_index(place, last, path)] = copy.deepcopy(value)
        else:
            place[last] = copy.deepcopy(value)
        return self._of(document)

    def sweep(self, path: str, values: Iterable[Any]) -> "Scenario":
        """The scenario swept over a path; the path swept last moves fastest."""
        document = self.document
        document.setdefault("sweep", {})[path] = list(values)
        return self._of(document)

    def repeat(self, times: int) -> "Scenario":
        """The scenario with every point run several times, with seeds from its `seed` on."""
        return self.set("repeat", times)

    def save(self, path: str | Path) -> Path:
        """Write a scenario file."""
        path = Path(path)
        path.write_text(json.dumps(self._document, indent=2) + "\n", encoding="utf-8")
        return path

    def check(self) -> None:
        """Check every run and prove every plan. Raises ScenarioError with the program's words."""
        self._ask("validate")

    def resolve(self) -> str:
        """The runs with all values in place. Raises ScenarioError for what no run could have."""
        return self._ask("resolve")

    def describe(self) -> str:
        """What is known before a packet is simulated: sizes, bounds, ideal times."""
        return self._ask("describe")

    def run(
        self,
        out: str | Path,
        *,
        jobs: int | None = None,
        progress: bool = False,
        unfinished_ok: bool = False,
    ) -> Results:
        """Simulate into a results folder and load it; runs that the folder holds are not repeated.

        `jobs`: runs at a time (default: all cores). `progress`: show it on standard error. The scenario
        is kept in the folder as scenario.json. Raises ScenarioError for a scenario that is refused
        (then nothing is left behind), SimulationError for a crash, and, unless `unfinished_ok`, for
        exchanges that did not finish.
        """
        out = Path(out)
        made = not out.exists()
        out.mkdir(parents=True, exist_ok=True)
        file = out / "scenario.json"
        before = file.read_bytes() if file.exists() else None
        self.save(file)
        arguments = ["run", str(file), f"--out={out}"]
        arguments += [f"--jobs={jobs}"] if jobs is not None else []
        arguments += ["--progress=always" if progress else "--progress=never"]
        try:
            _, finished = call(arguments, progress)
        except ScenarioError:
            if before is None:
                file.unlink()
            else:
                file.write_bytes(before)
            if made:
                out.rmdir()
            raise
        results = load(out)
        if not finished and not unfinished_ok:
            raise SimulationError(f"{results.unfinished} runs did not finish; see {out}")
        return results

    def _ask(self, command: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            return call([command, str(self.save(Path(folder) / "scenario.json"))])[0]


def _find_files(value: Any, path: str, folder: Path) -> Any:
    """The same, with the files that it names where they are; `path` is what sweeps call it."""
    if isinstance(value, dict):
        return {key: _find_files(item, key, folder) for key, item in value.items()}
    if isinstance(value, list):
        return [_find_files(item, path, folder) for item in value]
    if isinstance(value, str) and path.rsplit(".", 1)[-1] in _FILES:
        return str((folder / value).resolve())
    return value


def _index(place: list[Any], segment: str, path: str) -> int:
    if not segment.isdigit() or int(segment) >= len(place):
        raise ScenarioError(f"{path}: the list has {len(place)} items and no {segment}")
    return int(segment)


def _step(place: Any, segment: str, path: str) -> Any:
    if isinstance(place, list):
        return place[_index(place, segment, path)]
    if not isinstance(place, dict):
        raise ScenarioError(f"{path}: {segment} is inside of a {type(place).__name__}")
    return place.setdefault(segment, {})
