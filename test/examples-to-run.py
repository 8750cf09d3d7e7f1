#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# Read by ns-3's test.py in an ns-3 tree, which looks for it in test/: the examples that it runs.

# (name, whether to run it, whether to run it under valgrind)
cpp_examples = [
    ("gradsync-existing-network", "True", "True"),
    ("gradsync-own", "True", "True"),
    ("gradsync-rat", "True", "True"),
    ("gradsync-ring", "True", "True"),
    ("gradsync-switchml", "True", "True"),
    ("gradsync-traces", "True", "True"),
]

# Each of them (name, whether to run it): none is in Python.
python_examples = []
