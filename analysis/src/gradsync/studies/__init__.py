# SPDX-License-Identifier: GPL-2.0-only
"""What calls the simulator: scenarios in code, sweeps, and the studies of ./ns3."""
