// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WORKLOAD_BUILDER_H
#define GRADSYNC_WORKLOAD_BUILDER_H

#include "ns3/workload.h"

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// Thrown for a workload that cannot be; the text is meant for the user.
class WorkloadError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/// Collects tasks and edges, then freezes them into a Workload.
class WorkloadBuilder
{
  public:
    static constexpr uint32_t MAX_ITERATIONS = UINT16_MAX;

    WorkloadBuilder(uint32_t ranks, std::vector<StreamSpec> streams);

    /// Ranks in the order in which plans number them. \returns the number of the group, the same
    /// for the same ranks
    uint32_t AddGroup(std::vector<uint32_t> ranks);

    /// Tasks that are added from now on are of this one, from 0, below MAX_ITERATIONS.
    void SetIteration(uint32_t iteration);

    TaskId AddCompute(uint32_t rank,
                      uint32_t stream,
                      uint64_t picoseconds,
                      const std::string& label,
                      int32_t priority = 0);

    /// \param plan its ranks are those of the group, else std::logic_error
    CommunicationId AddCommunication(uint32_t group,
                                     const std::shared_ptr<const Plan>& plan,
                                     const std::string& label);

    /// The part of a rank in a communication.
    TaskId AddPart(uint32_t rank,
                   uint32_t stream,
                   CommunicationId communication,
                   int32_t priority = 0);

    /// `later` begins only when `earlier` is done. Both are of one rank.
    void AddEdge(TaskId earlier, TaskId later);

    /**
     * Freezes the workload; the builder is empty afterwards.
     * \throws WorkloadError when a communication has a rank without a part, or when tasks wait for
     * each other for ever, be it by edges, by streams in program order, or through others
     * \throws std::logic_error when an edge joins tasks of two ranks, a rank is none of a group's,
     * or a communication is on streams where ranks begin alone and on others
     */
    Workload Build();

  private:
    uint32_t AddLabel(const std::string& label);
    const std::string& GetName(const Communication& communication) const;
    TaskId Add(const WorkloadTask& task);
    void PackPrograms();
    void PackSuccessors();
    void PackParts();
    void CheckParts() const;

    Workload m_workload;
    uint32_t m_iteration{0};
    std::vector<std::pair<TaskId, TaskId>> m_edges;
    std::map<std::string, uint32_t> m_labels;
    std::map<std::vector<uint32_t>, uint32_t> m_groups;
    std::map<const Plan*, uint32_t> m_plans;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_WORKLOAD_BUILDER_H
