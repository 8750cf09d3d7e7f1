// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/model-training-reader.h"

#include "ns3/model-reader.h"
#include "ns3/model-training.h"
#include "ns3/plan-shelf.h"
#include "ns3/scheme-reader.h"
#include "ns3/workload-builder.h"

#include <array>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Of a collective that schemes are tried with.
constexpr uint64_t TRIED_BYTES = 1 << 20;

Recomputation
ToRecomputation(const std::string& name)
{
    return name == "selective" ? Recomputation::Selective
           : name == "full"    ? Recomputation::Full
                               : Recomputation::None;
}

/// That a scheme makes what its place asks for, of two ranks if it can.
void
CheckCollective(const JsonValue& value, const SchemeChoice& choice, const std::string& collective)
{
    std::string made;
    try
    {
        made = PlanShelf()
                   .GetCollective(choice, std::array<uint32_t, 2>{0, 1}, TRIED_BYTES)
                   ->GetCollective()
                   .GetName();
    }
    catch (const SchemeError&)
    {
        return; // it says so when it is asked for the groups that there are
    }
    catch (const WorkloadError& error)
    {
        value.FailWith(error.what());
    }
    if (made != collective)
    {
        value.FailWith(fmt::format("the scheme {} makes another collective, expected one of {}",
                                   choice.scheme->name,
                                   collective));
    }
}

SchemeChoice
ReadCollective(const JsonValue& training,
               const std::string& key,
               const SchemeChoice& standard,
               const std::string& collective)
{
    const auto own = training.Find(key);
    if (!own)
    {
        return standard;
    }
    auto choice = ReadScheme(*own);
    CheckCollective(*own, choice, collective);
    return choice;
}

SchemeChoice
ChooseScheme(const std::string& name)
{
    const auto* scheme = FindScheme(name);
    return {scheme, MakeDefaultParameters(*scheme)};
}

CollectiveSchemes
ReadCollectives(const JsonValue& training)
{
    const auto read = [&training](const char* key, const char* standard, const char* collective) {
        return ReadCollective(training, key, ChooseScheme(standard), collective);
    };
    return {read("tensorScheme", "ring", "all-reduce"),
            read("gatherScheme", "all-gather", "all-gather"),
            read("scatterScheme", "reduce-scatter", "reduce-scatter"),
            read("expertScheme", "all-to-all", "all-to-all")};
}

ModelTraining
MakeModelTraining(const JsonValue& training,
                  const ParameterSet& parameters,
                  const TrainingSpec& spec)
{
    ModelTraining made;
    made.model = ReadModel(training.Require("model", "\"../models/llama-2-7b.json\""));
    made.device = ReadDevice(training.Require("device", "\"../devices/h100-sxm.json\""));
    made.degrees = GetDegrees(spec);
    made.schedule = spec.schedule;
    made.chunks = spec.pipeline.chunks;
    made.microbatches = spec.pipeline.microbatches;
    made.microbatchSize = GetNumber(parameters, "microbatchSize");
    if (const auto* first = parameters.Find<std::vector<double>>("firstLayers"))
    {
        made.firstLayers.assign(first->begin(), first->end());
    }
    made.precision = MakePrecision(parameters.Get<std::string>("datatype"));
    if (const auto* share = parameters.Find<double>("achievedShare"))
    {
        made.achievedShare = *share;
    }
    made.recomputation = ToRecomputation(parameters.Get<std::string>("recompute"));
    made.ringAttention = parameters.Get<std::string>("contextExchange") == "ring";
    made.sequenceParallel = parameters.Get<bool>("sequenceParallel");
    made.zeroStage = GetNumber(parameters, "zero");
    made.parameterGather = spec.parameterGather;
    made.buckets = spec.buckets;
    made.overlaps = spec.overlaps;
    made.schemes.fill(ReadCollectives(training));
    made.schemes[static_cast<size_t>(ParallelGroup::Data)] = {spec.gradientScheme,
                                                              spec.parameterScheme,
                                                              spec.gradientScheme,
                                                              {}};
    // Of two ranks, who could do it no faster.
    made.schemes[static_cast<size_t>(ParallelGroup::Pipeline)].allReduce = ChooseScheme("ring");
    return made;
}

/// What of an exchange is no matter of the model.
void
SetExchange(const TrainingSpec& from, TrainingSpec& spec)
{
    spec.dataParallelism = from.dataParallelism;
    spec.outerScheme = from.outerScheme;
    spec.innerRanks = from.innerRanks;
    spec.streams = from.streams;
    spec.slices = from.slices;
}

TrainingFigures
MakeFigures(const ModelTraining& training)
{
    TrainingFigures figures;
    const RankLayout layout(training.degrees);
    const auto work = CountWork(training);
    figures.modelFlops = work.flops;
    figures.samples = work.samples;
    figures.tokens = work.tokens;
    if (work.flops > 0.0)
    {
        figures.peakFlopsPerSecond =
            layout.GetRankCount() * GetPeakFlops(training.device, training.precision.datatype);
    }
    std::vector<uint64_t> stages;
    for (uint32_t stage = 0; stage < training.degrees.pipeline; ++stage)
    {
        stages.push_back(EstimateMemory(training, stage).GetTotal());
    }
    for (uint32_t rank = 0; rank < layout.GetRankCount(); ++rank)
    {
        figures.memoryBytes.push_back(stages[layout.GetStage(rank)]);
    }
    return figures;
}

} // namespace

TrainingJobSpec
ReadModelTraining(const JsonValue& training,
                  const ParameterSet& parameters,
                  const TrainingSpec& spec)
{
    try
    {
        const auto made = MakeModelTraining(training, parameters, spec);
        TrainingJobSpec job;
        auto whole = MakeTrainingSpec(made);
        SetExchange(spec, whole);
        job.spec = std::move(whole);
        if (!parameters.Get<bool>("ignoreMemory"))
        {
            CheckMemory(made);
        }
        job.figures = MakeFigures(made);
        return job;
    }
    catch (const WorkloadError& error)
    {
        training.FailWith(error.what());
    }
}

} // namespace ns3::gradsync
