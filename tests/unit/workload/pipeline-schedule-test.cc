// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/pipeline-schedule.h"
#include "ns3/workload-builder.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <tuple>

namespace ns3::gradsync
{
namespace
{

uint32_t
CountInFlightOf(PipelineSchedule schedule, const PipelineShape& shape, uint32_t stage)
{
    return CountInFlight(ListPasses(schedule, shape, stage));
}

TEST(PipelineSchedule, EachPassIsThereOnceAndForwardComesFirst)
{
    for (const auto schedule : {PipelineSchedule::GPipe,
                                PipelineSchedule::OneForwardOneBackward,
                                PipelineSchedule::Interleaved,
                                PipelineSchedule::ZeroBubbleH1})
    {
        for (uint32_t stages = 1; stages < 7; ++stages)
        {
            const PipelineShape shape{stages,
                                      3 * stages,
                                      schedule == PipelineSchedule::Interleaved ? 3U : 1U};
            CheckPipeline(schedule, shape);
            const auto kinds = schedule == PipelineSchedule::ZeroBubbleH1 ? 3U : 2U;
            for (uint32_t stage = 0; stage < stages; ++stage)
            {
                std::set<std::tuple<uint32_t, uint32_t, PassKind>> done;
                for (const auto& pass : ListPasses(schedule, shape, stage))
                {
                    for (auto kind = PassKind::Forward; kind < pass.kind;
                         kind = static_cast<PassKind>(static_cast<int>(kind) + 1))
                    {
                        EXPECT_TRUE(done.contains({pass.microbatch, pass.chunk, kind}));
                    }
                    EXPECT_TRUE(done.emplace(pass.microbatch, pass.chunk, pass.kind).second);
                }
                EXPECT_EQ(done.size(), kinds * shape.microbatches * shape.chunks);
            }
        }
    }
}

// Reference 2, section 3: m with GPipe, min(p - s, m) with 1F1B, at stage 0 of the interleaved
// schedule p v + p - 1 chunks.
TEST(PipelineSchedule, HoldsAsManyMicrobatchesAsPublished)
{
    for (uint32_t stages = 1; stages < 8; ++stages)
    {
        for (uint32_t microbatches = 1; microbatches < 12; ++microbatches)
        {
            for (uint32_t stage = 0; stage < stages; ++stage)
            {
                const PipelineShape shape{stages, microbatches};
                EXPECT_EQ(CountInFlightOf(PipelineSchedule::GPipe, shape, stage), microbatches);
                EXPECT_EQ(CountInFlightOf(PipelineSchedule::OneForwardOneBackward, shape, stage),
                          std::min(stages - stage, microbatches));
            }
        }
        for (const uint32_t chunks : {2, 3, 4})
        {
            // Enough microbatches to fill it: p v + p - 1 of m v.
            const PipelineShape shape{stages, 3 * stages, chunks};
            EXPECT_EQ(CountInFlightOf(PipelineSchedule::Interleaved, shape, 0),
                      stages * chunks + stages - 1);
        }
    }
}

// DAPPLE (PPoPP'21), figure of early backward: two stages, four microbatches: [2, 1], not [4, 4].
TEST(PipelineSchedule, EarlyBackwardHoldsLess)
{
    const PipelineShape shape{2, 4};
    EXPECT_EQ(CountInFlightOf(PipelineSchedule::OneForwardOneBackward, shape, 0), 2);
    EXPECT_EQ(CountInFlightOf(PipelineSchedule::OneForwardOneBackward, shape, 1), 1);
    EXPECT_EQ(CountInFlightOf(PipelineSchedule::GPipe, shape, 1), 4);
}

TEST(PipelineSchedule, NamesShapesThatDoNotGoWithIt)
{
    using testing::ThrowsMessage;
    EXPECT_THAT(
        [] {
            CheckPipeline(PipelineSchedule::Interleaved, {4, 6, 2});
        },
        ThrowsMessage<WorkloadError>("the schedule interleaved takes as many microbatches "
                                     "as stages at a time: 6 are no multiple of 4"));
    EXPECT_THAT(
        [] {
            CheckPipeline(PipelineSchedule::GPipe, {4, 4, 2});
        },
        ThrowsMessage<WorkloadError>("2 chunks a stage need the schedule interleaved"));
    EXPECT_THAT(
        [] {
            CheckPipeline(PipelineSchedule::GPipe, {4, 0});
        },
        ThrowsMessage<WorkloadError>(
            "a pipeline needs at least one stage, one microbatch and one chunk"));
}

} // namespace
} // namespace ns3::gradsync
