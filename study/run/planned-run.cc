// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/planned-run.h"

#include "ns3/boolean.h"
#include "ns3/job-assembly.h"
#include "ns3/scenario-error.h"

#include <fmt/format.h>
#include <memory>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

/// Whether foreign flows or faults may keep an exchange from its end.
bool
MayBeDisturbed(const ResolvedRun& run)
{
    return !run.faults.empty() || !run.traffic.empty();
}

} // namespace

Time
FindTimeout(const std::optional<Time>& own, const ResolvedRun& run)
{
    return own.value_or(MayBeDisturbed(run) ? DEFAULT_FAULT_TIMEOUT : Time());
}

PlannedRun
PlanRun(const ResolvedRun& run)
{
    PlannedRun planned;
    for (const auto& job : run.jobs)
    {
        planned.jobs.push_back(PlanJob(job, *run.topology));
    }
    for (const auto& training : run.trainings)
    {
        planned.trainings.push_back(PlanTraining(training, *run.topology));
    }
    return planned;
}

Job
MakeJob(const JobSpec& spec, const PlannedJob& planned, const ResolvedRun& run)
{
    auto own = std::make_shared<JobSpec>(spec);
    own->timeout = FindTimeout(spec.timeout, run);
    return gradsync::MakeJob(own, planned, run.topology);
}

std::string
DescribeScheme(const JobSpec& job)
{
    return fmt::format("{}: scheme {}", job.name, job.scheme.scheme->name);
}

TrainingJob
MakeTraining(const TrainingJobSpec& spec, const PlannedTraining& planned, const ResolvedRun& run)
{
    auto own = spec;
    own.timeout = FindTimeout(spec.timeout, run);
    return MakeTrainingJob(own, planned, run.topology);
}

AsynchronousJob
MakeAsynchronous(const AsynchronousJobSpec& spec, const ResolvedRun& run)
{
    auto job = spec.job;
    job.timeout = FindTimeout(spec.timeout, run);
    job.reduceSecondsPerByte = GetReduceSecondsPerByte(spec.reduceRate);
    return job;
}

bool
IsOneJobAlone(const ResolvedRun& run)
{
    return run.jobs.size() + run.trainings.size() == 1 && run.asynchronous.empty() &&
           run.faults.empty() && run.traffic.empty() && run.sampleEvery.IsZero() &&
           run.capturedLinks.empty();
}

Ptr<ExchangeEngine>
InstallEngine(const ResolvedRun& run,
              const PlannedRun& planned,
              const Ptr<Transport>& transport,
              Omission omission)
{
    auto engine = CreateObject<ExchangeEngine>();
    const bool omits = omission != Omission::None && IsOneJobAlone(run);
    engine->SetAttribute("RecordsCollectives", BooleanValue(omits));
    engine->SetAttribute("TwinPlanes", BooleanValue(omission == Omission::OfTwinsToo));
    AddJobs(run, planned, transport, engine);
    return engine;
}

void
AddJobs(const ResolvedRun& run,
        const PlannedRun& planned,
        const Ptr<Transport>& transport,
        const Ptr<ExchangeEngine>& engine,
        RankShare* share)
{
    engine->SetTransport(transport);
    engine->SetShare(share);
    for (size_t i = 0; i < run.jobs.size(); ++i)
    {
        try
        {
            engine->AddJob(MakeJob(run.jobs[i], planned.jobs[i], run));
        }
        catch (const std::runtime_error& error)
        {
            throw ScenarioError(DescribeScheme(run.jobs[i]), error.what());
        }
    }
    for (size_t i = 0; i < run.trainings.size(); ++i)
    {
        try
        {
            engine->AddTraining(MakeTraining(run.trainings[i], planned.trainings[i], run));
        }
        catch (const std::runtime_error& error)
        {
            throw ScenarioError(run.trainings[i].name + ": training", error.what());
        }
    }
    for (const auto& spec : run.asynchronous)
    {
        engine->AddAsynchronous(MakeAsynchronous(spec, run));
    }
}

} // namespace ns3::gradsync
