// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-tuner.h"

#include "ns3/auto-planner.h"
#include "ns3/rank-layout.h"
#include "ns3/workload-builder.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t MIB = uint64_t{1} << 20;

bool
IsAuto(const SchemeChoice& choice)
{
    return choice.scheme != nullptr && choice.scheme->planOrigin == PlanOrigin::Estimate;
}

bool
IsHierarchical(const TrainingSpec& spec)
{
    return spec.dataParallelism == DataParallelism::Hierarchical;
}

/// The one that may be an all-reduce.
const SchemeChoice&
GetSumScheme(const TrainingSpec& spec)
{
    return IsHierarchical(spec) ? spec.outerScheme : spec.gradientScheme;
}

SchemeChoice
MakeStandardChoice(const std::string& name)
{
    const auto* scheme = FindScheme(name);
    return {scheme, MakeDefaultParameters(*scheme)};
}

/// All collectives of a block.
template <typename F>
void
ForEachCollective(std::vector<ModelBlock>& blocks, F act)
{
    for (auto& block : blocks)
    {
        for (auto* list : {&block.beforeForward,
                           &block.afterForward,
                           &block.beforeBackward,
                           &block.afterBackward})
        {
            std::ranges::for_each(*list, act);
        }
    }
}

uint64_t
SumGradients(const TrainingSpec& spec)
{
    uint64_t bytes = 0;
    for (const auto& block : spec.blocks)
    {
        bytes += block.gradientBytes + block.expertGradientBytes;
    }
    return bytes;
}

const char*
GetExchangeName(DataParallelism exchange)
{
    return exchange == DataParallelism::Hierarchical    ? "hierarchical"
           : exchange == DataParallelism::ScatterGather ? "scatter-gather"
                                                        : "all-reduce";
}

} // namespace

TrainingTuner::TrainingTuner(const TrainingJobSpec& job,
                             const Topology& topology,
                             PlanShelf& shelf,
                             Maker make)
    : m_job(job),
      m_topology(topology),
      m_shelf(shelf),
      m_make(std::move(make)),
      m_reduceSecondsPerByte(
          job.reduceRate ? 8.0 / static_cast<double>(job.reduceRate->GetBitRate()) : 0.0),
      m_estimator(topology, job.network)
{
}

bool
TrainingTuner::IsOpen(const TrainingJobSpec& job, const TrainingSpec& spec)
{
    bool isOpen = job.tuning.exchange || job.tuning.buckets || job.tuning.slices ||
                  IsAuto(GetSumScheme(spec));
    auto blocks = spec.blocks;
    ForEachCollective(blocks, [&](const auto& collective) {
        isOpen = isOpen || IsAuto(collective.scheme);
    });
    return isOpen;
}

TrainingChoice
TrainingTuner::Tune(const TrainingSpec& spec)
{
    m_choice = {spec, "", std::numeric_limits<double>::infinity()};
    ChooseSchemes();
    ChooseTensorScheme();
    m_choice.seconds = Estimate(m_choice.spec);
    if (m_job.tuning.exchange && spec.dataParallelism == DataParallelism::AllReduce)
    {
        ChooseExchange();
    }
    if (m_job.tuning.buckets)
    {
        ChooseBuckets();
    }
    if (m_job.tuning.slices)
    {
        ChooseSlices();
    }
    return m_choice;
}

void
TrainingTuner::Say(const std::string& what)
{
    m_choice.text += (m_choice.text.empty() ? "" : " ") + what;
}

double
TrainingTuner::Estimate(const TrainingSpec& spec)
{
    const auto workload = m_make(spec);
    if (workload.HasAggregations())
    {
        throw WorkloadError("estimates are of networks that do not aggregate: \"auto\" does not go "
                            "with a scheme by which switches do");
    }
    return m_estimator.Estimate(workload, m_job.endpointOf, m_reduceSecondsPerByte) /
           workload.GetIterationCount();
}

void
TrainingTuner::Try(const TrainingSpec& candidate)
{
    try
    {
        const auto seconds = Estimate(candidate);
        if (seconds < m_choice.seconds)
        {
            m_choice.spec = candidate;
            m_choice.seconds = seconds;
        }
    }
    catch (const WorkloadError&)
    {
        return; // it cannot be here, as where there are no inner groups of one size
    }
    catch (const SchemeError&)
    {
        return; // likewise, as of a codec for all-reduces alone
    }
}

/// The all-reduce that is done first, alone, among the ranks of rank 0's group.
SchemeChoice
TrainingTuner::FindBest(ParallelGroup group, uint64_t bytes, const SharedCodec& codec)
{
    const auto ranks = RankLayout(GetDegrees(m_choice.spec)).GetGroup(group, 0);
    if (ranks.size() < 2)
    {
        return MakeStandardChoice("ring"); // exchanges nothing
    }
    AutoRequest request;
    request.exchange.workers = static_cast<uint32_t>(ranks.size());
    request.exchange.gradientBytes = std::max<uint64_t>(bytes, 1);
    request.exchange.groups = m_shelf.FindGroups(ranks);
    for (const auto rank : ranks)
    {
        request.endpointOf.push_back(m_job.endpointOf.at(rank));
    }
    request.reduceSecondsPerByte = m_reduceSecondsPerByte;
    request.build = [&](const Scheme& scheme, const SchemeRequest& exchange) {
        return m_shelf.Build(scheme, exchange, ranks, codec);
    };
    const auto best = AutoPlanner(m_topology, m_job.network).Rank(request).front();
    return {best.scheme, best.parameters};
}

void
TrainingTuner::ChooseSchemes()
{
    auto& spec = m_choice.spec;
    if (!IsAuto(GetSumScheme(spec)))
    {
        return;
    }
    const auto largest = std::ranges::max_element(spec.blocks, {}, &ModelBlock::gradientBytes);
    const auto best = FindBest(ParallelGroup::Data,
                               std::min(SumGradients(spec), spec.buckets.bytes),
                               ChooseCodec(spec.codecs, largest->name, largest->gradientBytes));
    (IsHierarchical(spec) ? spec.outerScheme : spec.gradientScheme) = best;
    Say((IsHierarchical(spec) ? "outerScheme=" : "gradientScheme=") + best.scheme->name);
}

/// Of all groups but data-parallel ones.
void
TrainingTuner::ChooseTensorScheme()
{
    uint64_t bytes = 0;
    ForEachCollective(m_choice.spec.blocks, [&](const auto& collective) {
        bytes = IsAuto(collective.scheme) ? std::max(bytes, collective.bytes) : bytes;
    });
    if (bytes == 0)
    {
        return;
    }
    const auto best = FindBest(ParallelGroup::Tensor, bytes, nullptr);
    ForEachCollective(m_choice.spec.blocks, [&](auto& collective) {
        if (IsAuto(collective.scheme))
        {
            collective.scheme = best;
        }
    });
    Say("tensorScheme=" + best.scheme->name);
}

void
TrainingTuner::ChooseExchange()
{
    const auto sums = m_choice.spec;
    for (const auto exchange : {DataParallelism::ScatterGather, DataParallelism::Hierarchical})
    {
        auto candidate = sums;
        candidate.dataParallelism = exchange;
        candidate.gradientScheme = MakeStandardChoice("reduce-scatter");
        candidate.parameterScheme = MakeStandardChoice("all-gather");
        candidate.outerScheme = sums.gradientScheme;
        Try(candidate);
    }
    Say(fmt::format("exchange={}", GetExchangeName(m_choice.spec.dataParallelism)));
}

void
TrainingTuner::ChooseBuckets()
{
    const auto all = std::max<uint64_t>(SumGradients(m_choice.spec), 1);
    for (const auto bytes : {MIB, 5 * MIB, 100 * MIB, all})
    {
        auto candidate = m_choice.spec;
        candidate.buckets = {std::min(candidate.buckets.firstBytes, bytes), bytes};
        if (bytes == all)
        {
            candidate.buckets.firstBytes = all;
        }
        Try(candidate);
    }
    Say(fmt::format("bucket={}", m_choice.spec.buckets.bytes));
}

void
TrainingTuner::ChooseSlices()
{
    for (const uint32_t slices : {2U, 4U, 8U})
    {
        auto candidate = m_choice.spec;
        candidate.slices = slices;
        Try(candidate);
    }
    Say(fmt::format("slices={}", m_choice.spec.slices));
}

} // namespace ns3::gradsync
