// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/pipeline-schedule.h"

#include "ns3/workload-builder.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace ns3::gradsync
{

namespace
{

/// The k-th pass of a kind.
using NumberedPass = std::function<PipelinePass(uint32_t)>;

/// `warmup` forward passes, then both in turn, then the backward passes that are left.
std::vector<PipelinePass>
Alternate(uint32_t count,
          uint32_t warmup,
          const NumberedPass& forward,
          const NumberedPass& backward)
{
    std::vector<PipelinePass> passes;
    for (uint32_t i = 0; i < warmup; ++i)
    {
        passes.push_back(forward(i));
    }
    for (uint32_t i = warmup; i < count; ++i)
    {
        passes.push_back(forward(i));
        passes.push_back(backward(i - warmup));
    }
    for (uint32_t i = count - warmup; i < count; ++i)
    {
        passes.push_back(backward(i));
    }
    return passes;
}

/// A stage with one chunk: microbatch after microbatch.
std::vector<PipelinePass>
AlternateMicrobatches(const PipelineShape& shape, uint32_t warmup)
{
    return Alternate(
        shape.microbatches,
        std::min(warmup, shape.microbatches),
        [](uint32_t i) {
            return PipelinePass{PassKind::Forward, i, 0};
        },
        [](uint32_t i) {
            return PipelinePass{PassKind::Backward, i, 0};
        });
}

/// As many microbatches as there are stages go through a chunk before the next chunk's turn.
std::vector<PipelinePass>
Interleave(const PipelineShape& shape, uint32_t stage)
{
    const auto turn = shape.stages * shape.chunks;
    const auto microbatch = [=](uint32_t i) { return i / turn * shape.stages + i % shape.stages; };
    const auto chunk = [=](uint32_t i) { return i % turn / shape.stages; };
    const auto count = shape.microbatches * shape.chunks;
    const auto warmup = 2 * (shape.stages - stage - 1) + (shape.chunks - 1) * shape.stages;
    return Alternate(
        count,
        std::min(warmup, count),
        [&](uint32_t i) {
            return PipelinePass{PassKind::Forward, microbatch(i), chunk(i)};
        },
        [&](uint32_t i) {
            return PipelinePass{PassKind::Backward, microbatch(i), shape.chunks - 1 - chunk(i)};
        });
}

std::vector<PipelinePass>
DelayWeightGradients(const std::vector<PipelinePass>& passes, uint32_t microbatches, uint32_t delay)
{
    std::vector<PipelinePass> delayed;
    uint32_t next = 0;
    for (const auto& pass : passes)
    {
        delayed.push_back(pass);
        if (pass.kind == PassKind::Backward && pass.microbatch >= delay)
        {
            delayed.push_back({PassKind::WeightGradient, next++, 0});
        }
    }
    while (next < microbatches)
    {
        delayed.push_back({PassKind::WeightGradient, next++, 0});
    }
    return delayed;
}

} // namespace

void
CheckPipeline(PipelineSchedule schedule, const PipelineShape& shape)
{
    if (shape.stages == 0 || shape.microbatches == 0 || shape.chunks == 0)
    {
        throw WorkloadError("a pipeline needs at least one stage, one microbatch and one chunk");
    }
    if (schedule != PipelineSchedule::Interleaved && shape.chunks != 1)
    {
        throw WorkloadError(
            fmt::format("{} chunks a stage need the schedule interleaved", shape.chunks));
    }
    if (schedule == PipelineSchedule::Interleaved && shape.microbatches % shape.stages != 0)
    {
        throw WorkloadError(fmt::format(
            "the schedule interleaved takes as many microbatches as stages at a time: {} are no "
            "multiple of {}",
            shape.microbatches,
            shape.stages));
    }
}

std::vector<PipelinePass>
ListPasses(PipelineSchedule schedule, const PipelineShape& shape, uint32_t stage)
{
    switch (schedule)
    {
    case PipelineSchedule::GPipe:
        return AlternateMicrobatches(shape, shape.microbatches);
    case PipelineSchedule::OneForwardOneBackward:
        return AlternateMicrobatches(shape, shape.stages - stage - 1);
    case PipelineSchedule::Interleaved:
        return Interleave(shape, stage);
    case PipelineSchedule::ZeroBubbleH1:
        return DelayWeightGradients(AlternateMicrobatches(shape, shape.stages - stage - 1),
                                    shape.microbatches,
                                    stage);
    }
    return {};
}

uint32_t
CountInFlight(const std::vector<PipelinePass>& passes)
{
    uint32_t held = 0;
    uint32_t most = 0;
    for (const auto& pass : passes)
    {
        held += pass.kind == PassKind::Forward ? 1 : 0;
        most = std::max(most, held);
        held -= pass.kind == PassKind::Backward ? 1 : 0;
    }
    return most;
}

} // namespace ns3::gradsync
