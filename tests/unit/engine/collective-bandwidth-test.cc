// SPDX-License-Identifier: GPL-2.0-only
#include "support/training-specs.h"
#include "support/workload-fixture.h"

#include "ns3/collective-bandwidth.h"
#include "ns3/iteration-breakdown.h"
#include "ns3/plan-shelf.h"
#include "ns3/training-workload.h"

#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using tests::Choose;
using tests::MakeBlock;
using tests::MICROSECOND;

constexpr double LINK = 1e6; // bytes per second of a host's link, each way

using CollectiveBandwidthTest = tests::WorkloadFixture;

// doc/PERFORMANCE.md of nccl-tests.
TEST(BusFactor, IsThatOfNcclTests)
{
    EXPECT_DOUBLE_EQ(*GetBusFactor("all-reduce", 8), 1.75);
    EXPECT_DOUBLE_EQ(*GetBusFactor("all-gather", 8), 0.875);
    EXPECT_DOUBLE_EQ(*GetBusFactor("reduce-scatter", 8), 0.875);
    EXPECT_DOUBLE_EQ(*GetBusFactor("all-to-all", 8), 0.875);
    EXPECT_DOUBLE_EQ(*GetBusFactor("broadcast", 8), 1.0);
    EXPECT_DOUBLE_EQ(*GetBusFactor("reduce", 8), 1.0);
    EXPECT_DOUBLE_EQ(*GetBusFactor("message", 2), 1.0);
    EXPECT_FALSE(GetBusFactor("barrier", 8).has_value());
}

// Ring, all-gather, reduce-scatter and pairwise all-to-all are optimal: the bandwidth by bus is the
// link's, whatever the size of the group.
TEST_F(CollectiveBandwidthTest, OptimalCollectivesFillTheLink)
{
    for (const std::string scheme : {"ring", "all-gather", "reduce-scatter", "all-to-all"})
    {
        for (const uint32_t ranks : {2, 3, 4, 6})
        {
            const uint64_t bytes = 120; // a whole number of bytes for each
            WorkloadBuilder builder(ranks, {{"compute"}, {"communicate"}});
            std::vector<uint32_t> group(ranks);
            std::iota(group.begin(), group.end(), 0);
            const auto plan = tests::MakePlan(scheme, ranks, bytes);
            for (int repeat = 0; repeat < 3; ++repeat)
            {
                const auto id = builder.AddCommunication(builder.AddGroup(group), plan, "it");
                for (const auto rank : group)
                {
                    builder.AddPart(rank, 1, id);
                }
            }
            Run(builder.Build());
            CollectiveLedger ledger;
            ledger.Add(*m_workload, GetLog());
            ledger.Add(*m_workload, GetLog()); // another iteration
            ASSERT_EQ(ledger.Get().size(), 1);
            const auto& [shape, times] = *ledger.Get().begin();
            EXPECT_EQ(shape.stream, "communicate");
            EXPECT_EQ(shape.label, "it");
            EXPECT_EQ(shape.kind, scheme == "ring" ? "all-reduce" : scheme);
            EXPECT_EQ(shape.groupSize, ranks);
            EXPECT_EQ(shape.bytes, bytes);
            EXPECT_EQ(times.count, 6);
            EXPECT_EQ(times.parts, 6 * ranks);
            EXPECT_EQ(times.least, times.most);
            EXPECT_EQ(times.sum, times.sinceFirst);
            EXPECT_EQ(times.exposed, times.sum * ranks); // nobody computes
            EXPECT_NEAR(*times.GetAlgorithmBandwidth(bytes) * *GetBusFactor(shape.kind, ranks),
                        LINK,
                        1e-6)
                << scheme << " of " << ranks;
            Reset();
        }
    }
}

TEST_F(CollectiveBandwidthTest, TimesAreFromTheLastRanksComingAndFromTheFirsts)
{
    // As in IterationBreakdownTest: rank 0 comes at 10 us, rank 1 at 30, the end is at 70.
    WorkloadBuilder builder(2, {{"compute"}, {"communicate"}});
    const auto group = builder.AddGroup({0, 1});
    const auto exchange = builder.AddCommunication(group, tests::MakePlan("ring", 2, 40), "sum");
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        const auto compute =
            builder.AddCompute(rank, 0, (rank == 0 ? 10 : 30) * MICROSECOND, "pass");
        builder.AddEdge(compute, builder.AddPart(rank, 1, exchange));
        if (rank == 1)
        {
            builder.AddCompute(rank, 0, 15 * MICROSECOND, "more"); // beside it, to 45
        }
    }
    Run(builder.Build());
    CollectiveLedger ledger;
    ledger.Add(*m_workload, GetLog());
    const auto& [shape, times] = *ledger.Get().begin();
    EXPECT_EQ(times.sum, MicroSeconds(40));
    EXPECT_EQ(times.sinceFirst, MicroSeconds(60));
    EXPECT_EQ(times.exposed, MicroSeconds(60 + 25)); // rank 0 from 10 on, rank 1 from 45 on
    EXPECT_NEAR(*times.GetAlgorithmBandwidth(shape.bytes), LINK, 1e-6);
}

TEST_F(CollectiveBandwidthTest, AMessageTakesItsTimeFromItsSenderOn)
{
    // Rank 1 waits from 0 on for 50 bytes that rank 0 sends at 20 us.
    WorkloadBuilder builder(2, {{"compute"}, {"send"}, {"receive"}});
    PlanShelf shelf({}, 1);
    const std::vector<uint32_t> ranks{0, 1};
    const auto message = builder.AddCommunication(builder.AddGroup(ranks),
                                                  shelf.GetMessage(ranks, 50),
                                                  "activations");
    const auto compute = builder.AddCompute(0, 0, 20 * MICROSECOND, "pass");
    builder.AddEdge(compute, builder.AddPart(0, 1, message));
    builder.AddPart(1, 2, message);
    EXPECT_EQ(Run(builder.Build()), MicroSeconds(70));
    CollectiveLedger ledger;
    ledger.Add(*m_workload, GetLog());
    const auto& [shape, times] = *ledger.Get().begin();
    EXPECT_EQ(shape.kind, "message");
    EXPECT_EQ(shape.stream, "send");
    EXPECT_EQ(times.sum, MicroSeconds(50));
    EXPECT_EQ(times.sinceFirst, MicroSeconds(50));
    EXPECT_NEAR(*times.GetAlgorithmBandwidth(shape.bytes), LINK, 1e-6);
}

TEST_F(CollectiveBandwidthTest, CountsEveryCommunicationOfAnIterationOnce)
{
    for (int round = 0; round < 20; ++round)
    {
        const auto spec = tests::DrawHybrid(m_random);
        PlanShelf shelf({}, 1);
        const auto end = Run(MakeTrainingWorkload(spec, shelf));
        CollectiveLedger ledger;
        ledger.Add(*m_workload, GetLog());
        uint64_t count = 0;
        uint64_t parts = 0;
        Time exposed;
        for (const auto& [shape, times] : ledger.Get())
        {
            count += times.count;
            parts += times.parts;
            exposed += times.exposed;
            EXPECT_LE(times.least * times.count, times.sum);
            EXPECT_GE(times.most * times.count, times.sum);
            EXPECT_GE(times.sinceFirst, times.sum);
        }
        EXPECT_EQ(count, m_workload->GetCommunications().size());
        uint64_t expected = 0;
        for (const auto& task : m_workload->GetTasks())
        {
            expected += task.IsCompute() ? 0 : 1;
        }
        EXPECT_EQ(parts, expected);
        // A stream has one task in hand: what its parts are exposed for is what the stream is.
        Time ofStreams;
        const std::vector<IterationSpan> whole{{Time(0), end}};
        const auto ranks = BreakDownIterations(*m_workload, GetLog(), whole).front();
        for (const auto& rank : ranks)
        {
            for (const auto& stream : rank.streams)
            {
                ofStreams += stream.exposed;
            }
        }
        EXPECT_EQ(exposed, ofStreams);
        Reset();
    }
}

} // namespace
} // namespace ns3::gradsync
