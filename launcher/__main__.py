# SPDX-License-Identifier: GPL-2.0-only
"""Entry point: `python3 -I launcher VERB …`, called by ./ns3."""

import sys

# Modules come from Python alone: neither this folder nor the tree, where users stand and keep their
# scenarios, is searched for a json.py.
del sys.path[0]

import importlib.util  # noqa: E402
from pathlib import Path  # noqa: E402


def _load_package() -> None:
    """Make `launcher` importable by its place."""
    folder = Path(__file__).resolve().parent
    spec = importlib.util.spec_from_file_location(
        "launcher", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["launcher"] = package
    spec.loader.exec_module(package)


_load_package()

from launcher.cli import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
