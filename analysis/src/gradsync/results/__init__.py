# SPDX-License-Identifier: GPL-2.0-only
"""Results folders: their tables, what is computed from them, and how they compare."""
