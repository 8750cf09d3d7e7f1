# SPDX-License-Identifier: GPL-2.0-only
"""The referee: draws scenarios, runs them, and holds the results against laws in place of examples.

    python -I tests/referee --program build/release/gradsync --scenarios 5000

Kept failures (tests/referee/kept) are judged first. A scenario that fails is shrunk and written to
build/referee/failures; the last line counts.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.dont_write_bytecode = True

from referee.session import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
