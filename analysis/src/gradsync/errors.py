# SPDX-License-Identifier: GPL-2.0-only
"""The exception for results that cannot be used."""


class ResultsError(Exception):
    """A results folder is incomplete or not what it should be; the text says where and why."""
