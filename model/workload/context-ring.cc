// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/context-ring.h"

#include "ns3/training-workload.h"

namespace ns3::gradsync
{

ContextRing::ContextRing(const std::vector<uint32_t>& ranks,
                         WorkloadBuilder& builder,
                         TrainingMeeting& meeting,
                         uint32_t rank)
    : m_ranks(ranks),
      m_builder(builder),
      m_meeting(meeting),
      m_rank(rank)
{
}

TaskId
ContextRing::Shift(const Pass& pass, const std::vector<TaskId>& after)
{
    constexpr auto STREAM = static_cast<uint32_t>(TrainingStream::Context);
    const auto id = m_meeting.Shift(m_ranks, STREAM, m_rank, pass.bytes, pass.label);
    const auto part = m_builder.AddPart(m_rank, STREAM, id);
    for (const auto task : after)
    {
        m_builder.AddEdge(task, part);
    }
    return part;
}

ContextRing::End
ContextRing::Write(const Pass& pass, const std::vector<TaskId>& after)
{
    const uint64_t count = m_ranks.size();
    End end{0, std::nullopt};
    auto ready = after; // what the next piece waits for, but for its block
    std::optional<TaskId> arriving;
    for (uint64_t piece = 0; piece < count; ++piece)
    {
        const auto block = arriving;
        if (piece + 1 < count)
        {
            arriving = Shift(pass, ready);
        }
        end.computed = m_builder.AddCompute(m_rank,
                                            static_cast<uint32_t>(TrainingStream::Compute),
                                            (piece + 1) * pass.picoseconds / count -
                                                piece * pass.picoseconds / count,
                                            pass.label);
        for (const auto task : ready)
        {
            m_builder.AddEdge(task, end.computed);
        }
        if (block)
        {
            m_builder.AddEdge(*block, end.computed);
        }
        ready = {end.computed};
        if (pass.isBackward && piece > 0)
        {
            end.returned = Shift(pass, ready);
        }
    }
    return end;
}

} // namespace ns3::gradsync
