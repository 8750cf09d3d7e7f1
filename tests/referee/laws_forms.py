# SPDX-License-Identifier: GPL-2.0-only
"""The closed forms of doc/schemes.rst for bytes, at random sizes: exact, whatever the gradient divides by.

Every element of an all-reduce without redundancy is added w-1 times and copied w-1 times, so that the total
is 2(w-1)K to the byte even where parts are uneven; what one rank moves follows from the parts themselves.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator

from referee.evidence import Evidence
from referee.law import law

# Whose servers, racks and pods the referee does not count: in the last one a server is at several leaves.
UNGROUPED = ("graph", "rail-optimised")


def _groups(e: Evidence, level_by_default: str) -> list[int]:
    """Sizes of the groups of a scheme: groupSize ranks each, the server's, or those of the first level."""
    scheme, workers = e.scheme(), e.plan["workers"]
    size = scheme.get("groupSize", 0)
    if size:
        return [min(size, workers - first) for first in range(0, workers, size)]
    return level_groups(e, level_by_default)


def level_groups(e: Evidence, wanted: str) -> list[int]:
    """Sizes of the groups of a level, or of the innermost one (""); ranks alone where there is none."""
    names = worker_names(e)
    levels = [
        ("server", e.network.server),
        ("rack", lambda name: e.network.rack[name]),
        ("pod", e.network.pod),
    ]
    if e.scenario["topology"]["kind"] in ("star", "spine-leaf"):
        levels = levels[:2]
    for level, group_of in levels:
        groups = Counter(group_of(name) for name in names)
        if (wanted in ("", level)) and 1 < len(groups) < len(names):
            return list(groups.values())
    return [1] * len(names) if wanted else [len(names)]


def worker_names(e: Evidence) -> list[str]:
    """Endpoints of the workers: the first of the network, in its order."""

    def key(name: str) -> tuple[int, ...]:
        digits = "".join(c if c.isdigit() else " " for c in name)
        return tuple(int(part) for part in digits.split())

    return sorted(e.network.endpoints, key=key)[: e.plan["workers"]]


def _folded(workers: int, per_power: Callable[[int], int]) -> int:
    """Of 2^n + e ranks, e give everything to a neighbour before and get it after (doc/schemes.rst)."""
    steps = workers.bit_length() - 1
    return per_power(steps) + 2 * (workers - 2**steps)


def _butterfly(e: Evidence, w: int, k: int) -> int:
    return k * _folded(w, lambda steps: 2**steps * steps)


def _hierarchical(e: Evidence, w: int, k: int) -> int:
    groups = _groups(e, "")
    if e.scheme().get("inside") == "nvls":
        # Each member has a part in the reduction and in the multicast of all of it.
        return sum(2 * g for g in groups if g > 1) * k + 2 * (len(groups) - 1) * k
    if len(groups) == 1:
        return 2 * (w - 1) * k
    return sum(3 * (g - 1) for g in groups) * k + 2 * (len(groups) - 1) * k


def _mesh(e: Evidence, w: int, k: int) -> int | None:
    if e.scheme().get("stages") == "reduce-scatter":
        return 2 * (w - 1) * k
    width = e.scheme().get("width") or _squarest(w)
    height = w // width
    return (height * 2 * (width - 1) + width * 2 * (height - 1)) * k


def _squarest(w: int) -> int:
    """The most square grid, wider than high."""
    return next(x for x in range(math.isqrt(w - 1) + 1, w + 1) if w % x == 0)


def _bbtopk(e: Evidence, w: int, k: int) -> int | None:
    groups = _groups(e, "server")
    if len(set(groups)) != 1:
        return None
    n, g = len(groups), groups[0]
    return (2 * n * (g - 1) + n * (n - 1)) * k


def _ps(e: Evidence, w: int, k: int) -> int:
    return 2 * w * k if e.scheme().get("servers", 0) else 2 * (w - 1) * k


def _ps_ring(e: Evidence, w: int, k: int) -> int:
    groups = _groups(e, "server")
    inside = sum(2 * (g - 1) for g in groups) * k
    between = len(groups) if e.scheme().get("servers", 1) else len(groups) - 1
    return inside + 2 * between * k


def _byteps(e: Evidence, w: int, k: int) -> int | None:
    if e.scheme().get("cpuMachines", 0):
        return None  # shares are rounded to elements: see the largest load
    groups = _groups(e, "server")
    return sum(2 * (g - 1) for g in groups) * k + 2 * (len(groups) - 1) * k


def _barrier(e: Evidence, w: int, k: int) -> int:
    token = e.scheme().get("tokenBytes", 8)
    if e.scheme().get("algorithm", "dissemination") == "dissemination":
        return math.ceil(math.log2(w)) * w * token
    return 2 * (w - 1) * token


def _sparse(e: Evidence, w: int, k: int) -> int | None:
    sizes = e.scheme().get("sizes")
    return (w - 1) * sum(sizes) if sizes else None


def _in_network(e: Evidence, w: int, k: int) -> int:
    """What goes through the switches counts once for each rank that gives it."""
    if e.scheme()["kind"] in ("switchml", "atp", "sharp", "flare"):
        return w * k
    groups = _groups(e, "server")
    between = len(groups) if len(groups) > 1 else 0  # one server has nothing to ask of switches
    return sum(2 * (g - 1) for g in groups) * k + between * k


def _nvls(e: Evidence, w: int, k: int) -> int:
    """Of every accelerator K for sums and K that it gets, its own included; slices around rings of servers."""
    groups = _groups(e, "server")
    if not e.scheme().get("groupSize", 0) and set(groups) == {1}:
        groups = [w]  # one server
    inside = sum(2 * g for g in groups if g > 1)
    return (inside + 2 * (len(groups) - 1)) * k


def _hot(e: Evidence) -> int:
    """Bytes of Libra's hot parameters: the first chunk of each piece, in front of those of the servers."""
    sizes = e.plan["chunkBytes"]
    return sum(sizes[:: 1 + e.scheme().get("servers", 1)])


def _full_duplex(e: Evidence, w: int, k: int) -> int:
    return 2 * (w - 1) * k


def _once(e: Evidence, w: int, k: int) -> int:
    return (w - 1) * k


# Bytes of all transfers of an exchange, as doc/schemes.rst has them; w workers, K bytes.
TOTALS: dict[str, Callable[[Evidence, int, int], int | None]] = {
    **dict.fromkeys(
        (
            "ring",
            "rat",
            "k-nomial",
            "double-binary-tree",
            "halving-doubling",
            "torus-2d",
            "blueconnect",
            "bcube-hips",
            "torus-hips",
            "multi-ring",
            "nccl:ring",
            "nccl:tree",
            "plink",
            "ok-topk",
        ),
        _full_duplex,
    ),
    **dict.fromkeys(("all-gather", "reduce-scatter", "broadcast", "reduce", "all-to-all"), _once),
    **dict.fromkeys(
        ("switchml", "atp", "passing", "netreduce", "sharp", "flare", "nccl:collnet-direct"),
        _in_network,
    ),
    "nvls": _nvls,
    "libra": lambda e, w, k: w * _hot(e) + 2 * w * (k - _hot(e)),
    "ps": _ps,
    "hierarchical": _hierarchical,
    "butterfly": _butterfly,
    "mesh-2d": _mesh,
    "bbtopk": _bbtopk,
    "ps-ring": _ps_ring,
    "byteps": _byteps,
    "geo-hips": lambda e, w, k: 2 * (w + e.scheme().get("parties", 2)) * k,
    "parameter-hub": lambda e, w, k: 2 * (w + e.scheme().get("boxes", 2) - 1) * k,
    "federated": lambda e, w, k: 2 * w * k + 28 * w,
    "barrier": _barrier,
    "sparse-all-gather": _sparse,
}
# Their plans follow from a choice, or from a file.
_WITHOUT_FORM = ("auto", "import", "nccl")


def _formed(e: Evidence) -> bool:
    """One job of a scheme with a closed form, dense, on a network whose groups the referee knows."""
    return (
        e.simulated
        and len(e.jobs) == 1
        and len(e.job_names) == 1
        and not any(row["kind"] == "reaction" for row in e.main.rows("faults"))
        and not e.compressed()
        and "tensors" not in e.jobs[0]
        and e.scheme()["kind"] not in _WITHOUT_FORM
        and group_sizes_known(e)
    )


def group_sizes_known(e: Evidence) -> bool:
    """The groups of the scheme, if it has any, are those of a network that the referee knows."""
    return not (_uses_groups(e) and e.scenario["topology"]["kind"] in UNGROUPED)


def _uses_groups(e: Evidence) -> bool:
    grouped = ("hierarchical", "plink", "bbtopk", "byteps", "ps-ring")
    grouped += ("passing", "netreduce", "nvls", "nccl:collnet-direct")
    return e.scheme()["kind"] in grouped and not e.scheme().get("groupSize", 0)


def _bytes(e: Evidence) -> int:
    return sum(operation.get("bytes", 0) for operation in transfers(e))


def transfers(e: Evidence) -> list[dict]:
    return [
        o
        for o in e.plan["operations"]
        if (o["kind"] in ("reduce", "copy", "signal") and o["from"] != o["to"])
        or o["kind"] == "aggregate"
    ]


@law("doc/schemes.rst, bytes of each scheme", when=_formed)
def a_scheme_moves_the_bytes_of_its_closed_form(e: Evidence) -> Iterator[str]:
    """The bytes of all transfers, exactly, at any size and number of workers."""
    form = TOTALS.get(e.scheme()["kind"])
    if form is None:
        yield f"no closed form for {e.scheme()['kind']}: add one to TOTALS"
        return
    want = form(e, e.plan["workers"], e.gradient())
    if want is not None and _bytes(e) != want:
        yield f"{e.scheme()['kind']} moves {_bytes(e)} bytes, its form says {want}"


def sent_and_received(e: Evidence) -> tuple[list[int], list[int]]:
    """Bytes of each rank."""
    sent, received = [0] * e.plan["ranks"], [0] * e.plan["ranks"]
    for operation in transfers(e):
        sent[operation["from"]] += operation.get("bytes", 0)
        received[operation["to"]] += operation.get("bytes", 0)
    return sent, received


def _parts(e: Evidence, count: int) -> list[int]:
    """Sizes of the parts of a buffer that is cut in `count` parts of as many chunks each."""
    sizes = e.plan["chunkBytes"]
    pieces = len(sizes) // count
    return [sum(sizes[i * pieces : (i + 1) * pieces]) for i in range(count)]


@law("doc/schemes.rst, ring", when=lambda e: _formed(e) and e.scheme()["kind"] == "ring")
def a_rank_of_a_ring_sends_all_but_two_parts(e: Evidence) -> Iterator[str]:
    """Rank i adds on all parts but i+1 and hands on all but i+2: exact for uneven parts."""
    w = e.plan["workers"]
    parts = _parts(e, w)
    sent, received = sent_and_received(e)
    for rank in range(w):
        want = 2 * e.gradient() - parts[(rank + 1) % w] - parts[(rank + 2) % w]
        if sent[rank] != want or received[(rank + 1) % w] != want:
            yield f"rank {rank} sends {sent[rank]} bytes, expected {want}"


@law(
    "doc/schemes.rst, ps",
    when=lambda e: _formed(e) and e.scheme()["kind"] == "ps" and "servers" in e.scheme(),
)
def servers_move_their_shards(e: Evidence) -> Iterator[str]:
    """A worker pushes and pulls all but its own shard; a server gets its shard from each other worker."""
    w, p = e.plan["workers"], e.scheme()["servers"]
    shards = _parts(e, p or w)
    sent, received = sent_and_received(e)
    for rank in range(e.plan["ranks"]):
        if p == 0:
            want = e.gradient() - shards[rank] + (w - 1) * shards[rank]
        else:
            want = e.gradient() if rank < w else w * shards[rank - w]
        if (sent[rank], received[rank]) != (want, want):
            yield f"rank {rank} sends {sent[rank]} and gets {received[rank]}, expected {want}"


@law(
    "doc/schemes.rst, libra: Zipf's law",
    when=lambda e: (
        _formed(e) and e.scheme()["kind"] == "libra" and not e.scheme().get("popularity")
    ),
)
def hot_parameters_have_their_share_of_the_updates(e: Evidence) -> Iterator[str]:
    """The sum of i^-s up to the hot ones over that of all, within the elements at the ends of pieces."""
    scheme = e.scheme()
    parameters = scheme.get("parameters", 1_000_000)
    hot = min(scheme.get("hotParameters", 30_000), parameters)
    weights = [i ** -scheme.get("exponent", 1.0) for i in range(1, parameters + 1)]
    want = e.gradient() * math.fsum(weights[:hot]) / math.fsum(weights)
    if abs(_hot(e) - want) > 8 * scheme.get("pipelineChunks", 1):
        yield f"{_hot(e)} bytes are hot, expected {want:.1f}"


# Schemes in which every rank sends and receives 2(w-1)K/w; with powers of two only.
_BALANCED = (
    "ring",
    "rat",
    "ps",
    "torus-2d",
    "blueconnect",
    "bcube-hips",
    "torus-hips",
    "multi-ring",
)
_BALANCED_POWERS = ("halving-doubling",)


@law(
    "doc/schemes.rst, bytes a rank sends and receives",
    when=lambda e: (
        _formed(e)
        and e.scheme()["kind"] in _BALANCED + _BALANCED_POWERS
        and not e.scheme().get("weights")
        and not e.scheme().get("servers")
    ),
)
def ranks_of_balanced_schemes_move_alike(e: Evidence) -> Iterator[str]:
    """2(w-1)K/w each, exactly where K divides by all parts, else within an element for each transfer."""
    w, scheme = e.plan["workers"], e.scheme()["kind"]
    if scheme in _BALANCED_POWERS and w & (w - 1):
        return
    if scheme == "rat" and not _equal_regions(e):
        return
    sizes = set(e.plan["chunkBytes"])
    counts = Counter(operation["from"] for operation in transfers(e))
    for way, moved in zip(("sends", "gets"), sent_and_received(e)):
        for rank in range(w):
            slack = 0 if len(sizes) == 1 else (counts[rank] + 2) * max(sizes)
            if all(size > 8 * w for size in sizes) and len(sizes) != 1:
                slack = 8 * (counts[rank] + w)
            if abs(moved[rank] * w - 2 * (w - 1) * e.gradient()) > slack * w:
                yield f"rank {rank} of {w} {way} {moved[rank]} bytes of {e.gradient()}"


def _equal_regions(e: Evidence) -> bool:
    """doc/schemes.rst: in unequal racks, or pods, RAT is balanced only approximately."""
    if e.scenario["topology"]["kind"] in UNGROUPED:
        return False
    return all(len(set(level_groups(e, level))) == 1 for level in ("server", "rack", "pod"))


def _crossed_levels(e: Evidence) -> list[tuple[str, int]]:
    """Levels that RAT counts, with their numbers of groups."""
    levels = e.described(r"^    level (\S+): (\d+) groups, oversubscription (\S+)")
    every = e.scheme().get("levels") == "all"
    return [(name, int(n)) for name, n, ratio in levels if float(ratio) > 1.000001 or every]


@law(
    "doc/schemes.rst, rat: 2(R-1)K across regions",
    when=lambda e: _formed(e) and e.scheme()["kind"] == "rat" and bool(_crossed_levels(e)),
)
def rat_crosses_each_oversubscribed_level_as_little_as_can_be(
    e: Evidence,
) -> Iterator[str]:
    """At each oversubscribed level of R groups one sum goes in and one out of all groups but one."""
    crossings = dict(e.described(r"^    across (\S+)s: (\d+) bytes"))
    for name, groups in _crossed_levels(e):
        want = 2 * (groups - 1) * e.gradient()
        if int(crossings[name]) != want:
            yield f"{crossings[name]} bytes across {name}s, expected {want}"


@law(
    "doc/plan.rst, Statistics; doc/topology.rst, Groups",
    when=lambda e: (
        _formed(e)
        and e.scenario["topology"]["kind"] not in UNGROUPED
        and e.scenario.get("topology", {}).get("server", {}).get("nics", 1) == 1
        and e.plan["ranks"] == e.plan["workers"]
    ),
)
def levels_are_those_of_the_network(e: Evidence) -> Iterator[str]:
    """describe: as many groups on each level as the referee counts, and the bytes between them."""
    names = worker_names(e)
    group_of = {"server": e.network.server, "rack": e.network.rack.get, "pod": e.network.pod}
    for name, groups, _ in e.described(r"^    level (\S+): (\d+) groups, oversubscription (\S+)"):
        if name not in group_of:
            continue
        count = len({group_of[name](endpoint) for endpoint in names})
        if count != int(groups):
            yield f"level {name} has {groups} groups, by hand {count}"
    for name, size in e.described(r"^    across (\S+)s: (\d+) bytes"):
        if name in group_of:
            place = [group_of[name](endpoint) for endpoint in names]
            want = _crossing(e, place)
            if int(size) != want:
                yield f"{size} bytes across {name}s, by hand {want}"


@law(
    "doc/results.rst, cross_rack_bytes; doc/plan.rst, Statistics",
    when=lambda e: (
        e.finished
        and _formed(e)
        and e.aggregates
        and e.scenario["topology"]["kind"] not in UNGROUPED
        and e.plan["ranks"] == e.plan["workers"]
    ),
)
def one_sum_leaves_each_rack(e: Evidence) -> Iterator[str]:
    """Where switches add up, bytes across racks are one partial sum for each rack that takes part."""
    place = [e.network.rack[endpoint] for endpoint in worker_names(e)]
    want = _crossing(e, place) * len(e.main.rows("iterations"))
    if int(e.main.run["cross_rack_bytes"]) != want:
        yield f"cross_rack_bytes {e.main.run['cross_rack_bytes']}, by hand {want}"


def _crossing(e: Evidence, place: list) -> int:
    """Bytes between groups: of an aggregation one partial sum out of each group that takes part."""
    total = 0
    sums: dict[tuple, set] = {}
    for operation in transfers(e):
        if operation["kind"] == "aggregate":
            key = operation["stream"], operation["firstChunk"], operation["bytes"]
            sums.setdefault(key, set()).add(place[operation["from"]])
        elif place[operation["from"]] != place[operation["to"]]:
            total += operation.get("bytes", 0)
    return total + sum(key[2] * len(groups) for key, groups in sums.items() if len(groups) > 1)


# Transfers in the longest chain, one piece or many, where every part has elements.
_CHAINS: dict[str, Callable[[int], int | None]] = {
    "ring": lambda w: 2 * (w - 1),
    "multi-ring": lambda w: 2 * (w - 1),
    "ps": lambda w: 2,
    "ok-topk": lambda w: 2,
    "butterfly": lambda w: None if w & (w - 1) else w.bit_length() - 1,
    "halving-doubling": lambda w: None if w & (w - 1) else 2 * (w.bit_length() - 1),
    "switchml": lambda w: 1,
    "atp": lambda w: 1,
    "sharp": lambda w: 1,
    "flare": lambda w: 1,
    "all-to-all": lambda w: None,
}


@law(
    "doc/schemes.rst, longest chain",
    when=lambda e: _formed(e) and e.scheme()["kind"] in _CHAINS and min(e.plan["chunkBytes"]) > 0,
)
def chains_have_the_length_of_their_closed_form(e: Evidence) -> Iterator[str]:
    """The longest chain of transfers, where no part is empty."""
    want = _CHAINS[e.scheme()["kind"]](e.plan["workers"])
    if e.aggregates and e.scheme().get("pipelineChunks", 1) > 1:
        return  # one aggregation after another
    if want is not None and e.main.run["longest_chain"] != str(want):
        yield f"{e.main.run['longest_chain']} transfers, expected {want}"


@law(
    "doc/schemes.rst, byteps",
    when=lambda e: (
        _formed(e) and e.scheme()["kind"] == "byteps" and e.scheme().get("cpuMachines", 0) > 0
    ),
)
def shards_of_byteps_load_all_machines_alike(e: Evidence) -> Iterator[str]:
    """Each machine sends and gets 2n(n-1)K/(n²+kn-2k), within an element for each transfer."""
    groups, k = _groups(e, "server"), e.scheme()["cpuMachines"]
    n = len(groups)
    if set(groups) != {1} or k > n or n < 2:
        return
    load = 2 * n * (n - 1) * e.gradient() / (n * n + k * n - 2 * k)
    counts = Counter(o["from"] for o in transfers(e)) + Counter(o["to"] for o in transfers(e))
    for way, moved in zip(("sends", "gets"), sent_and_received(e)):
        for rank, size in enumerate(moved):
            if abs(size - load) > 8 * (counts[rank] + 1) + 8 * n:
                yield f"machine {rank} {way} {size} bytes, expected {load:.0f}"
