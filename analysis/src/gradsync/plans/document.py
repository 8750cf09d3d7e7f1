# SPDX-License-Identifier: GPL-2.0-only
"""A plan as a list of operations: what the scheme `import` reads (doc/import.rst)."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gradsync.errors import PlanError
from gradsync.plans.dataflow import Dataflow, Place

FORMAT = "gradsync plan 1"

# A worker, "all", or one of these for each chunk.
Workers = int | str | Sequence[int | str]


class PlanDocument:
    """One gradient exchange as operations and what they wait for, as a file has it.

    Ranks [0, ranks - servers) are workers: each starts with its own gradient in buffer 0 and ends with
    the sum of all, or what `sources` and `targets` say. Ranks from there on are dedicated servers, which
    start empty. Every rank has staging buffers 1 to 255, of the same chunks and empty at first.

    Each method that adds an operation returns its number, for `after` of others. `after=None` lets it
    wait for what its data need, in the order in which operations are added: a read for the writes before
    it, a copy for everything, a sum for reads and copies. A list is all that it waits for then.
    """

    def __init__(
        self,
        ranks: int,
        chunks: int | Sequence[float] = 1,
        *,
        servers: int = 0,
        chunk_bytes: Sequence[int] | None = None,
        collective: str = "all-reduce",
        sources: Workers = "all",
        targets: Workers = "all",
        idempotent: bool = False,
    ):
        """An empty plan.

        `chunks`: that many equal parts of the gradient, or one weight for each of them. `chunk_bytes`
        in place of it: their sizes in bytes, which must be the gradient of the job together.
        `collective`: its name in messages. `sources`, `targets`: who contributes to a chunk, and who
        wants the sum. `idempotent`: adding a contribution twice changes nothing.
        """
        if ranks <= servers or servers < 0:
            raise PlanError(f"{ranks} ranks and {servers} of them servers: expected a worker")
        self.ranks = ranks
        self.workers = ranks - servers
        self._head: dict[str, Any] = {
            "collective": collective,
            "sum": "idempotent" if idempotent else "exact",
            "sources": _as_list(sources),
            "targets": _as_list(targets),
        }
        if chunk_bytes is not None:
            self.chunks = len(chunk_bytes)
            self._head["chunkBytes"] = list(chunk_bytes)
        elif isinstance(chunks, int):
            self.chunks = chunks
            self._head["chunks"] = chunks
        else:
            self.chunks = len(chunks)
            self._head["chunkWeights"] = list(chunks)
        self._operations: list[dict[str, Any]] = []
        self._dataflow = Dataflow()

    def __len__(self) -> int:
        """Operations so far."""
        return len(self._operations)

    def send(
        self,
        source: int,
        target: int,
        chunk: int,
        count: int = 1,
        *,
        after: Iterable[int] | None = None,
        stream: int = 0,
        from_buffer: int = 0,
        to_buffer: int = 0,
    ) -> int:
        """`count` chunks from `chunk` on replace those of `target`: a copy.

        Transfers with the same source, target and `stream` share a connection and arrive in the order in
        which they started. Within one rank, from buffer to buffer, a copy takes no time.
        """
        places = (source, from_buffer), (target, to_buffer)
        return self._move("copy", places, range(chunk, chunk + count), stream, after)

    def reduce(
        self,
        source: int,
        target: int,
        chunk: int,
        count: int = 1,
        *,
        after: Iterable[int] | None = None,
        stream: int = 0,
        from_buffer: int = 0,
        to_buffer: int = 0,
    ) -> int:
        """As `send`, but what arrives is added to the chunks of `target`."""
        places = (source, from_buffer), (target, to_buffer)
        return self._move("reduce", places, range(chunk, chunk + count), stream, after)

    def join(self, rank: int, after: Iterable[int]) -> int:
        """Moves nothing and takes no time: n operations that wait for n others take 2n edges with it."""
        return self._add({"kind": "join", "from": rank}, after)

    def compute(
        self, rank: int, picoseconds: int, after: Iterable[int], *, processor: int = 0
    ) -> int:
        """Takes a time of a processor of a rank, which does one thing at a time."""
        row = {"kind": "compute", "from": rank, "picoseconds": picoseconds, "processor": processor}
        return self._add(row, after)

    def signal(
        self, source: int, target: int, size: int, after: Iterable[int], *, stream: int = 0
    ) -> int:
        """A message of `size` bytes that moves no chunk."""
        self._check_rank(target)
        row = {"kind": "signal", "from": source, "to": target, "bytes": size, "stream": stream}
        return self._add(row, after)

    def wait(self, later: int, earlier: Iterable[int]) -> None:
        """Let an operation wait for others too, added before it or after it."""
        after = self._operations[self._known(later)]["after"]
        after.extend(self._known(number) for number in earlier)

    def to_dict(self) -> dict[str, Any]:
        """As the file has it."""
        head = {"format": FORMAT, "ranks": self.ranks, "workers": self.workers, **self._head}
        rows = [{**row, "after": sorted(set(row["after"]))} for row in self._operations]
        return json.loads(json.dumps({**head, "operations": rows}))  # type: ignore[no-any-return]

    def save(self, path: str | Path) -> Path:
        """Write the file that `{"kind": "import", "file": ...}` of a scenario names."""
        path = Path(path)
        document = self.to_dict()
        rows = ",\n  ".join(json.dumps(row) for row in document.pop("operations"))
        head = json.dumps(document)[:-1]
        path.write_text(f'{head},\n "operations": [\n  {rows}\n]}}\n', encoding="utf-8")
        return path

    def _move(
        self,
        kind: str,
        places: tuple[Place, Place],
        chunks: range,
        stream: int,
        after: Iterable[int] | None,
    ) -> int:
        (source, from_buffer), (target, to_buffer) = places
        self._check_rank(target)
        if not chunks or chunks.start < 0 or chunks.stop > self.chunks:
            raise PlanError(
                f"operation {len(self)}: chunks [{chunks.start}, {chunks.stop}), "
                f"expected at least one of [0, {self.chunks})"
            )
        row = {
            "kind": kind,
            "from": source,
            "to": target,
            "firstChunk": chunks.start,
            "chunkCount": len(chunks),
            "stream": stream,
            "fromBuffer": from_buffer,
            "toBuffer": to_buffer,
        }
        needed = self._dataflow.move(len(self), kind == "reduce", places, chunks)
        return self._add(row, needed if after is None else after)

    def _add(self, row: dict[str, Any], after: Iterable[int]) -> int:
        self._check_rank(row["from"])
        number = len(self._operations)
        self._operations.append({**row, "after": [self._known(other) for other in after]})
        return number

    def _known(self, number: int) -> int:
        if not 0 <= number < len(self):
            raise PlanError(f"operation {number}: expected one of [0, {len(self)})")
        return number

    def _check_rank(self, rank: int) -> None:
        if not 0 <= rank < self.ranks:
            raise PlanError(
                f"operation {len(self)}: rank {rank}, expected one of [0, {self.ranks})"
            )


def _as_list(workers: Workers) -> int | str | list[int | str]:
    return workers if isinstance(workers, (int, str)) else list(workers)
