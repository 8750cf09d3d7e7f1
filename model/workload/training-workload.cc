// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-workload.h"

#include "ns3/gradient-exchange.h"
#include "ns3/rank-program.h"
#include "ns3/training-meeting.h"
#include "ns3/workload-builder.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace ns3::gradsync
{

namespace
{

void
CheckTraining(const TrainingSpec& spec)
{
    CheckPipeline(spec.schedule, spec.pipeline);
    if (spec.slices == 0 || spec.streams.count == 0)
    {
        throw WorkloadError("a microbatch has at least one slice, gradients one stream");
    }
    if (spec.iterations == 0 || spec.iterations > WorkloadBuilder::MAX_ITERATIONS)
    {
        throw WorkloadError(fmt::format("a workload has 1 to {} iterations, not {}",
                                        WorkloadBuilder::MAX_ITERATIONS,
                                        spec.iterations));
    }
    const auto parts = spec.pipeline.stages * spec.pipeline.chunks;
    if (spec.blocks.size() < parts)
    {
        throw WorkloadError(
            fmt::format("a pipeline of {} stages with {} chunks each needs at least "
                        "as many blocks; the model has {}",
                        spec.pipeline.stages,
                        spec.pipeline.chunks,
                        spec.blocks.size()));
    }
    if (!spec.firstBlocks.empty() &&
        (spec.firstBlocks.size() != parts || spec.firstBlocks.front() != 0 ||
         spec.firstBlocks.back() >= spec.blocks.size() ||
         !std::ranges::is_sorted(spec.firstBlocks, std::less_equal<>())))
    {
        throw WorkloadError("first blocks ascend from 0, one for each chunk of each stage");
    }
}

} // namespace

ParallelDegrees
GetDegrees(const TrainingSpec& spec)
{
    return {spec.tensor,
            spec.context,
            spec.expert,
            spec.data,
            spec.pipeline.stages,
            spec.expertTensor,
            spec.order};
}

std::vector<uint32_t>
CutBlocks(const TrainingSpec& spec)
{
    const auto blocks = static_cast<uint32_t>(spec.blocks.size());
    auto first = spec.firstBlocks;
    const auto parts = spec.pipeline.stages * spec.pipeline.chunks;
    for (uint32_t part = 0; first.size() < parts; ++part)
    {
        first.push_back(static_cast<uint32_t>(uint64_t{part} * blocks / parts));
    }
    first.push_back(blocks);
    return first;
}

Workload
MakeTrainingWorkload(const TrainingSpec& spec, PlanShelf& shelf)
{
    CheckTraining(spec);
    const auto firstBlocks = CutBlocks(spec);
    const RankLayout layout(GetDegrees(spec));
    const auto ranks = layout.GetRankCount();
    WorkloadBuilder builder(ranks, MakeTrainingStreams(spec));
    TrainingMeeting meeting(builder, shelf);
    for (uint32_t rank = 0; rank < ranks; ++rank)
    {
        RankProgram(spec, layout, firstBlocks, builder, meeting, rank).Write();
    }
    return builder.Build();
}

} // namespace ns3::gradsync
