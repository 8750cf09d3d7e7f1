# SPDX-License-Identifier: GPL-2.0-only
"""Student's confidence intervals of 95 %."""

import math

# Student's t, 97.5 %, for 1, 2, ... degrees of freedom; beyond that the row below is used, which
# errs on the wide side.
_T_975 = tuple(
    map(
        float,
        "12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262 2.228 2.201 2.179 2.160 2.145 2.131 "
        "2.120 2.110 2.101 2.093 2.086 2.080 2.074 2.069 2.064 2.060 2.056 2.052 2.048 2.045 2.042".split(),
    )
)
_T_975_LARGE = ((120, 1.980), (60, 2.000), (40, 2.021), (30, 2.042))


def t_975(degrees: int) -> float:
    """Half-width of a 95 % confidence interval in standard errors; infinite for none."""
    if degrees < 1:
        return math.inf
    if degrees <= len(_T_975):
        return _T_975[degrees - 1]
    return next(value for least, value in _T_975_LARGE if degrees >= least)


def half_width(count: int, deviation: float) -> float:
    """Of the interval around the mean of so many values with this standard deviation."""
    return t_975(count - 1) * deviation / math.sqrt(count)
