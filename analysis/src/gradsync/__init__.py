# SPDX-License-Identifier: GPL-2.0-only
"""Loads, compares and plots what gradsync's simulations wrote."""
