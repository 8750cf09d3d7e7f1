// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_KERNELS_LOW_RANK_SHAPE_H
#define GRADSYNC_KERNELS_LOW_RANK_SHAPE_H

#include "ns3/low-rank-arithmetic.h"

/// What PowerSGD's kernels share.
namespace ns3::gradsync::kernels
{

inline constexpr uint32_t GROUP = 4; //!< columns of a factor that are done at once

inline bool
IsValid(const LowRankShape& shape)
{
    return shape.rows > 0 && shape.columns > 0 && shape.columns % 4 == 0 && shape.rank > 0 &&
           shape.rank <= LOW_RANK_MOST;
}

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_KERNELS_LOW_RANK_SHAPE_H
