# SPDX-License-Identifier: GPL-2.0-only
"""The small mistakes that tests/mutation makes in the core."""

import sys

from conftest import ROOT

sys.path.append(str(ROOT / "tests" / "mutation"))

from mutations import find_mutations, mutated

SOURCE = """#include <a + b>
/**
 * Not this: 1 < 2;
 */
uint64_t Add(const std::vector<uint64_t>& all) // nor this: a + b
{
    if (all.size() < 2 && "1 < 2")
    {
        return 0;
    }
    m_done = true;
    return all[0] + m_last;
}
"""


def test_each_mutation_changes_code_in_one_place():
    found = {(mutation.line, mutation.after.strip()) for mutation in find_mutations(SOURCE)}
    assert found == {
        (7, 'if (all.size() <= 2 && "1 < 2")'),
        (7, 'if (all.size() < 2 || "1 < 2")'),
        (7, 'if (all.size() < 3 && "1 < 2")'),
        (7, 'if (!(all.size() < 2 && "1 < 2"))'),
        (9, "return 1;"),
        (11, ""),
        (12, "return all[1] + m_last;"),
        (12, "return all[0] - m_last;"),
    }


def test_a_mutant_differs_from_its_file_in_a_line():
    for mutation in find_mutations(SOURCE):
        pairs = zip(SOURCE.splitlines(), mutated(SOURCE, mutation).splitlines(), strict=True)
        assert [number for number, (old, new) in enumerate(pairs, 1) if old != new] == [
            mutation.line
        ]
