// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MISSING_CHUNKS_H
#define GRADSYNC_MISSING_CHUNKS_H

#include "ns3/operation-ledger.h"
#include "ns3/plan.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * [chunk] of an exchange that is given up: some survivor does not hold its result yet.
 * \param isLost [rank]
 */
std::vector<bool> FindMissingChunks(const Plan& plan,
                                    const OperationLedger& ledger,
                                    const std::vector<bool>& isLost);

/// Of the chunks that are missing.
uint64_t CountBytes(const ChunkLayout& layout, const std::vector<bool>& missing);

} // namespace ns3::gradsync

#endif // GRADSYNC_MISSING_CHUNKS_H
