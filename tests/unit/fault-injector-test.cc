// SPDX-License-Identifier: GPL-2.0-only
#include "oracles/oracle-network.h"
#include "support/picosecond-clock.h"

#include "ns3/exchange-engine.h"
#include "ns3/fault-injector.h"
#include "ns3/fluid-transport.h"
#include "ns3/link-fault.h"
#include "ns3/recorder.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/roce-transport.h"
#include "ns3/scheme.h"
#include "ns3/simulator.h"
#include "ns3/spine-leaf-topology.h"
#include "ns3/uinteger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class Collector : public MessageHandler
{
  public:
    void OnDelivered(uint64_t tag) override
    {
        delivered.emplace_back(tag, Simulator::Now());
    }

    void OnFailed(uint64_t tag, const std::string& reason) override
    {
        failed.emplace_back(tag, reason);
    }

    std::vector<std::pair<uint64_t, Time>> delivered;
    std::vector<std::pair<uint64_t, std::string>> failed;
};

/// Two leaves of two hosts, two spines; 8 Mb/s (a byte a microsecond) to the hosts, the same
/// between switches, no delays. Hosts 0, 1 | 2, 3.
class FaultInjectorTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        tests::UsePicoseconds();
        RngSeedManager::SetSeed(1);
        SpineLeafOptions options;
        options.spines = 2;
        options.leaves = 2;
        options.hostsPerLeaf = 2;
        options.hostLink = {DataRate("8Mbps"), Time(0)};
        options.fabricLink = {DataRate("8Mbps"), Time(0)};
        topology = std::make_shared<const Topology>(MakeSpineLeafTopology(options));
        injector->TraceConnectWithoutContext("Fault",
                                             MakeCallback(&FaultInjectorTest::OnFault, this));
    }

    void TearDown() override
    {
        injector->Dispose();
        if (transport)
        {
            transport->Dispose();
        }
        Simulator::Destroy();
    }

    void OnFault(const FaultRecord& record)
    {
        records.push_back(record);
    }

    template <typename Kind>
    Ptr<Kind> Install(const std::vector<FaultSpec>& faults, Ptr<Kind> chosen = CreateObject<Kind>())
    {
        transport = chosen;
        transport->Install(topology, std::make_shared<const RoutingTables>(*topology));
        injector->Install(faults, topology, transport, nullptr);
        return chosen;
    }

    static Ptr<RoceTransport> MakeRoce(uint32_t mtu = 918, const char* timeout = "20ms")
    {
        auto roce = CreateObject<RoceTransport>();
        roce->SetAttribute("Mtu", UintegerValue(mtu)); // 918 + 82: 1 ms a packet and hop
        roce->SetAttribute("Timeout", TimeValue(Time(timeout)));
        return roce;
    }

    void Send(uint32_t src, uint32_t dst, uint64_t bytes, uint64_t tag, uint32_t stream = 0)
    {
        transport->Send({src, dst, stream, bytes, tag, &collector});
    }

    LinkId FindLink(std::string_view a, std::string_view b) const
    {
        const auto from = topology->FindNode(a).value();
        for (const auto& port : topology->GetPorts(from))
        {
            if (port.peer == topology->FindNode(b).value())
            {
                return port.link;
            }
        }
        throw std::invalid_argument("no such link");
    }

    static FaultSpec MakeFault(FaultKind kind,
                               std::vector<uint32_t> pool,
                               const Time& start,
                               const Time& duration)
    {
        FaultSpec fault{};
        fault.kind = kind;
        fault.pool = std::move(pool);
        fault.start = start;
        fault.duration = duration;
        return fault;
    }

    std::shared_ptr<const Topology> topology;
    Ptr<Transport> transport;
    Ptr<FaultInjector> injector{CreateObject<FaultInjector>()};
    std::vector<FaultRecord> records;
    Collector collector;
};

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

/// Share of the reduce-phase bytes that arrive when rank 3 never sends, on a fluid network.
class SilentHost : public testing::Test
{
  protected:
    static double DeliverReduces(const std::string& name, uint32_t workers, uint32_t racks)
    {
        tests::UsePicoseconds();
        const auto* scheme = FindScheme(name);
        SchemeRequest request;
        request.workers = workers;
        request.gradientBytes = uint64_t{workers} * workers * 720;
        request.groups = oracles::MakeRackGroups(racks, workers / racks, 4.0);
        request.parameters = MakeDefaultParameters(*scheme);
        const auto plan = std::make_shared<Plan>(scheme->build(request));
        const auto network =
            oracles::MakeRackNetwork(racks,
                                     workers / racks,
                                     {DataRate("8Mbps"), DataRate("8Mbps"), Time(0)});
        auto transport = CreateObject<FluidTransport>();
        transport->Install(network.topology, network.routes);
        auto engine = CreateObject<ExchangeEngine>();
        engine->SetTransport(transport);
        Job job;
        job.name = name;
        job.plan = plan;
        job.endpointOf.resize(workers);
        std::iota(job.endpointOf.begin(), job.endpointOf.end(), 0U);
        engine->AddJob(std::move(job));
        auto injector = CreateObject<FaultInjector>();
        FaultSpec fault{};
        fault.kind = FaultKind::HostPauseSend;
        fault.pool = {3};
        injector->Install({fault}, network.topology, transport, nullptr);
        Recorder recorder(engine, Recorder::Detail::Transfers);
        Simulator::Run();
        EXPECT_TRUE(engine->GetFailure().has_value());
        uint64_t total = 0;
        uint64_t delivered = 0;
        for (OperationId id = 0; id < plan->GetOperations().size(); ++id)
        {
            const bool isReduce = plan->GetOperations()[id].kind == OperationKind::TransferReduce;
            total += isReduce ? plan->GetBytes(id) : 0;
        }
        for (const auto& transfer : recorder.GetTransfers())
        {
            const bool isReduce =
                plan->GetOperations()[transfer.operation].kind == OperationKind::TransferReduce;
            delivered += isReduce ? plan->GetBytes(transfer.operation) : 0;
        }
        injector->Dispose();
        engine->Dispose();
        transport->Dispose();
        Simulator::Destroy();
        return static_cast<double>(delivered) / static_cast<double>(total);
    }
};

TEST_F(SilentHost, BlocksHalfOfTheRing)
{
    // The host j places behind the silent one can send its first j parts: sum of j = 1 … w-1 is
    // w (w-1) / 2 of w (w-1) parts.
    EXPECT_DOUBLE_EQ(DeliverReduces("ring", 8, 2), 0.5);
    EXPECT_DOUBLE_EQ(DeliverReduces("ring", 16, 2), 0.5);
}

TEST_F(SilentHost, CostsParameterServersOnlyItsOwnShare)
{
    EXPECT_DOUBLE_EQ(DeliverReduces("ps", 8, 2), 1.0 - 1.0 / 8);
}

TEST_F(SilentHost, CostsTreesWhatItWouldHaveAggregated)
{
    // reference: 1 - (2w - w_r - r) / (w (w-1)) with w = 8, w_r = 4, r = 2.
    EXPECT_DOUBLE_EQ(DeliverReduces("rat", 8, 2), 1.0 - 10.0 / 56);
}

} // namespace
} // namespace ns3::gradsync
