// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WORKLOAD_ROSTER_H
#define GRADSYNC_WORKLOAD_ROSTER_H

#include "ns3/training-job.h"
#include "ns3/transport.h"
#include "ns3/workload-aggregations.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::gradsync
{

/**
 * Which ranks of a training job are left, what they run, and the groups of the network that
 * aggregate for it: the job's workload, one that survivors have made, or, where no switches
 * aggregate, one that does without.
 */
class WorkloadRoster
{
  public:
    /**
     * \param job outlives the roster
     * \throws std::runtime_error with a text for the user when the network cannot aggregate as it
     * asks, and the job has no other way
     */
    WorkloadRoster(const TrainingJob& job, const Ptr<Transport>& transport);

    /// Of the run in hand.
    const std::shared_ptr<const Workload>& GetWorkload() const
    {
        return m_workload;
    }

    /// [rank of the workload] -> rank of the job, ascending.
    const std::vector<uint32_t>& GetRanks() const
    {
        return m_ranks;
    }

    bool Contains(uint32_t rank) const;

    WorkloadAggregations& GetAggregations()
    {
        return m_aggregations;
    }

    /// Whether all ranks run the job's own workload, without switches.
    bool IsPlain() const;

    /// The job has lost this rank.
    void Drop(uint32_t rank);

    /*
     * What those who are left would run, in place of the workload in hand, until it is taken. Each
     * \throws std::runtime_error with a text for the user when there is nothing.
     */
    /// After a rank was dropped.
    std::shared_ptr<const Workload> PlanSurvivors();
    /// Without switches, until AskForSwitches finds some.
    std::shared_ptr<const Workload> PlanFallback();

    /// Goes over to what was planned. Nothing of the workload before is under way any more.
    /// \throws std::runtime_error as the constructor
    void Take(std::shared_ptr<const Workload> workload);

    /// After a run that did without. \returns whether the network aggregates as the workload asks
    bool AskForSwitches();

  private:
    void OpenAggregations();
    void DoWithout(const AggregationDenied& denied);

    const TrainingJob& m_job;
    Ptr<Transport> m_transport;
    std::vector<uint32_t> m_ranks;
    std::shared_ptr<const Workload> m_workload;
    /// That of the same ranks which switches aggregate for; null: it is the one in hand.
    std::shared_ptr<const Workload> m_aggregating;
    WorkloadAggregations m_aggregations;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_WORKLOAD_ROSTER_H
