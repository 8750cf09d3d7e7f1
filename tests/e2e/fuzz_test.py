# SPDX-License-Identifier: GPL-2.0-only
"""./ns3 test --fuzz, with a script in the place of libFuzzer."""

import sys
from types import SimpleNamespace

import pytest
from conftest import ROOT

sys.path.append(str(ROOT))

from launcher import fuzz

# libFuzzer's last lines, and a finding in one of the readers.
PROGRAM = """#!/bin/sh
test "$GRADSYNC_READER" = goal && { echo "ERROR: AddressSanitizer: there it is" >&2; exit 77; }
for option in "$@"; do case $option in -dict=*) test -s "${option#-dict=}" || exit 1;; esac; done
echo "stat::number_of_executed_units: 12" >&2
"""


@pytest.fixture
def profile(tmp_path):
    program = tmp_path / fuzz.PROGRAM
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return SimpleNamespace(directory=tmp_path)


def test_every_reader_has_its_turn_and_a_finding_is_a_failure(profile, capsys):
    readers = {folder.name for folder in fuzz.CORPORA.iterdir()}
    assert fuzz.fuzz(profile, 1, fuzz.choose_readers(None)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert {line for line in lines if line.endswith(" texts")} == {
        f"{reader}: 12 texts" for reader in readers - {"goal"}
    }
    assert any(line.startswith("goal: exit code 77, see ") for line in lines)
    assert "ERROR: AddressSanitizer: there it is" in lines
    assert lines[-1] == f"{len(readers) - 1} passed, 1 failed"


def test_no_seconds_are_no_fuzzing(ns3):
    for seconds in ("0", "x", "-1", "1.5"):
        told = ns3("test", f"--fuzz={seconds}", "--no-install")
        assert (told.returncode, told.stdout) == (2, "")
        assert told.stderr == f"ns3: --fuzz {seconds}: expected seconds\n"


def test_a_reader_is_one_of_the_corpus_and_goes_with_fuzzing(ns3):
    assert fuzz.choose_readers("goal") == ["goal"]
    told = ns3("test", "--fuzz=5", "--reader=gaol", "--no-install")
    assert told.returncode == 2
    assert told.stderr.startswith("ns3: --reader gaol: expected one of aicb, ")
    told = ns3("test", "--reader=goal", "--no-install")
    assert (told.returncode, told.stderr) == (2, "ns3: --reader goal goes with --fuzz\n")
