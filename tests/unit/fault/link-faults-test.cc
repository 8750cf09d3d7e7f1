// SPDX-License-Identifier: GPL-2.0-only
#include "unit/fault/fault-injector-fixture.h"

#include "ns3/fluid-transport.h"
#include "ns3/link-fault.h"
#include "ns3/roce-transport.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

TEST_F(FaultInjectorTest, FluidStandsStillUntilTheRoutesKnow)
{
    auto fault =
        MakeFault(FaultKind::LinkDown, {FindLink("leaf0", "spine1")}, MicroSeconds(200), Time(0));
    fault.detectionDelay = MicroSeconds(300);
    Install<FluidTransport>({fault});
    Send(0, 2, 1000, 1);
    Send(1, 0, 1000, 2);
    Simulator::Run();
    // The even split over both spines stops at 200 us and goes on over the other one at 500 us.
    EXPECT_THAT(collector.delivered,
                ElementsAre(Pair(2, MicroSeconds(1000)), Pair(1, MicroSeconds(1300))));
    const auto links = transport->GetLinkStatistics();
    uint64_t bytes = 0;
    for (const auto& link : links)
    {
        bytes += link.payloadBytes;
    }
    EXPECT_EQ(bytes, 4U * 1000 + 2U * 1000);
}

TEST_F(FaultInjectorTest, FluidCutOffPairsWaitForTheReturn)
{
    auto fault = MakeFault(FaultKind::SwitchDown,
                           {topology->FindNode("leaf0").value()},
                           Time(0),
                           MilliSeconds(9));
    Install<FluidTransport>({fault});
    Simulator::Schedule(MicroSeconds(1), [this] { Send(0, 2, 1000, 1); });
    Simulator::Run();
    EXPECT_THAT(collector.delivered, ElementsAre(Pair(1, MilliSeconds(10))));
    EXPECT_THAT(injector->DescribeActive(), IsEmpty());
}

TEST_F(FaultInjectorTest, RoceGoesAroundADeadLink)
{
    auto fault = MakeFault(FaultKind::LinkDown,
                           {FindLink("leaf0", "spine0"), FindLink("leaf0", "spine1")},
                           MicroSeconds(5500),
                           Time(0));
    fault.random = 1;
    fault.detectionDelay = MilliSeconds(2);
    const auto roce = Install<RoceTransport>({fault}, MakeRoce());
    // Many streams, so that both spines carry some.
    for (uint32_t stream = 0; stream < 16; ++stream)
    {
        Send(0, 2, uint64_t{10} * 918, stream, stream);
    }
    Simulator::Run();
    EXPECT_THAT(collector.delivered, SizeIs(16));
    EXPECT_THAT(collector.failed, IsEmpty());
    EXPECT_EQ(roce->GetStatistics().goodputBytes, 160U * 918);
    EXPECT_GT(roce->GetStatistics().droppedPackets, 0U);
    EXPECT_GE(roce->GetStatistics().retransmittedPackets, roce->GetStatistics().droppedPackets / 2);
    EXPECT_THAT(injector->DescribeActive(), ElementsAre(HasSubstr("link-down leaf0-spine")));
}

TEST_F(FaultInjectorTest, RoceNamesTheConnectionThatGaveUp)
{
    Install<RoceTransport>(
        {MakeFault(FaultKind::LinkDown, {FindLink("host0", "leaf0")}, MicroSeconds(5500), Time(0))},
        MakeRoce());
    Send(0, 2, uint64_t{10} * 918, 1);
    Simulator::Run();
    ASSERT_THAT(collector.failed, SizeIs(1));
    EXPECT_THAT(collector.failed[0].second, HasSubstr("host0 -> host2 gave up after 8 timeouts"));
}

TEST_F(FaultInjectorTest, PfcPausesDieWithTheirLink)
{
    // Two senders to one receiver at full rate: the leaf pauses both, and spine links flap.
    auto fault = MakeFault(FaultKind::LinkDown, {}, MilliSeconds(20), MilliSeconds(3));
    for (LinkId link = 0; link < topology->GetLinks().size(); ++link)
    {
        fault.pool.push_back(link);
    }
    fault.random = 2;
    fault.every = MilliSeconds(40);
    fault.count = 20;
    fault.detectionDelay = MicroSeconds(500);
    auto roce = MakeRoce();
    roce->GetFabric()->SetAttribute("BufferBytes", UintegerValue(40'000));
    Install<RoceTransport>({fault}, roce);
    for (uint32_t src = 1; src < 4; ++src)
    {
        Send(src, 0, uint64_t{300} * 918, src);
    }
    Simulator::Run();
    EXPECT_THAT(collector.delivered, SizeIs(3));
    EXPECT_THAT(collector.failed, IsEmpty());
    const auto statistics = roce->GetStatistics();
    EXPECT_EQ(statistics.goodputBytes, 900U * 918);
    EXPECT_TRUE(statistics.pfcPause.IsStrictlyPositive());
    EXPECT_GT(statistics.droppedPackets, 0U);
}

TEST_F(FaultInjectorTest, DegradedRatesMultiply)
{
    auto half = MakeFault(FaultKind::LinkDegraded,
                          {FindLink("host0", "leaf0")},
                          MicroSeconds(200),
                          MicroSeconds(400));
    half.degraded.rateShare = 0.5;
    auto again = half;
    again.start = MicroSeconds(400);
    again.duration = MicroSeconds(400);
    Install<FluidTransport>({half, again});
    Send(0, 1, 1000, 1);
    Simulator::Run();
    // 200 B, 100 B to 400 us, 50 B to 600 us, 100 B to 800 us, and the other 550.
    EXPECT_THAT(collector.delivered, ElementsAre(Pair(1, MicroSeconds(1350))));
}

TEST_F(FaultInjectorTest, RoceSlowsDownWithItsLink)
{
    auto half = MakeFault(FaultKind::LinkDegraded, {FindLink("host0", "leaf0")}, Time(0), Time(0));
    half.degraded.rateShare = 0.5;
    half.degraded.extraDelay = MicroSeconds(30);
    Install<RoceTransport>({half}, MakeRoce());
    Simulator::ScheduleNow([this] { Send(0, 1, uint64_t{10} * 918, 1); }); // after the fault began
    Simulator::Run();
    // 10 packets of 2 ms and the propagation, and one of 1 ms from the switch to host 1.
    EXPECT_THAT(collector.delivered, ElementsAre(Pair(1, MicroSeconds(21'030))));
}

TEST_F(FaultInjectorTest, NoPacketOvertakesAnotherWhenADelayShrinks)
{
    auto slow = MakeFault(FaultKind::LinkDegraded,
                          {FindLink("host0", "leaf0")},
                          Time(0),
                          MicroSeconds(5500));
    slow.degraded.extraDelay = MilliSeconds(7);
    const auto roce = Install<RoceTransport>({slow}, MakeRoce());
    Send(0, 1, uint64_t{10} * 918, 1);
    Simulator::Run();
    // 6 packets had started by 5.5 ms, the last of them is at the switch at 13 ms. The 4 others
    // follow it a millisecond each, and one is stored.
    EXPECT_THAT(collector.delivered, ElementsAre(Pair(1, MicroSeconds(18'000))));
    EXPECT_EQ(roce->GetStatistics().retransmittedPackets, 0U);
}

TEST_F(FaultInjectorTest, LossesComeInBurstsOfTheLengthOfTheModel)
{
    PacketPool pool;
    LinkFault fault(nullptr, 7, pool);
    fault.SetLoss({.lossGood = 0.0, .lossBad = 1.0, .goodToBad = 0.01, .badToGood = 0.2});
    FabricPacket packet{};
    uint32_t lost = 0;
    uint32_t bursts = 0;
    bool before = false;
    constexpr uint32_t PACKETS = 400'000;
    for (uint32_t i = 0; i < PACKETS; ++i)
    {
        const bool now = fault.IsLost(packet);
        lost += now ? 1 : 0;
        bursts += now && !before ? 1 : 0;
        before = now;
    }
    // Share of the bad state: 0.01 / (0.01 + 0.2) = 0.0476; mean burst 1 / 0.2 = 5. There are some
    // 3,800 bursts, so that both means have a relative deviation near 2 %: 5 of them.
    EXPECT_NEAR(static_cast<double>(lost) / PACKETS, 0.01 / 0.21, 0.1 * 0.01 / 0.21);
    EXPECT_NEAR(static_cast<double>(lost) / bursts, 5.0, 0.5);
}

TEST_F(FaultInjectorTest, ALinkThatReturnsLosesWhatItHeldWhenItDied)
{
    PacketPool pool;
    LinkFault fault(nullptr, 7, pool);
    FabricPacket packet{};
    packet.kind = PacketKind::Pause; // random losses spare it, a dead link does not
    packet.arrival = 100;
    EXPECT_FALSE(fault.IsLost(packet));
    fault.SetDown();
    EXPECT_TRUE(fault.IsLost(packet));
    fault.SetUp(100);
    EXPECT_TRUE(fault.IsLost(packet));
    packet.arrival = 101;
    EXPECT_FALSE(fault.IsLost(packet));
}

} // namespace
} // namespace ns3::gradsync
