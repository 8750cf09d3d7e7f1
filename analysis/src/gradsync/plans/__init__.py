# SPDX-License-Identifier: GPL-2.0-only
"""Plans of exchanges, built in Python and kept in files; nothing of it needs the simulator."""
