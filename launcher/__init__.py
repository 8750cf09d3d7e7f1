# SPDX-License-Identifier: GPL-2.0-only
"""The launcher behind ./ns3: installs what is missing, builds, and runs the program.

Standard library only, because it must run before anything is installed.
"""
