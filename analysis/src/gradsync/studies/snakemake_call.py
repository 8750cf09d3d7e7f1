# SPDX-License-Identifier: GPL-2.0-only
"""Snakemake as a program whose message for a wrong option is one line, without pages of usage.

Called by its path, by `gradsync.studies.sweep` alone.
"""

import argparse
import sys
from typing import NoReturn

from snakemake.cli import main


def _refuse(self: argparse.ArgumentParser, message: str) -> NoReturn:
    print(f"gradsync: snakemake: {message}", file=sys.stderr)
    sys.exit(2)


argparse.ArgumentParser.error = _refuse  # type: ignore[method-assign]
sys.argv[0] = "snakemake"
main()
