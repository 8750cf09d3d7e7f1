// SPDX-License-Identifier: GPL-2.0-only
#include "support/workload-fixture.h"

#include "ns3/critical-path.h"
#include "ns3/exchange-engine.h"
#include "ns3/plan-builder.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using tests::COMMUNICATES;
using tests::COMPUTES;
using tests::MICROSECOND;

using WorkloadExecutionTest = tests::WorkloadFixture;
using tests::MakePlan;

std::vector<StreamSpec>
MakeStreams(StreamPolicy policy, uint64_t creditBytes = 0)
{
    return {{"compute", StreamPolicy::Program}, {"communicate", policy, creditBytes}};
}

/// Layers of equal times in microseconds; their gradients are exchanged between two ranks.
struct EqualLayers
{
    uint32_t layers;
    uint64_t forward;
    uint64_t backward;
    uint64_t exchange; //!< K bytes among two ranks take K microseconds by ring: 2 (n-1)/n = 1
    uint32_t pieces{1};
};

/// Backward passes from the last layer to the first, then forward passes of the next iteration,
/// each of which waits for the sum of its layer.
Workload
MakeEqualLayers(const EqualLayers& spec, StreamPolicy policy, uint64_t creditBytes = 0)
{
    WorkloadBuilder builder(2, MakeStreams(policy, creditBytes));
    const auto group = builder.AddGroup({0, 1});
    const auto plan = MakePlan("ring", 2, spec.exchange / spec.pieces);
    std::vector<std::vector<CommunicationId>> exchanges(spec.layers);
    for (uint32_t layer = 0; layer < spec.layers; ++layer)
    {
        for (uint32_t piece = 0; piece < spec.pieces; ++piece)
        {
            exchanges[layer].push_back(
                builder.AddCommunication(group, plan, fmt::format("gradient {}", layer)));
        }
    }
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        std::vector<std::vector<TaskId>> sums(spec.layers);
        for (uint32_t layer = spec.layers; layer-- > 0;)
        {
            const auto backward =
                builder.AddCompute(rank, COMPUTES, spec.backward * MICROSECOND, "backward");
            for (const auto exchange : exchanges[layer])
            {
                sums[layer].push_back(
                    builder.AddPart(rank, COMMUNICATES, exchange, static_cast<int32_t>(layer)));
                builder.AddEdge(backward, sums[layer].back());
            }
        }
        for (uint32_t layer = 0; layer < spec.layers; ++layer)
        {
            const auto forward =
                builder.AddCompute(rank, COMPUTES, spec.forward * MICROSECOND, "forward");
            for (const auto sum : sums[layer])
            {
                builder.AddEdge(sum, forward);
            }
        }
    }
    return builder.Build();
}

TEST_F(WorkloadExecutionTest, OneComputationAndOneCollectiveAreAJobOfOneIteration)
{
    for (const std::string scheme : {"ring", "ps", "halving-doubling", "double-binary-tree"})
    {
        const auto workers = 8U;
        const auto plan = MakePlan(scheme, workers, 1'000'003);
        WorkloadBuilder builder(workers, MakeStreams(StreamPolicy::Program));
        const auto group = builder.AddGroup({0, 1, 2, 3, 4, 5, 6, 7});
        const auto exchange = builder.AddCommunication(group, plan, "gradient");
        for (uint32_t rank = 0; rank < workers; ++rank)
        {
            const auto compute = builder.AddCompute(rank, COMPUTES, 12345 * MICROSECOND, "pass");
            builder.AddEdge(compute, builder.AddPart(rank, COMMUNICATES, exchange));
        }
        const auto end = Run(builder.Build());
        Reset();

        const auto network =
            oracles::MakeRackNetwork(1, workers, {DataRate("8Mbps"), DataRate("8Mbps"), Time(0)});
        auto transport = CreateObject<FluidTransport>();
        transport->Install(network.topology, network.routes);
        auto engine = CreateObject<ExchangeEngine>();
        engine->SetTransport(transport);
        Job job;
        job.plan = plan;
        job.endpointOf = {0, 1, 2, 3, 4, 5, 6, 7};
        job.compute = MicroSeconds(12345);
        engine->AddJob(job);
        std::optional<Time> ended;
        engine->TraceConnectWithoutContext(
            "Iteration",
            Callback<void, const IterationRecord&>(
                [&ended](const IterationRecord& record) { ended = record.end; }));
        Simulator::Run();
        EXPECT_EQ(end, ended) << scheme;
        engine->Dispose();
        Simulator::Destroy();
    }
}

// Reference 2, section 2: L f + max(L b + c, b + L c).
TEST_F(WorkloadExecutionTest, ExchangesInOrderOverlapWithTheBackwardPass)
{
    for (int round = 0; round < 40; ++round)
    {
        const EqualLayers spec{static_cast<uint32_t>(Draw(1, 12)),
                               Draw(1, 50),
                               Draw(1, 50),
                               2 * Draw(1, 60)};
        const auto layers = spec.layers;
        const auto expected =
            layers * spec.forward + std::max(layers * spec.backward + spec.exchange,
                                             spec.backward + layers * spec.exchange);
        for (const auto policy : {StreamPolicy::Program, StreamPolicy::Fifo})
        {
            EXPECT_EQ(Run(MakeEqualLayers(spec, policy)), MicroSeconds(expected)) << layers;
            Reset();
        }
    }
}

// Reference 2, section 2: at least max(L (f + b) + c, b + f + L c), above it by at most L slices.
TEST_F(WorkloadExecutionTest, PriorityBringsTheFirstLayersForward)
{
    for (int round = 0; round < 40; ++round)
    {
        const auto pieces = static_cast<uint32_t>(Draw(1, 8));
        const EqualLayers spec{static_cast<uint32_t>(Draw(2, 10)),
                               Draw(1, 50),
                               Draw(1, 50),
                               2UL * pieces * Draw(1, 20),
                               pieces};
        const auto layers = spec.layers;
        const auto bound = std::max(layers * (spec.forward + spec.backward) + spec.exchange,
                                    spec.backward + spec.forward + layers * spec.exchange);
        const auto taken = Run(MakeEqualLayers(spec, StreamPolicy::Priority)).GetMicroSeconds();
        EXPECT_GE(taken, bound);
        EXPECT_LE(taken, bound + layers * spec.exchange / pieces);
        Reset();
    }
}

TEST_F(WorkloadExecutionTest, CreditLetsPiecesOverlapAndKeepsTheirOrder)
{
    // Pieces of a connection follow each other: with any credit, the links are as busy as without,
    // and what comes first in priority is there first.
    const EqualLayers spec{6, 10, 10, 40, 4};
    const auto alone = Run(MakeEqualLayers(spec, StreamPolicy::Priority));
    Reset();
    const auto inFlight = Run(MakeEqualLayers(spec, StreamPolicy::Priority, 20));
    // Two pieces of 10 us at once: one that is less urgent may be ahead, once a layer.
    EXPECT_GE(inFlight, MicroSeconds(10 + 10 + 240));
    EXPECT_LE(inFlight, alone + MicroSeconds(60));
}

// Reference 2, section 2, Centauri: C/q + (q-1)/q max(C, M) + M/q.
TEST_F(WorkloadExecutionTest, ACollectiveInChunksHidesBehindComputationInChunks)
{
    for (const uint32_t q : {1U, 2U, 4U, 5U, 8U})
    {
        for (int round = 0; round < 10; ++round)
        {
            const auto c = 2 * Draw(1, 100);
            const auto m = Draw(1, 100);
            WorkloadBuilder builder(2, MakeStreams(StreamPolicy::Program));
            const auto group = builder.AddGroup({0, 1});
            const auto plan = MakePlan("ring", 2, c);
            std::vector<CommunicationId> chunks;
            for (uint32_t chunk = 0; chunk < q; ++chunk)
            {
                chunks.push_back(builder.AddCommunication(group, plan, "chunk"));
            }
            for (uint32_t rank = 0; rank < 2; ++rank)
            {
                for (const auto chunk : chunks)
                {
                    const auto part = builder.AddPart(rank, COMMUNICATES, chunk);
                    builder.AddEdge(part,
                                    builder.AddCompute(rank, COMPUTES, m * MICROSECOND, "chunk"));
                }
            }
            // A chunk takes c and m: C = qc, M = qm.
            EXPECT_EQ(Run(builder.Build()), MicroSeconds(c + (q - 1) * std::max(c, m) + m));
            Reset();
        }
    }
}

TEST_F(WorkloadExecutionTest, RanksWaitForNobodyButThoseOfTheirGroup)
{
    // Two pairs exchange 1000 bytes; rank 3 starts 5 ms late. The first pair is done at 1 ms, and
    // what rank 0 computes then has not waited for the second.
    WorkloadBuilder builder(4, MakeStreams(StreamPolicy::Program));
    const auto plan = MakePlan("ring", 2, 1000);
    std::vector<TaskId> last;
    for (uint32_t pair = 0; pair < 2; ++pair)
    {
        const auto exchange = builder.AddCommunication(builder.AddGroup({2 * pair, 2 * pair + 1}),
                                                       plan,
                                                       fmt::format("pair {}", pair));
        for (uint32_t rank = 2 * pair; rank < 2 * pair + 2; ++rank)
        {
            const auto part = builder.AddPart(rank, COMMUNICATES, exchange);
            last.push_back(builder.AddCompute(rank, COMPUTES, 100 * MICROSECOND, "step"));
            builder.AddEdge(part, last.back());
        }
    }
    const std::vector<Time> starts{Time(0), Time(0), Time(0), MilliSeconds(5)};
    EXPECT_EQ(Run(builder.Build(), starts), MicroSeconds(6100));
    EXPECT_EQ(m_execution->GetLog().GetEnd(last[0]), MicroSeconds(1100));
    EXPECT_EQ(m_execution->GetLog().GetEnd(last[2]), MicroSeconds(6100));
}

TEST_F(WorkloadExecutionTest, ManyCommunicationsThatTakeNoTimeDoNotNest)
{
    WorkloadBuilder builder(2, MakeStreams(StreamPolicy::Program));
    const auto group = builder.AddGroup({0, 1});
    PlanBuilder join(2, 2, ChunkLayout::Even(4, 1));
    join.AddJoin(0);
    const auto plan = std::make_shared<const Plan>(join.Build());
    for (uint32_t i = 0; i < 100'000; ++i)
    {
        const auto exchange = builder.AddCommunication(group, plan, "nothing");
        builder.AddPart(0, COMMUNICATES, exchange);
        builder.AddPart(1, COMMUNICATES, exchange);
    }
    EXPECT_EQ(Run(builder.Build()), Time(0));
}

TEST_F(WorkloadExecutionTest, CausesLeadBackToTheStart)
{
    for (const auto policy :
         {StreamPolicy::Program, StreamPolicy::Fifo, StreamPolicy::Lifo, StreamPolicy::Priority})
    {
        Run(MakeEqualLayers({5, 7, 11, 24, 2}, policy));
        const auto& log = m_execution->GetLog();
        for (TaskId id = 0; id < m_workload->GetTasks().size(); ++id)
        {
            const auto cause = log.GetCause(id);
            // What a task waited for last ended when it began: nobody is idle without a reason.
            EXPECT_EQ(cause == TaskLog::NONE ? Time(0) : log.GetEnd(cause), log.GetBegin(id)) << id;
        }
        Reset();
    }
}

// With credit for both, the second sum is ready at 0 and begins when the first does, at 10 us: for
// the same reason.
TEST_F(WorkloadExecutionTest, WhatFollowsInOrderHasTheCauseOfTheOneBeforeIt)
{
    WorkloadBuilder builder(2, MakeStreams(StreamPolicy::Program, 1000));
    const auto group = builder.AddGroup({0, 1});
    const auto plan = MakePlan("ring", 2, 100);
    const auto first = builder.AddCommunication(group, plan, "first");
    const auto second = builder.AddCommunication(group, plan, "second");
    std::vector<TaskId> computes;
    std::vector<TaskId> seconds;
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        computes.push_back(builder.AddCompute(rank, COMPUTES, 10 * MICROSECOND, "backward"));
        builder.AddEdge(computes.back(), builder.AddPart(rank, COMMUNICATES, first));
        seconds.push_back(builder.AddPart(rank, COMMUNICATES, second));
    }
    Run(builder.Build());
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        EXPECT_EQ(GetLog().GetBegin(seconds[rank]), MicroSeconds(10));
        EXPECT_EQ(GetLog().GetCause(seconds[rank]), computes[rank]);
    }
}

// Rank 1 comes to the sum at 30 us and rank 0 at 10: what the end waited for is rank 1.
TEST_F(WorkloadExecutionTest, TheCriticalPathGoesByTheRankThatCameLast)
{
    WorkloadBuilder builder(2, MakeStreams(StreamPolicy::Program));
    const auto exchange =
        builder.AddCommunication(builder.AddGroup({0, 1}), MakePlan("ring", 2, 100), "sum");
    std::vector<TaskId> computes;
    std::vector<TaskId> parts;
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        const auto time = rank == 0 ? 10 * MICROSECOND : 30 * MICROSECOND;
        computes.push_back(builder.AddCompute(rank, COMPUTES, time, "backward"));
        parts.push_back(builder.AddPart(rank, COMMUNICATES, exchange));
        builder.AddEdge(computes.back(), parts.back());
    }
    EXPECT_EQ(Run(builder.Build()), MicroSeconds(130));
    const auto path = FindCriticalPath(*m_workload, GetLog());
    ASSERT_EQ(path.size(), 2);
    EXPECT_EQ(path[0].task, computes[1]);
    EXPECT_EQ(path[1].task, parts[1]);
    EXPECT_EQ(path[1].begin, MicroSeconds(30));
}

TEST_F(WorkloadExecutionTest, OneTaskIsTheCriticalPath)
{
    WorkloadBuilder builder(1, MakeStreams(StreamPolicy::Program));
    const auto only = builder.AddCompute(0, COMPUTES, 10 * MICROSECOND, "backward");
    EXPECT_EQ(Run(builder.Build()), MicroSeconds(10));
    const auto path = FindCriticalPath(*m_workload, GetLog());
    ASSERT_EQ(path.size(), 1);
    EXPECT_EQ(path[0].task, only);
}

TEST(WorkloadBuilder, NamesRanksThatWaitForEachOther)
{
    // Rank 0 comes to A first, rank 1 to B: each holds its stream for the other.
    WorkloadBuilder builder(2, MakeStreams(StreamPolicy::Program));
    const auto group = builder.AddGroup({0, 1});
    const auto plan = MakePlan("ring", 2, 100);
    const auto a = builder.AddCommunication(group, plan, "all-reduce A");
    const auto b = builder.AddCommunication(group, plan, "all-reduce B");
    builder.AddPart(0, COMMUNICATES, a);
    builder.AddPart(0, COMMUNICATES, b);
    builder.AddPart(1, COMMUNICATES, b);
    builder.AddPart(1, COMMUNICATES, a);
    EXPECT_THAT([&] { builder.Build(); },
                testing::ThrowsMessage<WorkloadError>(
                    "a deadlock: rank 0 waits in all-reduce A for rank 1, which never comes to it "
                    "because it waits in all-reduce B"));
}

TEST(WorkloadBuilder, LetsPoliciesThatAgreeDoWithoutAnOrder)
{
    WorkloadBuilder builder(2, MakeStreams(StreamPolicy::Fifo));
    const auto group = builder.AddGroup({0, 1});
    const auto plan = MakePlan("ring", 2, 100);
    const auto a = builder.AddCommunication(group, plan, "a");
    const auto b = builder.AddCommunication(group, plan, "b");
    builder.AddPart(0, COMMUNICATES, a);
    builder.AddPart(0, COMMUNICATES, b);
    builder.AddPart(1, COMMUNICATES, b);
    builder.AddPart(1, COMMUNICATES, a);
    EXPECT_EQ(builder.Build().GetTasks().size(), 4);
}

TEST(WorkloadBuilder, NamesWhoTakesNoPart)
{
    WorkloadBuilder builder(2, MakeStreams(StreamPolicy::Program));
    const auto exchange =
        builder.AddCommunication(builder.AddGroup({0, 1}), MakePlan("ring", 2, 100), "all-reduce");
    builder.AddPart(0, COMMUNICATES, exchange);
    EXPECT_THAT([&] { builder.Build(); },
                testing::ThrowsMessage<WorkloadError>("rank 1 takes no part in all-reduce"));
}

TEST(WorkloadBuilder, NamesACircleOfEdges)
{
    WorkloadBuilder builder(1, {{"one"}, {"other"}});
    const auto a = builder.AddCompute(0, 0, 1, "a");
    const auto b = builder.AddCompute(0, 1, 1, "b");
    builder.AddEdge(a, b);
    builder.AddEdge(b, a);
    EXPECT_THAT(
        [&] { builder.Build(); },
        testing::ThrowsMessage<WorkloadError>("tasks wait for each other in a circle of edges"));
}

} // namespace
} // namespace ns3::gradsync
