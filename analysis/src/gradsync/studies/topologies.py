# SPDX-License-Identifier: GPL-2.0-only
"""The `topology` section of a scenario, built from Python names and units in the values.

What is not given is left to the program's defaults. Further keys of a topology (doc/scenario.rst) go
in as `extra`, by their own names: `spine_leaf(..., server={"accelerators": 4, "nics": 1})`.
"""

from typing import Any

Section = dict[str, Any]


def link(rate: str, delay: str | None = None) -> Section:
    """A link such as `link("40Gbps", "1us")`."""
    return {"rate": rate} if delay is None else {"rate": rate, "delay": delay}


def _as_link(value: str | Section) -> Section:
    return link(value) if isinstance(value, str) else value


def star(hosts: int, host_link: str | Section, **extra: Any) -> Section:
    """Hosts around one switch; a link is a rate or `link(rate, delay)`."""
    return {"kind": "star", "hosts": hosts, "hostLink": _as_link(host_link), **extra}


def spine_leaf(
    spines: int,
    leaves: int,
    hosts_per_leaf: int,
    host_link: str | Section,
    fabric_link: str | Section | None = None,
    **extra: Any,
) -> Section:
    """Racks below spines; the links between leaves and spines are as fast as a host's if not given."""
    return {
        "kind": "spine-leaf",
        "spines": spines,
        "leaves": leaves,
        "hostsPerLeaf": hosts_per_leaf,
        "hostLink": _as_link(host_link),
        **(
            {}
            if "oversubscription" in extra
            else {"fabricLink": _as_link(fabric_link or host_link)}
        ),
        **extra,
    }


def fat_tree(
    k: int, host_link: str | Section, uplink: str | Section | None = None, **extra: Any
) -> Section:
    """A k-ary fat-tree; links above the hosts are as fast as theirs if not given otherwise."""
    tiers = {"leafUplink": "rackOversubscription", "aggregationUplink": "podOversubscription"}
    above = _as_link(uplink or host_link)
    links = {name: above for name, ratio in tiers.items() if ratio not in extra}
    return {"kind": "fat-tree", "k": k, "hostLink": _as_link(host_link), **links, **extra}
