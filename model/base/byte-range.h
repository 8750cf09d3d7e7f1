// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BYTE_RANGE_H
#define GRADSYNC_BYTE_RANGE_H

#include <cstdint>

namespace ns3::gradsync
{

/// The bytes [begin, end).
struct ByteRange
{
    uint64_t begin{0};
    uint64_t end{0};

    bool IsEmpty() const
    {
        return begin >= end;
    }

    bool operator==(const ByteRange&) const = default;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_BYTE_RANGE_H
