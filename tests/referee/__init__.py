# SPDX-License-Identifier: GPL-2.0-only
"""The referee: laws that every run obeys, held against scenarios that are drawn."""
