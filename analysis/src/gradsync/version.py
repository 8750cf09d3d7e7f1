# SPDX-License-Identifier: GPL-2.0-only
"""The version of this package, which is that of the project."""

__version__ = "0.1.0"
