// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-planner.h"

#include "ns3/group-finder.h"
#include "ns3/scheme-choice.h"
#include "ns3/workload-builder.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <span>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Of a collective that schemes are tried with.
constexpr uint64_t PROBE_BYTES = 1 << 20;

/// Lowers the collectives of one job.
class WorkloadMaker
{
  public:
    WorkloadMaker(const TrainingJobSpec& job, const Topology& topology)
        : m_job(job),
          m_shelf([&job, &topology](std::span<const uint32_t> ranks) {
              std::vector<uint32_t> endpoints;
              endpoints.reserve(ranks.size());
              for (const auto rank : ranks)
              {
                  endpoints.push_back(job.endpointOf.at(rank));
              }
              return ComputeWorkerGroups(topology, endpoints);
          })
    {
    }

    Workload operator()(const TrainingSpec& spec)
    {
        const bool sums = spec.dataParallelism == DataParallelism::AllReduce;
        const auto replicas = spec.data * spec.context;
        if (replicas > 1)
        {
            Check(spec.gradientScheme, replicas, sums ? "all-reduce" : "reduce-scatter");
            if (!sums)
            {
                Check(spec.parameterScheme, replicas, "all-gather");
            }
            if (spec.dataParallelism == DataParallelism::Hierarchical)
            {
                Check(spec.outerScheme, spec.data, "all-reduce");
            }
        }
        auto whole = spec;
        whole.iterations = m_job.hasBarrier ? 1 : m_job.iterations;
        return MakeTrainingWorkload(whole, m_shelf);
    }

    Workload operator()(const FullyShardedSpec& spec)
    {
        Check(spec.gatherScheme, spec.ranks, "all-gather");
        Check(spec.reduceScheme, spec.ranks, "reduce-scatter");
        return MakeFullyShardedWorkload(spec, m_shelf);
    }

  private:
    /// That a scheme makes what its place asks for.
    void Check(const SchemeChoice& choice, uint32_t ranks, const std::string& collective)
    {
        if (!choice.scheme->build)
        {
            throw WorkloadError(fmt::format("the scheme {} is none for the collectives of training",
                                            choice.scheme->name));
        }
        if (ranks < 2 || ranks > m_job.endpointOf.size())
        {
            return; // exchanges nothing, or is refused with the rest of the spec
        }
        std::vector<uint32_t> group(ranks);
        std::iota(group.begin(), group.end(), 0);
        const auto& made = m_shelf.GetCollective(choice, group, PROBE_BYTES)->GetCollective();
        if (made.GetName() != collective)
        {
            throw WorkloadError(fmt::format("the scheme {} makes {}, expected one of {}",
                                            choice.scheme->name,
                                            made.GetTitle(),
                                            collective));
        }
    }

    const TrainingJobSpec& m_job;
    PlanShelf m_shelf;
};

} // namespace

PlannedTraining
PlanTraining(const TrainingJobSpec& job, const Topology& topology)
{
    try
    {
        PlannedTraining planned;
        for (const auto& level : ComputeWorkerGroups(topology, job.endpointOf).levels)
        {
            planned.oversubscription = std::max(planned.oversubscription, level.oversubscription);
        }
        planned.workload =
            std::make_shared<const Workload>(std::visit(WorkloadMaker(job, topology), job.spec));
        return planned;
    }
    catch (const WorkloadError& error)
    {
        throw PlanningError(job.name + ": training", error.what());
    }
    catch (const SchemeError& error)
    {
        throw PlanningError(job.name + ": training", error.what());
    }
}

uint64_t
GetLeastPicoseconds(const Workload& workload)
{
    std::vector<uint64_t> computed(workload.GetRankCount() * workload.GetStreams().size(), 0);
    for (const auto& task : workload.GetTasks())
    {
        if (task.IsCompute())
        {
            computed[task.rank * workload.GetStreams().size() + task.stream] += task.picoseconds;
        }
    }
    return computed.empty() ? 0
                            : *std::ranges::max_element(computed) / workload.GetIterationCount();
}

} // namespace ns3::gradsync
