// SPDX-License-Identifier: GPL-2.0-only
// Attention whose keys and values go round a ring, on a fluid network.
#include "support/training-specs.h"
#include "support/workload-fixture.h"

#include "ns3/plan-shelf.h"
#include "ns3/plan-statistics.h"
#include "ns3/training-workload.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace ns3::gradsync
{
namespace
{

using tests::MakeBlock;

/// Times in us; t bytes to the next rank take t us.
struct RingTimes
{
    uint64_t ranks;
    uint64_t transfer; //!< t, of a block of keys and values
    uint64_t forward;  //!< c, of attention to a block
    uint64_t backward; //!< likewise

    /// (n - 1) max(c, t) + c: each piece but the first waits for its block, which arrives beside
    /// the piece before.
    uint64_t GetForward() const
    {
        return (ranks - 1) * std::max(forward, transfer) + forward;
    }

    /// Behind the second piece on gradients go round too, t beside each piece, on the same links: 2
    /// t beside all but the first two pieces and the last one, whose block's gradients are beside
    /// it alone; t at the end for its own. n = 2: max(c, t) + c + t.
    uint64_t GetBackward() const
    {
        const auto one = std::max(backward, transfer);
        const auto both = std::max(backward, 2 * transfer);
        return ranks == 2 ? one + backward + transfer
                          : 2 * one + (ranks - 3) * both + one + transfer;
    }

    RingAttention MakeRing(bool isRecomputed) const
    {
        return {transfer,
                ranks * forward * tests::MICROSECOND,
                ranks * backward * tests::MICROSECOND,
                isRecomputed};
    }
};

class ContextRingTest : public tests::WorkloadFixture
{
  protected:
    Time RunTraining(const TrainingSpec& spec)
    {
        PlanShelf shelf({}, 1);
        return Run(MakeTrainingWorkload(spec, shelf));
    }
};

// A layer after the other; what it computes beside attention, w and 2 w, hides nothing.
TEST_F(ContextRingTest, BlocksHideBehindAttentionToTheOneBefore)
{
    for (int round = 0; round < 80; ++round)
    {
        const RingTimes times{Draw(2, 7), Draw(1, 40), Draw(1, 60), Draw(1, 90)};
        const auto layers = Draw(1, 5);
        const auto beside = Draw(0, 30);
        const bool isRecomputed = round % 4 == 0;
        TrainingSpec spec;
        spec.context = static_cast<uint32_t>(times.ranks);
        auto block = MakeBlock(beside, 2 * beside);
        block.ring = times.MakeRing(isRecomputed);
        spec.blocks.assign(layers, block);
        const auto again = isRecomputed ? times.GetForward() : 0;
        EXPECT_EQ(
            RunTraining(spec),
            MicroSeconds(layers * (3 * beside + times.GetForward() + again + times.GetBackward())))
            << times.ranks << ' ' << times.transfer << ' ' << times.forward << ' '
            << times.backward;
        Reset();
    }
}

// n blocks of t bytes: n (n - 1) t forward, as an all-gather of n t; twice that backward, as
// another one and a reduce-scatter.
TEST_F(ContextRingTest, RingsMoveWhatGathersMove)
{
    for (uint32_t ranks = 2; ranks < 7; ++ranks)
    {
        const RingTimes times{ranks, 10 + ranks, 5, 9};
        TrainingSpec spec;
        spec.context = ranks;
        auto block = MakeBlock(1, 1);
        block.ring = times.MakeRing(false);
        spec.blocks = {block};
        spec.pipeline.microbatches = 3;
        RunTraining(spec);
        uint64_t sent = 0;
        for (CommunicationId id = 0; id < m_workload->GetCommunications().size(); ++id)
        {
            sent += ComputePlanStatistics(*m_workload->GetPlan(id)).totalBytes;
        }
        EXPECT_EQ(sent, 3 * 3 * ranks * (ranks - 1) * times.transfer);
        Reset();
    }
}

} // namespace
} // namespace ns3::gradsync
