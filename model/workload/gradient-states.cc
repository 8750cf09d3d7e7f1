// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/gradient-states.h"

#include <algorithm>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t HASH_FACTOR = 0x9E3779B97F4A7C15; //!< 2^64 over the golden ratio, odd

} // namespace

GradientStates::GradientStates(const Plan& plan)
    : m_plan(plan),
      m_chunks(plan.GetLayout().GetChunkCount()),
      m_places(size_t{plan.GetRankCount()} * plan.GetBufferCount() * m_chunks)
{
    for (uint32_t worker = 0; worker < plan.GetWorkerCount(); ++worker)
    {
        for (uint32_t chunk = 0; chunk < m_chunks; ++chunk)
        {
            const auto source = plan.GetCollective().GetSource(chunk);
            GetPlace(worker, 0, chunk).isEmpty = source != Collective::ALL && source != worker;
        }
    }
}

const GradientStates::Place&
GradientStates::GetPlace(uint32_t rank, uint32_t buffer, uint32_t chunk) const
{
    return m_places[(size_t{rank} * m_plan.GetBufferCount() + buffer) * m_chunks + chunk];
}

GradientStates::Place&
GradientStates::GetPlace(uint32_t rank, uint32_t buffer, uint32_t chunk)
{
    return m_places[(size_t{rank} * m_plan.GetBufferCount() + buffer) * m_chunks + chunk];
}

GradientStates::Range
GradientStates::Read(uint32_t rank, uint32_t buffer, uint32_t first, uint32_t count) const
{
    Range range;
    range.arrivedBy = GetPlace(rank, buffer, first).arrivedBy;
    for (uint32_t chunk = first; chunk < first + count; ++chunk)
    {
        const auto& place = GetPlace(rank, buffer, chunk);
        range.selections = std::max(range.selections, place.selections);
        range.hasDense |= !place.isEmpty && place.selections == 0;
        range.isOwn &= place.content == 0;
        range.content = range.content * HASH_FACTOR + place.content;
        if (place.arrivedBy != range.arrivedBy)
        {
            range.arrivedBy = NONE;
        }
    }
    return range;
}

uint32_t
GradientStates::CountSum(const Place& place, uint32_t incoming) const
{
    if (place.isEmpty)
    {
        return incoming;
    }
    if (incoming == 0 || m_plan.SelectsSums())
    {
        return 0;
    }
    return std::max(place.selections, 1U) + incoming;
}

void
GradientStates::Write(OperationId id, Coding coding)
{
    const auto& operation = m_plan.GetOperations()[id];
    for (uint32_t i = 0; i < operation.chunkCount; ++i)
    {
        const uint32_t chunk = operation.firstChunk + i;
        const auto source = GetPlace(operation.src, operation.buffers.src, chunk);
        auto& place = GetPlace(operation.dst, operation.buffers.dst, chunk);
        auto incoming = source.selections;
        if (operation.IsTransfer())
        {
            incoming = coding == Coding::Sparse ? std::max(source.selections, 1U) : 0;
        }
        const bool isCopy = operation.kind == OperationKind::TransferCopy;
        place.selections = isCopy ? incoming : CountSum(place, incoming);
        place.isEmpty = isCopy ? source.isEmpty : place.isEmpty && source.isEmpty;
        const bool isSame = isCopy && !operation.IsTransfer();
        place.content = isSame ? source.content : ++m_lastContent;
        place.arrivedBy = isSame ? source.arrivedBy : isCopy && coding != Coding::None ? id : NONE;
    }
}

} // namespace ns3::gradsync
