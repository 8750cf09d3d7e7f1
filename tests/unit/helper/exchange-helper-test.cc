// SPDX-License-Identifier: GPL-2.0-only
#include "unit/helper/helper-fixture.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/exchange-application.h"
#include "ns3/exchange-helper.h"
#include "ns3/fabric-helper.h"
#include "ns3/plan-builder.h"
#include "ns3/uinteger.h"
#include "ns3/wire-format.h"

#include <gmock/gmock.h>
#include <random>

namespace ns3::gradsync::tests
{
namespace
{

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// On the fluid a ring of 2 takes 1 us for each 1000 B: every rank sends both halves, one after
/// the other, at 1 B/ns.
class ExchangeHelperTest : public HelperFixture
{
  protected:
    static ExchangeHelper MakeRing(uint64_t bytes)
    {
        ExchangeHelper exchange("ring");
        exchange.SetAttribute("GradientBytes", UintegerValue(bytes));
        return exchange;
    }

    const FabricHelper fluid{"fluid"};
};

TEST_F(ExchangeHelperTest, RefusesNamesThatThereAreNotAndSaysWhichThereAre)
{
    EXPECT_THAT(RefusalOf([] { ExchangeHelper("rng"); }),
                AllOf(HasSubstr("no scheme \"rng\""), HasSubstr("ring, ")));
    EXPECT_THAT(RefusalOf([] { ExchangeHelper("ring", "chunks", 2); }),
                HasSubstr("the scheme ring has no parameter chunks (it has: pipelineChunks)"));
    ExchangeHelper exchange("ring");
    EXPECT_THAT(RefusalOf([&] { exchange.SetAttribute("Gradient", UintegerValue(1)); }),
                AllOf(HasSubstr("ns3::gradsync::ExchangeJob has no Attribute Gradient"),
                      HasSubstr("GradientBytes, ")));
    EXPECT_THAT(RefusalOf([&] { exchange.SetAttribute("Iterations", UintegerValue(0)); }),
                HasSubstr("the Attribute Iterations of ns3::gradsync::ExchangeJob cannot be"));
}

TEST_F(ExchangeHelperTest, RefusesParametersOfAnotherTypeOrRange)
{
    EXPECT_THAT(RefusalOf([] { ExchangeHelper("ring", "pipelineChunks", "many"); }),
                HasSubstr("pipelineChunks of the scheme ring must be of the type of its default"));
    EXPECT_THAT(RefusalOf([] { ExchangeHelper("ring", "pipelineChunks", 0); }),
                HasSubstr("pipelineChunks of the scheme ring must be 1 to "));
    EXPECT_THAT(RefusalOf([] { ExchangeHelper("switchml", "fallback", "prayer"); }),
                HasSubstr("fallback of the scheme switchml must be one of "));
    EXPECT_EQ(RefusalOf([] { ExchangeHelper("rat", "pipelineChunks", 8, "barrier", true); }),
              "no refusal");
}

TEST_F(ExchangeHelperTest, RefusesHostsThatDoNotGo)
{
    const auto hosts = fluid.Install(MakeStar(3));
    const auto others = fluid.Install(MakeStar(3));
    const ExchangeHelper ring("ring");
    EXPECT_THAT(RefusalOf([&] { ring.Install(NodeContainer(hosts, others)); }),
                HasSubstr("several networks"));
    EXPECT_THAT(RefusalOf([&] { ring.Install(NodeContainer(hosts.Get(0))); }),
                HasSubstr("1 hosts are too few"));
    EXPECT_THAT(RefusalOf([&] { ExchangeHelper("ps", "servers", 2).Install(hosts); }),
                HasSubstr("at least 2 workers and 2 dedicated servers"));
    EXPECT_THAT(RefusalOf([&] { ring.Install(NodeContainer(hosts.Get(0), hosts.Get(0))); }),
                HasSubstr("which another rank has already"));
}

TEST_F(ExchangeHelperTest, ReturnsTheApplicationsOfTheRanksWhoseAttributesMayBeChanged)
{
    const auto hosts = fluid.Install(MakeStar(2));
    const auto ranks = MakeRing(1'000'000).Install(hosts);
    ASSERT_EQ(ranks.GetN(), 2U);
    EXPECT_EQ(ranks.Get(1)->GetNode(), hosts.Get(1));
    // Rank 1 sends its half at once, rank 0 a millisecond later, and what it adds up comes back.
    ranks.Get(0)->SetAttribute("ComputeTime", TimeValue(MilliSeconds(1)));
    EXPECT_THAT(RunToEnd(hosts), ElementsAre(MilliSeconds(2)));
}

TEST_F(ExchangeHelperTest, DedicatedServersAreTheLastHosts)
{
    const auto hosts = fluid.Install(MakeStar(4));
    ExchangeHelper exchange("ps", "servers", 1);
    exchange.SetAttribute("GradientBytes", UintegerValue(1000));
    const auto ranks =
        exchange.Install(NodeContainer(hosts.Get(3), hosts.Get(1), hosts.Get(0), hosts.Get(2)));
    EXPECT_EQ(ranks.GetN(), 4U);
    EXPECT_EQ(ranks.Get(3)->GetNode(), hosts.Get(2));
    // Three gradients of 1 us go into the server, and three out of it.
    EXPECT_THAT(RunToEnd(hosts), ElementsAre(MicroSeconds(6)));
}

TEST_F(ExchangeHelperTest, JobsOnTheSameHostsShareTheNetwork)
{
    const auto hosts = fluid.Install(MakeStar(2));
    const auto ring = MakeRing(1'000'000);
    ring.Install(hosts);
    ring.Install(hosts);
    EXPECT_EQ(FabricHost::Of(hosts)->GetEngine()->GetJobName(1), "job1");
    // They share the connections, in which halves of 0.5 ms follow each other: those of the first
    // job are through at 0.5 and 1.5 ms, those of the second at 1 and 2 ms.
    EXPECT_THAT(RunToEnd(hosts), ElementsAre(MicroSeconds(1500), MilliSeconds(2)));
}

TEST_F(ExchangeHelperTest, MessagesHaveTheProtocolOfTheJob)
{
    // Two steps of half of 1 MB at 1 GB/s, of twice as much with its flags, and a hop after each.
    const auto hosts = fluid.Install(MakeStar(2));
    auto ring = MakeRing(1'000'000);
    ring.SetAttribute("BaseLatency", TimeValue(MicroSeconds(7)));
    ring.SetAttribute("HopLatency", TimeValue(MicroSeconds(50)));
    ring.SetAttribute("NetworkHopLatency", TimeValue(MicroSeconds(3)));
    ring.SetAttribute("Efficiency", DoubleValue(0.5));
    ring.Install(hosts);
    EXPECT_THAT(RunToEnd(hosts), ElementsAre(MicroSeconds(7 + 2 * (1000 + 3))));
    EXPECT_THAT(RefusalOf([&ring] { ring.SetAttribute("Efficiency", DoubleValue(1.5)); }),
                HasSubstr("Efficiency"));
}

TEST_F(ExchangeHelperTest, TakesDefaultsFromConfig)
{
    const auto hosts = fluid.Install(MakeStar(2));
    Config::SetDefault("ns3::gradsync::ExchangeJob::Iterations", UintegerValue(3));
    MakeRing(1000).Install(hosts);
    Config::SetDefault("ns3::gradsync::ExchangeJob::Iterations", UintegerValue(1));
    EXPECT_THAT(RunToEnd(hosts), ElementsAre(MicroSeconds(1), MicroSeconds(2), MicroSeconds(3)));
}

TEST_F(ExchangeHelperTest, TheJobKeepsASchemeOfTheUsersOwn)
{
    const auto hosts = fluid.Install(MakeStar(3));
    const auto engine = FabricHost::Of(hosts)->GetEngine();
    {
        // All to worker 0 and back.
        ExchangeHelper exchange(
            Scheme{.name = "own", .build = [](const SchemeRequest& request) {
                       const auto w = request.workers;
                       PlanBuilder builder(w, w, ChunkLayout::Even(request.gradientBytes, 1));
                       const auto sum = builder.AddJoin(0);
                       for (uint32_t rank = 1; rank < w; ++rank)
                       {
                           builder.AddEdge(builder.AddReduce(rank, 0, 0, 1), sum);
                           builder.AddEdge(sum, builder.AddCopy(0, rank, 0, 1));
                       }
                       return builder.Build();
                   }});
        exchange.SetAttribute("GradientBytes", UintegerValue(1000));
        exchange.SetAttribute("Replan", BooleanValue(true));
        exchange.SetAttribute("Iterations", UintegerValue(2));
        exchange.Install(hosts);
    }
    // Between the iterations worker 2 is lost: after 2 us there and 2 us back the other two swap in
    // 1 us there and 1 us back.
    Simulator::Schedule(NanoSeconds(3999), [engine] {
        engine->CrashEndpoint(2);
        engine->NoticeCrash(2);
    });
    const auto ends = RunToEnd(hosts);
    ASSERT_EQ(ends.size(), 2U);
    EXPECT_EQ(engine->GetPlans(0).back().ranks.size(), 2U);
}

TEST_F(ExchangeHelperTest, RefusesAPlanThatIsNoExchange)
{
    const auto hosts = fluid.Install(MakeStar(2));
    const ExchangeHelper exchange(
        Scheme{.name = "lazy", .build = [](const SchemeRequest& request) {
                   PlanBuilder builder(2, 2, ChunkLayout::Even(request.gradientBytes, 1));
                   builder.AddReduce(0, 1, 0, 1); // and nobody tells worker 0
                   return builder.Build();
               }});
    EXPECT_THROW(exchange.Install(hosts), std::logic_error);
}

/// Of a ring of w workers on one switch nothing queues: a part of n packets takes (n + 1) t + 2 d,
/// the last packet being stored once, and there are 2(w - 1) steps.
TEST_F(ExchangeHelperTest, ARingOfAnySizeOnASwitchTakesItsClosedForm)
{
    std::mt19937 random(20261122);
    const auto draw = [&random](uint32_t from, uint32_t to) {
        return std::uniform_int_distribution<uint32_t>(from, to)(random);
    };
    for (int round = 0; round < 25; ++round)
    {
        const auto workers = draw(2, 12);
        const auto packets = draw(1, 40);
        const auto mtu = 4 * draw(16, 1024);
        const auto delay = NanoSeconds(draw(0, 5000));
        FabricHelper fabric;
        fabric.SetTransportAttribute("Mtu", UintegerValue(mtu));
        fabric.SetTransportAttribute("AckEvery", UintegerValue(0)); // they share links with data
        const auto hosts = fabric.Install(MakeStar(workers, "8Gbps", delay));
        MakeRing(uint64_t{workers} * packets * mtu).Install(hosts);
        const auto step = (packets + 1) * NanoSeconds(wire::RoceDataBytes(mtu)) + 2 * delay;
        EXPECT_THAT(RunToEnd(hosts), ElementsAre(2 * (workers - 1) * step))
            << workers << " workers, " << packets << " packets of " << mtu << " B, " << delay;
        Simulator::Destroy();
    }
}

} // namespace
} // namespace ns3::gradsync::tests
