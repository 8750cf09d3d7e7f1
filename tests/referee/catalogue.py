# SPDX-License-Identifier: GPL-2.0-only
"""What can be drawn: the kinds and parameters that the program lists (`gradsync list --json`)."""

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """A parameter of a scheme: its default as JSON, and the texts that it may be."""

    name: str
    default: object
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Catalogue:
    """All kinds."""

    schemes: dict[str, tuple[Parameter, ...]]
    controls: tuple[str, ...]
    codecs: tuple[str, ...]
    faults: tuple[str, ...]
    traffic: tuple[str, ...]
    topologies: tuple[str, ...]
    transports: tuple[str, ...]
    load_balancing: tuple[str, ...]


def _parameters(listed: dict) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(entry["name"], entry.get("default"), tuple(entry.get("allowed", ())))
        for entry in listed["parameters"]
    )


def read_catalogue(listing: str) -> Catalogue:
    """The kinds of a listing."""
    listed = json.loads(listing)

    def kinds(what: str) -> tuple[str, ...]:
        return tuple(kind["name"] for kind in listed[what]["kinds"])

    fabric = {parameter.name: parameter for parameter in _parameters(listed["fabric"])}
    return Catalogue(
        schemes={kind["name"]: _parameters(kind) for kind in listed["schemes"]["kinds"]},
        # A control may be any type of ns-3; none is no type.
        controls=("none", *kinds("congestionControls")),
        codecs=kinds("codecs"),
        faults=kinds("faults"),
        traffic=kinds("traffic"),
        topologies=kinds("topologies"),
        transports=kinds("transports"),
        load_balancing=fabric["loadBalancing"].choices,
    )
