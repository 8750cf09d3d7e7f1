// SPDX-License-Identifier: GPL-2.0-only
// Aggregation in the switches of the fabric: times against closed forms, and sums whatever is lost.
#include "oracles/oracle-network.h"
#include "support/picosecond-clock.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/exchange-application.h"
#include "ns3/exchange-engine.h"
#include "ns3/plan-statistics.h"
#include "ns3/plan-verifier.h"
#include "ns3/recorder.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/roce-transport.h"
#include "ns3/scheme.h"
#include "ns3/simulator.h"
#include "ns3/slot-aggregation.h"
#include "ns3/star-topology.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;
using testing::ThrowsMessage;

/// 64 values on the wire: 14 + 20 + 8 + 20 + 256 + 4 bytes, preamble and gap.
constexpr uint64_t PACKET_BITS = uint64_t{8} * 342;
/// At this rate a packet takes 1 us.
const DataRate UNIT_RATE(PACKET_BITS * 1'000'000);
constexpr uint64_t PACKET_BYTES = 256;

class SlotAggregationTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        tests::UsePicoseconds();
        RngSeedManager::SetSeed(1);
        m_transport = CreateObject<RoceTransport>();
        m_transport->SetAggregation(CreateObject<SlotAggregation>());
    }

    void TearDown() override
    {
        if (m_engine)
        {
            m_engine->Dispose();
        }
        m_transport->Dispose();
        Simulator::Destroy();
    }

    void Set(const char* name, const AttributeValue& value)
    {
        m_transport->GetAggregation()->SetAttribute(name, value);
    }

    void SetLoss(double rate)
    {
        m_transport->GetFabric()->SetAttribute("LossRate", DoubleValue(rate));
        Set("Values", StringValue("real"));
        Set("Timeout", StringValue("100us"));
    }

    void Install(std::shared_ptr<const Topology> topology)
    {
        m_topology = std::move(topology);
        m_transport->Install(m_topology, std::make_shared<RoutingTables>(*m_topology));
        m_engine = CreateObject<ExchangeEngine>();
        m_engine->SetTransport(m_transport);
    }

    /// All hosts on one switch.
    void InstallStar(uint32_t hosts,
                     const DataRate& rate = UNIT_RATE,
                     const Time& delay = MicroSeconds(2))
    {
        StarOptions options;
        options.hosts = hosts;
        options.hostLink = {rate, delay};
        Install(std::make_shared<Topology>(MakeStarTopology(options)));
    }

    void InstallRacks(uint32_t racks, uint32_t hostsPerRack)
    {
        Install(
            oracles::MakeRackNetwork(racks, hostsPerRack, {UNIT_RATE, UNIT_RATE, MicroSeconds(2)})
                .topology);
    }

    /// Rank i at endpoint i.
    static Job MakeJob(uint32_t workers,
                       uint64_t bytes,
                       uint32_t iterations = 1,
                       int64_t pieces = 1)
    {
        SchemeRequest request;
        request.workers = workers;
        request.gradientBytes = bytes;
        request.parameters = MakeDefaultParameters(*FindScheme("switchml"));
        request.parameters.Set("pipelineChunks", pieces);
        return MakeJob("switchml", request, iterations);
    }

    static Job MakeJob(const std::string& scheme, const SchemeRequest& request, uint32_t iterations)
    {
        Job job;
        job.name = "job";
        job.plan = std::make_shared<Plan>(FindScheme(scheme)->build(request));
        job.endpointOf.resize(job.plan->GetRankCount());
        std::iota(job.endpointOf.begin(), job.endpointOf.end(), 0U);
        job.iterations = iterations;
        return job;
    }

    /// As many servers with as many accelerators each on one switch.
    void InstallServers(uint32_t servers, uint32_t accelerators)
    {
        StarOptions options;
        options.hosts = servers;
        options.hostLink = {UNIT_RATE, MicroSeconds(2)};
        options.server.accelerators = accelerators;
        Install(std::make_shared<Topology>(MakeStarTopology(options)));
    }

    /// Message bytes that enter the servers and leave them.
    uint64_t GetHostLinkBytes() const
    {
        uint64_t bytes = 0;
        const auto links = m_transport->GetLinkStatistics();
        for (LinkId link = 0; link < m_topology->GetLinks().size(); ++link)
        {
            const bool isHost = m_topology->GetLinks()[link].kind == LinkKind::Host;
            bytes += isHost ? links[size_t{2} * link].payloadBytes +
                                  links[size_t{2} * link + 1].payloadBytes
                            : 0;
        }
        return bytes;
    }

    /// \returns the times of the iterations
    std::vector<Time> Run()
    {
        Recorder recorder(m_engine, Recorder::Detail::Iterations);
        Simulator::Run();
        std::vector<Time> times;
        for (const auto& record : recorder.GetIterations())
        {
            times.push_back(record.end - record.start);
        }
        return times;
    }

    std::vector<Time> Run(Job job)
    {
        m_engine->AddJob(std::move(job));
        auto times = Run();
        EXPECT_FALSE(m_engine->GetFailure()) << m_engine->GetFailure()->reason;
        return times;
    }

    const SlotSwitch& GetSlots(const std::string& node) const
    {
        const auto aggregation = DynamicCast<SlotAggregation>(m_transport->GetAggregation());
        return aggregation->GetSwitch(*m_topology->FindNode(node))->GetSlots();
    }

    Ptr<RoceTransport> m_transport;
    Ptr<ExchangeEngine> m_engine;
    std::shared_ptr<const Topology> m_topology;
};

/// Packets, slots and time of an oracle of reference section 6, with t = 1 us and d = 2 us.
struct WindowCase
{
    uint32_t packets;
    uint32_t slots;
    int64_t microseconds;
};

class SlotWindow : public SlotAggregationTest, public testing::WithParamInterface<WindowCase>
{
};

TEST_P(SlotWindow, TakesTheTimeOfTheClosedForm)
{
    // RTT = 2t + 2d = 6. W t < RTT: floor((M-1)/W) RTT + ((M-1) mod W) t + RTT, else (M+1) t + 2d.
    const auto& [packets, slots, microseconds] = GetParam();
    Set("Slots", UintegerValue(slots));
    InstallStar(3);
    EXPECT_EQ(Run(MakeJob(3, packets * PACKET_BYTES)).front(), MicroSeconds(microseconds));
}

INSTANTIATE_TEST_SUITE_P(Reference,
                         SlotWindow,
                         testing::Values(WindowCase{4, 2, 13},
                                         WindowCase{4, 4, 9},
                                         WindowCase{8, 6, 13},
                                         WindowCase{100, 6, 105}));

TEST_F(SlotAggregationTest, FillsTheLinkOfPassingWithItsWindow)
{
    // 322 bytes on the wire (59 values), 10 Gb/s: t = 257.6 ns. 32 t = 8.24 us is more than the
    // round trip of 2.5 us, so 100 packets take 101 t + 2 us = 28.0176 us (reference section
    // 6: 28.02).
    Set("Slots", UintegerValue(32));
    Set("ValuesPerPacket", UintegerValue(59));
    InstallStar(4, DataRate("10Gbps"), MicroSeconds(1));
    EXPECT_EQ(Run(MakeJob(4, uint64_t{100} * 59 * 4)).front(), PicoSeconds(28'017'600));
}

TEST_F(SlotAggregationTest, TakesTwoMoreHopsEachWayThroughALevelOfSwitchesMore)
{
    // Four links there and back, each t + d, and one t for each packet after the first.
    InstallRacks(2, 3);
    EXPECT_EQ(Run(MakeJob(6, 50 * PACKET_BYTES)).front(), MicroSeconds(49 + 4 * 3));
    // Each leaf sends one partial sum up, and gets one result.
    const auto links = m_transport->GetLinkStatistics();
    EXPECT_EQ(links[0].packets, 50U);
    EXPECT_EQ(links[1].packets, 50U);
    EXPECT_EQ(GetSlots("core").GetCount(SlotVerdict::Multicast), 50U);
    EXPECT_EQ(GetSlots("leaf0").GetCount(SlotVerdict::ForwardUp), 50U);
}

TEST_F(SlotAggregationTest, SumsInTheRackWhenAllAreInIt)
{
    InstallRacks(2, 3);
    EXPECT_EQ(Run(MakeJob(3, 50 * PACKET_BYTES)).front(), MicroSeconds(51 + 4));
    EXPECT_EQ(m_transport->GetLinkStatistics()[0].packets, 0U);
}

TEST_F(SlotAggregationTest, GoesOnThroughPiecesAndIterations)
{
    // Pieces follow each other through the window: as long as one gradient of 40 packets.
    Set("Slots", UintegerValue(16));
    Set("Values", StringValue("real"));
    InstallStar(4);
    const auto times = Run(MakeJob(4, 40 * PACKET_BYTES, 3, 5));
    EXPECT_EQ(times, std::vector<Time>(3, MicroSeconds(41 + 4)));
    const auto statistics = m_transport->GetAggregationStatistics();
    EXPECT_EQ(statistics.checkedSums, 3U * 40 * 4);
    EXPECT_EQ(statistics.wrongSums, 0U);
    EXPECT_EQ(statistics.retransmissions, 0U);
    EXPECT_EQ(m_transport->GetStatistics().goodputBytes, uint64_t{3} * 40 * 4 * PACKET_BYTES);
}

TEST_F(SlotAggregationTest, PadsTheLastPacket)
{
    InstallStar(2);
    EXPECT_EQ(Run(MakeJob(2, 3 * PACKET_BYTES + 4)).front(), MicroSeconds(5 + 4));
    EXPECT_EQ(m_transport->GetStatistics().goodputBytes, 2 * (3 * PACKET_BYTES + 4));
}

/// Loss rate in percent.
class SlotLoss : public SlotAggregationTest, public testing::WithParamInterface<int>
{
};

TEST_P(SlotLoss, LeavesEveryWorkerWithTheExactSumOfAll)
{
    Set("Slots", UintegerValue(8));
    SetLoss(GetParam() / 100.0);
    InstallStar(5);
    Run(MakeJob(5, 60 * PACKET_BYTES, 2));
    const auto statistics = m_transport->GetAggregationStatistics();
    EXPECT_EQ(statistics.checkedSums, 2U * 5 * 60);
    EXPECT_EQ(statistics.wrongSums, 0U);
    EXPECT_GT(statistics.retransmissions, 0U);
    EXPECT_GT(statistics.repeatedResults, 0U);
}

TEST_P(SlotLoss, LeavesEveryWorkerWithTheExactSumOverTwoLevels)
{
    Set("Slots", UintegerValue(8));
    SetLoss(GetParam() / 100.0);
    InstallRacks(3, 2);
    Run(MakeJob(6, 60 * PACKET_BYTES, 2));
    const auto statistics = m_transport->GetAggregationStatistics();
    EXPECT_EQ(statistics.checkedSums, 2U * 6 * 60);
    EXPECT_EQ(statistics.wrongSums, 0U);
    EXPECT_GT(statistics.retransmissions, 0U);
}

INSTANTIATE_TEST_SUITE_P(Percent, SlotLoss, testing::Values(1, 5, 10, 20, 40));

TEST_F(SlotAggregationTest, GivesUpWithAReasonWhenNothingComesThrough)
{
    SetLoss(1.0);
    Set("RetryLimit", UintegerValue(3));
    InstallStar(2);
    m_engine->AddJob(MakeJob(2, PACKET_BYTES));
    EXPECT_TRUE(Run().empty());
    ASSERT_TRUE(m_engine->GetFailure());
    EXPECT_THAT(m_engine->GetFailure()->reason,
                HasSubstr("no sum from the switches for slot 0 of worker 0 after 3 timeouts"));
    // 100, 200, 400 and 800 us.
    EXPECT_EQ(Simulator::Now(), MicroSeconds(1500));
}

TEST_F(SlotAggregationTest, WaitsForAWorkerThatIsLate)
{
    Set("Timeout", StringValue("20us"));
    InstallStar(3);
    const auto job = m_engine->AddJob(MakeJob(3, 4 * PACKET_BYTES));
    m_engine->GetApplication(job, 2)->SetAttribute("ComputeTime", TimeValue(MicroSeconds(100)));
    // From the 100th microsecond on as ever; the others asked at 20 and 60 us, in vain.
    EXPECT_EQ(Run().front(), MicroSeconds(100 + 5 + 4));
    EXPECT_EQ(m_transport->GetAggregationStatistics().retransmissions, 2U * 2 * 4);
    EXPECT_EQ(GetSlots("leaf0").GetCount(SlotVerdict::Duplicate), 2U * 2 * 4);
}

TEST_F(SlotAggregationTest, SendsEachAcceleratorOfAServerItsOwnCopy)
{
    // Two servers of two accelerators: what two accelerators send meets at the one NIC, and so do
    // the results for them.
    InstallServers(2, 2);
    const auto time = Run(MakeJob(4, 50 * PACKET_BYTES)).front();
    EXPECT_GT(time, MicroSeconds(100));
    EXPECT_LT(time, MicroSeconds(2 * 50 + 15));
    EXPECT_EQ(GetHostLinkBytes(),
              uint64_t{2} * 2 * 2 * 50 * PACKET_BYTES); // servers, accelerators, directions
}

class PassingTest : public SlotAggregationTest
{
  protected:
    /// Contiguous ranks in equal servers.
    static SchemeRequest MakeRequest(uint32_t servers, uint32_t accelerators, uint64_t bytes)
    {
        SchemeRequest request;
        request.workers = servers * accelerators;
        request.gradientBytes = bytes;
        GroupLevel level{"server", {}, servers};
        for (uint32_t rank = 0; rank < request.workers; ++rank)
        {
            level.groupOf.push_back(rank / accelerators);
        }
        request.groups.levels.push_back(level);
        request.parameters = MakeDefaultParameters(*FindScheme("passing"));
        return request;
    }
};

TEST_F(PassingTest, SendsTheGradientThroughTheNicOnceWhateverTheNumberOfAccelerators)
{
    Set("Values", StringValue("real"));
    InstallServers(3, 4);
    const auto bytes = 40 * PACKET_BYTES;
    const auto time = Run(MakeJob("passing", MakeRequest(3, 4, bytes), 2)).front();
    EXPECT_EQ(GetHostLinkBytes(), uint64_t{2} * 3 * 2 * bytes); // iterations, servers, directions
    EXPECT_GT(time, MicroSeconds(40 + 1 + 4));                  // the NIC alone
    EXPECT_LT(time, MicroSeconds(40 + 1 + 4 + 20));
    const auto statistics = m_transport->GetAggregationStatistics();
    EXPECT_EQ(statistics.checkedSums, 2U * 3 * 40);
    EXPECT_EQ(statistics.wrongSums, 0U);
}

TEST_F(PassingTest, AddsUpTheSlicesOfServersInSeveralPartsAndPieces)
{
    auto request = MakeRequest(3, 2, 48);
    request.parameters.Set("switches", int64_t{2});
    request.parameters.Set("pipelineChunks", int64_t{3});
    const auto plan = FindScheme("passing")->build(request);
    // A group for each slice and part, of the accelerators that own the slice.
    ASSERT_EQ(plan.GetAggregationGroups().size(), 4U);
    EXPECT_THAT(plan.GetAggregationGroups()[1], testing::ElementsAre(0, 2, 4));
    EXPECT_THAT(plan.GetAggregationGroups()[2], testing::ElementsAre(1, 3, 5));
    EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
    const auto statistics = ComputePlanStatistics(plan, request.groups);
    // Half of 48 bytes to and from the neighbour, half through the switch: 24 + 24 + 24.
    EXPECT_THAT(statistics.sentBytes, testing::Each(24U + 24 + 24));
    EXPECT_EQ(statistics.crossings[0].bytes, 3U * 48);
    EXPECT_EQ(statistics.GetLongestChain(), 3U);
}

TEST_F(PassingTest, SurvivesLoss)
{
    SetLoss(0.1);
    m_transport->SetAttribute("Timeout", StringValue("100us"));
    m_transport->SetAttribute("RetryLimit", UintegerValue(1000));
    InstallServers(3, 2);
    Run(MakeJob("passing", MakeRequest(3, 2, 40 * PACKET_BYTES), 2));
    EXPECT_EQ(m_transport->GetAggregationStatistics().checkedSums, 2U * 3 * 40);
    EXPECT_EQ(m_transport->GetAggregationStatistics().wrongSums, 0U);
}

/// One parameter server at the endpoint after the workers.
class AtpTest : public SlotAggregationTest
{
  protected:
    static constexpr uint64_t ATP_PACKET_BYTES = 248; // 62 integers

    void SetUp() override
    {
        SlotAggregationTest::SetUp();
        Set("Values", StringValue("real"));
    }

    static Job MakeAtpJob(uint32_t workers, uint64_t packets, uint32_t iterations = 1)
    {
        SchemeRequest request;
        request.workers = workers;
        request.gradientBytes = packets * ATP_PACKET_BYTES;
        request.parameters = MakeDefaultParameters(*FindScheme("atp"));
        return MakeJob("atp", request, iterations);
    }

    AggregationStatistics RunAtp(uint32_t workers, uint64_t packets, uint32_t iterations = 1)
    {
        Run(MakeAtpJob(workers, packets, iterations));
        const auto statistics = m_transport->GetAggregationStatistics();
        EXPECT_EQ(statistics.checkedSums, uint64_t{iterations} * workers * packets);
        EXPECT_EQ(statistics.wrongSums, 0U);
        return statistics;
    }
};

TEST_F(AtpTest, GivesTheServerTheGradientOnceWithoutCollisions)
{
    // Reference section 6, w = 4: the server receives K, 1.75 K and 4 K at f = 0, 1/4 and 1.
    InstallStar(5);
    EXPECT_EQ(RunAtp(4, 100).serverPackets, 100U);
}

TEST_F(AtpTest, GivesTheServerOneAndThreeQuartersAtACollisionShareOfAQuarter)
{
    Set("AtpBusyShare", DoubleValue(0.25));
    InstallStar(5);
    EXPECT_EQ(RunAtp(4, 100).serverPackets, 175U); // 100 (3/4 + 4/4)
}

TEST_F(AtpTest, GivesTheServerEverythingWithoutAggregators)
{
    Set("AtpAggregators", UintegerValue(0));
    InstallStar(5);
    EXPECT_EQ(RunAtp(4, 100).serverPackets, 400U);
}

TEST_F(AtpTest, AddsUpInTheRacksAndAtTheServersSwitch)
{
    // Endpoints 0 to 5 are workers in two racks, 6 is the server, with two idle hosts.
    InstallRacks(3, 3);
    EXPECT_EQ(RunAtp(6, 100).serverPackets, 100U);
    const auto aggregation = DynamicCast<SlotAggregation>(m_transport->GetAggregation());
    for (const auto* leaf : {"leaf0", "leaf1", "leaf2"})
    {
        const auto* node = aggregation->GetAtpNode(*m_topology->FindNode(leaf));
        ASSERT_NE(node, nullptr);
        EXPECT_EQ(node->GetSwitch().GetUsed(), 0U); // the answers freed all
    }
    // Each rack of workers sends one sum up, and gets one answer.
    const auto links = m_transport->GetLinkStatistics();
    const auto uplink = [&](const char* leaf) {
        const auto node = *m_topology->FindNode(leaf);
        return m_topology->GetPorts(node)[0].link;
    };
    EXPECT_EQ(links[size_t{2} * uplink("leaf0")].packets, 100U);
    EXPECT_EQ(links[size_t{2} * uplink("leaf0") + 1].packets, 100U);
}

TEST_F(AtpTest, ShardsTheGradientOverServers)
{
    InstallStar(6);
    SchemeRequest request;
    request.workers = 4;
    request.gradientBytes = 100 * ATP_PACKET_BYTES;
    request.parameters = MakeDefaultParameters(*FindScheme("atp"));
    request.parameters.Set("servers", int64_t{2});
    Run(MakeJob("atp", request, 1));
    EXPECT_EQ(m_transport->GetAggregationStatistics().wrongSums, 0U);
    EXPECT_EQ(m_transport->GetAggregationStatistics().serverPackets, 100U);
}

TEST_F(AtpTest, HalvesItsWindowsWhereTheServersLinkIsFull)
{
    // Without aggregators three workers of full rate meet at one link.
    Set("AtpAggregators", UintegerValue(0));
    InstallStar(4);
    RunAtp(3, 2000);
    EXPECT_GT(m_transport->GetStatistics().ecnMarkedPackets, 0U);
    uint64_t most = 0;
    for (const auto& link : m_transport->GetLinkStatistics())
    {
        most = std::max(most, link.maxQueueBytes);
    }
    EXPECT_LT(most, 3U * 100 * 332); // three whole windows, without backing off
}

class AtpLoss : public AtpTest, public testing::WithParamInterface<int>
{
  protected:
    void SetUp() override
    {
        AtpTest::SetUp();
        SetLoss(GetParam() / 100.0);
        Set("AtpFirstTimeout", StringValue("300us"));
        Set("AtpTimeout", StringValue("100us"));
        // At 40 % only 0.6^8 = 1.7 % of the questions to a server four links away are answered.
        Set("RetryLimit", UintegerValue(2000));
    }
};

TEST_P(AtpLoss, LeavesEveryWorkerWithTheExactSumOfAll)
{
    InstallStar(6);
    EXPECT_GT(RunAtp(5, 100, 2).retransmissions, 0U);
}

TEST_P(AtpLoss, LeavesEveryWorkerWithTheExactSumOverTwoLevels)
{
    Set("AtpBusyShare", DoubleValue(0.25));
    InstallRacks(3, 2);
    EXPECT_GT(RunAtp(5, 100, 2).retransmissions, 0U);
}

INSTANTIATE_TEST_SUITE_P(Percent, AtpLoss, testing::Values(1, 5, 10, 20, 40));

/// Adds one to a value of what comes to an endpoint, once.
class Corrupter final : public PacketSink
{
  public:
    Corrupter(PacketSink* next, SlotContents& contents)
        : m_next(next),
          m_contents(contents)
    {
    }

    void Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now) override
    {
        auto& values = m_contents.Get(*packet).values;
        values[5] += m_count++ == 2 ? 1 : 0;
        m_next->Receive(packet, endpoint, now);
    }

  private:
    PacketSink* m_next;
    SlotContents& m_contents;
    uint32_t m_count{0};
};

TEST_F(SlotAggregationTest, FailsTheJobWhoseSumIsWrong)
{
    Set("Values", StringValue("real"));
    InstallStar(3);
    m_engine->AddJob(MakeJob(3, 10 * PACKET_BYTES));
    const auto fabric = m_transport->GetFabric();
    Corrupter corrupter(fabric->GetSink(1),
                        DynamicCast<SlotAggregation>(m_transport->GetAggregation())->GetContents());
    fabric->SetSink(1, &corrupter);
    EXPECT_TRUE(Run().empty());
    ASSERT_TRUE(m_engine->GetFailure());
    EXPECT_THAT(
        m_engine->GetFailure()->reason,
        HasSubstr("#1 aggregate at rank 1: wrong sum at worker 1: value 5 of packet 2 is "));
    EXPECT_EQ(m_transport->GetAggregationStatistics().wrongSums, 1U);
}

TEST_F(SlotAggregationTest, FailsTheJobWhoseSumOverflows)
{
    // Of two workers with all of int32 a quarter of the sums overflow: some of 64 always does.
    Set("Values", StringValue("real"));
    Set("ValueBits", UintegerValue(31));
    InstallStar(2);
    m_engine->AddJob(MakeJob(2, 10 * PACKET_BYTES));
    EXPECT_TRUE(Run().empty());
    ASSERT_TRUE(m_engine->GetFailure());
    EXPECT_THAT(m_engine->GetFailure()->reason, HasSubstr("sum beyond int32 at worker "));
}

TEST_F(SlotAggregationTest, CountsOverflowThatIsExpected)
{
    for (const bool saturates : {false, true})
    {
        Set("Values", StringValue("real"));
        Set("ValueBits", UintegerValue(31));
        Set("Overflow", StringValue("count"));
        Set("Saturate", BooleanValue(saturates));
        InstallStar(3);
        EXPECT_EQ(Run(MakeJob(3, 10 * PACKET_BYTES)).size(), 1U);
        const auto statistics = m_transport->GetAggregationStatistics();
        EXPECT_EQ(statistics.overflowedSums, 3U * 10);
        EXPECT_EQ(statistics.wrongSums, 0U);
        TearDown();
        SetUp();
    }
}

TEST(SlotTensor, TellsOverflowFromAWrongSum)
{
    SlotTensor tensor(0, {2, 1, 31, false});
    uint64_t packet = 0; // the first whose sum int32 cannot hold
    std::vector<int32_t> values;
    int64_t sum = 0;
    for (; std::abs(sum) <= INT32_MAX; ++packet)
    {
        tensor.Fill(0, packet, values);
        sum = values[0];
        tensor.Fill(1, packet, values);
        sum += values[0];
    }
    --packet;
    values[0] = static_cast<int32_t>(sum); // modulo 2^32
    EXPECT_EQ(tensor.Check(packet, values, true), SumVerdict::Overflowed);
    EXPECT_EQ(tensor.Check(packet, values, false), SumVerdict::Wrong); // nobody said so
    ++values[0];
    EXPECT_EQ(tensor.Check(packet, values, true), SumVerdict::Wrong);
    EXPECT_EQ(tensor.DescribeDifference(packet, values),
              fmt::format("value 0 of packet {} is {}, the sum is {}", packet, values[0], sum));
}

TEST_F(SlotAggregationTest, SharesTheSwitchAmongJobs)
{
    Set("Slots", UintegerValue(64));
    Set("PoolSlots", UintegerValue(128));
    Set("Values", StringValue("real"));
    InstallStar(4);
    auto first = MakeJob(2, 100 * PACKET_BYTES);
    auto second = MakeJob(2, 100 * PACKET_BYTES);
    second.endpointOf = {2, 3};
    m_engine->AddJob(std::move(first));
    m_engine->AddJob(std::move(second));
    EXPECT_EQ(Run(), std::vector<Time>(2, MicroSeconds(101 + 4)));
    EXPECT_EQ(m_transport->GetAggregationStatistics().wrongSums, 0U);
    EXPECT_THAT([&] { m_engine->AddJob(MakeJob(2, 100)); },
                ThrowsMessage<std::runtime_error>(HasSubstr("no 64 slots left of 128")));
}

TEST_F(SlotAggregationTest, RefusesMoreWorkersThanABitmapHolds)
{
    InstallStar(33);
    EXPECT_THAT([&] { m_engine->AddJob(MakeJob(33, 100)); },
                ThrowsMessage<std::runtime_error>(
                    HasSubstr("switch leaf0 would have to add up 33 workers")));
    EXPECT_NO_THROW(m_engine->AddJob(MakeJob(32, 100)));
}

TEST_F(SlotAggregationTest, IsRefusedByTransportsThatDoNotAggregate)
{
    m_transport->SetAggregation(nullptr);
    InstallStar(2);
    EXPECT_THAT([&] { m_engine->AddJob(MakeJob(2, 100)); },
                ThrowsMessage<std::runtime_error>(HasSubstr("do not add up under this transport")));
}

} // namespace
} // namespace ns3::gradsync
