# SPDX-License-Identifier: GPL-2.0-only
"""Exit codes and the one exception of the launcher.

The program's own codes pass through unchanged: 0 done, 1 internal error, 2 bad input, 3 an exchange
did not finish, 130 interrupted. The launcher adds 4 and 5.
"""

OK = 0
FAILURE = 1
BAD_INPUT = 2
ENVIRONMENT = 4
BUILD_FAILED = 5
INTERRUPTED = 130


class LauncherError(Exception):
    """Ends the launcher with a message for the user and an exit code."""

    def __init__(self, message: str, code: int):
        super().__init__(message)
        self.code = code
