// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/missing-chunks.h"

namespace ns3::gradsync
{

std::vector<bool>
FindMissingChunks(const Plan& plan, const OperationLedger& ledger, const std::vector<bool>& isLost)
{
    std::vector<bool> missing(plan.GetLayout().GetChunkCount());
    for (uint32_t chunk = 0; chunk < missing.size(); ++chunk)
    {
        // What other collectives have done is no part of what they would do for fewer ranks.
        const auto& collective = plan.GetCollective();
        missing[chunk] = collective.GetSource(chunk) != Collective::ALL ||
                         collective.GetTarget(chunk) != Collective::ALL;
    }
    for (OperationId id = 0; id < ledger.GetSize(); ++id)
    {
        const auto operation = plan.GetOperations()[id];
        if (ledger.IsDone(id) || isLost[operation.dst])
        {
            continue;
        }
        for (uint32_t i = 0; i < operation.chunkCount; ++i)
        {
            missing[operation.firstChunk + i] = true;
        }
    }
    return missing;
}

uint64_t
CountBytes(const ChunkLayout& layout, const std::vector<bool>& missing)
{
    uint64_t bytes = 0;
    for (uint32_t chunk = 0; chunk < missing.size(); ++chunk)
    {
        bytes += missing[chunk] ? layout.GetBytes(chunk, 1) : 0;
    }
    return bytes;
}

} // namespace ns3::gradsync
