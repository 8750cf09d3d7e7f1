// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/atomic-file.h"
#include "ns3/chakra-export.h"
#include "ns3/goal-writer.h"
#include "ns3/job-planner.h"
#include "ns3/nearest-name.h"
#include "ns3/plan-printer.h"
#include "ns3/plan-statistics.h"
#include "ns3/plan-verifier.h"
#include "ns3/planning-translation.h"
#include "ns3/program-commands.h"
#include "ns3/scenario-error.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-runner.h"
#include "ns3/shown-text.h"
#include "ns3/space-time-diagram.h"
#include "ns3/training-planner.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <ostream>
#include <string>

namespace ns3::gradsync
{

namespace
{

/// A diagram of more transfers is a black surface, and takes a browser minutes.
constexpr size_t MAX_DRAWN_TRANSFERS = 20'000;
constexpr size_t MAX_TABLE_ROWS = 1'000;

const JobSpec&
FindJob(const ResolvedRun& run, const std::string& name)
{
    std::vector<std::string> names;
    for (const auto& job : run.jobs)
    {
        if (name.empty() || job.name == name)
        {
            return job;
        }
        names.push_back(job.name);
    }
    for (const auto& training : run.trainings)
    {
        if (name.empty() || training.name == name)
        {
            throw ScenarioError("--job",
                                fmt::format("\"{}\" trains: it has a plan for each of its "
                                            "collectives, not one",
                                            training.name));
        }
    }
    for (const auto& spec : run.asynchronous)
    {
        if (name.empty() || spec.job.name == name)
        {
            throw ScenarioError("--job",
                                fmt::format("\"{}\" is asynchronous: each push and fetch has a "
                                            "plan of its own",
                                            spec.job.name));
        }
    }
    throw ScenarioError(
        "--job",
        fmt::format("found \"{}\"{} (jobs: {})", name, SuggestName(name, names), JoinNames(names)));
}

void
PrintSummary(const JobSpec& job, const PlannedJob& planned, std::ostream& out)
{
    const auto statistics = ComputePlanStatistics(*planned.plan, planned.rankGroups);
    out << fmt::format("{}: {}, {} workers, {} dedicated servers, {} chunks of {} bytes in all\n",
                       ShowText(job.name),
                       ShowText(GetSchemeText(job, planned)),
                       planned.plan->GetWorkerCount(),
                       planned.plan->GetRankCount() - planned.plan->GetWorkerCount(),
                       planned.plan->GetLayout().GetChunkCount(),
                       planned.plan->GetLayout().GetTotalBytes());
    out << fmt::format(
        "{} transfers of {} bytes, {} moves within ranks, {} joins; longest chain {}\n",
        statistics.transferCount,
        statistics.totalBytes,
        statistics.localCount,
        statistics.joinCount,
        statistics.GetLongestChain());
    for (const auto& crossing : statistics.crossings)
    {
        out << fmt::format("across {}s: {} bytes in {} transfers\n",
                           crossing.level,
                           crossing.bytes,
                           crossing.transfers);
    }
}

/// One iteration of one job on the fluid transport, alone on the network.
void
Draw(ResolvedRun run, const JobSpec& job, const std::filesystem::path& file)
{
    static const Json fluid = Json{{"kind", "fluid"}};
    run.transport = ReadTransport(JsonValue(fluid, "", ""));
    run.recordMessages = true;
    run.recordLinks = false;
    run.sampleEvery = Time(0); // there are no links to sample
    run.jobs = {job};
    run.trainings.clear();
    run.asynchronous.clear();
    run.jobs[0].iterations = 1;
    run.jobs[0].start = Time(0);
    run.jobs[0].compute = Time(0);
    const auto result = RunScenario(run);
    if (!result.summary.finished)
    {
        throw ScenarioError("--draw", result.summary.failure);
    }
    AtomicFile drawing(file);
    DrawSpaceTime(fmt::format("{}, {} workers, {} bytes: {:.6g} ms on the fluid transport",
                              result.summary.autoChoice.empty()
                                  ? job.scheme.scheme->name
                                  : "auto: " + result.summary.autoChoice,
                              job.workers,
                              job.gradientBytes,
                              static_cast<double>(result.summary.maxIctPs) / 1e9),
                  *result.jobs[0].plan,
                  result.transfers,
                  drawing.GetStream());
    drawing.Commit();
}

void
CheckOutputs(const PlanOptions& options, const Plan& plan)
{
    if (plan.HasAggregations() && !(options.drawing.empty() && options.exported.empty()))
    {
        throw ScenarioError(options.drawing.empty() ? "--export" : "--draw",
                            "neither GOAL, Chakra nor a space-time diagram can say that the "
                            "network adds up, and this plan lets it");
    }
    if (!options.exported.empty() && plan.GetProtocol() != MessageProtocol())
    {
        throw ScenarioError("--export",
                            "neither GOAL nor Chakra can say what a protocol adds to messages: "
                            "simulators that read them have latencies of their own; --set "
                            "job.protocol=none leaves them to these");
    }
    if (!options.drawing.empty() && plan.GetOperations().size() > MAX_DRAWN_TRANSFERS)
    {
        throw ScenarioError("--draw",
                            fmt::format("the plan has {} operations, but a drawing holds at most "
                                        "{}; fewer workers or chunks help",
                                        plan.GetOperations().size(),
                                        MAX_DRAWN_TRANSFERS));
    }
}

bool
IsChakra(const std::filesystem::path& file)
{
    return file.extension() == ".et";
}

void
Export(const Plan& plan, const std::filesystem::path& file, std::ostream* out)
{
    if (IsChakra(file))
    {
        ExportChakraPlan(plan, file.string(), out);
        return;
    }
    AtomicFile goal(file);
    GoalWriter(plan).Write(goal.GetStream());
    goal.Commit();
}

/// The job that trains, where that is the one that is asked for and exported as Chakra traces.
const TrainingJobSpec*
FindExportedTraining(const PlanOptions& options, const ResolvedRun& run)
{
    const bool hasOthers = std::ranges::any_of(run.jobs, [&options](const auto& job) {
        return options.job.empty() || job.name == options.job;
    });
    const auto found = std::ranges::find_if(run.trainings, [&options](const auto& training) {
        return options.job.empty() || training.name == options.job;
    });
    if (hasOthers || !IsChakra(options.exported) || found == run.trainings.end())
    {
        return nullptr;
    }
    if (options.json || options.verify || !options.drawing.empty())
    {
        throw ScenarioError(options.json     ? "--json"
                            : options.verify ? "--verify"
                                             : "--draw",
                            fmt::format("\"{}\" trains: it has no plan of its own, and is "
                                        "exported alone",
                                        found->name));
    }
    return &*found;
}

void
PrintVerification(const Plan& plan, const PlanVerification& verification, std::ostream& out)
{
    const auto& collective = plan.GetCollective();
    out << (verification.ok ? fmt::format("verified: {} without races\n", collective.GetTitle())
                            : fmt::format("no {}:\n", collective.GetName()));
    for (const auto& violation : verification.violations)
    {
        out << "  " << ShowMessage(violation) << '\n';
    }
}

void
Print(const PlanOptions& options,
      const JobSpec& job,
      const PlannedJob& planned,
      const std::optional<PlanVerification>& verification,
      std::ostream& out)
{
    const PlanPrinter printer(*planned.plan);
    if (options.json)
    {
        auto json = printer.ToJson();
        if (verification)
        {
            json["violations"] = verification->violations;
        }
        out << json.dump(1) << '\n';
        return;
    }
    PrintSummary(job, planned, out);
    printer.PrintTable(MAX_TABLE_ROWS, out);
    if (verification)
    {
        PrintVerification(*planned.plan, *verification, out);
    }
}

} // namespace

int
PlanCommand(const PlanOptions& options, std::ostream& out)
{
    const auto scenario = ReadScenario(options.file, options.overrides);
    if (options.run >= scenario.runCount)
    {
        throw ScenarioError("--run",
                            fmt::format("found {}, but the scenario has {} run{}, counted from 0",
                                        options.run,
                                        scenario.runCount,
                                        scenario.runCount == 1 ? "" : "s"));
    }
    const auto run = ResolveRun(scenario, options.run);
    if (const auto* training = FindExportedTraining(options, run))
    {
        const auto planned = TranslatePlanningErrors(
            [training, &run] { return PlanTraining(*training, *run.topology); });
        ExportChakraWorkload(*planned.workload, options.exported.string(), out);
        return exit_code::OK;
    }
    const auto& job = FindJob(run, options.job);
    const auto planned =
        TranslatePlanningErrors([&job, &run] { return PlanJob(job, *run.topology); });
    const auto& plan = *planned.plan;
    CheckOutputs(options, plan);
    std::optional<PlanVerification> verification;
    if (options.verify)
    {
        verification = PlanVerifier().Verify(plan);
    }
    Print(options, job, planned, verification, out);
    if (!options.drawing.empty())
    {
        Draw(run, job, options.drawing);
    }
    if (!options.exported.empty())
    {
        Export(plan, options.exported, options.json ? nullptr : &out);
    }
    return !verification || verification->ok ? exit_code::OK : exit_code::INTERNAL_ERROR;
}

} // namespace ns3::gradsync
