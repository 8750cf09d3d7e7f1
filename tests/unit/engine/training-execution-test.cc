// SPDX-License-Identifier: GPL-2.0-only
#include "oracles/oracle-network.h"
#include "support/picosecond-clock.h"
#include "support/workload-fixture.h"

#include "ns3/exchange-engine.h"
#include "ns3/fluid-transport.h"
#include "ns3/plan-shelf.h"
#include "ns3/recorder.h"
#include "ns3/simulator.h"
#include "ns3/training-workload.h"

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

using tests::Choose;
using tests::MICROSECOND;

/// Hosts below one switch, a byte a microsecond each way, no delays; jobs of an engine on them.
class TrainingExecutionTest : public testing::Test
{
  protected:
    static void SetUpTestSuite()
    {
        tests::UsePicoseconds();
    }

    void SetUp() override
    {
        m_network = oracles::MakeRackNetwork(1, 8, {DataRate("8Mbps"), DataRate("8Mbps"), Time(0)});
        m_transport = CreateObject<FluidTransport>();
        m_transport->Install(m_network.topology, m_network.routes);
        m_engine = CreateObject<ExchangeEngine>();
        m_engine->SetTransport(m_transport);
    }

    void TearDown() override
    {
        m_engine->Dispose();
        Simulator::Destroy();
    }

    /// Two layers of 10 us forward and 20 us backward on two ranks, 40 bytes of gradients each.
    static TrainingSpec MakeSpec()
    {
        ModelBlock block;
        block.name = "layer";
        block.forwardPicoseconds = 10 * MICROSECOND;
        block.backwardPicoseconds = 20 * MICROSECOND;
        block.gradientBytes = 40;
        TrainingSpec spec;
        spec.data = 2;
        spec.blocks.assign(2, block);
        spec.buckets = {1, 1};
        spec.gradientScheme = Choose("ring");
        return spec;
    }

    static TrainingJob MakeJob(const TrainingSpec& spec, uint32_t iterations)
    {
        PlanShelf shelf({}, 1);
        TrainingJob job;
        job.name = "training";
        job.workload = std::make_shared<const Workload>(MakeTrainingWorkload(spec, shelf));
        for (uint32_t rank = 0; rank < job.workload->GetRankCount(); ++rank)
        {
            job.endpointOf.push_back(rank);
        }
        job.iterations = iterations;
        return job;
    }

    oracles::RackNetwork m_network;
    Ptr<FluidTransport> m_transport;
    Ptr<ExchangeEngine> m_engine;
};

TEST_F(TrainingExecutionTest, RunsOneIterationAfterTheOther)
{
    // L f + max(L b + c, b + L c) with L = 2, f = 10, b = 20, c = 40: 20 + 100.
    auto job = MakeJob(MakeSpec(), 3);
    job.start = MicroSeconds(7);
    m_engine->AddTraining(job);
    const Recorder recorder(m_engine, Recorder::Detail::Iterations);
    Simulator::Run();
    EXPECT_TRUE(m_engine->IsFinished());
    ASSERT_EQ(recorder.GetIterations().size(), 3);
    for (uint32_t i = 0; i < 3; ++i)
    {
        const auto& record = recorder.GetIterations()[i];
        EXPECT_EQ(record.start, MicroSeconds(7 + i * 120));
        EXPECT_EQ(record.exchangeStart, record.start + MicroSeconds(40)); // 2 f + b
        EXPECT_EQ(record.end, record.start + MicroSeconds(120));
    }
    // Ring of two: each rank sends K in all, of each of two buckets: 2 x 2 x 40.
    EXPECT_EQ(m_engine->GetTotalBytes(), 3 * 160);
    EXPECT_EQ(m_engine->GetDeliveredBytes(), 3 * 160);
}

TEST_F(TrainingExecutionTest, IterationsThatOverlapHaveRecordsOneAfterTheOther)
{
    // In order of the stream, each takes 2 f + max(2 b + c, b + 2 c) = 20 + 100.
    auto spec = MakeSpec();
    spec.iterations = 3;
    m_engine->AddTraining(MakeJob(spec, 6));
    const Recorder recorder(m_engine, Recorder::Detail::Iterations);
    Simulator::Run();
    ASSERT_EQ(recorder.GetIterations().size(), 6);
    for (uint32_t i = 0; i < 6; ++i)
    {
        const auto& record = recorder.GetIterations()[i];
        EXPECT_EQ(record.iteration, i);
        EXPECT_EQ(record.start, MicroSeconds(uint64_t{i} * 120));
        EXPECT_EQ(record.exchangeStart, record.start + MicroSeconds(40)); // 2 f + b
        EXPECT_EQ(record.end, record.start + MicroSeconds(120));
    }
    EXPECT_EQ(m_engine->GetTotalBytes(), 6 * 160);
    EXPECT_EQ(m_engine->GetDeliveredBytes(), 6 * 160);
}

TEST_F(TrainingExecutionTest, SharesTheNetworkWithAnExchange)
{
    m_engine->AddTraining(MakeJob(MakeSpec(), 1));
    Job exchange;
    exchange.plan = tests::MakePlan("ring", 2, 100);
    exchange.endpointOf = {2, 3}; // other hosts: nothing is shared
    m_engine->AddJob(exchange);
    const Recorder recorder(m_engine, Recorder::Detail::Iterations);
    Simulator::Run();
    ASSERT_EQ(recorder.GetIterations().size(), 2);
    EXPECT_EQ(recorder.GetIterations()[0].end, MicroSeconds(100));
    EXPECT_EQ(recorder.GetIterations()[1].end, MicroSeconds(120));
    EXPECT_EQ(m_engine->GetJobName(0), "training");
}

TEST_F(TrainingExecutionTest, AStragglerOfOneStageDelaysThePipeline)
{
    // 1F1B, p = 2, m = 4, F = 1, B = 2: 15. Stage 1 takes twice as long: it is busy for m x 6, from
    // the end of the first F of stage 0 on, and stage 0 ends with one B: 1 + 24 + 2.
    TrainingSpec spec;
    spec.pipeline = {2, 4};
    spec.blocks.resize(2);
    for (auto& block : spec.blocks)
    {
        block.forwardPicoseconds = MICROSECOND;
        block.backwardPicoseconds = 2 * MICROSECOND;
    }
    m_engine->AddTraining(MakeJob(spec, 2));
    m_engine->SetSlowdown(1, [] { return 2.0; });
    Simulator::Schedule(MicroSeconds(27), [this] { m_engine->SetSlowdown(1, {}); });
    const Recorder recorder(m_engine, Recorder::Detail::Iterations);
    Simulator::Run();
    ASSERT_EQ(recorder.GetIterations().size(), 2);
    EXPECT_EQ(recorder.GetIterations()[0].end, MicroSeconds(27));
    EXPECT_EQ(recorder.GetIterations()[1].end, MicroSeconds(27 + 15));
}

TEST_F(TrainingExecutionTest, ASlowLinkUnderATensorGroupHoldsUpItsSums)
{
    // Two tensor x two data ranks, f = 10, b = 20, sums of 40 B in two steps of 20 B after the
    // forward pass in {0, 1} and {2, 3}, and of gradients in {0, 2} and {1, 3}. Rank 1's link has
    // half its rate, 0.5 B/us.
    //   {0, 1}: 10 to 50 and on. Ranks 2 and 3 have gradients at 10 + 40 + 20 = 70: rank 3 sends
    //   the first step to rank 1, and the link is shared, so that the last 10 B take 40 us: until
    //   110. Ranks 0 and 1 have gradients at 130. {0, 2}: 40 B at the full rate, 170. {1, 3}: the
    //   rest of rank 3's step is there; rank 1 sends both of its own, 40 B at half the rate, until
    //   210.
    auto spec = MakeSpec();
    spec.tensor = 2;
    spec.blocks.resize(1);
    spec.blocks[0].afterForward = {{Choose("ring"), 40}};
    m_engine->AddTraining(MakeJob(spec, 1));
    LinkState slow;
    slow.rateShare = 0.5;
    m_transport->SetLinkState(2, slow); // links: the uplink of the switch, then those of hosts
    std::vector<Time> ends(4);
    m_engine->TraceConnectWithoutContext(
        "Training",
        Callback<void, const TrainingRecord&>([&ends](const TrainingRecord& record) {
            const auto tasks = record.workload->GetTasks();
            for (TaskId id = 0; id < tasks.size(); ++id)
            {
                auto& end = ends[tasks[id].rank];
                end = std::max(end, record.log->GetEnd(id));
            }
        }));
    Simulator::Run();
    EXPECT_THAT(ends,
                testing::ElementsAre(MicroSeconds(170),
                                     MicroSeconds(210),
                                     MicroSeconds(170),
                                     MicroSeconds(210)));
}

TEST_F(TrainingExecutionTest, NamesARankThatHasCrashed)
{
    m_engine->AddTraining(MakeJob(MakeSpec(), 2));
    Simulator::Schedule(MicroSeconds(50), [this] { m_engine->CrashEndpoint(1); });
    Simulator::Schedule(MicroSeconds(90), [this] { m_engine->NoticeCrash(1); });
    Simulator::Run();
    EXPECT_FALSE(m_engine->IsFinished());
    EXPECT_TRUE(m_engine->IsSettled());
    ASSERT_TRUE(m_engine->GetFailure().has_value());
    EXPECT_THAT(m_engine->GetFailure()->reason,
                testing::StartsWith("job \"training\", iteration 0: rank 1 has crashed; "));
}

TEST_F(TrainingExecutionTest, SurvivorsBeginTheIterationAnew)
{
    // Three ranks, L = 2, f = 10, b = 20, K = 60 B: c = 2 (2/3) 60 = 80 us, an iteration L f + b +
    // L c = 200. Rank 1 crashes in the second one and is missed at 300; two ranks have c = 60 and
    // begin anew: 20 + 20 + 120 = 160 each.
    auto spec = MakeSpec();
    spec.data = 3;
    for (auto& block : spec.blocks)
    {
        block.gradientBytes = 60;
    }
    auto job = MakeJob(spec, 3);
    std::vector<uint32_t> survivors;
    job.planSurvivors = [&](std::span<const uint32_t> ranks) {
        survivors.assign(ranks.begin(), ranks.end());
        spec.data = static_cast<uint32_t>(ranks.size());
        PlanShelf shelf({}, 1);
        return std::make_shared<const Workload>(MakeTrainingWorkload(spec, shelf));
    };
    m_engine->AddTraining(job);
    Simulator::Schedule(MicroSeconds(250), [this] { m_engine->CrashEndpoint(1); });
    Simulator::Schedule(MicroSeconds(300), [this] { m_engine->NoticeCrash(1); });
    Simulator::Schedule(MicroSeconds(310), [this] { m_engine->RestartEndpoint(1); }); // too late
    const Recorder recorder(m_engine, Recorder::Detail::Iterations);
    Simulator::Run();
    EXPECT_TRUE(m_engine->IsFinished());
    EXPECT_THAT(survivors, testing::ElementsAre(0, 2));
    ASSERT_EQ(recorder.GetIterations().size(), 3);
    EXPECT_EQ(recorder.GetIterations()[0].end, MicroSeconds(200));
    EXPECT_EQ(recorder.GetIterations()[1].start, MicroSeconds(200));
    EXPECT_EQ(recorder.GetIterations()[1].end, MicroSeconds(300 + 160));
    EXPECT_EQ(recorder.GetIterations()[2].end, MicroSeconds(300 + 2 * 160));
    ASSERT_EQ(recorder.GetReactions().size(), 1);
    EXPECT_EQ(recorder.GetReactions()[0].rank, 1);
    EXPECT_EQ(recorder.GetReactions()[0].survivors, 2);
}

TEST_F(TrainingExecutionTest, NamesWhatAnIterationWaitsForThatTakesTooLong)
{
    auto job = MakeJob(MakeSpec(), 1);
    job.timeout = MicroSeconds(60);
    m_engine->AddTraining(job);
    Simulator::Run();
    // At 60 us both backward passes have just ended or are about to; the first bucket is under way.
    ASSERT_TRUE(m_engine->GetFailure().has_value());
    EXPECT_THAT(m_engine->GetFailure()->reason,
                testing::AllOf(testing::HasSubstr("timed out, not done 0.00006 s after it began"),
                               testing::HasSubstr("rank 0 is in ")));
}

TEST_F(TrainingExecutionTest, RefusesWhatDoesNotFit)
{
    auto job = MakeJob(MakeSpec(), 1);
    job.endpointOf.pop_back();
    EXPECT_THAT([&] { m_engine->AddTraining(job); },
                testing::ThrowsMessage<std::invalid_argument>(
                    "job \"training\": its workload has 2 ranks, but 1 endpoints are given"));
    auto spec = MakeSpec();
    spec.iterations = 2;
    EXPECT_THAT([&] { m_engine->AddTraining(MakeJob(spec, 3)); },
                testing::ThrowsMessage<std::invalid_argument>(
                    "job \"training\": 3 iterations are no multiple of its workload's 2"));
    job.endpointOf = {3, 3};
    EXPECT_THAT([&] { m_engine->AddTraining(job); },
                testing::ThrowsMessage<std::invalid_argument>(
                    "job \"training\": endpoint 3 is given to two ranks"));
}

} // namespace
} // namespace ns3::gradsync
