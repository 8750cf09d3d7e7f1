// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-meeting.h"

namespace ns3::gradsync
{

TrainingMeeting::TrainingMeeting(WorkloadBuilder& builder, PlanShelf& shelf)
    : m_builder(builder),
      m_shelf(shelf)
{
}

template <typename F>
CommunicationId
TrainingMeeting::Meet(const std::vector<uint32_t>& ranks,
                      uint32_t stream,
                      uint32_t rank,
                      const std::string& label,
                      const F& makePlan)
{
    const auto group = m_builder.AddGroup(ranks);
    const auto count = m_joined[{group, stream, rank}]++;
    auto& known = m_collectives[{group, stream}];
    if (count == known.size())
    {
        known.push_back(m_builder.AddCommunication(group, makePlan(), label));
    }
    return known[count];
}

CommunicationId
TrainingMeeting::Join(const std::vector<uint32_t>& ranks,
                      uint32_t stream,
                      uint32_t rank,
                      const BlockCollective& collective,
                      const std::string& label)
{
    return Meet(ranks, stream, rank, label, [&] {
        return m_shelf.GetCollective(collective.scheme, ranks, collective.bytes, collective.codec);
    });
}

CommunicationId
TrainingMeeting::Shift(const std::vector<uint32_t>& ranks,
                       uint32_t stream,
                       uint32_t rank,
                       uint64_t bytes,
                       const std::string& label)
{
    return Meet(ranks, stream, rank, label, [&] { return m_shelf.GetShift(ranks, bytes); });
}

const WorkerGroups&
TrainingMeeting::FindGroups(const std::vector<uint32_t>& ranks)
{
    const auto [found, isNew] = m_levels.try_emplace(ranks);
    if (isNew)
    {
        found->second = m_shelf.FindGroups(ranks);
    }
    return found->second;
}

CommunicationId
TrainingMeeting::Send(uint32_t from,
                      uint32_t to,
                      PassKind kind,
                      uint32_t microbatch,
                      uint32_t part,
                      uint64_t bytes)
{
    const auto [found, isNew] = m_messages.try_emplace({from, to, kind, microbatch, part});
    if (isNew)
    {
        const std::vector<uint32_t> ranks{from, to};
        found->second =
            m_builder.AddCommunication(m_builder.AddGroup(ranks),
                                       m_shelf.GetMessage(ranks, bytes),
                                       kind == PassKind::Forward ? "activations" : "gradients");
    }
    return found->second;
}

} // namespace ns3::gradsync
