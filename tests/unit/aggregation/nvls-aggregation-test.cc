// SPDX-License-Identifier: GPL-2.0-only
// Reduction and multicast in an NVSwitch: times and bytes against closed forms, sums whatever is
// lost. Part of aggregation-tests.
#include "support/message-collector.h"
#include "unit/aggregation/slot-aggregation-fixture.h"

#include "ns3/boolean.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr uint64_t PAYLOAD = 256;
constexpr uint64_t HEADER = 16;
/// Such that a byte takes 1 ns on a link.
const DataRate NVLINK(8'000'000'000);
constexpr int64_t DELAY_NS = 100;
constexpr int64_t HEADER_NS = HEADER;
constexpr int64_t PACKET_NS = PAYLOAD + HEADER;

class NvlsTest : public SlotAggregationTest
{
  protected:
    /// One server, or several, of as many accelerators on an NVSwitch each.
    void InstallNvlink(uint32_t accelerators, uint32_t servers = 1)
    {
        StarOptions options;
        options.hosts = servers;
        options.hostLink = {UNIT_RATE, MicroSeconds(2)};
        options.server.accelerators = accelerators;
        options.server.nvlink = {NVLINK, NanoSeconds(DELAY_NS)};
        Install(std::make_shared<Topology>(MakeStarTopology(options)));
    }

    uint32_t Open(uint32_t members, AggregationFlow flow, uint32_t root)
    {
        AggregationGroup group{.endpoints = {}, .protocol = "nvls", .flow = flow, .root = root};
        group.endpoints.resize(members);
        std::iota(group.endpoints.begin(), group.endpoints.end(), 0U);
        return m_transport->GetAggregation()->OpenAggregation(group);
    }

    /// All members take part at once. \returns when each is done
    std::vector<Time> Aggregate(uint32_t members,
                                AggregationFlow flow,
                                uint32_t root,
                                uint64_t bytes)
    {
        const auto group = Open(members, flow, root);
        tests::MessageCollector done;
        for (uint32_t member = 0; member < members; ++member)
        {
            m_transport->GetAggregation()->Aggregate({.group = group,
                                                      .member = member,
                                                      .index = 0,
                                                      .bytes = bytes,
                                                      .tag = member,
                                                      .handler = &done});
        }
        Simulator::Run();
        EXPECT_TRUE(done.failed.empty()) << done.failed.front().second;
        std::vector<Time> times(members, Time(-1));
        for (const auto& [member, time] : done.delivered)
        {
            times[member] = time;
        }
        return times;
    }

    static Job MakeServerJob(const std::string& scheme,
                             uint32_t servers,
                             uint32_t accelerators,
                             uint64_t bytes,
                             int64_t pieces)
    {
        auto request = MakeServerRequest(scheme, servers, accelerators, bytes);
        request.parameters.Set("pipelineChunks", pieces);
        return MakeJob(scheme, request, 1);
    }

    /// One piece, with barriers between the levels.
    static Job MakeHierarchicalJob(uint32_t servers, uint32_t accelerators, uint64_t bytes)
    {
        auto request = MakeServerRequest("hierarchical", servers, accelerators, bytes);
        request.parameters.Set("inside", std::string("nvls"));
        request.parameters.Set("broadcastChunks", int64_t{1});
        return MakeJob("hierarchical", request, 1);
    }

    /// Message and wire bytes of every direction of every NVLink.
    std::vector<std::pair<uint64_t, uint64_t>> GetNvlinkBytes() const
    {
        std::vector<std::pair<uint64_t, uint64_t>> bytes;
        const auto links = m_transport->GetLinkStatistics();
        for (LinkId link = 0; link < m_topology->GetLinks().size(); ++link)
        {
            if (m_topology->GetLinks()[link].kind == LinkKind::Nvlink)
            {
                for (const auto direction : {0, 1})
                {
                    const auto& of = links[size_t{2} * link + direction];
                    bytes.emplace_back(of.payloadBytes, of.wireBytes);
                }
            }
        }
        return bytes;
    }

    void ExpectExactSums() const
    {
        const auto statistics = m_transport->GetAggregation()->GetStatistics();
        EXPECT_GT(statistics.checkedSums, 0U);
        EXPECT_EQ(statistics.wrongSums, 0U);
    }
};

// h and p are the times of a header and of a full packet on a link, d its delay. A request passes
// two links, as does what comes of it.

TEST_F(NvlsTest, ReducesAPacketInARoundTripOfRequestAndData)
{
    Set("Values", StringValue("real"));
    InstallNvlink(4);
    const auto times = Aggregate(4, AggregationFlow::Reduce, 2, PAYLOAD);
    // 2 (h + d), when its members have the request, and 2 (p + d).
    const auto asked = NanoSeconds(2 * (HEADER_NS + DELAY_NS));
    const auto root = asked + NanoSeconds(2 * (PACKET_NS + DELAY_NS));
    EXPECT_THAT(times, testing::ElementsAre(asked, asked, root, asked));
    ExpectExactSums();
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().checkedSums, 1U);
}

TEST_F(NvlsTest, MulticastsAPacketAndEndsAtTheRootWhenAllHaveIt)
{
    Set("Values", StringValue("real"));
    InstallNvlink(4);
    const auto times = Aggregate(4, AggregationFlow::Multicast, 1, PAYLOAD);
    const auto there = NanoSeconds(2 * (PACKET_NS + DELAY_NS));
    const auto root = there + NanoSeconds(2 * (HEADER_NS + DELAY_NS));
    EXPECT_THAT(times, testing::ElementsAre(there, root, there, there));
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().checkedSums, 4U);
    ExpectExactSums();
}

TEST_F(NvlsTest, ReducesManyPacketsAsFastAsTheLinkOfTheRoot)
{
    // M requests leave the root at once, and its own answers follow them: from M h on, or when the
    // first request is back. Then M packets, d, and the last sum: p + d.
    for (const int64_t packets : {1, 5, 100, 256})
    {
        TearDown();
        SetUp();
        InstallNvlink(5);
        const auto times = Aggregate(5, AggregationFlow::Reduce, 0, packets * PAYLOAD);
        const auto begin = std::max(packets * HEADER_NS, 2 * (HEADER_NS + DELAY_NS));
        EXPECT_EQ(times[0], NanoSeconds(begin + (packets + 1) * PACKET_NS + 2 * DELAY_NS));
    }
}

TEST_F(NvlsTest, MulticastsManyPacketsAsFastAsTheLinkOfTheRoot)
{
    // M packets of the root, d, and the last one to all: p + d. The root's own acknowledgements
    // leave behind its packets, when the last copy is not yet on its way to it: from then on M
    // results of the switch follow that copy, or only that of the last packet, (h + d) to the
    // switch and back.
    for (const int64_t packets : {1, 5, 100, 256})
    {
        TearDown();
        SetUp();
        InstallNvlink(5);
        const auto times = Aggregate(5, AggregationFlow::Multicast, 3, packets * PAYLOAD);
        const auto last = (packets + 1) * PACKET_NS + 2 * DELAY_NS;
        EXPECT_EQ(times[0], NanoSeconds(last));
        const auto answers = std::max(packets * HEADER_NS, 2 * (HEADER_NS + DELAY_NS));
        EXPECT_EQ(times[3], NanoSeconds(last + answers));
    }
}

TEST_F(NvlsTest, IsHeldUpByItsCredits)
{
    // W = 1: each packet a round trip.
    Set("nvls.Window", UintegerValue(1));
    InstallNvlink(3);
    const auto round = 2 * (HEADER_NS + DELAY_NS) + 2 * (PACKET_NS + DELAY_NS);
    EXPECT_EQ(Aggregate(3, AggregationFlow::Reduce, 0, 20 * PAYLOAD)[0], NanoSeconds(20 * round));
}

TEST_F(NvlsTest, MovesWhatTheClosedFormSays)
{
    // (1 + 1/n) K in each direction of each link: n shards and one. On the wire each of these
    // packets has a header and goes with another one: its request or its acknowledgement.
    std::mt19937 random(24);
    for (int run = 0; run < 8; ++run)
    {
        const uint32_t n = 2 + random() % 9;
        const uint64_t packets = 1 + random() % 50; // of a shard of a piece
        const uint64_t pieces = 1 + random() % 4;
        TearDown();
        SetUp();
        Set("Values", StringValue("real"));
        InstallNvlink(n);
        const auto gradient = n * pieces * packets * PAYLOAD;
        Run(MakeServerJob("nvls", 1, n, gradient, static_cast<int64_t>(pieces)));
        const auto bytes = gradient + gradient / n;
        for (const auto& [payload, wire] : GetNvlinkBytes())
        {
            EXPECT_EQ(payload, bytes) << n << " of " << gradient;
            EXPECT_EQ(wire, bytes / PAYLOAD * (PAYLOAD + 2 * HEADER));
        }
        ExpectExactSums();
        // Sums at roots, and copies at all.
        EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().checkedSums,
                  n * pieces * packets * (1 + n));
    }
}

TEST_F(NvlsTest, PadsNothingAndHandlesShardsThatAreNoWholePackets)
{
    Set("Values", StringValue("real"));
    InstallNvlink(3);
    Run(MakeServerJob("nvls", 1, 3, 3 * 1'000, 1));
    for (const auto& [payload, wire] : GetNvlinkBytes())
    {
        EXPECT_EQ(payload, 4'000U);
        EXPECT_EQ(wire, 4'000 + 4 * 4 * 2 * HEADER); // 1,000 bytes are 4 packets
    }
    ExpectExactSums();
}

/// Of links alone, on the wire: (1 + 1/n) K with headers.
Time
GetWireTime(uint32_t n, uint64_t gradient)
{
    const auto bytes = (gradient + gradient / n) / PAYLOAD * (PAYLOAD + 2 * HEADER);
    return NanoSeconds(static_cast<int64_t>(bytes));
}

TEST_F(NvlsTest, TakesTheTimeOfItsBytesWhenPiecesOverlap)
{
    // One piece is reduced, and then multicast, each as K in one direction: 2 K. Of q pieces one is
    // reduced while another is multicast; the first and the last have nobody beside them. Few
    // credits let no reduction run far ahead of the multicasts, which would have nobody beside them
    // then.
    std::mt19937 random(7);
    for (int run = 0; run < 5; ++run)
    {
        const uint32_t n = 2 + random() % 7;
        constexpr int64_t PIECES = 16;
        const uint64_t gradient = n * PIECES * 64 * PAYLOAD;
        TearDown();
        SetUp();
        Set("nvls.Window", UintegerValue(16));
        InstallNvlink(n);
        const auto piped = Run(MakeServerJob("nvls", 1, n, gradient, PIECES)).front();
        const auto least = GetWireTime(n, gradient);
        EXPECT_GE(piped, least);
        EXPECT_LE(piped,
                  least + NanoSeconds(static_cast<int64_t>(2.5 * 1.125 * gradient / PIECES)));
        TearDown();
        SetUp();
        InstallNvlink(n);
        const auto whole = Run(MakeServerJob("nvls", 1, n, gradient, 1)).front();
        EXPECT_GE(whole, NanoSeconds(static_cast<int64_t>(2 * gradient)));
    }
}

TEST_F(NvlsTest, IsTheInnerLevelOfRingsAndServersBetweenServers)
{
    for (const auto* scheme : {"nvls", "ps-ring"})
    {
        TearDown();
        SetUp();
        Set("Values", StringValue("real"));
        InstallNvlink(4, 3);
        const uint64_t gradient = 3 * 4 * 20 * PAYLOAD;
        auto job = MakeServerJob("nvls", 3, 4, gradient, 1);
        if (std::string(scheme) == "ps-ring")
        {
            auto request = MakeServerRequest(scheme, 3, 4, gradient);
            request.parameters.Set("servers", int64_t{0});
            request.parameters.Set("inside", std::string("nvls"));
            job = MakeJob(scheme, request, 1);
        }
        Run(std::move(job));
        ExpectExactSums();
        for (const auto& [payload, wire] : GetNvlinkBytes())
        {
            EXPECT_EQ(payload, gradient + gradient / 4) << scheme;
        }
    }
}

TEST_F(NvlsTest, IsTheInnerLevelOfHierarchicalInTheTimeOfItsParts)
{
    // Reduction to the root and multicast from it, one after the other, as in the tests above.
    std::mt19937 random(11);
    for (int run = 0; run < 6; ++run)
    {
        const uint32_t n = 2 + random() % 7;
        const auto packets = static_cast<int64_t>(1 + random() % 200);
        TearDown();
        SetUp();
        Set("Values", StringValue("real"));
        InstallNvlink(n);
        const auto times = Run(MakeHierarchicalJob(1, n, packets * PAYLOAD));
        ExpectExactSums();
        const auto beside = std::max(packets * HEADER_NS, 2 * (HEADER_NS + DELAY_NS));
        const auto once = beside + (packets + 1) * PACKET_NS + 2 * DELAY_NS;
        EXPECT_EQ(times.front(), NanoSeconds(2 * once)) << n << ' ' << packets;
    }
}

TEST_F(NvlsTest, LoadsTheLinksOfHierarchicalAsItsClosedForm)
{
    std::mt19937 random(12);
    for (int run = 0; run < 6; ++run)
    {
        const uint32_t servers = 2 + random() % 3;
        const uint32_t n = 2 + random() % 4;
        const uint64_t packets = 1 + random() % 60;
        TearDown();
        SetUp();
        Set("Values", StringValue("real"));
        InstallNvlink(n, servers);
        Run(MakeHierarchicalJob(servers, n, packets * PAYLOAD));
        ExpectExactSums();
        // Each way K with a header for each packet, and as many headers alone the other way; the
        // root has both ways of both: its own share, and the sums.
        const auto data = packets * (PAYLOAD + HEADER);
        const auto others = data + packets * HEADER;
        const auto root = 2 * data + 2 * packets * HEADER;
        uint32_t roots = 0;
        for (const auto& [payload, wire] : GetNvlinkBytes())
        {
            const bool isRoot = payload == 2 * packets * PAYLOAD;
            roots += isRoot ? 1 : 0;
            EXPECT_EQ(payload, (isRoot ? 2 : 1) * packets * PAYLOAD);
            EXPECT_EQ(wire, isRoot ? root : others);
        }
        EXPECT_EQ(roots, 2 * servers); // both directions of its link
    }
}

TEST_F(NvlsTest, KeepsARequestUntilTheMemberHasComeSoFar)
{
    Set("Values", StringValue("real"));
    InstallNvlink(3);
    auto job = MakeServerJob("nvls", 1, 3, 3 * 40 * PAYLOAD, 1);
    const auto added = m_engine->AddJob(std::move(job));
    m_engine->GetApplication(added, 2)->SetAttribute("ComputeTime", TimeValue(MilliSeconds(75)));
    const auto times = SlotAggregationTest::Run();
    ASSERT_FALSE(m_engine->GetFailure()) << m_engine->GetFailure()->reason;
    EXPECT_GT(times.front(), MilliSeconds(75));
    EXPECT_LT(times.front(), MilliSeconds(76));
    ExpectExactSums();
}

TEST_F(NvlsTest, GivesExactSumsWhateverIsLost)
{
    for (const double rate : {0.01, 0.1, 0.3})
    {
        TearDown();
        SetUp();
        SetLoss(rate);
        Set("nvls.Timeout", StringValue("20us"));
        Set("nvls.Window", UintegerValue(16));
        InstallNvlink(4);
        Run(MakeServerJob("nvls", 1, 4, 4 * 3 * 50 * PAYLOAD, 3));
        ExpectExactSums();
        EXPECT_GT(m_transport->GetAggregation()->GetStatistics().retransmissions, 0U);
        EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().checkedSums, 4U * 3 * 50 * 5);
    }
}

TEST_F(NvlsTest, AddsFloatsAsTheyAre)
{
    for (const uint32_t n : {2, 5, 8})
    {
        TearDown();
        SetUp();
        Set("Values", StringValue("float"));
        InstallNvlink(n);
        Run(MakeServerJob("nvls", 1, n, n * 3 * 20 * PAYLOAD, 3));
        ExpectExactSums();
        const auto statistics = m_transport->GetAggregation()->GetStatistics();
        // Sums at their roots alone are compared with float64: n - 1 roundings of at most 2^-24.
        const auto error = std::sqrt(statistics.squaredSumErrors / statistics.squaredSums);
        EXPECT_GT(error, 0.0);
        EXPECT_LT(error, (n - 1) * 0x1p-24);
    }
}

TEST_F(NvlsTest, FailsByNameWhenTheSwitchDoesNotAnswer)
{
    Set("RetryLimit", UintegerValue(3));
    Set("nvls.Timeout", StringValue("10us"));
    InstallNvlink(3);
    m_transport->GetAggregation()->SetAggregatorState(*m_topology->FindNode("host0.nvswitch"),
                                                      false);
    m_engine->AddJob(MakeServerJob("nvls", 1, 3, 3 * PAYLOAD, 1));
    Simulator::Run();
    ASSERT_TRUE(m_engine->GetFailure());
    EXPECT_THAT(m_engine->GetFailure()->reason,
                HasSubstr("members or the switch do not answer NVLS"));
}

TEST_F(NvlsTest, RefusesWhatItCannotDo)
{
    InstallNvlink(2, 2);
    EXPECT_THAT([&] { Open(4, AggregationFlow::Reduce, 0); },
                ThrowsMessage<std::invalid_argument>(
                    HasSubstr("NVLS needs a switch to which all of a group have a link, and there "
                              "is none for the 4 of host0.gpu0")));
    EXPECT_THAT([&] { Open(2, AggregationFlow::AllReduce, 0); },
                ThrowsMessage<std::invalid_argument>(
                    HasSubstr("the aggregation protocol \"nvls\" has no all-reduce")));
    EXPECT_THAT(
        [&] {
            m_transport->GetAggregation()->OpenAggregation(
                {.endpoints = {0, 1}, .protocol = "switchml", .flow = AggregationFlow::Multicast});
        },
        ThrowsMessage<std::invalid_argument>(
            HasSubstr("the aggregation protocol \"switchml\" has no multicast")));
}

} // namespace
} // namespace ns3::gradsync
