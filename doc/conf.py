# SPDX-License-Identifier: GPL-2.0-only
"""How Sphinx makes HTML of these pages: ./ns3 docs."""

import tomllib
from pathlib import Path

_ANALYSIS = Path(__file__).resolve().parents[1] / "analysis"

project = "gradsync"
author = "The gradsync authors"
copyright = "The gradsync authors, GPL-2.0-only"
version = release = tomllib.loads((_ANALYSIS / "pyproject.toml").read_text())["project"]["version"]

extensions = ["myst_parser"]  # dependencies.md
exclude_patterns = ["pictures"]
# A name that leads nowhere is a warning, and a warning an error.
nitpicky = True
# Headings of Markdown are what links of others lead to.
myst_heading_anchors = 3

html_theme = "alabaster"
html_theme_options = {"page_width": "72em", "fixed_sidebar": True}
html_copy_source = False
highlight_language = "none"
