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
#include <variant>

namespace ns3::gradsync
{

namespace
{

/// Of a collective that schemes are tried with.
constexpr uint64_t PROBE_BYTES = 1 << 20;

/// That overlap, in estimates: as many as show what the next one waits for.
constexpr uint32_t TUNED_ITERATIONS = 3;

/// Lowers the collectives of one job.
class WorkloadMaker
{
  public:
    WorkloadMaker(const TrainingJobSpec& job, const Topology& topology)
        : m_job(job),
          m_topology(topology),
          m_groups(topology),
          m_shelf([this](std::span<const uint32_t> ranks) {
              std::vector<uint32_t> endpoints;
              endpoints.reserve(ranks.size());
              for (const auto rank : ranks)
              {
                  endpoints.push_back(m_job.endpointOf.at(rank));
              }
              return m_groups.Find(endpoints);
          })
    {
        m_shelf.SetLevels(m_groups.Find(job.endpointOf));
        if (job.protocol)
        {
            m_shelf.SetProtocol(*job.protocol, FindServers(topology, job.endpointOf));
        }
    }

    Workload operator()(const TrainingSpec& spec)
    {
        if (!TrainingTuner::IsOpen(m_job, spec))
        {
            return Make(spec, m_job.iterations);
        }
        TrainingTuner tuner(m_job, m_topology, m_shelf, [this](const TrainingSpec& candidate) {
            return Make(candidate, std::min(m_job.iterations, TUNED_ITERATIONS));
        });
        m_choice = tuner.Tune(spec);
        return Make(m_choice->spec, m_job.iterations);
    }

    Workload operator()(const TraceJobSpec& spec)
    {
        return MakeTraceWorkload(spec, m_shelf);
    }

    std::optional<TrainingChoice> TakeChoice()
    {
        return std::move(m_choice);
    }

  private:
    /// \param iterations of the job, where nothing is between them
    Workload Make(const TrainingSpec& spec, uint32_t iterations)
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
        whole.iterations = m_job.hasBarrier ? 1 : iterations;
        return MakeTrainingWorkload(whole, m_shelf);
    }

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
    const Topology& m_topology;
    GroupFinder m_groups;
    PlanShelf m_shelf;
    std::optional<TrainingChoice> m_choice;
};

/// [rank] of a spec that was planned
std::vector<uint32_t>
CountMicrobatches(const TrainingSpec& spec)
{
    const RankLayout layout(GetDegrees(spec));
    std::vector<uint32_t> stages;
    for (uint32_t stage = 0; stage < spec.pipeline.stages; ++stage)
    {
        stages.push_back(CountInFlight(ListPasses(spec.schedule, spec.pipeline, stage)));
    }
    std::vector<uint32_t> ranks;
    for (uint32_t rank = 0; rank < layout.GetRankCount(); ++rank)
    {
        ranks.push_back(stages[layout.GetStage(rank)]);
    }
    return ranks;
}

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
        WorkloadMaker make(job, topology);
        planned.workload = std::make_shared<const Workload>(std::visit(make, job.spec));
        planned.choice = make.TakeChoice();
        if (job.transmission.reliableShare < 1.0 && planned.workload->HasAggregations())
        {
            throw PlanningError(job.name + ": dgt", LOST_SUMMANDS);
        }
        if (const auto* spec = std::get_if<TrainingSpec>(&job.spec))
        {
            planned.inFlight = CountMicrobatches(*spec);
        }
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
    catch (const CodecScopeError& error)
    {
        throw PlanningError(job.name + ": codec.between", error.what());
    }
    catch (const ProfileError& error)
    {
        throw PlanningError(job.name + ": profile", error.what());
    }
}

PlannedTraining
PlanTrainingSurvivors(TrainingJobSpec job,
                      const Topology& topology,
                      std::span<const uint32_t> ranks)
{
    auto* spec = std::get_if<TrainingSpec>(&job.spec);
    if (spec == nullptr || spec->data != job.endpointOf.size() ||
        spec->dataParallelism == DataParallelism::ShardedOptimizer ||
        spec->dataParallelism == DataParallelism::FullySharded)
    {
        throw PlanningError(job.name + ": training",
                            "a part of the model, or of its optimizer, is lost with a rank; only "
                            "data-parallel ranks without ZeRO have all of it");
    }
    spec->data = static_cast<uint32_t>(ranks.size());
    std::vector<uint32_t> endpoints;
    for (const auto rank : ranks)
    {
        endpoints.push_back(job.endpointOf.at(rank));
    }
    job.endpointOf = std::move(endpoints);
    return PlanTraining(job, topology);
}

PlannedTraining
PlanTrainingFallback(TrainingJobSpec job, const Topology& topology, std::span<const uint32_t> ranks)
{
    const auto replace = [&job](SchemeChoice& choice) {
        const auto* name = choice.parameters.Find<std::string>("fallback");
        if (name != nullptr && *name == "none")
        {
            throw PlanningError(job.name + ": training",
                                fmt::format("{} has no fallback", choice.scheme->name));
        }
        if (name != nullptr)
        {
            const auto* scheme = FindScheme(*name);
            choice = {scheme, MakeDefaultParameters(*scheme)};
        }
    };
    if (auto* spec = std::get_if<TrainingSpec>(&job.spec))
    {
        replace(spec->gradientScheme);
        replace(spec->outerScheme);
        for (auto& block : spec->blocks)
        {
            for (auto* list : {&block.beforeForward,
                               &block.afterForward,
                               &block.beforeBackward,
                               &block.afterBackward})
            {
                std::ranges::for_each(*list, [&](auto& of) { replace(of.scheme); });
            }
        }
    }
    return ranks.size() == job.endpointOf.size()
               ? PlanTraining(job, topology)
               : PlanTrainingSurvivors(std::move(job), topology, ranks);
}

std::span<const GradientCodecRule>
GetCodecs(const TrainingJobSpec& job)
{
    const auto* spec = std::get_if<TrainingSpec>(&job.spec);
    return spec != nullptr ? std::span<const GradientCodecRule>(spec->codecs)
                           : std::span<const GradientCodecRule>();
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
