// SPDX-License-Identifier: GPL-2.0-only
#include "oracles/oracle-network.h"
#include "support/picosecond-clock.h"

#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/exchange-application.h"
#include "ns3/exchange-engine.h"
#include "ns3/fluid-transport.h"
#include "ns3/node.h"
#include "ns3/plan-builder.h"
#include "ns3/recorder.h"
#include "ns3/simulator.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

/// Four hosts in two racks, a byte a microsecond everywhere, no delays.
class ExchangeEngineTest : public testing::Test
{
  protected:
    static void SetUpTestSuite()
    {
        tests::UsePicoseconds();
    }

    void SetUp() override
    {
        const auto network =
            oracles::MakeRackNetwork(2, 2, {DataRate("8Mbps"), DataRate("16Mbps"), Time(0)});
        transport->Install(network.topology, network.routes);
        engine->SetTransport(transport);
    }

    void TearDown() override
    {
        engine->Dispose();
        Simulator::Destroy();
    }

    /// Two workers that swap 1000 bytes: rank 1 reduces into rank 0, which copies back.
    static std::shared_ptr<const Plan> MakeSwap()
    {
        PlanBuilder builder(2, 2, ChunkLayout::Even(1000, 1));
        const auto there = builder.AddReduce(1, 0, 0, 1);
        const auto back = builder.AddCopy(0, 1, 0, 1);
        builder.AddEdge(there, back);
        return std::make_shared<Plan>(builder.Build());
    }

    static Job MakeJob(std::shared_ptr<const Plan> plan, std::vector<uint32_t> endpoints)
    {
        Job job;
        job.name = "job";
        job.plan = std::move(plan);
        job.endpointOf = std::move(endpoints);
        return job;
    }

    Ptr<FluidTransport> transport{CreateObject<FluidTransport>()};
    Ptr<ExchangeEngine> engine{CreateObject<ExchangeEngine>()};
};

TEST_F(ExchangeEngineTest, RunsOperationsInTheOrderOfTheEdges)
{
    engine->AddJob(MakeJob(MakeSwap(), {2, 3}));
    Recorder recorder(engine, Recorder::Detail::Transfers);
    Simulator::Run();
    EXPECT_TRUE(engine->IsFinished());
    EXPECT_FALSE(engine->GetFailure().has_value());
    ASSERT_EQ(recorder.GetTransfers().size(), 2U);
    EXPECT_EQ(recorder.GetTransfers()[0].operation, 0U);
    EXPECT_EQ(recorder.GetTransfers()[0].start, Time(0));
    EXPECT_EQ(recorder.GetTransfers()[0].end, MicroSeconds(1000));
    EXPECT_EQ(recorder.GetTransfers()[1].start, MicroSeconds(1000));
    EXPECT_EQ(recorder.GetTransfers()[1].end, MicroSeconds(2000));
    ASSERT_EQ(recorder.GetIterations().size(), 1U);
    EXPECT_EQ(recorder.GetIterations()[0].end, MicroSeconds(2000));
    EXPECT_EQ(engine->GetTotalBytes(), 2000U);
    EXPECT_EQ(engine->GetDeliveredBytes(), 2000U);
}

TEST_F(ExchangeEngineTest, RunsIterationsOneAfterTheOtherWithComputeBefore)
{
    auto job = MakeJob(MakeSwap(), {0, 1});
    job.iterations = 3;
    job.start = MicroSeconds(70);
    job.compute = MicroSeconds(500);
    engine->AddJob(job);
    Recorder recorder(engine, Recorder::Detail::Iterations);
    Simulator::Run();
    ASSERT_EQ(recorder.GetIterations().size(), 3U);
    for (uint32_t i = 0; i < 3; ++i)
    {
        const auto& record = recorder.GetIterations()[i];
        // 500 us compute and 2000 us exchange each.
        EXPECT_EQ(record.iteration, i);
        EXPECT_EQ(record.start, MicroSeconds(70 + i * 2500));
        EXPECT_EQ(record.exchangeStart, MicroSeconds(570 + i * 2500));
        EXPECT_EQ(record.end, MicroSeconds(2570 + i * 2500));
    }
    EXPECT_TRUE(recorder.GetTransfers().empty());
    EXPECT_EQ(engine->GetTotalBytes(), 6000U);
}

TEST_F(ExchangeEngineTest, StartsOperationsThatAreReadyTogetherInAscendingOrder)
{
    // 3 and 2 of rank 0 become ready at the same instant, 3 by the delivery that comes first.
    PlanBuilder builder(4, 4, ChunkLayout::Even(400, 4));
    const auto first = builder.AddCopy(2, 0, 0, 1);
    const auto second = builder.AddCopy(3, 1, 0, 1);
    const auto low = builder.AddCopy(0, 1, 1, 1);
    const auto high = builder.AddCopy(0, 1, 2, 1);
    builder.AddEdge(first, high);
    builder.AddEdge(second, low);
    engine->AddJob(MakeJob(std::make_shared<Plan>(builder.Build()), {0, 1, 2, 3}));
    Recorder recorder(engine, Recorder::Detail::Transfers);
    Simulator::Run();
    std::vector<OperationId> order;
    for (const auto& record : recorder.GetTransfers())
    {
        order.push_back(record.operation);
    }
    // One connection, so the order of delivery is the order of sending.
    EXPECT_THAT(order, ElementsAre(first, second, low, high));
}

TEST_F(ExchangeEngineTest, BeginsInAscendingOrderOverAllRanks)
{
    // 300 transfers are ready when all ranks begin. In the first job they are all there is, in the
    // second few of many: of 200 times as many operations, which follow the last one.
    constexpr uint32_t READY = 300;
    std::array<std::vector<OperationId>, 2> sent;
    std::vector<OperationId> expected;
    for (uint32_t job = 0; job < sent.size(); ++job)
    {
        PlanBuilder builder(4, 4, ChunkLayout::Even(400, 4));
        expected.clear();
        for (uint32_t i = 0; i < READY; ++i)
        {
            expected.push_back(builder.AddCopy(i * i % 4, (i * i + 1 + i % 3) % 4, i % 4, 1));
        }
        auto last = expected.back();
        for (uint32_t i = 0; i < job * 200 * READY; ++i)
        {
            const auto join = builder.AddJoin(0);
            builder.AddEdge(last, join);
            last = join;
        }
        engine->AddJob(MakeJob(std::make_shared<Plan>(builder.Build()), {0, 1, 2, 3}));
        const auto listen = [&sent, job](uint32_t, OperationId id, uint64_t) {
            sent[job].push_back(id);
        };
        for (uint32_t rank = 0; rank < 4; ++rank)
        {
            engine->GetApplication(job, rank)->TraceConnectWithoutContext(
                "Send",
                Callback<void, uint32_t, OperationId, uint64_t>(listen));
        }
    }
    Simulator::Run();
    EXPECT_THAT(sent, testing::Each(expected));
}

TEST_F(ExchangeEngineTest, JoinsCostNothingAndMayBeChained)
{
    PlanBuilder builder(2, 2, ChunkLayout::Even(1000, 1));
    auto last = builder.AddReduce(1, 0, 0, 1);
    for (int i = 0; i < 100000; ++i)
    {
        const auto join = builder.AddJoin(0);
        builder.AddEdge(last, join);
        last = join;
    }
    builder.AddEdge(last, builder.AddCopy(0, 1, 0, 1));
    engine->AddJob(MakeJob(std::make_shared<Plan>(builder.Build()), {0, 1}));
    Recorder recorder(engine, Recorder::Detail::Iterations);
    Simulator::Run();
    ASSERT_EQ(recorder.GetIterations().size(), 1U);
    EXPECT_EQ(recorder.GetIterations()[0].end, MicroSeconds(2000));
}

TEST_F(ExchangeEngineTest, ReducesOneAfterTheOtherAtTheReceiver)
{
    // 2 and 3 send 1000 bytes each to 0 at half rate: both arrive at 2000 us. Adding a byte takes
    // 0.25 us.
    PlanBuilder builder(3, 3, ChunkLayout::Even(1000, 1));
    const auto a = builder.AddReduce(1, 0, 0, 1);
    const auto b = builder.AddReduce(2, 0, 0, 1);
    const auto back = builder.AddCopy(0, 1, 0, 1);
    builder.AddEdge(a, back);
    builder.AddEdge(b, back);
    auto job = MakeJob(std::make_shared<Plan>(builder.Build()), {0, 2, 3});
    job.reduceSecondsPerByte = 0.25e-6;
    engine->AddJob(job);
    Recorder recorder(engine, Recorder::Detail::Transfers);
    Simulator::Run();
    ASSERT_EQ(recorder.GetTransfers().size(), 3U);
    EXPECT_EQ(recorder.GetTransfers()[0].end, MicroSeconds(2000));
    EXPECT_EQ(recorder.GetTransfers()[1].end, MicroSeconds(2000));
    // Two reductions of 250 us, then the copy, which costs nothing to store.
    EXPECT_EQ(recorder.GetTransfers()[2].start, MicroSeconds(2500));
    EXPECT_EQ(recorder.GetIterations()[0].end, MicroSeconds(3500));
}

TEST_F(ExchangeEngineTest, LimitsTheTransfersOfARankUnderWay)
{
    // 0 sends 1000 bytes to 1, 2 and 3, two at a time at half its rate each: those to 1 and 2
    // arrive at 2000 us, the one to 3 then has the link to itself, until 3000 us. Without the limit
    // all three arrive at 3000 us.
    PlanBuilder builder(4, 4, ChunkLayout::Even(1000, 1));
    for (const uint32_t to : {1U, 2U, 3U})
    {
        builder.AddCopy(0, to, 0, 1);
    }
    auto job = MakeJob(std::make_shared<Plan>(builder.Build()), {0, 1, 2, 3});
    job.maxOutstandingSends = 2;
    job.iterations = 2; // nothing is left over of the first
    engine->AddJob(job);
    Recorder recorder(engine, Recorder::Detail::Transfers);
    Simulator::Run();
    ASSERT_EQ(recorder.GetTransfers().size(), 6U);
    for (const int64_t offset : {0, 3000})
    {
        const auto* transfers = &recorder.GetTransfers()[offset / 1000];
        EXPECT_EQ(transfers[0].end, MicroSeconds(offset + 2000));
        EXPECT_EQ(transfers[1].end, MicroSeconds(offset + 2000));
        EXPECT_EQ(transfers[2].operation, 2U);
        EXPECT_EQ(transfers[2].start, MicroSeconds(offset + 2000));
        EXPECT_EQ(transfers[2].end, MicroSeconds(offset + 3000));
    }
}

TEST_F(ExchangeEngineTest, MovesBetweenBuffersOfARankWithoutTheNetwork)
{
    // A swap of 1000 bytes in full duplex: 1000 us. Then both add what they got, 250 us, and copy
    // it, for nothing.
    PlanBuilder builder(2, 2, ChunkLayout::Even(1000, 1));
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        builder.AddCopy(rank, 1 - rank, 0, 1, 0, {0, 1}); // 0, 1
    }
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        const auto sum = builder.AddReduce(rank, rank, 0, 1, 0, {1, 0});
        builder.AddEdge(0, sum);
        builder.AddEdge(1, sum);
        builder.AddEdge(sum, builder.AddCopy(rank, rank, 0, 1, 0, {0, 1}));
    }
    auto job = MakeJob(std::make_shared<Plan>(builder.Build()), {0, 1});
    job.reduceSecondsPerByte = 0.25e-6;
    engine->AddJob(job);
    EXPECT_EQ(engine->GetTotalBytes(), 2000U);
    Recorder recorder(engine, Recorder::Detail::Transfers);
    Simulator::Run();
    EXPECT_EQ(recorder.GetTransfers().size(), 2U);
    EXPECT_EQ(engine->GetDeliveredBytes(), 2000U);
    ASSERT_EQ(recorder.GetIterations().size(), 1U);
    EXPECT_EQ(recorder.GetIterations()[0].end, MicroSeconds(1250));
}

TEST_F(ExchangeEngineTest, RunsSeveralJobsOnOneNetworkFromTheirOwnStartTimes)
{
    engine->AddJob(MakeJob(MakeSwap(), {0, 1}));
    auto second = MakeJob(MakeSwap(), {0, 1});
    second.start = MicroSeconds(500);
    engine->AddJob(second);
    Recorder recorder(engine, Recorder::Detail::Iterations);
    Simulator::Run();
    ASSERT_EQ(recorder.GetIterations().size(), 2U);
    // Same endpoints and stream: one FIFO connection each way. Job 0: 1 -> 0 until 1000, back until
    // 2000. Job 1: waits behind it until 1000, there until 2000, back until 3000.
    EXPECT_EQ(recorder.GetIterations()[0].job, 0U);
    EXPECT_EQ(recorder.GetIterations()[0].end, MicroSeconds(2000));
    EXPECT_EQ(recorder.GetIterations()[1].job, 1U);
    EXPECT_EQ(recorder.GetIterations()[1].start, MicroSeconds(500));
    EXPECT_EQ(recorder.GetIterations()[1].end, MicroSeconds(3000));
    EXPECT_EQ(engine->GetNode(0), engine->GetApplication(1, 0)->GetNode());
}

TEST_F(ExchangeEngineTest, ApplicationStartTimeDelaysOneRank)
{
    engine->AddJob(MakeJob(MakeSwap(), {0, 1}));
    engine->GetApplication(0, 1)->SetStartTime(MicroSeconds(300));
    Recorder recorder(engine, Recorder::Detail::Iterations);
    Simulator::Run();
    ASSERT_EQ(recorder.GetIterations().size(), 1U);
    EXPECT_EQ(recorder.GetIterations()[0].start, Time(0)); // rank 0 computes from the start
    EXPECT_EQ(recorder.GetIterations()[0].end, MicroSeconds(2300));
}

TEST_F(ExchangeEngineTest, ComputeTimeOfARankCanBeSetByPath)
{
    auto job = MakeJob(MakeSwap(), {0, 1});
    job.compute = MicroSeconds(100);
    engine->AddJob(job);
    // Nodes are numbered in the order of the ranks that first use them; rank 1 is the straggler.
    Config::Set("/NodeList/1/ApplicationList/0/$ns3::gradsync::ExchangeApplication/ComputeTime",
                TimeValue(MicroSeconds(900)));
    Recorder recorder(engine, Recorder::Detail::Iterations);
    Simulator::Run();
    ASSERT_EQ(recorder.GetIterations().size(), 1U);
    EXPECT_EQ(recorder.GetIterations()[0].exchangeStart, MicroSeconds(100));
    EXPECT_EQ(recorder.GetIterations()[0].end, MicroSeconds(2900));
}

TEST_F(ExchangeEngineTest, AStoppedRankStallsTheJobWhichIsReported)
{
    auto job = MakeJob(MakeSwap(), {0, 1});
    job.name = "resnet";
    job.iterations = 2;
    engine->AddJob(job);
    engine->GetApplication(0, 0)->SetStopTime(MicroSeconds(2500)); // in the second iteration
    Simulator::Run();
    EXPECT_FALSE(engine->IsFinished());
    const auto failure = engine->GetFailure();
    ASSERT_TRUE(failure.has_value());
    EXPECT_EQ(failure->job, 0U);
    EXPECT_EQ(failure->iteration, 1U);
    EXPECT_THAT(failure->unfinished, ElementsAre(0, 1));
    EXPECT_EQ(failure->reason,
              "job \"resnet\", iteration 1: stalled, rank 0 was stopped before it was done; "
              "2 of 2 operations are not done: #0 reduce 1 -> 0 (in the network), #1 copy 0 -> 1");
}

TEST_F(ExchangeEngineTest, ATransferThatFailsIsReportedWithItsCause)
{
    auto topology = std::make_shared<Topology>();
    topology->AddNode("a", NodeKind::Host, 0);
    topology->AddNode("b", NodeKind::Host, 0);
    transport->Install(topology, std::make_shared<RoutingTables>(*topology));
    engine->AddJob(MakeJob(MakeSwap(), {0, 1}));
    Simulator::Run();
    const auto failure = engine->GetFailure();
    ASSERT_TRUE(failure.has_value());
    EXPECT_THAT(failure->reason,
                HasSubstr("#0 reduce 1 -> 0: no path from endpoint 1 to endpoint 0"));
}

TEST_F(ExchangeEngineTest, NamesOnlyTheFirstOfManyUnfinishedOperations)
{
    PlanBuilder builder(2, 2, ChunkLayout::Even(4000, 1000));
    for (uint32_t chunk = 0; chunk < 1000; ++chunk)
    {
        builder.AddReduce(1, 0, chunk, 1);
    }
    engine->AddJob(MakeJob(std::make_shared<Plan>(builder.Build()), {0, 1}));
    Simulator::Stop(MicroSeconds(2)); // before the first 4 bytes are through
    Simulator::Run();
    const auto failure = engine->GetFailure();
    ASSERT_TRUE(failure.has_value());
    EXPECT_EQ(failure->unfinished.size(), 1000U);
    EXPECT_THAT(failure->reason, HasSubstr("stalled, the simulation ended before it was done"));
    EXPECT_THAT(failure->reason, HasSubstr("1000 of 1000 operations"));
    EXPECT_THAT(failure->reason, HasSubstr("#3 reduce 1 -> 0 (in the network), ..."));
    EXPECT_THAT(failure->reason, testing::Not(HasSubstr("#4")));
}

TEST_F(ExchangeEngineTest, AJobThatNeverStartedIsReportedWhole)
{
    auto job = MakeJob(MakeSwap(), {0, 1});
    job.start = Seconds(1);
    engine->AddJob(job);
    Simulator::Stop(MilliSeconds(1));
    Simulator::Run();
    const auto failure = engine->GetFailure();
    ASSERT_TRUE(failure.has_value());
    EXPECT_EQ(failure->iteration, 0U);
    EXPECT_EQ(failure->unfinished.size(), 2U);
}

TEST_F(ExchangeEngineTest, APlanWithoutOperationsTakesTheComputeTime)
{
    PlanBuilder builder(1, 1, ChunkLayout::Even(1000, 1));
    auto job = MakeJob(std::make_shared<Plan>(builder.Build()), {2});
    job.compute = MicroSeconds(10);
    job.iterations = 2;
    engine->AddJob(job);
    Recorder recorder(engine, Recorder::Detail::Iterations);
    Simulator::Run();
    EXPECT_TRUE(engine->IsFinished());
    ASSERT_EQ(recorder.GetIterations().size(), 2U);
    EXPECT_EQ(recorder.GetIterations()[1].end, MicroSeconds(20));
}

TEST_F(ExchangeEngineTest, AnAnswerBeingAddedWhenTheGateClosesIsLateAndCountedOnce)
{
    // 0 and 1 send 1000 bytes each to the server, which has them at 2000 us and adds them one after
    // the other in 250 us each. The first one is enough: the model goes to 0 from 2250 us on, and
    // to 1, for which nobody waits, beside it: at half the rate each.
    PlanBuilder builder(3, 2, ChunkLayout::Even(1000, 1));
    const auto gate = builder.AddGate(2, 1, 10'000'000'000);
    for (const uint32_t worker : {0U, 1U})
    {
        const auto answer = builder.AddReduce(worker, 2, 0, 1);
        builder.AddAnswer(answer, worker);
        builder.AddEdge(gate, builder.AddCopy(2, worker, 0, 1));
    }
    auto job = MakeJob(std::make_shared<Plan>(builder.Build()), {0, 1, 2});
    job.reduceSecondsPerByte = 0.25e-6;
    engine->AddJob(job);
    Recorder recorder(engine, Recorder::Detail::Transfers);
    Simulator::Run();
    ASSERT_EQ(recorder.GetIterations().size(), 1U);
    const auto& record = recorder.GetIterations()[0];
    EXPECT_EQ(record.end, MicroSeconds(4250));
    EXPECT_EQ(record.replies, 1U);
    EXPECT_EQ(record.late, 1U);
    EXPECT_EQ(record.network, MicroSeconds(2000 + 2000));
    EXPECT_EQ(recorder.GetTransfers().size(), 4U);
    EXPECT_EQ(engine->GetDeliveredBytes(), 4000U);
}

TEST_F(ExchangeEngineTest, RejectsJobsWhoseRanksDoNotFit)
{
    EXPECT_THROW(engine->AddJob(MakeJob(nullptr, {0, 1})), std::invalid_argument);
    EXPECT_THROW(engine->AddJob(MakeJob(MakeSwap(), {0})), std::invalid_argument);
    EXPECT_THROW(engine->AddJob(MakeJob(MakeSwap(), {3, 3})), std::invalid_argument);
    auto negative = MakeJob(MakeSwap(), {0, 1});
    negative.start = MicroSeconds(-1);
    EXPECT_THROW(engine->AddJob(negative), std::invalid_argument);
    EXPECT_THROW(CreateObject<ExchangeEngine>()->AddJob(MakeJob(MakeSwap(), {0, 1})),
                 std::invalid_argument);
    EXPECT_EQ(engine->GetJobCount(), 0U);
    EXPECT_TRUE(engine->IsFinished());
}

TEST_F(ExchangeEngineTest, TearsDownInAnyOrderWithWorkUnderWay)
{
    engine->AddJob(MakeJob(MakeSwap(), {0, 1}));
    // The engine goes while messages are in the network, the simulator runs on, then it goes too.
    Simulator::Schedule(MicroSeconds(1), [this] { engine->Dispose(); });
    Simulator::Run();
    EXPECT_TRUE(engine->IsFinished()); // it has no job any more

    auto other = CreateObject<ExchangeEngine>();
    other->SetTransport(transport);
    other->AddJob(MakeJob(MakeSwap(), {0, 1}));
    Simulator::Stop(MicroSeconds(1));
    Simulator::Run();
    Simulator::Destroy(); // before the engine: disposes of the nodes and their applications
    EXPECT_FALSE(other->IsFinished());
}

TEST_F(ExchangeEngineTest, TwoRunsReportTheSameTransfers)
{
    const auto run = [] {
        const auto network =
            oracles::MakeRackNetwork(2, 2, {DataRate("8Mbps"), DataRate("7Mbps"), MicroSeconds(3)});
        auto fluid = CreateObject<FluidTransport>();
        fluid->Install(network.topology, network.routes);
        auto runner = CreateObject<ExchangeEngine>();
        runner->SetTransport(fluid);
        PlanBuilder builder(4, 4, ChunkLayout::Even(12345, 12));
        for (uint32_t src = 0; src < 4; ++src)
        {
            for (uint32_t hop = 1; hop < 4; ++hop)
            {
                const auto there = builder.AddReduce(src, (src + hop) % 4, 3 * src, hop, hop);
                builder.AddEdge(there, builder.AddCopy((src + hop) % 4, src, src, hop, src));
            }
        }
        runner->AddJob(MakeJob(std::make_shared<Plan>(builder.Build()), {3, 1, 2, 0}));
        Recorder recorder(runner, Recorder::Detail::Transfers);
        Simulator::Run();
        std::vector<std::pair<OperationId, Time>> rows;
        for (const auto& record : recorder.GetTransfers())
        {
            rows.emplace_back(record.operation, record.end);
        }
        Simulator::Destroy();
        return rows;
    };
    const auto first = run();
    EXPECT_EQ(first.size(), 24U);
    EXPECT_EQ(first, run());
}

} // namespace
} // namespace ns3::gradsync
