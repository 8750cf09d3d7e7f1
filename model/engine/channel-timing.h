// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CHANNEL_TIMING_H
#define GRADSYNC_CHANNEL_TIMING_H

#include "ns3/workload.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// A communication of a channel (WorkloadChannel), and what is certain of the time after it.
struct ChannelUse
{
    CommunicationId id;
    /// Each rank begins the next one at the instant at which its part of this one is done.
    bool isFollowedAtOnce{false};
    /// Else no rank begins the next one, or ends the last iteration of the workload, before so long
    /// after its part of this one.
    uint64_t idlePicoseconds{0};
};

/**
 * What a workload says beforehand of when the communications of a channel follow each other: what a
 * rank computes between them takes its time at least.
 */
class ChannelTiming
{
  public:
    /// \param workload outlives this
    explicit ChannelTiming(const Workload& workload);

    /**
     * In the order in which all members begin them.
     * \param channel communications of one group
     * \returns nothing where they do not begin one after the other, in one order, at every member
     */
    std::vector<ChannelUse> Find(std::span<const CommunicationId> channel);

  private:
    static constexpr int64_t BEFORE_ALL = -1;

    /// Of a task: the last use of the channel before it, and how long it begins after that at
    /// least; the first use behind it.
    struct Label
    {
        int64_t last{BEFORE_ALL};
        uint64_t since{0};
        int64_t next{INT64_MAX};
    };

    /// Of a channel whose communications have a place.
    std::vector<ChannelUse> FindMarked(std::span<const CommunicationId> channel);
    std::vector<CommunicationId> ListUses(uint32_t rank, uint32_t stream) const;
    bool OrderTasks(uint32_t rank);
    void LabelForward(std::vector<ChannelUse>& uses);
    void LabelBackward(std::vector<ChannelUse>& uses);

    template <typename VISITOR>
    void VisitSuccessors(TaskId id, const VISITOR& visit) const;

    int64_t GetPlace(TaskId id) const
    {
        const auto& task = m_workload.GetTasks()[id];
        return task.IsCompute() ? BEFORE_ALL : m_places[task.communication];
    }

    const Workload& m_workload;
    std::vector<int64_t> m_places;   //!< [communication] of the channel in hand; else BEFORE_ALL
    std::vector<TaskId> m_following; //!< [task] that begins when this one is done, on its stream
    std::vector<Label> m_labels;     //!< [task]
    std::vector<uint32_t> m_waiting; //!< [task]
    std::vector<TaskId> m_order;     //!< of a rank: each task after all that it waits for
};

} // namespace ns3::gradsync

#endif // GRADSYNC_CHANNEL_TIMING_H
