// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/bandwidth-bound.h"
#include "ns3/codec-profile.h"
#include "ns3/job-planner.h"
#include "ns3/message-protocol.h"
#include "ns3/plan-statistics.h"
#include "ns3/planning-translation.h"
#include "ns3/program-commands.h"
#include "ns3/scenario-checker.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-runner.h"
#include "ns3/scenario-warnings.h"
#include "ns3/shown-text.h"
#include "ns3/training-job.h"
#include "ns3/training-planner.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <ostream>
#include <set>
#include <string>

namespace ns3::gradsync
{

namespace
{

/// Above this many transfers the fluid ICT takes longer than anyone wants to wait for a
/// description.
constexpr uint64_t MAX_FLUID_TRANSFERS = 20'000;

void
DescribeTopology(const Topology& topology, std::ostream& out)
{
    std::map<std::string, uint32_t> nodes;
    for (const auto& node : topology.GetNodes())
    {
        ++nodes[std::string(ToString(node.kind))];
    }
    std::map<std::string, uint32_t> links;
    for (const auto& link : topology.GetLinks())
    {
        ++links[fmt::format("{} {:g} Gb/s",
                            ToString(link.kind),
                            static_cast<double>(link.rate.GetBitRate()) / 1e9)];
    }
    std::string text =
        fmt::format("  topology: {} endpoints; nodes", topology.GetEndpoints().size());
    for (const auto& [kind, count] : nodes)
    {
        text += fmt::format(" {} {},", count, kind);
    }
    text.back() = ';';
    text += " links";
    for (const auto& [kind, count] : links)
    {
        text += fmt::format(" {} {},", count, kind);
    }
    text.pop_back();
    out << text << '\n';
}

/// Where the times of codecs come from, so that an estimate is seen as one. \param profile may be
/// null
void
DescribeCodecTimes(const CodecProfile* profile, std::ostream& out)
{
    if (profile != nullptr)
    {
        out << fmt::format("    times of codecs: {} {} ({})\n",
                           profile->IsEstimate() ? "estimated, not measured:" : "measured:",
                           ShowText(profile->device),
                           ShowText(profile->name));
    }
}

void
DescribeJob(const JobSpec& job,
            const PlannedJob& planned,
            const BandwidthBound& bound,
            double leastSeconds,
            std::ostream& out)
{
    const auto statistics = ComputePlanStatistics(*planned.plan, planned.rankGroups);
    out << fmt::format(
        "  {}: {}, {} workers, {} dedicated servers, gradient {} bytes, {} iterations\n",
        ShowText(job.name),
        ShowText(GetSchemeText(job, planned)),
        job.workers,
        job.endpointOf.size() - job.workers,
        job.gradientBytes,
        job.iterations);
    for (const auto& level : planned.workerGroups.levels)
    {
        out << fmt::format("    level {}: {} groups, oversubscription {:g}\n",
                           ShowText(level.name),
                           level.groupCount,
                           level.oversubscription);
    }
    out << fmt::format(
        "    plan: {} transfers, {} bytes; one rank sends at most {}, receives at most {}; "
        "longest chain {} transfers\n",
        statistics.transferCount,
        statistics.totalBytes,
        statistics.GetPeakSentBytes(),
        statistics.GetPeakReceivedBytes(),
        statistics.GetLongestChain());
    for (const auto& crossing : statistics.crossings)
    {
        out << fmt::format("    across {}s: {} bytes in {} transfers\n",
                           crossing.level,
                           crossing.bytes,
                           crossing.transfers);
    }
    const bool hasCodec = job.codec || std::ranges::any_of(job.tensors, [](const auto& tensor) {
                              return tensor.codec.has_value();
                          });
    DescribeCodecTimes(hasCodec ? job.profile.get() : nullptr, out);
    if (planned.nccl && planned.nccl->choice)
    {
        for (const auto& line : ListNcclPredictions(*planned.nccl->choice))
        {
            out << fmt::format("    {}\n", line);
        }
    }
    if (planned.plan->GetProtocol() != MessageProtocol())
    {
        out << fmt::format("    protocol: {}\n", DescribeProtocol(planned.plan->GetProtocol()));
    }
    if (!planned.plan->HasAggregations()) // which takes links that nobody knows yet
    {
        out << fmt::format("    bandwidth bound: {:.6f} ms, by the link {} -> {}\n",
                           bound.seconds * 1e3,
                           ShowText(bound.from),
                           ShowText(bound.to));
    }
    if (planned.plan->IsCompressed())
    {
        return; // the bound of any other is one of dense gradients
    }
    out << fmt::format("    bound of any {}: {:.6f} ms\n",
                       planned.plan->GetCollective().GetName(),
                       leastSeconds * 1e3);
}

/// Uses of plans that are called alike.
struct CommunicationCount
{
    uint64_t count{0};
    uint64_t bytes{0}; //!< that their ranks send
};

/// Of a worker and all servers, one way.
uint64_t
CountMessages(const AsynchronousJob& job)
{
    const auto shards = ListShardBytes(job);
    const auto empty = std::ranges::count(shards, uint64_t{0});
    const auto others = shards.size() - static_cast<uint64_t>(empty);
    return others - (job.servers == 0 && shards.front() > 0 ? 1 : 0);
}

void
DescribeTrainingJob(const TrainingJobSpec& job, const PlannedTraining& planned, std::ostream& out)
{
    const auto& workload = *planned.workload;
    std::map<std::string, CommunicationCount> counts;
    for (CommunicationId id = 0; id < workload.GetCommunications().size(); ++id)
    {
        const auto& label = workload.GetLabel(workload.GetCommunications()[id].label);
        auto& count = counts[fmt::format("{} of {} ranks", label, workload.GetGroup(id).size())];
        ++count.count;
        count.bytes += CountTransferBytes(*workload.GetPlan(id));
    }
    out << fmt::format("  {}: trains on {} ranks, {} iterations, {} tasks; a rank computes {:.6f} "
                       "ms at most\n",
                       ShowText(job.name),
                       workload.GetRankCount(),
                       job.iterations,
                       workload.GetTasks().size(),
                       static_cast<double>(GetLeastPicoseconds(workload)) / 1e9);
    if (job.protocol)
    {
        out << fmt::format("    protocol: {}\n", DescribeProtocol(*job.protocol));
    }
    if (planned.choice)
    {
        out << fmt::format("    chosen: {}, estimated {:.6f} ms\n",
                           planned.choice->text,
                           planned.choice->seconds * 1e3);
    }
    std::set<std::string> profiles;
    for (const auto& rule : GetCodecs(job))
    {
        const auto* const profile = rule.codec ? rule.codec->profile.get() : nullptr;
        if (profile != nullptr && profiles.insert(profile->name).second)
        {
            DescribeCodecTimes(profile, out);
        }
    }
    for (const auto& [what, count] : counts)
    {
        out << fmt::format("    {} x {}: {} bytes\n", count.count, ShowText(what), count.bytes);
    }
}

void
DescribeAsynchronousJob(const AsynchronousJob& job, std::ostream& out)
{
    const auto shards = ListShardBytes(job);
    out << fmt::format(
        "  {}: asynchronous, {} workers, {} dedicated servers, gradient {} bytes in {} "
        "shards\n",
        ShowText(job.name),
        job.workers,
        job.servers,
        job.bytes,
        shards.size());
    out << fmt::format("    pushes every {}, fetches every {} steps{}; bound {}\n",
                       job.pushEvery,
                       job.fetchEvery,
                       job.overlapsFetches ? ", beside computations" : "",
                       job.bound ? std::to_string(*job.bound) : "none");
    const auto own = job.servers == 0 ? shards.front() : 0;
    out << fmt::format("    a push or a fetch: {} messages, {} bytes{}\n",
                       CountMessages(job),
                       job.bytes - own,
                       own > 0 ? " of the first worker" : "");
    for (size_t i = 0; i < job.stages.size(); ++i)
    {
        auto alone = job;
        alone.stages = {job.stages[i]};
        out << fmt::format("    stage {}: {} workers, {} steps of each; {} bytes in pushes and the "
                           "fetches that are due\n",
                           i,
                           job.stages[i].workers,
                           job.stages[i].steps,
                           CountTransferBytes(alone));
    }
}

/// Transfers of an iteration.
uint64_t
CountTransfers(const Workload& workload)
{
    uint64_t transfers = 0;
    for (CommunicationId id = 0; id < workload.GetCommunications().size(); ++id)
    {
        transfers += workload.GetPlan(id)->GetOperations().size();
    }
    return transfers;
}

void
DescribeFluid(ResolvedRun run, uint64_t transfers, std::ostream& out)
{
    if (transfers > MAX_FLUID_TRANSFERS)
    {
        out << fmt::format(
            "  fluid ICT: not computed for {} transfers; run it with --set transport=fluid\n",
            transfers);
        return;
    }
    static const Json fluid = Json{{"kind", "fluid"}};
    run.transport = ReadTransport(JsonValue(fluid, "", ""));
    run.sampleEvery = Time(0); // it has no links to sample
    for (auto& fault : run.faults)
    {
        fault.degraded.loss = {}; // it has no packets that could be lost
    }
    run.recordMessages = false;
    for (auto& job : run.jobs)
    {
        job.iterations = 1;
    }
    for (auto& training : run.trainings)
    {
        training.iterations = 1;
    }
    for (auto& spec : run.asynchronous)
    {
        spec.job.stages.resize(1);
        spec.job.stages[0].steps = 1;
    }
    const auto result = RunScenario(run);
    for (const auto& record : result.iterations)
    {
        out << fmt::format("  fluid ICT of {}: {:.6f} ms\n",
                           ShowText(result.jobs[record.job].name),
                           static_cast<double>((record.end - record.start).GetPicoSeconds()) / 1e9);
    }
}

} // namespace

int
DescribeCommand(const std::filesystem::path& file,
                const std::vector<ScenarioOverride>& overrides,
                std::ostream& out,
                std::ostream& err)
{
    const auto scenario = ReadScenario(file, overrides);
    // All runs are checked before the first is described: bad input prints nothing but its error.
    ScenarioWarnings warnings;
    CheckScenario(scenario, false, [&warnings](const ResolvedRun& run, const RunCheck& check) {
        warnings.Add(run);
        warnings.Add(check);
    });
    warnings.Print(err);
    out << fmt::format("{}\n{} run{}\n",
                       ShowText(scenario.title),
                       scenario.runCount,
                       scenario.runCount == 1 ? "" : "s");
    for (uint32_t index = 0; index < scenario.runCount; ++index)
    {
        const auto run = ResolveRun(scenario, index);
        const auto point = DescribePoint(scenario, run.point);
        out << fmt::format("\nrun {}{}\n", index, point.empty() ? "" : ": " + point);
        DescribeTopology(*run.topology, out);
        out << fmt::format("  transport: {}\n", run.transport.kind);
        const RoutingTables routes(*run.topology);
        uint64_t transfers = 0;
        bool aggregates = false;
        for (const auto& job : run.jobs)
        {
            const auto planned =
                TranslatePlanningErrors([&job, &run] { return PlanJob(job, *run.topology); });
            transfers += planned.plan->GetOperations().size();
            aggregates |= planned.plan->HasAggregations();
            DescribeJob(job,
                        planned,
                        ComputeBandwidthBound(*planned.plan, job.endpointOf, *run.topology, routes),
                        ComputeCollectiveBound(*planned.plan, job.endpointOf, *run.topology),
                        out);
        }
        for (const auto& training : run.trainings)
        {
            const auto planned = TranslatePlanningErrors(
                [&training, &run] { return PlanTraining(training, *run.topology); });
            transfers += CountTransfers(*planned.workload);
            aggregates |= planned.workload->HasAggregations();
            DescribeTrainingJob(training, planned, out);
        }
        for (const auto& spec : run.asynchronous)
        {
            transfers += uint64_t{2} * spec.job.stages[0].workers * CountMessages(spec.job);
            DescribeAsynchronousJob(spec.job, out);
        }
        if (!aggregates) // which it does not know
        {
            DescribeFluid(run, transfers, out);
        }
    }
    return exit_code::OK;
}

} // namespace ns3::gradsync
