// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TREE_HEADER_H
#define GRADSYNC_TREE_HEADER_H

#include <cstdint>

namespace ns3::gradsync
{

/// What a switch of a tree knows of a packet (TreeNode).
struct TreeHeader
{
    uint64_t sequence{0}; //!< number of the packet since the job began
    uint16_t job{0};
    uint16_t child{0};         //!< who contributed it; of what goes down, for whom it is
    bool isResult{false};      //!< on its way down
    bool hasOverflowed{false}; //!< a sum left the range of int32
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TREE_HEADER_H
