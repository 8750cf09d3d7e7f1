# SPDX-License-Identifier: GPL-2.0-only
"""Entry point: `python3 launcher VERB …`, called by ./ns3."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)

from launcher.cli import main  # noqa: E402  (the path has to be set first)

sys.exit(main(sys.argv[1:]))
