// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_MEETING_H
#define GRADSYNC_TRAINING_MEETING_H

#include "ns3/pipeline-schedule.h"
#include "ns3/plan-shelf.h"
#include "ns3/training-workload.h"
#include "ns3/workload-builder.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// What the ranks of a workload have in common: groups, and communications that several come to.
class TrainingMeeting
{
  public:
    TrainingMeeting(WorkloadBuilder& builder, PlanShelf& shelf);

    /// The n-th collective of a rank with its group: that of the others, too.
    CommunicationId Join(const std::vector<uint32_t>& ranks,
                         uint32_t stream,
                         uint32_t rank,
                         const BlockCollective& collective,
                         const std::string& label);

    /// Likewise; of each rank to the next one of its group, so many bytes.
    CommunicationId Shift(const std::vector<uint32_t>& ranks,
                          uint32_t stream,
                          uint32_t rank,
                          uint64_t bytes,
                          const std::string& label);

    /// The levels of the network that ranks fall into.
    const WorkerGroups& FindGroups(const std::vector<uint32_t>& ranks);

    /// Of a microbatch, counted over all iterations, into a part of the model, from the one before
    /// it or the one behind.
    CommunicationId Send(uint32_t from,
                         uint32_t to,
                         PassKind kind,
                         uint32_t microbatch,
                         uint32_t part,
                         uint64_t bytes);

  private:
    /// \param makePlan of what nobody has come to yet
    template <typename F>
    CommunicationId Meet(const std::vector<uint32_t>& ranks,
                         uint32_t stream,
                         uint32_t rank,
                         const std::string& label,
                         const F& makePlan);

    WorkloadBuilder& m_builder;
    PlanShelf& m_shelf;
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> m_joined; //!< group, stream, rank
    std::map<std::pair<uint32_t, uint32_t>, std::vector<CommunicationId>> m_collectives;
    std::map<std::vector<uint32_t>, WorkerGroups> m_levels;
    std::map<std::tuple<uint32_t, uint32_t, PassKind, uint32_t, uint32_t>, CommunicationId>
        m_messages;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_MEETING_H
