# SPDX-License-Identifier: GPL-2.0-only
"""Holds one case against all laws."""

from collections import Counter
from dataclasses import dataclass, field

# Each module adds its laws to LAWS.
import referee.laws_bytes
import referee.laws_end
import referee.laws_file
import referee.laws_forms
import referee.laws_forms_time
import referee.laws_plan
import referee.laws_repeat
import referee.laws_tensors
import referee.laws_time
import referee.laws_training
import referee.laws_training_bytes  # noqa: F401
from referee.case import Case
from referee.evidence import Evidence
from referee.law import LAWS, Law
from referee.simulator import Simulator

# Of one law in one case: the first complaints tell as much as all of them.
_MOST_COMPLAINTS = 3


@dataclass
class Verdict:
    """What became of a case."""

    case: Case
    code: int
    complaints: dict[str, list[str]] = field(default_factory=dict)
    checked: Counter[str] = field(default_factory=Counter)


def complaints_of(law: Law, evidence: Evidence) -> list[str] | None:
    """What a law has against a run; None where it says nothing of such runs."""
    try:
        if not law.applies(evidence):
            return None
        found = []
        for complaint in law.check(evidence):
            found.append(complaint[:1500])
            if len(found) == _MOST_COMPLAINTS:
                break
        return found
    except Exception as error:
        # What a law cannot read is no result of a run either.
        return [f"{type(error).__name__}: {error}"]


def judge(case: Case, simulator: Simulator, only: str | None = None) -> Verdict:
    """Runs a case and checks all laws, or one of them."""
    evidence = Evidence(case, simulator)
    verdict = Verdict(case, evidence.main.code)
    for name, law in LAWS.items():
        if only is not None and name != only:
            continue
        complaints = complaints_of(law, evidence)
        if complaints is None:
            continue
        verdict.checked[name] += 1
        if complaints:
            verdict.complaints[name] = complaints
    return verdict
