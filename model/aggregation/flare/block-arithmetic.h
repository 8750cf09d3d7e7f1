// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BLOCK_ARITHMETIC_H
#define GRADSYNC_BLOCK_ARITHMETIC_H

#include "ns3/nstime.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// What the packets of a block have, and how it is added.
struct BlockArithmetic
{
    bool addsFloats; //!< values are the bits of floats, each sum rounded to float32 (IEEE 754, to
                     //!< nearest); false: integers, modulo 2^32
    bool isSparse;   //!< each value comes behind its index, in the order of indices

    /// \returns whether a sum of integers left the range of int32
    bool Add(std::vector<int32_t>& sums, std::span<const int32_t> values) const;
};

/// How long handlers are at it, with a packet.
struct BlockTimes
{
    Time copy;         //!< of its values into a free buffer
    Time add;          //!< of them to others
    Time addEach;      //!< of one of them
    bool areByContent; //!< sums of several packets may have more values; false: they have as many

    /// Of a sum to another one.
    Time GetMergeTime(std::span<const int32_t> sum) const
    {
        return areByContent ? addEach * static_cast<int64_t>(sum.size()) : add;
    }
};

} // namespace ns3::gradsync

#endif // GRADSYNC_BLOCK_ARITHMETIC_H
