// SPDX-License-Identifier: GPL-2.0-only
#include "oracles/oracle-network.h"
#include "scenario/scenario-runs.h"

#include "ns3/exchange-application.h"
#include "ns3/fluid-transport.h"
#include "ns3/object-factory.h"
#include "ns3/plan-builder.h"
#include "ns3/run-watch.h"
#include "ns3/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>

namespace ns3::gradsync
{

/// Sets itself again for ever, as timers of some queue discs do.
class EndlessTimer
{
  public:
    explicit EndlessTimer(const Time& period)
        : m_period(period)
    {
        Tick();
    }

  private:
    void Tick()
    {
        Simulator::Schedule(m_period, &EndlessTimer::Tick, this);
    }

    Time m_period;
};

namespace
{

using testing::HasSubstr;

/// Two hosts, a byte a microsecond; the worker at one sends the other 1000 bytes.
class RunWatchTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        UsePicoseconds();
        ObjectFactory scheduler;
        scheduler.SetTypeId(RadixScheduler::GetTypeId());
        Simulator::SetScheduler(scheduler);
        const auto network =
            oracles::MakeRackNetwork(1, 2, {DataRate("8Mbps"), DataRate("16Mbps"), Time(0)});
        m_transport->Install(network.topology, network.routes);
        m_engine->SetTransport(m_transport);
        m_injector->Install({}, network.topology, m_transport, m_engine);
        m_generator->Install({}, *network.topology, m_transport, [] { return true; });
    }

    void TearDown() override
    {
        m_generator->Dispose();
        m_injector->Dispose();
        m_engine->Dispose();
        m_transport->Dispose();
        Simulator::Destroy();
    }

    void AddJob(const Time& compute)
    {
        PlanBuilder builder(2, 2, ChunkLayout::Even(1000, 1));
        const auto there = builder.AddReduce(1, 0, 0, 1);
        const auto back = builder.AddCopy(0, 1, 0, 1);
        builder.AddEdge(there, back);
        Job job;
        job.name = "job";
        job.plan = std::make_shared<Plan>(builder.Build());
        job.endpointOf = {0, 1};
        job.compute = compute;
        m_engine->AddJob(std::move(job));
    }

    Ptr<FluidTransport> m_transport{CreateObject<FluidTransport>()};
    Ptr<ExchangeEngine> m_engine{CreateObject<ExchangeEngine>()};
    Ptr<FaultInjector> m_injector{CreateObject<FaultInjector>()};
    Ptr<TrafficGenerator> m_generator{CreateObject<TrafficGenerator>()};
};

TEST_F(RunWatchTest, EndsWhenOnlyEndlessTimersAreLeft)
{
    AddJob(Time(0));
    const EndlessTimer quick(NanoSeconds(700));
    const EndlessTimer slow(Seconds(3));
    const RunWatch watch(m_engine, m_transport, m_injector, m_generator);
    Simulator::Run();
    EXPECT_TRUE(m_engine->IsFinished());
    // 1000 us there and back; the slow timer's first expiry was pending then and is waited for.
    EXPECT_GE(watch.GetEnd(), MicroSeconds(2000));
    EXPECT_LE(Simulator::Now(), Seconds(4));
}

TEST_F(RunWatchTest, WaitsForAComputationHoweverOftenTimersExpire)
{
    // 500,000 expiries meanwhile, several times what the watch takes between two looks.
    AddJob(Seconds(500));
    const EndlessTimer timer(MilliSeconds(1));
    const RunWatch watch(m_engine, m_transport, m_injector, m_generator);
    Simulator::Run();
    EXPECT_TRUE(m_engine->IsFinished());
    EXPECT_GE(Simulator::Now(), Seconds(500) + MicroSeconds(2000));
}

TEST_F(RunWatchTest, NamesTheTimersThatGoOnWhenAJobStalls)
{
    AddJob(MicroSeconds(500));
    m_engine->GetApplication(0, 0)->SetStopTime(MicroSeconds(600));
    const EndlessTimer timer(MilliSeconds(15));
    const RunWatch watch(m_engine, m_transport, m_injector, m_generator);
    Simulator::Run();
    const auto failure = m_engine->GetFailure();
    ASSERT_TRUE(failure.has_value());
    EXPECT_THAT(failure->reason, HasSubstr("stalled, rank 0 was stopped"));
    EXPECT_EQ(watch.DescribeTimers(), "; nothing but timers was left: ns3::gradsync::EndlessTimer");
}

TEST_F(RunWatchTest, LeavesARunThatEndsByItselfAlone)
{
    AddJob(MicroSeconds(500));
    const auto late = Simulator::Schedule(Seconds(9), [] {});
    const RunWatch watch(m_engine, m_transport, m_injector, m_generator);
    Simulator::Run();
    EXPECT_TRUE(m_engine->IsFinished());
    EXPECT_EQ(watch.GetEnd(), Seconds(9));
    EXPECT_EQ(watch.DescribeTimers(), "");
}

/// PIE's timer sets itself again for ever. Nothing queues up here, so that every discipline gives
/// the result of first in, first out; with a timeout, and without.
TEST(RunWatchScenario, QueueDiscsWithTimersGiveTheResultOfThoseWithout)
{
    const std::string star = R"({
      "topology": {"kind": "star", "hosts": 2, "hostLink": {"rate": "10Gbps"}},
      "transport": {"kind": "tcp", "queueDisc": "ns3::FifoQueueDisc"},
      "job": {"gradient": "10kB"}, "scheme": "ring"})";
    const auto fifo = Simulate({}, star);
    ASSERT_TRUE(fifo.summary.finished);
    for (const auto* queueDisc : {"ns3::PieQueueDisc", "ns3::FqPieQueueDisc"})
    {
        for (const auto* timeout : {"0s", "1s"})
        {
            const auto result =
                Simulate({{"transport.queueDisc", queueDisc}, {"job.timeout", timeout}}, star);
            EXPECT_TRUE(result.summary.finished) << queueDisc;
            EXPECT_EQ(result.summary.meanIctPs, fifo.summary.meanIctPs) << queueDisc;
            EXPECT_EQ(result.summary.wireBytes, fifo.summary.wireBytes) << queueDisc;
        }
    }
}

} // namespace
} // namespace ns3::gradsync
