// SPDX-License-Identifier: GPL-2.0-only
#include "unit/fault/fault-injector-fixture.h"

#include "ns3/fault-injector.h"
#include "ns3/fluid-transport.h"
#include "ns3/roce-transport.h"
#include "ns3/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;

TEST_F(FaultInjectorTest, FluidHostThatDoesNotSendStillReceives)
{
    Install<FluidTransport>(
        {MakeFault(FaultKind::HostPauseSend, {0}, MicroSeconds(200), MicroSeconds(500))});
    Send(0, 1, 1000, 1);
    Send(1, 0, 1000, 2);
    Simulator::Run();
    // A byte a microsecond: the message from host 0 loses the 500 us of the pause, that to it none.
    EXPECT_THAT(collector.delivered,
                ElementsAre(Pair(2, MicroSeconds(1000)), Pair(1, MicroSeconds(1500))));
}

TEST_F(FaultInjectorTest, FluidFloodTakesItsRateFromTheLink)
{
    auto flood = MakeFault(FaultKind::Flood,
                           {FindLink("host0", "leaf0")},
                           MicroSeconds(0),
                           MicroSeconds(2000));
    flood.degraded.floodBitRate = 6'000'000;
    Install<FluidTransport>({flood});
    Send(0, 1, 1000, 1);
    Send(2, 3, 1000, 2);
    Simulator::Run();
    // 2 of 8 Mb/s are left to host 0: 500 bytes in the 2000 us of the flood, the rest in 500 us.
    EXPECT_THAT(collector.delivered,
                ElementsAre(Pair(2, MicroSeconds(1000)), Pair(1, MicroSeconds(2500))));
}

TEST_F(FaultInjectorTest, RoceFloodGoesBeforeDataAndEndsAtTheNextNode)
{
    auto flood = MakeFault(FaultKind::Flood,
                           {FindLink("host0", "leaf0")},
                           MicroSeconds(0),
                           MilliSeconds(200));
    flood.degraded.floodBitRate = 2'000'000;
    const auto roce = Install<RoceTransport>({flood}, MakeRoce());
    Send(0, 1, uint64_t{60} * 918, 1);
    Simulator::Run();
    // 60 packets of 1 ms, one hop more, and a packet of the flood of 1.538 ms every 6.152 ms: 13 or
    // 14 of them in 80 ms.
    ASSERT_THAT(collector.delivered, SizeIs(1));
    EXPECT_GE(collector.delivered[0].second, MicroSeconds(61000 + 13 * 1538));
    EXPECT_LE(collector.delivered[0].second, MicroSeconds(61000 + 14 * 1538));
    EXPECT_EQ(roce->GetStatistics().droppedPackets, 0U);
    EXPECT_EQ(roce->GetStatistics().retransmittedPackets, 0U);
    // 200 ms in 6.152 ms: packets 0 to 32, on that link only.
    const auto links = roce->GetLinkStatistics();
    const auto link = FindLink("host0", "leaf0");
    EXPECT_EQ(links[2 * link].wireBytes - uint64_t{60} * 1000, uint64_t{33} * 1538);
}

TEST_F(FaultInjectorTest, ComponentsFailByThemselvesWithTheirMeanTimes)
{
    std::vector<uint32_t> links(topology->GetLinks().size());
    std::iota(links.begin(), links.end(), 0U);
    auto fault = MakeFault(FaultKind::LinkDegraded, links, Time(0), Time(0));
    fault.degraded.rateShare = 0.5;
    fault.meanUp = MilliSeconds(30);
    fault.meanRepair = MilliSeconds(10);
    Install<FluidTransport>({fault});
    Simulator::Stop(Seconds(10));
    Simulator::Run();
    std::vector<Time> since(links.size());
    std::vector<uint32_t> failures(links.size(), 0);
    Time down;
    for (const auto& record : records)
    {
        if (record.begins)
        {
            ++failures[record.target];
            since[record.target] = record.time;
        }
        else
        {
            down += record.time - since[record.target];
        }
    }
    // 8 links, 10 s: each 250 failures of 40 ms a cycle, deviation sqrt(250) * sqrt(30^2 + 10^2) /
    // 40 = 12.5; five of them. Down for a quarter of 80 s, deviation below 0.5 s.
    for (const auto count : failures)
    {
        EXPECT_NEAR(count, 250, 63);
    }
    EXPECT_NEAR(down.GetSeconds(), 20.0, 2.0);
    EXPECT_NE(failures[0], failures[1]);
}

TEST_F(FaultInjectorTest, WhatIsNotRepairedFailsOnce)
{
    auto fault = MakeFault(FaultKind::HostPause, {0, 1, 2, 3}, Time(0), Time(0));
    fault.meanUp = MilliSeconds(1);
    Install<FluidTransport>({fault});
    Simulator::Run();
    EXPECT_THAT(records, SizeIs(4));
    EXPECT_THAT(injector->DescribeActive(), SizeIs(4));
}

TEST_F(FaultInjectorTest, FluidHostThatIsPausedReceivesNothing)
{
    Install<FluidTransport>(
        {MakeFault(FaultKind::HostPause, {0}, MicroSeconds(200), MicroSeconds(500))});
    Send(0, 1, 1000, 1);
    Send(1, 0, 1000, 2);
    Send(2, 3, 1000, 3);
    Simulator::Run();
    EXPECT_THAT(collector.delivered,
                ElementsAre(Pair(3, MicroSeconds(1000)),
                            Pair(1, MicroSeconds(1500)),
                            Pair(2, MicroSeconds(1500))));
}

TEST_F(FaultInjectorTest, RoceHostThatDoesNotSendStillReceivesAndAcknowledges)
{
    const auto roce = Install<RoceTransport>(
        {MakeFault(FaultKind::HostPauseSend, {0}, MicroSeconds(4500), MilliSeconds(500))},
        MakeRoce());
    Send(0, 1, uint64_t{10} * 918, 1);
    Send(1, 0, uint64_t{10} * 918, 2);
    Simulator::Run();
    ASSERT_THAT(collector.delivered, SizeIs(2));
    // To host 0: 10 packets of 1 ms, stored once, behind at most one acknowledgement of 86 us.
    EXPECT_EQ(collector.delivered[0].first, 2U);
    EXPECT_LE(collector.delivered[0].second, MicroSeconds(11'100));
    // From host 0: 5 packets had started by 4.5 ms; 5 more from 504.5 ms on and one is stored.
    EXPECT_EQ(collector.delivered[1], std::make_pair(uint64_t{1}, MicroSeconds(510'500)));
    EXPECT_EQ(roce->GetStatistics().retransmittedPackets, 0U);
}

TEST_F(FaultInjectorTest, RoceRecoversWhatAPausedHostDidNotReceive)
{
    const auto roce = Install<RoceTransport>(
        {MakeFault(FaultKind::HostPause, {1}, MicroSeconds(3500), MilliSeconds(30))},
        MakeRoce());
    Send(0, 1, uint64_t{10} * 918, 1);
    Simulator::Run();
    ASSERT_THAT(collector.delivered, SizeIs(1));
    // Packets arrive at 2, 3, … 11 ms; those from 4 ms on are lost, 8 of them. Nothing was
    // acknowledged (every 16th packet and the end of the message would be), so that the timeout 20
    // ms after the last packet began (9 ms) sends all 10 again: those that arrive at 31, 32 and 33
    // ms are lost, the next is a gap, which a NAK answers.
    EXPECT_GE(roce->GetStatistics().retransmittedPackets, 10U);
    EXPECT_EQ(roce->GetStatistics().droppedPackets, 8U + 3U);
    EXPECT_EQ(roce->GetStatistics().goodputBytes, 10U * 918);
}

TEST_F(FaultInjectorTest, DrawsAnewForEachOccurrence)
{
    auto fault = MakeFault(FaultKind::HostPauseSend, {0, 1, 2, 3}, Time(0), MicroSeconds(10));
    fault.random = 2;
    fault.every = MicroSeconds(10);
    fault.count = 50;
    Install<FluidTransport>({fault});
    Simulator::Run();
    ASSERT_THAT(records, SizeIs(2 * 2 * 50));
    std::set<std::pair<uint32_t, uint32_t>> drawn;
    for (size_t i = 0; i < records.size(); ++i)
    {
        // Two begin, then two of them end and two others begin, and so on.
        EXPECT_EQ(records[i].begins, i / 2 % 2 == 0) << i;
        if (records[i].begins && i % 2 == 0)
        {
            drawn.emplace(records[i].target, records[i + 1].target);
        }
    }
    EXPECT_THAT(drawn, SizeIs(6)); // all pairs of four: 50 draws miss one with probability 7e-4
    EXPECT_EQ(Simulator::Now(), MicroSeconds(500));
}

TEST_F(FaultInjectorTest, RefusesWhatCannotHappen)
{
    const auto problem = [this](FaultSpec fault) -> std::string {
        try
        {
            CreateObject<FaultInjector>()->Install({std::move(fault)},
                                                   topology,
                                                   CreateObject<FluidTransport>(),
                                                   nullptr);
        }
        catch (const std::invalid_argument& error)
        {
            return error.what();
        }
        return "none";
    };
    auto fault = MakeFault(FaultKind::LinkDown, {}, Time(0), Time(0));
    EXPECT_THAT(problem(fault), HasSubstr("nothing"));
    fault.pool = {0, 1};
    fault.random = 3;
    EXPECT_EQ(problem(fault), "link-down: cannot draw 3 of 2");
    fault.random = 0;
    fault.duration = MicroSeconds(2);
    fault.every = MicroSeconds(1);
    EXPECT_THAT(problem(fault), HasSubstr("before it ends"));
}

} // namespace
} // namespace ns3::gradsync
