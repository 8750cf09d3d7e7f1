// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/codec-times.h"

#include "ns3/time-range.h"

#include <algorithm>

namespace ns3::gradsync
{

CodecTimes::CodecTimes(uint32_t ranks)
    : m_encode(ranks, 0),
      m_decode(ranks, 0)
{
}

CodecTimes::CodecTimes(const Plan& plan)
    : CodecTimes(plan.GetRankCount())
{
    if (!plan.IsCompressed())
    {
        return;
    }
    const auto operations = plan.GetOperations();
    for (OperationId id = 0; id < operations.size(); ++id)
    {
        const auto operation = operations[id];
        const bool encodes = operation.kind == OperationKind::Encode;
        if (encodes || operation.kind == OperationKind::Decode)
        {
            const auto steps = static_cast<int64_t>(plan.GetComputePicoseconds(id));
            auto& sum = (encodes ? m_encode : m_decode)[operation.src];
            sum = AddTimeSteps(sum, std::min(steps, NEVER));
        }
    }
}

void
CodecTimes::Add(uint32_t rank, const CodecTimes& other, uint32_t otherRank)
{
    m_encode[rank] = AddTimeSteps(m_encode[rank], other.m_encode[otherRank]);
    m_decode[rank] = AddTimeSteps(m_decode[rank], other.m_decode[otherRank]);
}

Time
CodecTimes::GetMostEncode() const
{
    return PicoSeconds(*std::max_element(m_encode.begin(), m_encode.end()));
}

Time
CodecTimes::GetMostDecode() const
{
    return PicoSeconds(*std::max_element(m_decode.begin(), m_decode.end()));
}

} // namespace ns3::gradsync
