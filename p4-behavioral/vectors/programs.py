# SPDX-License-Identifier: GPL-2.0-only
"""The P4 programs, how they are compiled, and what is kept of a compilation."""

import hashlib
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import bmv2

FOLDER = Path(__file__).resolve().parent.parent
RECORD = FOLDER / "compiled" / "compiled.json"


@dataclass(frozen=True)
class Program:
    name: str
    source: str
    settings: tuple[str, ...] = ()

    def compile(self, output: Path) -> None:
        """Beside the output its P4Runtime description: NAME.json, NAME.p4info.txt."""
        bmv2.compile_program(FOLDER / self.source, output, self.settings)

    def source_hashes(self) -> dict[str, str]:
        """SHA-256 of each file that the program is compiled from."""
        text = (FOLDER / self.source).read_text(encoding="ascii")
        files = [self.source, *re.findall(r'^#include "(.*)"', text, re.MULTILINE)]
        return {
            file: hashlib.sha256((FOLDER / file).read_bytes()).hexdigest() for file in files
        }


PROGRAMS = [
    Program("slot-aggregation", "slot-aggregation.p4"),
    Program("slot-aggregation-saturate", "slot-aggregation.p4", ("-DSATURATE",)),
    Program("slot-aggregation-stages", "slot-aggregation-stages.p4"),
    Program("slot-aggregation-stages-saturate", "slot-aggregation-stages.p4", ("-DSATURATE",)),
    Program("atp", "atp.p4"),
    Program("features", "features.p4"),
    Program("queues", "queues.p4"),
]


def compiler_version() -> str:
    done = subprocess.run(["p4c-bm2-ss", "--version"], capture_output=True, text=True, check=False)
    words = (done.stdout + done.stderr).split()
    return words[words.index("Version") + 1]


def compile_all() -> None:
    """Compiles every program into compiled/ and notes compiler and sources."""
    RECORD.parent.mkdir(exist_ok=True)
    noted = {"compiler": f"p4c-bm2-ss {compiler_version()}", "programs": {}}
    for program in PROGRAMS:
        output = RECORD.parent / f"{program.name}.json"
        program.compile(output)
        noted["programs"][program.name] = {
            "settings": list(program.settings),
            "sources": program.source_hashes(),
            "json": hashlib.sha256(output.read_bytes()).hexdigest(),
            "p4info": hashlib.sha256(bmv2.p4info_of(output).read_bytes()).hexdigest(),
        }
    RECORD.write_text(json.dumps(noted, indent=2) + "\n", encoding="ascii")


if __name__ == "__main__":
    compile_all()
