# SPDX-License-Identifier: GPL-2.0-only
"""The exceptions of this package; each text says what is wrong and where."""


class GradsyncError(Exception):
    """What all exceptions of this package have in common."""


class ResultsError(GradsyncError):
    """A results folder is incomplete or not what it should be."""


class ScenarioError(GradsyncError):
    """The program refuses a scenario, or the program itself cannot be found."""


class PlanError(GradsyncError):
    """A plan names what is not there, or does not do what it is for."""


class SimulationError(GradsyncError):
    """A run crashed, was interrupted, or did not finish its exchange."""
