// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ID_ORDER_H
#define GRADSYNC_ID_ORDER_H

#include "ns3/assert.h"
#include "ns3/operation.h"

#include <algorithm>
#include <bit>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// Sorts ids that are below `end` by a bit for each of these; none is there twice.
inline void
SortIdsByBits(std::vector<OperationId>& ids, uint32_t end)
{
    constexpr uint32_t BITS = 64;
    std::vector<uint64_t> isThere(size_t{end} / BITS + 1);
    for (const auto id : ids)
    {
        isThere[id / BITS] |= uint64_t{1} << id % BITS;
    }
    auto place = ids.begin();
    for (size_t word = 0; word < isThere.size(); ++word)
    {
        for (auto bits = isThere[word]; bits != 0; bits &= bits - 1)
        {
            const auto bit = static_cast<size_t>(std::countr_zero(bits));
            *place++ = static_cast<OperationId>(word * BITS + bit);
        }
    }
    NS_ASSERT_MSG(place == ids.end(), "an id is there twice");
}

/**
 * Sorts ids, of which none is there twice and which often are in order already. Of a thousand that
 * are not, without a branch for each comparison, pdqsort takes half as long as std::sort
 * (doc/dependencies.md). An exchange may begin with most of its operations.
 * \param end above all of them
 */
inline void
SortIds(std::vector<OperationId>& ids, uint32_t end)
{
    constexpr uint32_t MANY = 64; // one of so many
    if (std::is_sorted(ids.begin(), ids.end()))
    {
        return;
    }
    if (ids.size() < end / MANY)
    {
        boost::sort::pdqsort_branchless(ids.begin(), ids.end());
        return;
    }
    SortIdsByBits(ids, end);
}

} // namespace ns3::gradsync

#endif // GRADSYNC_ID_ORDER_H
