// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/channel-timing.h"

#include <algorithm>

namespace ns3::gradsync
{

namespace
{

constexpr TaskId NO_TASK = UINT32_MAX;

/// Whether a task of it begins only when the one before it is done.
bool
IsSerial(const StreamSpec& stream)
{
    return stream.policy == StreamPolicy::Program && stream.creditBytes == 0;
}

} // namespace

ChannelTiming::ChannelTiming(const Workload& workload)
    : m_workload(workload),
      m_places(workload.GetCommunications().size(), BEFORE_ALL),
      m_following(workload.GetTasks().size(), NO_TASK),
      m_labels(workload.GetTasks().size()),
      m_waiting(workload.GetTasks().size())
{
    const auto streams = workload.GetStreams();
    for (uint32_t rank = 0; rank < workload.GetRankCount(); ++rank)
    {
        for (uint32_t stream = 0; stream < streams.size(); ++stream)
        {
            const auto program = workload.GetProgram(rank, stream);
            for (size_t i = 0; IsSerial(streams[stream]) && i + 1 < program.size(); ++i)
            {
                m_following[program[i]] = program[i + 1];
            }
        }
    }
}

template <typename VISITOR>
void
ChannelTiming::VisitSuccessors(TaskId id, const VISITOR& visit) const
{
    for (const auto later : m_workload.GetSuccessors(id))
    {
        visit(later);
    }
    if (m_following[id] != NO_TASK)
    {
        visit(m_following[id]);
    }
}

/// Those of the channel in hand that a rank has on a stream.
std::vector<CommunicationId>
ChannelTiming::ListUses(uint32_t rank, uint32_t stream) const
{
    std::vector<CommunicationId> uses;
    for (const auto task : m_workload.GetProgram(rank, stream))
    {
        if (GetPlace(task) != BEFORE_ALL)
        {
            uses.push_back(m_workload.GetTasks()[task].communication);
        }
    }
    return uses;
}

std::vector<ChannelUse>
ChannelTiming::Find(std::span<const CommunicationId> channel)
{
    for (const auto id : channel)
    {
        m_places[id] = 0;
    }
    auto uses = FindMarked(channel);
    for (const auto id : channel)
    {
        m_places[id] = BEFORE_ALL;
    }
    return uses;
}

std::vector<ChannelUse>
ChannelTiming::FindMarked(std::span<const CommunicationId> channel)
{
    const auto stream = m_workload.GetTasks()[m_workload.GetParts(channel.front()).front()].stream;
    const auto group = m_workload.GetGroup(channel.front());
    const auto order = ListUses(group.front(), stream);
    if (!IsSerial(m_workload.GetStreams()[stream]) || order.size() != channel.size())
    {
        return {};
    }
    std::vector<ChannelUse> uses;
    for (const auto id : order)
    {
        m_places[id] = static_cast<int64_t>(uses.size());
        uses.push_back({id, true, UINT64_MAX});
    }
    uses.back().isFollowedAtOnce = false;
    for (const auto rank : group)
    {
        if (ListUses(rank, stream) != order || !OrderTasks(rank))
        {
            return {};
        }
        LabelForward(uses);
        LabelBackward(uses);
    }
    return uses;
}

/// \returns false where tasks wait for each other
bool
ChannelTiming::OrderTasks(uint32_t rank)
{
    std::vector<TaskId> tasks;
    for (uint32_t stream = 0; stream < m_workload.GetStreams().size(); ++stream)
    {
        const auto program = m_workload.GetProgram(rank, stream);
        tasks.insert(tasks.end(), program.begin(), program.end());
    }
    for (const auto task : tasks)
    {
        m_waiting[task] = 0;
        m_labels[task] = {};
    }
    for (const auto task : tasks)
    {
        VisitSuccessors(task, [this](TaskId later) { ++m_waiting[later]; });
    }
    m_order.clear();
    std::ranges::copy_if(tasks, std::back_inserter(m_order), [this](TaskId task) {
        return m_waiting[task] == 0;
    });
    for (size_t i = 0; i < m_order.size(); ++i)
    {
        VisitSuccessors(m_order[i], [this](TaskId later) {
            if (--m_waiting[later] == 0)
            {
                m_order.push_back(later);
            }
        });
    }
    return m_order.size() == tasks.size();
}

/// The longest way to a task from the last use before it. No other use is on it: else that would be
/// the last one.
void
ChannelTiming::LabelForward(std::vector<ChannelUse>& uses)
{
    uint64_t untilEnd = 0;
    for (const auto task : m_order)
    {
        const auto place = GetPlace(task);
        auto& own = m_labels[task];
        if (place > 0)
        {
            auto& idle = uses[static_cast<size_t>(place) - 1].idlePicoseconds;
            idle = std::min(idle, own.since);
        }
        const auto last = place == BEFORE_ALL ? own.last : place;
        const auto since =
            place == BEFORE_ALL ? own.since + m_workload.GetTasks()[task].picoseconds : 0;
        VisitSuccessors(task, [&](TaskId id) {
            auto& later = m_labels[id];
            later.since = last > later.last    ? since
                          : last == later.last ? std::max(since, later.since)
                                               : later.since;
            later.last = std::max(last, later.last);
        });
        untilEnd = last + 1 == std::ssize(uses) ? std::max(untilEnd, since) : untilEnd;
    }
    uses.back().idlePicoseconds = std::min(uses.back().idlePicoseconds, untilEnd);
}

/// A use follows another at once where all that it waits for is also waited for by that other.
void
ChannelTiming::LabelBackward(std::vector<ChannelUse>& uses)
{
    for (auto i = m_order.size(); i-- > 0;)
    {
        const auto task = m_order[i];
        auto& own = m_labels[task];
        const auto getNext = [this](TaskId id) {
            const auto place = GetPlace(id);
            return place == BEFORE_ALL ? m_labels[id].next : place;
        };
        VisitSuccessors(task, [&](TaskId later) { own.next = std::min(own.next, getNext(later)); });
        const auto done = getNext(task); // when this use is, the task is done
        VisitSuccessors(task, [&](TaskId later) {
            const auto place = GetPlace(later);
            if (place > 0 && done >= place)
            {
                uses[static_cast<size_t>(place) - 1].isFollowedAtOnce = false;
            }
        });
    }
}

} // namespace ns3::gradsync
